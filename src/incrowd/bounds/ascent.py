"""Ascent along supergradients of a price bound, within one box of prices.

With μ_p(u) the mean price of the dearest class that pattern p may hold, F(u) = Σ counts_r·(u_r −
max over p∋r of (μ_p(u) − cost_p)⁺) is concave, and u minus that reduction keeps to the cost of
every pattern listed.  Which class is the dearest is said by a model's pricing, or it is that of the
k dearest rows.  Steps are scaled as Adam does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.pricing import Pricing, answer, dearest
from incrowd.bounds.strides import Strides
from incrowd.bounds.top_copies import LOOKS, Pad
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.emission import Emission
from incrowd.lattice.topk import most_above, top_k, top_k_buffers

WORK = 5_000_000_000  # copies that pricing may look at: some 4 ns each where classes are large
LEAST_STEPS = 10  # of an ascent, whatever they take


class Found(NamedTuple):
    """What the last evaluation found; scratch of all.

    cut: float64 (distinct,), what each row's worst pattern exceeds its cost by, and cutter: int64,
    that pattern, −1 for none.  problem: int64 (patterns,), the pricing problem that decided it.
    due: float64 (patterns,), how far prices must have risen before a pattern need be asked again.
    load: float64 (patterns,), comes and goes zeroed.  gradient: float64 (distinct,).
    share: float64 (pairs,), copies that pairs carried, summed over the steps; may be empty.
    place: int64 (distinct,), scratch.
    """

    cut: NDArray[np.float64]
    cutter: NDArray[np.int64]
    problem: NDArray[np.int64]
    due: NDArray[np.float64]
    load: NDArray[np.float64]
    gradient: NDArray[np.float64]
    share: NDArray[np.float64]
    place: NDArray[np.int64]


def new_found(distinct: int, patterns: int, pairs: int) -> Found:
    """Allocate for so many rows and patterns; ``pairs`` 0: nobody asks for shares."""
    rows, lists = np.zeros(distinct), np.zeros(patterns + 1)
    whole, problem = np.zeros(distinct, np.int64), np.zeros(patterns + 1, np.int64)
    return Found(
        rows, whole, problem, lists, lists.copy(), rows.copy(), np.zeros(pairs), whole.copy()
    )


@inner_kernel
def excess_of(
    rows: Any, begin: int, end: int, u: Any, counts: Any, cost: int, k: int, lawful: Any, pad: Any
) -> Any:
    """Return by how much the mean of a pattern's dearest class exceeds its cost, and who says so.

    Where it does not, the answer may be nearer to 0.
    """
    if lawful is None:
        above, _ = most_above(rows, begin, end, u, counts, k, cost)
        if above <= 0.0:
            return above / k, 0
        total, _ = top_k(rows, begin, end, u, counts, k, *pad)
        return total / k - cost, 0
    # numba leaves out the branch that the type of pricing rules out
    highest = u[rows[begin]]
    for i in range(begin, end):
        highest = max(highest, u[rows[i]])
        if highest > cost:
            break
    if highest <= cost:
        return highest - cost, 0
    mean, problem = dearest(rows, begin, end, u, counts, float(cost), *lawful)
    return mean - cost, problem


@lean_kernel
def reductions(
    u: Any, lists: Any, patterns: int, counts: Any, k: int, lawful: Any, pad: Any, found: Any,
    risen: float, room: float,
) -> None:  # fmt: skip
    """Find the largest excess of a pattern over each row, and that pattern.

    A pattern is asked when prices have risen as far as its dearest class lay below its cost:
    ``found.due`` says when, on the scale of ``risen``, by which no mean has risen more since a
    start.  None will ever rise by more than ``room``.
    """
    found.cut[:] = 0.0
    found.cutter[:] = -1
    rows = lists.rows
    for p in range(patterns):
        if found.due[p] > risen:
            continue
        begin = lists.offset[p]
        end = lists.offset[p + 1]
        c = lists.cost[p]
        excess, problem = excess_of(rows, begin, end, u, counts, c, k, lawful, pad)
        found.due[p] = risen - min(excess, 0.0) if excess > -room else np.inf
        if excess > 1e-12 * max(1.0, c):
            found.problem[p] = problem
            for i in range(begin, end):
                r = rows[i]
                if excess > found.cut[r]:
                    found.cut[r] = excess
                    found.cutter[r] = p


@inner_kernel
def load_cutters(u: Any, counts: Any, found: Any) -> float:
    """Return F(u); begin its supergradient, and load each pattern with the copies that it cuts."""
    bound = 0.0
    for r in range(u.size):
        bound += counts[r] * (u[r] - found.cut[r])
        found.gradient[r] = counts[r]
        if found.cutter[r] >= 0:
            found.load[found.cutter[r]] += counts[r]
    return bound


@inner_kernel
def take_part(
    rows: Any, begin: int, end: int, member: Any, weight: Any, entries: int, part: float, found: Any
) -> None:
    """Take ``part`` times the members' weights of a pattern's dearest class from the gradient.

    Unless shares are not asked for, add as much to the pairs begin..end−1, those of the pattern.
    """
    for j in range(entries):
        found.gradient[member[j]] -= part * weight[j]
    if found.share.size == 0:
        return
    for i in range(begin, end):
        found.place[rows[i]] = i
    for j in range(entries):
        found.share[found.place[member[j]]] += part * weight[j]


@inner_kernel
def take_dearest(
    u: Any, lists: Any, p: int, counts: Any, k: int, lawful: Any, pad: Any, found: Any
) -> None:
    """Take the dearest class of p from the gradient, as often as its load says."""
    rows, begin, end = lists.rows, lists.offset[p], lists.offset[p + 1]
    amount = found.load[p]
    if lawful is None:
        _, entries = top_k(rows, begin, end, u, counts, k, *pad)
        take_part(rows, begin, end, pad[2], pad[1], entries, amount / k, found)
    else:
        enough = float(lists.cost[p])  # which ``reductions`` found the answer to be above
        o = found.problem[p]
        _, entries = answer(o, rows, begin, end, u, counts, enough, *lawful)
        member, weight = lawful[1].out_row, lawful[1].out_weight
        take_part(rows, begin, end, member, weight, entries, amount, found)


@lean_kernel
def supergradient(
    u: Any, lists: Any, counts: Any, k: int, lawful: Any, pad: Any, found: Any
) -> float:
    """Return F(u) and fill its supergradient; add to the shares what each pair carries."""
    bound = load_cutters(u, counts, found)
    for r in range(u.size):
        p = found.cutter[r]
        if p >= 0 and found.load[p] != 0.0:
            take_dearest(u, lists, p, counts, k, lawful, pad, found)
            found.load[p] = 0.0
    return bound


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
class Ascent:
    """Patterns to respect, and the ascent within one box around a centre.

    Attributes
    ----------
    lists: the patterns, ``patterns`` of them; there may be room for more.
    counts: int64, shape (distinct,): copies of each row.
    k: rows of the smallest class.
    lowest, highest: the least and the most that a price may be.
    lawful: a model's pricing of classes and its scratch; None for any k rows.
    strides: how far each row's price goes in a step; None for the same for all.
    work: copies that pricing may look at, in as many steps as there is work for if all that follow
        look at as many as the last; by the count, not by the clock, so that a run can be repeated.
        None for no end of it.
    """

    lists: Emission
    patterns: int
    counts: NDArray[np.int64]
    k: int
    lowest: float = 0.0
    lawful: tuple[Pricing, Pad] | None = None
    strides: Strides | None = None
    work: int | None = None
    highest: float = np.inf

    def __post_init__(self) -> None:
        self._pad = top_k_buffers(self.k, np.float64)
        if self.strides is None:
            self.strides = Strides.even(len(self.counts))
        self._looked = self.looked()

    def looked(self) -> int:
        """Return how many copies pricing has looked at so far."""
        return 0 if self.lawful is None else int(self.lawful[1].state[LOOKS])

    def planned(self, done: int, most: int) -> int:
        """Return how many steps there will be in all, some done and ``most`` asked for.

        The first step asks all patterns, later ones only those that are due: plan after each.
        """
        if self.work is None:
            return most
        looked = self.looked()
        step, self._looked = looked - self._looked, looked
        self.work = max(0, self.work - step)
        return min(most, max(LEAST_STEPS, done + self.work // max(1, step)))

    def evaluate(self, steps: "Steps") -> float:
        """Return F at ``steps.u``; leave its reductions and its supergradient behind."""
        rules = self.counts, self.k, self.lawful, self._pad, steps.found
        reductions(steps.u, self.lists, self.patterns, *rules, steps.risen, steps.room())
        return float(supergradient(steps.u, self.lists, *rules))

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
                best, best_u = bound, steps.u - steps.found.cut
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
        steps = Steps(self, centre, half_width, int(self.lists.offset[self.patterns]))
        counted = 0
        for i in range(iterations):
            if stop():
                break
            if i == iterations // 4:
                steps.found.share[:], counted = 0, 0
            steps.evaluate()
            steps.advance(rate)
            counted += 1
        return steps.found.share / max(1, counted), steps.u


class Steps:
    """A point that moves along supergradients within a box, and its scratch space.

    Attributes
    ----------
    u: float64, shape (distinct,): the point.
    found: what was found there.
    risen: by how much the mean price of any class can have risen since the start.
    """

    def __init__(
        self, ascent: Ascent, centre: NDArray[np.float64], half_width: float, pairs: int = 0
    ) -> None:
        assert ascent.strides is not None
        self.ascent, self.strides = ascent, ascent.strides
        centre = np.minimum(centre, ascent.highest)
        self.u = centre.copy()
        reach = half_width * self.strides.of_row
        self.low = np.maximum(centre - reach, ascent.lowest)
        self.high = np.minimum(centre + reach, ascent.highest)
        self.found = new_found(len(centre), ascent.patterns, pairs)
        self.mean, self.square = np.zeros_like(self.low), np.zeros_like(self.low)
        self.risen, self.seen = 0.0, self.u.copy()

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
        adam_step(self.u, self.found.gradient, counts, *moments, rate, stride, 1e-2, *box)

    def restart(self, u: NDArray[np.float64]) -> None:
        """Go on from another point."""
        self.u = u.copy()
        self.mean[:] = 0
