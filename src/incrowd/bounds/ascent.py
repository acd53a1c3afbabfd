"""Ascent along supergradients of a price bound, within one box of prices.

With μ_p(u) the mean price of the dearest class that pattern p may hold, F(u) = Σ counts_r·(u_r −
max over p∋r of (μ_p(u) − cost_p)⁺) is concave, and u minus that reduction keeps to the cost of
every pattern listed.  Which class is the dearest is said by a model's pricing, or it is that of the
k dearest rows.  Steps are scaled as Adam does.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.evaluation import Evaluation
from incrowd.bounds.pricing import Pricing
from incrowd.bounds.reductions import adam_step, new_found
from incrowd.bounds.strides import Reach, Strides
from incrowd.bounds.top_copies import LOOKS, Pad
from incrowd.lattice.emission import Emission

WORK = 5_000_000_000  # copies that pricing may look at: some 4 ns each where classes are large
LEAST_STEPS = 10  # of an ascent, whatever they take


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
    threads: that may share the patterns out among themselves; no influence on the result.
    reach: how many of the box's half-widths each price may go in all; None for one.
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
    threads: int = 1
    reach: Reach | None = None

    def __post_init__(self) -> None:
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
        reach = ascent.reach or Reach(len(centre))
        half = half_width * self.strides.of_row
        self.low = np.maximum(centre - half * reach.down, ascent.lowest)
        self.high = np.minimum(centre + half * reach.up, ascent.highest)
        self.stride = self.strides.of_row * np.maximum(reach.down, reach.up)
        self.found = new_found(len(centre), ascent.patterns, pairs)
        self.evaluation = Evaluation(
            ascent.lists, ascent.patterns, ascent.counts, ascent.k, ascent.lawful, self.found,
            ascent.threads,
        )  # fmt: skip
        self.mean, self.square = np.zeros_like(self.low), np.zeros_like(self.low)
        self.risen, self.seen = 0.0, self.u.copy()

    def evaluate(self) -> float:
        """Return F here; leave its reductions and its supergradient behind."""
        self.risen += self.strides.rise(self.seen, self.u)
        self.seen[:] = self.u
        return self.evaluation.at(self.u, self.risen, self.room())

    def room(self) -> float:
        """By how much the mean price of a class can still rise within the box."""
        return self.strides.rise(self.u, self.high)

    def advance(self, rate: float) -> None:
        """Step along the supergradient."""
        moments, box = (self.mean, self.square), (self.low, self.high)
        found, counts = self.found.gradient, self.ascent.counts
        adam_step(self.u, found, counts, *moments, rate, self.stride, 1e-2, *box)

    def restart(self, u: NDArray[np.float64]) -> None:
        """Go on from another point."""
        self.u = u.copy()
        self.mean[:] = 0
