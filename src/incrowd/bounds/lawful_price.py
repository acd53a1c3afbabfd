"""The price bound of any sensitive model: prices of which no lawful class holds too much.

Claim.  Let u be any prices, and let μ_p ≥ the mean of u over every lawful class whose rows match
pattern p.  Then no lawful release costs less than
F(u) = Σ counts_r·(u_r − max over p ∋ r of (μ_p − cost(p))⁺).

Argument.  Lower every price by its maximum.  In a class C with join p each price falls by at
least (μ_p − cost(p))⁺, so the lowered prices of C sum to at most |C|·cost(p), its cost.  Sum over
classes.

With μ_p the maximum of u over a fixed set of weight vectors, F is concave and the maximising
weights make its supergradient; ascent is as in ``price.py``.  The bound that is
reported comes from one last search over *all* patterns, at prices rounded down, with
every excess raised by more than floating-point sums can lose.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.ascent import WORK, Ascent
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.prefix_tree import EMIT, MEASURE, OVERFLOW, SUPPORT, UNLIMITED
from incrowd.bounds.prices import Prices
from incrowd.bounds.rounds import Report, Schedule, Stop, ascend, no_report, no_stop
from incrowd.bounds.top_copies import LOOKS
from incrowd.lattice.emission import Emission, new_sink
from incrowd.problem.instance import Instance
from incrowd.run.gauge import Gauge


@dataclass(frozen=True, kw_only=True)
class LawfulPriceBound(Schedule):
    """Trust-region rounds for the price bound of a sensitive model; the unit is the mean price.

    Attributes
    ----------
    work: copies that pricing may look at in all rounds; steps are left out for it, but for a few.
    """

    rounds: int = 14
    iterations: int = 120
    margin: tuple[float, float] = (4.0, 0.3)
    rate: tuple[float, float] = (0.15, 0.001)
    pairs: int = 12_000_000
    patterns: int = 2_000_000
    work: int = WORK
    worth: float = 0.0

    @classmethod
    def one_box(cls) -> "LawfulPriceBound":
        """Return a schedule without rounds: one box that holds every price worth a thought.

        It comes further than rounds where pricing is cheap (distinct l-diversity), from prices that
        no other model has driven into a corner.  ``close_up`` goes the last few steps.
        """
        return cls(rounds=1, iterations=450, margin=(6.0, 6.0), rate=(0.45, 0.003))

    @classmethod
    def close_up(cls) -> "LawfulPriceBound":
        """Return a schedule of small steps for prices that are nearly the best: few patterns."""
        return cls(rounds=2, iterations=150, margin=(0.3, 0.15), rate=(0.01, 0.0003))

    @classmethod
    def from_near(cls) -> "LawfulPriceBound":
        """Return a schedule for prices of k-anonymity that are near the best: no long first steps.

        Those would bring nothing in the first rounds, and a round that brings nothing is the last.
        """
        return cls(rounds=8, margin=(2.0, 0.3), rate=(0.03, 0.001))

    @classmethod
    def polish(cls) -> "LawfulPriceBound":
        """Return a short schedule for prices that are nearly the best, and a dearer pricing."""
        return cls(rounds=3, iterations=150, margin=(0.4, 0.2), rate=(0.03, 0.0007))

    @classmethod
    def before_sizes(cls) -> "LawfulPriceBound":
        """Return a schedule for prices that ``by_size`` takes up: no need to close in on them."""
        return cls(rounds=3, iterations=100, margin=(4.0, 0.8), rate=(0.15, 0.03))

    @classmethod
    def by_size(cls) -> "LawfulPriceBound":
        """Return a schedule for prices that a dearer pricing can raise by a few per cent."""
        return cls(rounds=2, iterations=75, margin=(0.8, 0.4), rate=(0.1, 0.004))

    def fits(self, tree: LawfulTree, start: NDArray[np.float64]) -> bool:
        """Whether the budget holds all patterns of the first box."""
        mean = max(float(start @ tree.instance.counts) / tree.instance.rows, 1e-9)
        state = emit_box(tree, start, self.margin[0] * mean, new_sink(self.patterns, self.pairs))
        return int(state[3]) != OVERFLOW

    def ascend(
        self,
        tree: LawfulTree,
        start: NDArray[np.float64],
        stop: Stop = no_stop,
        report: Report = no_report,
        gauge: Gauge | None = None,
    ) -> NDArray[np.float64]:
        """Improve prices ``start`` (float64, distinct); ``safe_prices`` says what they prove.

        ``gauge`` is told how far they are.
        """
        return ascend(self, LawfulBoxes(tree, self.work), start, stop, report, gauge)


class LawfulBoxes:
    """Patterns of a sensitive model, for rounds whose unit is the mean price."""

    def __init__(self, tree: LawfulTree, work: int) -> None:
        self.tree, self.work = tree, work
        self.begun = int(tree.pad.state[LOOKS])

    def unit(self, u: NDArray[np.float64]) -> float:
        """Return the mean price."""
        instance = self.tree.instance
        return max(float(u @ instance.counts) / instance.rows, 1e-9)

    def listed(self, u: NDArray[np.float64], width: float, sink: Emission) -> tuple[float, int]:
        """List all patterns that a point within ``width`` strides of u violates; shrink it."""
        while True:
            state = emit_box(self.tree, u, width, sink)
            if state[3] != OVERFLOW:  # where time ends, what there is will do
                return width, int(state[0])
            width *= 0.6

    def moved(self, way: NDArray[np.float64], width: float) -> None:
        """Take no note: how far prices go follows from caps alone."""

    def walked(self) -> float:
        """Return about what share of the list at hand is done."""
        return self.tree.tree.walked()

    def ascent(self, lists: Emission, patterns: int, rounds: int) -> Ascent:
        """Return the ascent over these patterns, with its part of the work that is left."""
        left = max(0, self.work - (int(self.tree.pad.state[LOOKS]) - self.begun))
        return self.tree.ascent(lists, patterns, self.tree.instance.counts, left // rounds)


def emit_box(
    tree: LawfulTree, u: NDArray[np.float64], width: float, sink: Emission
) -> NDArray[np.int64]:
    """List the patterns that a point within ``width`` strides of u violates, as far as they fit."""
    return tree.run(EMIT, u, margin=width * tree.strides.lift(), sink=sink)


def first_prices(tree: LawfulTree, visits: int = UNLIMITED) -> tuple[NDArray[np.float64], bool]:
    """Return each row's cheapest pattern that may hold a lawful class, and whether that is all.

    float64, shape (distinct,), in units of 1/scale.
    """
    instance = tree.instance
    price = np.zeros(instance.distinct)
    for j, column in enumerate(instance.trees):
        price += column.roots[instance.codes[:, j]]
    state = tree.run(SUPPORT, price, visits=visits)
    return price, state[3] == 0


def rounded_down(u: NDArray[np.float64], bits: int) -> tuple[NDArray[np.float64], float]:
    """Round prices down to multiples of 2^−bits of the largest; return them and that quantum."""
    largest = max(float(np.abs(u).max(initial=0.0)), 1.0)
    quantum = 2.0 ** (np.floor(np.log2(largest)) - bits)
    return np.floor(u / quantum) * quantum, quantum


def highest_term(instance: Instance, u: NDArray[np.float64]) -> float:
    """Return what a row's price and cost come to together at most."""
    largest = max(float(np.abs(u).max(initial=0.0)), 1.0)
    return largest + float(sum(t.dearest for t in instance.trees))


def safe_prices(tree: LawfulTree, u: NDArray[np.float64], bits: int = 30) -> Prices:
    """Return integer prices near u that obey the inequality for all lawful classes.

    The prices are rounded down to multiples of 2^−bits of the largest, exact in doubles; means of
    at most n of them err by less than (n + 9)·2⁻⁵² of the largest, which every excess is raised by
    many times over.  Prices of 0, which prove nothing, where time ends before all are looked at.
    """
    instance = tree.instance
    price, quantum = rounded_down(u, bits)
    extra = (instance.rows + 4096) * 2.0**-44 * highest_term(instance, u)
    cut = np.zeros(instance.distinct)
    if tree.run(MEASURE, price, margin=extra, extra=extra, cut=cut)[3]:
        return Prices(np.zeros(instance.distinct, np.int64), 1)
    kept = np.floor((price - cut) / quantum).astype(np.int64) - (cut > 0)
    return Prices(kept * int(max(quantum, 1)), int(max(1 / quantum, 1)))
