"""The price bound: the strongest one linear programming over lawful classes can give.

Claim.  Let every distinct row r have a price u_r such that for every pattern p matched by at
least k copies the k highest prices among them sum to at most k·cost(p).  Then no k-anonymous
release costs less than Σ counts_r·u_r.

Argument.  A class with join p has n ≥ k rows; the mean of all their prices is at most the mean of
the k highest, which is at most cost(p), so the prices of the class sum to at most n·cost(p), its
cost.  Sum over classes.  These inequalities are the dual of the set-partitioning LP over lawful
classes, so the best prices reach the value of that LP.

Method.  F(u) = Σ counts_r·(u_r − max over p∋r of (mean of top k − cost)⁺) is concave, and u minus
that reduction is feasible: each evaluation is a bound.  Supergradient ascent with Adam scaling
inside a box around the centre; only patterns that a point of the box could violate are kept
(trust-region rounds: enumerate, ascend, re-centre, shrink).  At the end the prices are rounded
down to integers and every remaining violation is repaired exactly, in integers.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.instance import Instance
from incrowd.jit import lean_kernel
from incrowd.patterns.prefix_tree import EMIT, OVERFLOW, REPAIR, PrefixTree, Sink, Slack
from incrowd.patterns.topk import may_exceed, top_k, top_k_buffers
from incrowd.solvers.base import Prices


@lean_kernel
def note_excess(
    rows: Any, begin: int, end: int, excess: float, p: int, cut: Any, cutter: Any
) -> None:
    """Raise ``cut`` to what pattern p, which these rows match, exceeds its cost by."""
    for i in range(begin, end):
        r = rows[i]
        if excess > cut[r]:
            cut[r] = excess
            cutter[r] = p


@lean_kernel
def reductions(
    u: Any,
    offset: Any,
    rows: Any,
    cost: Any,
    patterns: int,
    counts: Any,
    k: int,
    cut: Any,
    cutter: Any,
    value: Any,
    weight: Any,
    member: Any,
) -> None:
    """Fill ``cut[r]``, the largest excess of a pattern over r, and ``cutter[r]``, that pattern."""
    cut[:] = 0.0
    cutter[:] = -1
    for p in range(patterns):
        c = cost[p]
        begin = offset[p]
        end = offset[p + 1]
        if not may_exceed(rows, begin, end, u, counts, k, c):
            continue
        total, _ = top_k(rows, begin, end, u, counts, k, value, weight, member)
        excess = total / k - c
        if excess <= 1e-12 * max(1.0, c):
            continue
        note_excess(rows, begin, end, excess, p, cut, cutter)


@lean_kernel
def load_cutters(u: Any, counts: Any, cut: Any, cutter: Any, load: Any, gradient: Any) -> float:
    """Return F(u); begin its supergradient, and load each pattern with the copies that it cuts."""
    bound = 0.0
    for r in range(u.size):
        bound += counts[r] * (u[r] - cut[r])
        gradient[r] = counts[r]
        if cutter[r] >= 0:
            load[cutter[r]] += counts[r]
    return bound


@lean_kernel
def share_out(
    rows: Any,
    begin: int,
    end: int,
    member: Any,
    weight: Any,
    entries: int,
    part: float,
    place: Any,
    share: Any,
) -> None:
    """Add to the pairs begin..end−1, those of a pattern, ``part`` times their members' weights."""
    for i in range(begin, end):
        place[rows[i]] = i
    for j in range(entries):
        share[place[member[j]]] += part * weight[j]


@lean_kernel
def supergradient(
    u: Any,
    offset: Any,
    rows: Any,
    counts: Any,
    k: int,
    cut: Any,
    cutter: Any,
    load: Any,
    gradient: Any,
    place: Any,
    share: Any,
    value: Any,
    weight: Any,
    member: Any,
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
        part = load[p] / k
        load[p] = 0.0
        begin = offset[p]
        end = offset[p + 1]
        _, entries = top_k(rows, begin, end, u, counts, k, value, weight, member)
        for j in range(entries):
            gradient[member[j]] -= part * weight[j]
        if share.size:
            share_out(rows, begin, end, member, weight, entries, part, place, share)
    return bound


@lean_kernel
def adam_step(
    u: Any,
    gradient: Any,
    counts: Any,
    mean: Any,
    square: Any,
    rate: float,
    eps: float,
    low: Any,
    high: Any,
) -> None:
    """Move u along the supergradient per copy, scaled as Adam does, clipped to the box."""
    for r in range(u.size):
        g = gradient[r] / counts[r]
        mean[r] = 0.8 * mean[r] + 0.2 * g
        square[r] = 0.95 * square[r] + 0.05 * g * g
        x = u[r] + rate * mean[r] / (np.sqrt(square[r]) + eps)
        u[r] = min(max(x, low[r]), high[r])


@dataclass
class Ascent:
    """Patterns to respect, and the state of the ascent within one box."""

    offset: NDArray[np.int64]
    rows: NDArray[np.int32]
    cost: NDArray[np.int64]
    patterns: int
    counts: NDArray[np.int64]
    k: int

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
        best, best_u = -np.inf, centre
        for i in range(iterations):
            bound = steps.evaluate()
            if bound > best:
                best, best_u = bound, steps.u - steps.cut
            elif i % 25 == 24 and bound < best - 0.0005 * abs(best):
                steps.restart(best_u)
                continue
            if stop():
                break
            steps.advance(rate[0] * (rate[1] / rate[0]) ** (i / iterations))
        return best, best_u

    def shares(
        self,
        centre: NDArray[np.float64],
        half_width: float,
        iterations: int,
        rate: float,
        stop: Callable[[], bool] = lambda: False,
    ) -> NDArray[np.float64]:
        """Return how many copies each pair carries in a fractional release near the optimum.

        float64, shape (pairs,).  Near the best prices the supergradient is what a fractional
        release leaves uncovered; the mean over many small steps covers every row almost exactly
        (Barahona and Anbil, The volume algorithm, Mathematical Programming 87, 2000).  The first
        quarter of the steps does not count.
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
        return steps.share / max(1, counted)


class Steps:
    """A point that moves along supergradients within a box, and its scratch space."""

    def __init__(
        self, ascent: Ascent, centre: NDArray[np.float64], half_width: float, pairs: int = 0
    ) -> None:
        distinct = len(centre)
        self.ascent, self.u = ascent, centre.copy()
        self.low, self.high = np.maximum(centre - half_width, 0.0), centre + half_width
        self.cut, self.cutter = np.zeros(distinct), np.zeros(distinct, np.int64)
        self.gradient, self.load = np.zeros(distinct), np.zeros(ascent.patterns + 1)
        self.mean, self.square = np.zeros(distinct), np.zeros(distinct)
        self.place, self.share = np.zeros(distinct, np.int64), np.zeros(pairs)
        self.buffers = top_k_buffers(ascent.k, np.float64)

    def evaluate(self) -> float:
        """Return F here; leave its reductions and its supergradient behind."""
        a = self.ascent
        lists = a.offset, a.rows
        found = self.cut, self.cutter
        reductions(self.u, *lists, a.cost, a.patterns, a.counts, a.k, *found, *self.buffers)
        carried = self.load, self.gradient, self.place, self.share
        return float(supergradient(self.u, *lists, a.counts, a.k, *found, *carried, *self.buffers))

    def advance(self, rate: float) -> None:
        """Step along the supergradient."""
        moments = self.mean, self.square
        counts = self.ascent.counts
        adam_step(self.u, self.gradient, counts, *moments, rate, 1e-2, self.low, self.high)

    def restart(self, u: NDArray[np.float64]) -> None:
        """Go on from another point."""
        self.u = u.copy()
        self.mean[:] = 0


MOST_TRIES = 12  # boxes tried per round before the bound is left as it is


@dataclass(frozen=True, kw_only=True)
class PriceBound:
    """Trust-region rounds for the price bound.

    Attributes
    ----------
    rounds, iterations: rounds of enumeration, and ascent steps within each.
    margin: half-width of the first and last box, in suppressed cells (``Instance.cell``).
    rate: first and last step, in suppressed cells.
    lift: factor on the prices to start from.
    pairs, patterns: budget of (row, pattern) pairs and of patterns kept in memory per round.
    visits: nodes of the prefix tree that one enumeration may touch.
    """

    rounds: int = 12
    iterations: int = 60
    margin: tuple[float, float] = (1.5, 0.01)
    rate: tuple[float, float] = (0.1, 0.0005)
    lift: float = 1.0
    pairs: int = 4_000_000
    patterns: int = 1_500_000
    visits: int = 10_000_000

    @classmethod
    def suited(cls, instance: Instance) -> "PriceBound":
        """Return a schedule for this table.

        With real hierarchies the support bound is far below the best prices, so the start is
        lifted and the boxes stay wide; under suppression it is close, and wide boxes waste time.
        """
        if instance.plain:
            return cls()
        return cls(rounds=9, margin=(1.0, 0.05), rate=(0.1, 0.002), lift=1.2)

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
        stop: Callable[[], bool] = lambda: False,
        report: Callable[[float, float], None] = lambda bound, share: None,
    ) -> NDArray[np.float64]:
        """Improve prices ``start`` (float64, distinct); the result may need ``certify``."""
        instance = tree.instance
        cell = instance.cell
        sink = Sink(
            np.empty(self.patterns, np.int64),
            np.zeros(self.patterns + 1, np.int64),
            np.empty(self.pairs, np.int32),
        )
        u = start * self.lift
        width = self.margin[0] * cell
        for n in range(self.rounds):
            if stop():
                break
            planned = fade(self.margin, n / max(1, self.rounds - 1)) * cell
            emitted = emit_within(tree, k, u, min(width, planned), sink, self.visits)
            if emitted is None:
                break
            width, state = emitted
            ascent = Ascent(sink.offset, sink.rows, sink.cost, int(state[0]), instance.counts, k)
            first = min(fade(self.rate, n / self.rounds) * cell, width / 4)
            last = min(fade(self.rate, (n + 1) / self.rounds) * cell, width / 8)
            bound, u = ascent.run(u, width, self.iterations, (first, last), stop)
            report(bound, (n + 1) / self.rounds)
        return u


def fade(ends: tuple[float, float], share: float) -> float:
    """Interpolate geometrically between two ends."""
    return ends[0] * (ends[1] / ends[0]) ** share


def emit_within(
    tree: PrefixTree, k: int, u: NDArray[np.float64], width: float, sink: Sink, visits: int
) -> tuple[float, NDArray[np.int64]] | None:
    """List all patterns that some point within ``width`` of u violates, shrinking it to fit.

    Returns the width and the state of the search, or None when even narrow boxes are too much.
    """
    for _ in range(MOST_TRIES):
        state = tree.run(EMIT, k, u, slack=Slack(width, 0.0, False), sink=sink, visits=visits)
        if state[3] == 0:
            return width, state
        width *= 0.6 if state[3] == OVERFLOW else 0.2
    return None


def certify(tree: PrefixTree, k: int, u: NDArray[np.float64]) -> Prices:
    """Round prices down to multiples of 1/quantum and repair every violation exactly."""
    quantum, price = rounded_down(u, tree.instance.counts)
    tree.run(REPAIR, k, price, unit=quantum)
    return Prices(price, quantum)


def rounded_down(
    u: NDArray[np.float64], counts: NDArray[np.int64]
) -> tuple[int, NDArray[np.int64]]:
    """Return a quantum, and nonnegative prices rounded down to multiples of 1/quantum.

    The quantum is a power of ten that gives the mean price about six digits, so that rounding
    costs about a millionth of the bound.
    """
    mean = max(float(u @ counts) / int(counts.sum()), 1e-6)
    quantum = 10 ** max(0, 6 - round(np.log10(mean)))
    return quantum, np.floor(np.maximum(u, 0.0) * quantum).astype(np.int64)


def bound_of(prices: Prices, counts: NDArray[np.int64]) -> int:
    """Return the certified bound ⌈Σ counts·price / quantum⌉, exactly, in units of 1/scale."""
    total = int(np.sum(prices.price.astype(object) * counts))
    return -(-total // prices.quantum)
