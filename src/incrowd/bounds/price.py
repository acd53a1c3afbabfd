"""The price bound: the strongest one linear programming over lawful classes can give.

Claim.  Let every distinct row r have a price u_r such that for every pattern p matched by at
least k copies the k highest prices among them sum to at most k·cost(p).  Then no k-anonymous
release costs less than Σ counts_r·u_r.

Argument.  A class with join p has n ≥ k rows; the mean of all their prices is at most the mean of
the k highest, which is at most cost(p), so the prices of the class sum to at most n·cost(p), its
cost.  Sum over classes.  These inequalities are the dual of the set-partitioning LP over lawful
classes, so the best prices reach the value of that LP.

Method.  F(u) = Σ counts_r·(u_r − max over p∋r of (mean of top k − cost)⁺) is concave, and u minus
that reduction is feasible: each evaluation is a bound.  Supergradient ascent (``ascent.py``)
inside a box around the centre; only patterns that a point of the box could violate are kept
(``rounds.py``).  At the end the prices are rounded
down to integers and every remaining violation is repaired exactly, in integers.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.ascent import Ascent
from incrowd.bounds.prefix_tree import (
    EMIT,
    OVERFLOW,
    REPAIR,
    STOPPED,
    VISITS_SPENT,
    PrefixTree,
    Slack,
)
from incrowd.bounds.prices import Prices
from incrowd.bounds.rounds import Report, Schedule, Stop, ascend, fade, no_report, no_stop
from incrowd.bounds.strides import Reach
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance
from incrowd.run.gauge import Gauge

SMALL = 2_000  # distinct rows of tables with hierarchies on which wide boxes take little time
LARGEST = 1 << 61  # no sum of prices, nor what k rows cost, exceeds that in units of 1/quantum
LEAST_REACH, MOST_REACH = 0.25, 4.0  # half-widths of a box that a price may go up, see ``Reach``
MOST_TRIES = 12  # boxes tried per round before the bound is left as it is


@dataclass(frozen=True, kw_only=True)
class PriceBound(Schedule):
    """Trust-region rounds for the price bound; the unit is a suppressed cell (``Instance.cell``).

    Attributes
    ----------
    lift: factor on the prices to start from.
    visits: nodes of the prefix tree that one enumeration may touch.
    once: whether rounds end where an enumeration touches more, and are not tried in smaller boxes.
    """

    rounds: int = 12
    iterations: int = 60
    margin: tuple[float, float] = (1.5, 0.01)
    rate: tuple[float, float] = (0.1, 0.0005)
    lift: float = 1.0
    pairs: int = 4_000_000
    patterns: int = 1_500_000
    visits: int = 10_000_000
    worth: float = 0.01
    once: bool = False

    @classmethod
    def suited(cls, instance: Instance) -> "PriceBound":
        """Return a schedule for this table.

        With real hierarchies the support bound is far below the best prices, so the start is
        lifted and the boxes stay wide; under suppression it is close, and wide boxes waste time.
        The fewer the rows, the farther the best prices are from it.
        """
        if instance.plain:
            return cls()
        if instance.ranged:  # more patterns are near, and prices go far
            return cls(
                rounds=12, iterations=80, margin=(0.5, 0.02), rate=(0.1, 0.001), lift=1.2,
                pairs=12_000_000, patterns=4_000_000,
            )  # fmt: skip
        if instance.distinct <= SMALL:
            return cls(margin=(8.0, 0.05), rate=(0.3, 0.002), lift=1.2)
        return cls(rounds=9, margin=(1.0, 0.05), rate=(0.1, 0.002), lift=1.2, again=6)

    def split(self) -> "tuple[PriceBound, PriceBound]":
        """Split into the first quarter of the rounds and the rest."""
        first = max(1, self.rounds // 4)
        share = first / self.rounds
        margin, rate = fade(self.margin, share), fade(self.rate, share)
        return (
            replace(self, rounds=first, margin=(self.margin[0], margin), rate=(self.rate[0], rate)),
            replace(
                self,
                rounds=self.rounds - first,
                margin=(margin, self.margin[1]),
                rate=(rate, self.rate[1]),
                lift=1.0,
            ),
        )

    def ascend(
        self,
        tree: PrefixTree,
        k: int,
        start: NDArray[np.float64],
        stop: Stop = no_stop,
        report: Report = no_report,
        highest: float = np.inf,
        gauge: Gauge | None = None,
        reach: Reach | None = None,
    ) -> NDArray[np.float64]:
        """Improve prices ``start`` (float64, distinct); the result may need ``certify``.

        ``highest``: where prices end, though higher ones would do.  ``gauge`` is told how far they
        are.  ``reach``: see ``reach_of``; that of the rounds before, where these go on from them.
        """
        reach = reach_of(tree.instance) if reach is None else reach
        boxes = SizedBoxes(tree, k, self.visits, highest, self.once, reach)
        return ascend(self, boxes, start * self.lift, stop, report, gauge)


def reach_of(instance: Instance) -> Reach | None:
    """Return how much farther single prices may go than others; None where all go as far.

    Among ranges few prices have a long way to go, and the others come to rest soon: short boxes of
    theirs make room for the long ones.
    """
    return Reach(instance.distinct, LEAST_REACH, MOST_REACH) if instance.ranged else None


@dataclass(frozen=True)
class SizedBoxes:
    """Patterns under which any k rows make a class, for rounds whose unit is a cell."""

    tree: PrefixTree
    k: int
    visits: int
    highest: float = np.inf
    once: bool = False
    reach: Reach | None = None

    def unit(self, u: NDArray[np.float64]) -> float:
        """Return what suppressing a cell costs."""
        return self.tree.instance.cell

    def listed(
        self, u: NDArray[np.float64], width: float, sink: Emission
    ) -> tuple[float, int] | None:
        """List all patterns that some point within ``width`` of u violates, shrinking it to fit."""
        for _ in range(MOST_TRIES):
            slack = Slack(width, False)
            # as if a row whose box is longer stood higher
            high = u if self.reach is None else u + width * (self.reach.up - 1.0)
            state = self.tree.run(EMIT, self.k, high, slack=slack, sink=sink, visits=self.visits)
            if state[3] == 0:
                return width, int(state[0])
            if state[3] == STOPPED or (self.once and state[3] == VISITS_SPENT):
                break
            width *= 0.6 if state[3] == OVERFLOW else 0.2
        return None

    def moved(self, way: NDArray[np.float64], width: float) -> None:
        """Let prices that run to the border of their box go farther."""
        if self.reach is not None:
            self.reach.moved(way / width)

    def walked(self) -> float:
        """Return about what share of the list at hand is done."""
        return self.tree.walked()

    def ascent(self, lists: Emission, patterns: int, rounds: int) -> Ascent:
        """Return the ascent over these patterns."""
        counts, threads = self.tree.instance.counts, self.tree.stop.threads
        ends = {"highest": self.highest, "threads": threads, "reach": self.reach}
        return Ascent(lists, patterns, counts, self.k, **ends)


def certify(tree: PrefixTree, k: int, u: NDArray[np.float64], quantum: int | None = None) -> Prices:
    """Round prices down to multiples of 1/quantum and repair every violation exactly.

    Prices of 0, which prove nothing, where time ends before that is done.
    """
    counts = tree.instance.counts
    quantum = quantum or fitting(quantum_of(u, counts), tree.instance, k)
    quantum, price = rounded_down(u, counts, quantum)
    if tree.run(REPAIR, k, price, unit=quantum)[3]:
        price[:] = 0
    return Prices(price, quantum)


def rounded_down(
    u: NDArray[np.float64], counts: NDArray[np.int64], quantum: int | None = None
) -> tuple[int, NDArray[np.int64]]:
    """Return a quantum, and nonnegative prices rounded down to multiples of 1/quantum."""
    quantum = quantum or quantum_of(u, counts)
    return quantum, np.floor(np.maximum(u, 0.0) * quantum).astype(np.int64)


def quantum_of(u: NDArray[np.float64], counts: NDArray[np.int64]) -> int:
    """Return the quantum in which these prices are fine enough, see ``quantum_for``."""
    return quantum_for(float(u @ counts) / int(counts.sum()))


def quantum_for(mean: float) -> int:
    """Return a power of ten that gives the mean price about six digits.

    So rounding costs about a millionth of the bound.
    """
    return 10 ** max(0, 6 - round(np.log10(max(mean, 1e-6))))


def fitting(quantum: int, instance: Instance, k: int) -> int:
    """Return a quantum, or less of it, in whose units what k rows cost at most fits 64 bits.

    Where prices are next to nothing beside what a star costs, they would be too fine.
    """
    most = max(1, k * sum(tree.dearest for tree in instance.trees))
    while quantum > 1 and most * quantum > LARGEST:
        quantum //= 10
    return quantum
