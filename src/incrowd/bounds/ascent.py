"""Ascent along supergradients of a price bound, within one box of prices.

With μ_p(u) the mean price of the dearest class that pattern p may hold, F(u) = Σ counts_r·(u_r −
max over p∋r of (μ_p(u) − cost_p)⁺) is concave, and u minus that reduction keeps to the cost of
every pattern listed.  What a class may be is said by ``crowd_ascent`` (k rows) and
``lawful_ascent`` (any sensitive model).  Steps are scaled as Adam does.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.strides import Strides
from incrowd.kernels.jit import inner_kernel, lean_kernel


@inner_kernel
def note_excess(
    rows: Any, begin: int, end: int, excess: float, p: int, cut: Any, cutter: Any
) -> None:
    """Raise ``cut`` to what pattern p, which these rows match, exceeds its cost by."""
    for i in range(begin, end):
        r = rows[i]
        if excess > cut[r]:
            cut[r] = excess
            cutter[r] = p


@inner_kernel
def load_cutters(u: Any, counts: Any, cut: Any, cutter: Any, load: Any, gradient: Any) -> float:
    """Return F(u); begin its supergradient, and load each pattern with the copies that it cuts."""
    bound = 0.0
    for r in range(u.size):
        bound += counts[r] * (u[r] - cut[r])
        gradient[r] = counts[r]
        if cutter[r] >= 0:
            load[cutter[r]] += counts[r]
    return bound


@inner_kernel
def take_part(
    rows: Any,
    begin: int,
    end: int,
    member: Any,
    weight: Any,
    entries: int,
    part: float,
    gradient: Any,
    place: Any,
    share: Any,
) -> None:
    """Take ``part`` times the members' weights of a pattern's dearest class from the gradient.

    Unless ``share`` is empty, add as much to the pairs begin..end−1, those of the pattern.
    """
    for j in range(entries):
        gradient[member[j]] -= part * weight[j]
    if share.size == 0:
        return
    for i in range(begin, end):
        place[rows[i]] = i
    for j in range(entries):
        share[place[member[j]]] += part * weight[j]


@lean_kernel
def adam_step(
    u: Any,
    gradient: Any,
    counts: Any,
    mean: Any,
    square: Any,
    rate: float,
    stride: Any,
    eps: float,
    low: Any,
    high: Any,
) -> None:
    """Move u along the supergradient per copy, scaled as Adam does, clipped to the box.

    ``stride``: how far each row goes, in rates.
    """
    for r in range(u.size):
        g = gradient[r] / counts[r]
        mean[r] = 0.8 * mean[r] + 0.2 * g
        square[r] = 0.95 * square[r] + 0.05 * g * g
        x = u[r] + rate * stride[r] * mean[r] / (np.sqrt(square[r]) + eps)
        u[r] = min(max(x, low[r]), high[r])


@dataclass
class Ascent(ABC):
    """Patterns to respect, and the ascent within one box around a centre.

    Attributes
    ----------
    offset, rows, cost: rows of pattern p are ``rows[offset[p]:offset[p + 1]]``, its cost a row.
    patterns: number of them; the arrays may have room for more.
    counts: int64, shape (distinct,): copies of each row.
    lowest: the least that a price may be.
    """

    lowest: ClassVar[float] = -np.inf
    offset: NDArray[np.int64]
    rows: NDArray[np.int32]
    cost: NDArray[np.int64]
    patterns: int
    counts: NDArray[np.int64]

    @abstractmethod
    def evaluate(self, steps: "Steps") -> float:
        """Return F at ``steps.u``; leave its reductions and its supergradient behind."""

    def strides(self) -> Strides:
        """How far each row's price goes in a step."""
        return Strides.even(len(self.counts))

    def planned(self, done: int, most: int) -> int:
        """Return how many steps there will be in all, some done and ``most`` asked for."""
        return most

    def run(
        self,
        centre: NDArray[np.float64],
        half_width: float,
        iterations: int,
        rate: tuple[float, float],
        stop: Callable[[], bool],
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the best F seen and its feasible point (for the patterns at hand)."""
        steps = Steps(self, centre, half_width)
        best, best_u, planned = -np.inf, centre, iterations
        for i in range(iterations):
            if i >= planned:
                break
            bound = steps.evaluate()
            planned = self.planned(i + 1, iterations)
            if bound > best:
                best, best_u = bound, steps.u - steps.cut
            elif i % 25 == 24 and bound < best - 0.0005 * abs(best):
                steps.restart(best_u)
                continue
            if stop():
                break
            steps.advance(rate[0] * (rate[1] / rate[0]) ** (i / planned))
        return best, best_u

    def shares(
        self,
        centre: NDArray[np.float64],
        half_width: float,
        iterations: int,
        rate: float,
        stop: Callable[[], bool] = lambda: False,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a fractional release near the optimum, and the prices at the end.

        float64, shape (pairs,): how many copies each pair carries.  Near the best prices the
        supergradient is what a fractional release leaves uncovered; the mean over many small steps
        covers every row almost exactly (Barahona and Anbil, The volume algorithm, Mathematical
        Programming 87, 2000).  The first quarter of the steps does not count.
        """
        steps = Steps(self, centre, half_width, int(self.offset[self.patterns]))
        counted = 0
        for i in range(iterations):
            if stop():
                break
            if i == iterations // 4:
                steps.share[:], counted = 0, 0
            steps.evaluate()
            steps.advance(rate)
            counted += 1
        return steps.share / max(1, counted), steps.u


class Steps:
    """A point that moves along supergradients within a box, and its scratch space.

    Attributes
    ----------
    u: float64, shape (distinct,): the point; cut, cutter: what each row's worst pattern exceeds its
        cost by, and that pattern, −1 for none.
    due: float64, shape (patterns,): where ``risen`` has to be before a pattern need be asked again;
        ``risen``: by how much the mean price of any class can have risen since the start.
    share: float64, shape (pairs,): copies that pairs carried, summed over the steps; may be empty.
    """

    def __init__(
        self, ascent: Ascent, centre: NDArray[np.float64], half_width: float, pairs: int = 0
    ) -> None:
        distinct = len(centre)
        self.ascent, self.strides, self.u = ascent, ascent.strides(), centre.copy()
        reach = half_width * self.strides.of_row
        self.low, self.high = np.maximum(centre - reach, ascent.lowest), centre + reach
        self.cut, self.cutter = np.zeros(distinct), np.zeros(distinct, np.int64)
        self.gradient, self.load = np.zeros(distinct), np.zeros(ascent.patterns + 1)
        self.mean, self.square = np.zeros(distinct), np.zeros(distinct)
        self.place, self.share = np.zeros(distinct, np.int64), np.zeros(pairs)
        self.due, self.risen, self.seen = np.zeros(ascent.patterns), 0.0, self.u.copy()

    def evaluate(self) -> float:
        """Return F here; leave its reductions and its supergradient behind."""
        self.risen += self.strides.rise(self.seen, self.u)
        self.seen[:] = self.u
        return self.ascent.evaluate(self)

    def room(self) -> float:
        """By how much the mean price of a class can still rise within the box."""
        return self.strides.rise(self.u, self.high)

    def advance(self, rate: float) -> None:
        """Step along the supergradient."""
        moments, stride = (self.mean, self.square), self.strides.of_row
        counts, box = self.ascent.counts, (self.low, self.high)
        adam_step(self.u, self.gradient, counts, *moments, rate, stride, 1e-2, *box)

    def restart(self, u: NDArray[np.float64]) -> None:
        """Go on from another point."""
        self.u = u.copy()
        self.mean[:] = 0
