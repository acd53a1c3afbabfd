"""The price bound of any sensitive model: prices of which no lawful class holds too much.

Claim.  Let u be any prices, and let μ_p ≥ the mean of u over every lawful class whose rows match
pattern p.  Then no lawful release costs less than
F(u) = Σ counts_r·(u_r − max over p ∋ r of (μ_p − cost(p))⁺).

Argument.  Lower every price by its maximum.  In a class C with join p each price falls by at
least (μ_p − cost(p))⁺, so the lowered prices of C sum to at most |C|·cost(p), its cost.  Sum over
classes.

With μ_p the maximum of u over a fixed set of weight vectors, F is concave and the maximising
weights make its supergradient; ascent is as in ``incrowd.bounds.price``.  The bound that is
reported comes from one last search over *all* patterns, at prices rounded down, with
every excess raised by more than floating-point sums can lose.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.ascent import adam_step, load_cutters, note_excess, share_out
from incrowd.bounds.lawful_tree import EMIT, MEASURE, SUPPORT, LawfulTree
from incrowd.bounds.price import fade
from incrowd.bounds.prices import Prices
from incrowd.bounds.pricing import Pricing, answer, dearest
from incrowd.bounds.strides import Strides
from incrowd.bounds.tops import LOOKS, Pad
from incrowd.instance import Instance
from incrowd.jit import lean_kernel
from incrowd.patterns.prefix_tree import OVERFLOW, UNLIMITED, Sink, new_sink

WORK = 5_000_000_000  # copies that pricing may look at: some 4 ns each where classes are large
FEWEST_STEPS = 10  # of an ascent, whatever they take


@lean_kernel
def reductions(
    u: Any,
    offset: Any,
    rows: Any,
    cost: Any,
    patterns: int,
    counts: Any,
    pr: Any,
    pad: Any,
    cut: Any,
    cutter: Any,
    problem: Any,
    due: Any,
    risen: float,
) -> None:
    """Fill ``cut[r]``, the largest excess of a pattern over r, and ``cutter[r]``, that pattern.

    ``problem[p]`` is the pricing problem that decided pattern p.  ``risen`` is by how much any
    price can have risen since the start, step by step: no mean rises by more, so a pattern that
    was within its cost by some margin need not be asked before that is used up, at ``due[p]``.
    """
    cut[:] = 0.0
    cutter[:] = -1
    for p in range(patterns):
        if risen < due[p]:
            continue
        c = float(cost[p])
        begin = offset[p]
        end = offset[p + 1]
        highest = -1e300
        for i in range(begin, end):
            highest = max(highest, u[rows[i]])
            if highest > c:
                break
        if highest <= c:
            due[p] = risen + (c - highest)
            continue
        mean, which = dearest(rows, begin, end, u, counts, c, pr, pad)
        excess = mean - c
        due[p] = risen - excess
        if excess <= 1e-12 * max(1.0, c):
            continue
        problem[p] = which
        note_excess(rows, begin, end, excess, p, cut, cutter)


@lean_kernel
def supergradient(
    u: Any,
    offset: Any,
    rows: Any,
    cost: Any,
    counts: Any,
    pr: Any,
    pad: Any,
    cut: Any,
    cutter: Any,
    problem: Any,
    load: Any,
    gradient: Any,
    place: Any,
    share: Any,
) -> float:
    """Return F(u) and fill its supergradient; ``load`` (per pattern) must come and goes zeroed.

    Unless ``share`` (per pair) is empty, add to it what each pair carries; ``place`` (per distinct
    row) is scratch for that.
    """
    bound = load_cutters(u, counts, cut, cutter, load, gradient)
    for r in range(u.size):
        p = cutter[r]
        if p < 0 or load[p] == 0.0:
            continue
        begin = offset[p]
        end = offset[p + 1]
        amount = load[p]
        load[p] = 0.0
        enough = float(cost[p])  # as in ``reductions``, which found the answer to be above it
        _, out = answer(problem[p], rows, begin, end, u, counts, enough, pr, pad)
        for j in range(out):
            gradient[pad.out_row[j]] -= amount * pad.out_weight[j]
        if share.size:
            members = pad.out_row, pad.out_weight
            share_out(rows, begin, end, *members, out, amount, place, share)
    return bound


@dataclass
class LawfulAscent:
    """Patterns to respect, and the ascent within one box around a centre."""

    offset: NDArray[np.int64]
    rows: NDArray[np.int32]
    cost: NDArray[np.int64]
    patterns: int
    counts: NDArray[np.int64]
    pricing: Pricing
    pad: Pad
    strides: Strides

    def run(
        self,
        centre: NDArray[np.float64],
        half_width: float,
        iterations: int,
        rate: tuple[float, float],
        stop: Callable[[], bool],
        work: int = WORK,
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the best F seen and its feasible point (for the patterns at hand).

        ``work``: copies that pricing may look at, in as many steps as there is work for if all that
        follow look at as many as the last; by the count, not by the clock, so that a run can be
        repeated.
        """
        distinct = len(centre)
        cut, cutter = np.zeros(distinct), np.zeros(distinct, np.int64)
        gradient, load = np.zeros(distinct), np.zeros(self.patterns + 1)
        problem = np.zeros(self.patterns + 1, np.int64)
        mean, square = np.zeros(distinct), np.zeros(distinct)
        stride = self.strides.of_row
        low, high = centre - half_width * stride, centre + half_width * stride
        u, best, best_u = centre.copy(), -np.inf, centre
        lists = (self.offset, self.rows)
        no_place, no_share = np.zeros(0, np.int64), np.zeros(0)
        due, risen = np.zeros(self.patterns + 1), 0.0
        i, most, looked = 0, iterations, int(self.pad.state[LOOKS])
        while i < iterations:
            reductions(
                u, *lists, self.cost, self.patterns, self.counts, self.pricing, self.pad, cut,
                cutter, problem, due, risen,
            )  # fmt: skip
            bound = supergradient(
                u, *lists, self.cost, self.counts, self.pricing, self.pad, cut, cutter, problem,
                load, gradient, no_place, no_share,
            )  # fmt: skip
            # the first step asks all patterns, later ones only those that are due: plan anew
            step_looks = int(self.pad.state[LOOKS]) - looked
            looked, work = looked + step_looks, max(0, work - step_looks)
            iterations = min(most, max(FEWEST_STEPS, i + 1 + work // max(1, step_looks)))
            if bound > best:
                best, best_u = bound, u - cut
            elif i % 25 == 24 and bound < best - 0.0005 * abs(best):
                risen += self.strides.rise(u, best_u)
                u = best_u.copy()
                mean[:] = 0
                i += 1
                continue
            if stop():
                break
            step = rate[0] * (rate[1] / rate[0]) ** (i / iterations)
            before = u.copy()
            adam_step(u, gradient, self.counts, mean, square, step, stride, 1e-2, low, high)
            risen += self.strides.rise(before, u)
            i += 1
        return best, best_u


@dataclass(frozen=True, kw_only=True)
class LawfulPriceBound:
    """Trust-region rounds for the price bound of a sensitive model.

    Attributes
    ----------
    rounds, iterations: rounds of enumeration, and ascent steps within each.
    margin: half-width of the first and last box, in mean prices.
    rate: first and last step, in mean prices.
    pairs, patterns: budget of (row, pattern) pairs and patterns kept in memory per round.
    work: copies that pricing may look at in all rounds; steps are left out for it, but for a few.
    """

    rounds: int = 14
    iterations: int = 120
    margin: tuple[float, float] = (4.0, 0.3)
    rate: tuple[float, float] = (0.15, 0.001)
    pairs: int = 12_000_000
    patterns: int = 2_000_000
    work: int = WORK

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
        stop: Callable[[], bool] = lambda: False,
        report: Callable[[float, float], None] = lambda bound, share: None,
    ) -> NDArray[np.float64]:
        """Improve prices ``start`` (float64, distinct); ``safe_bound`` says what they prove."""
        instance = tree.instance
        sink = new_sink(self.patterns, self.pairs)
        u, width, begun = start.astype(np.float64), np.inf, int(tree.pad.state[LOOKS])
        for n in range(self.rounds):
            if stop():
                break
            mean = max(float(u @ instance.counts) / instance.rows, 1e-9)
            planned = fade(self.margin, n / max(1, self.rounds - 1)) * mean
            width, state = emit_within(tree, u, min(width, planned), sink)
            ascent = LawfulAscent(
                sink.offset, sink.rows, sink.cost, int(state[0]), instance.counts,
                tree.pricing, tree.pad, tree.strides,
            )  # fmt: skip
            first = min(fade(self.rate, n / self.rounds) * mean, width / 4)
            last = min(fade(self.rate, (n + 1) / self.rounds) * mean, width / 8)
            work = max(0, self.work - (int(tree.pad.state[LOOKS]) - begun)) // (self.rounds - n)
            bound, u = ascent.run(u, width, self.iterations, (first, last), stop, work)
            report(bound, (n + 1) / self.rounds)
        return u


def emit_box(
    tree: LawfulTree, u: NDArray[np.float64], width: float, sink: Sink
) -> NDArray[np.int64]:
    """List the patterns that a point within ``width`` strides of u violates, as far as they fit."""
    return tree.run(EMIT, u, margin=width * tree.strides.lift(), sink=sink)


def emit_within(
    tree: LawfulTree, u: NDArray[np.float64], width: float, sink: Sink
) -> tuple[float, NDArray[np.int64]]:
    """List all patterns that a point within ``width`` strides of u violates; shrink it to fit."""
    while True:
        state = emit_box(tree, u, width, sink)
        if state[3] != OVERFLOW:
            return width, state
        width *= 0.6


def first_prices(tree: LawfulTree, visits: int = UNLIMITED) -> tuple[NDArray[np.float64], bool]:
    """Return each row's cheapest pattern that may hold a lawful class, and whether that is all.

    float64, shape (distinct,), in units of 1/scale.
    """
    instance = tree.instance
    price = np.zeros(instance.distinct)
    for j, column in enumerate(instance.trees):
        price += column.cost[-1][instance.codes[:, j]]
    state = tree.run(SUPPORT, price, visits=visits)
    return price, state[3] == 0


def safe_bound(tree: LawfulTree, u: NDArray[np.float64]) -> tuple[int, NDArray[np.float64]]:
    """Return a proven lower bound in units of 1/scale, and prices that prove it."""
    prices = safe_prices(tree, u)
    return max(0, prices.bound(tree.instance.counts)), prices.price / prices.quantum


def rounded_down(u: NDArray[np.float64], bits: int) -> tuple[NDArray[np.float64], float]:
    """Round prices down to multiples of 2^−bits of the largest; return them and that quantum."""
    largest = max(float(np.abs(u).max(initial=0.0)), 1.0)
    quantum = 2.0 ** (np.floor(np.log2(largest)) - bits)
    return np.floor(u / quantum) * quantum, quantum


def highest_term(instance: Instance, u: NDArray[np.float64]) -> float:
    """Return what a row's price and cost come to together at most."""
    largest = max(float(np.abs(u).max(initial=0.0)), 1.0)
    return largest + float(sum(int(t.cost[-1].max()) for t in instance.trees))


def safe_prices(tree: LawfulTree, u: NDArray[np.float64], bits: int = 30) -> Prices:
    """Return integer prices near u that obey the inequality for all lawful classes.

    The prices are rounded down to multiples of 2^−bits of the largest, exact in doubles; means of
    at most n of them err by less than (n + 9)·2⁻⁵² of the largest, which every excess is raised by
    many times over.
    """
    instance = tree.instance
    price, quantum = rounded_down(u, bits)
    extra = (instance.rows + 4096) * 2.0**-44 * highest_term(instance, u)
    cut = np.zeros(instance.distinct)
    tree.run(MEASURE, price, margin=extra, extra=extra, cut=cut)
    kept = np.floor((price - cut) / quantum).astype(np.int64) - (cut > 0)
    return Prices(kept * int(max(quantum, 1)), int(max(1 / quantum, 1)))
