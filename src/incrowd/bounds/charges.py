"""The price bound with each pattern charged once: t-closeness by equal distance, caps on shares.

Claim.  For any prices u no lawful release costs less than Σ counts·u less the charges of all
patterns; the charge of p is the most that Σ (u − cost(p)) comes to over a lawful class of its rows,
or 0.

Argument.  Classes with the same join may be merged: lawful classes are closed under union, and the
cost stays.  So at most one class has join p, and its prices sum to at most its cost and the charge
of p.  Sum over the classes.

Prices without charges lower every copy that a violated pattern could hold; a charge pays for one
class.  The difference is concave, and the dearest classes make its supergradient.
Proof: docs/explanation/sensitive-bounds.md, "Once per pattern".
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.ascent import LEAST_STEPS
from incrowd.bounds.capped_class import CapLaw, most_worth_capped
from incrowd.bounds.copies_by_value import ClosenessLaw, CopiesByValue, new_copies_by_value
from incrowd.bounds.dearest_class import most_worth
from incrowd.bounds.lawful_price import emit_box, highest_term, rounded_down
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.prefix_tree import EMIT, OVERFLOW
from incrowd.bounds.prices import Prices
from incrowd.bounds.pricing import VARIATION
from incrowd.bounds.reductions import adam_step
from incrowd.bounds.rounds import Report, Stop, fade, no_report, no_stop
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.emission import Emission, new_sink

MOST_PATTERNS, MOST_PAIRS = 20_000, 40_000_000  # the checker asks each pattern again, in Python
MOST_CELLS = 1 << 24  # rows times values, with caps on shares: likewise
UNASKED = np.zeros(0, np.int64), np.zeros(0)
LONGEST = 8  # steps that a pattern which is worth nothing is left alone, at most


def charged_prices(
    tree: LawfulTree, start: NDArray[np.float64], stop: Stop = no_stop, report: Report = no_report
) -> Prices | None:
    """Return prices with their charge, sought from ``start``; None where the model has no charges.

    ``tree``: one that prices all sizes of class at once will do, and takes less time.
    """
    law = law_of(tree)
    if law is None:
        return None
    schedule = ChargedBound.capped() if isinstance(law, CapLaw) else ChargedBound()
    return safe_charges(tree, law, schedule.ascend(tree, law, start, stop, report))


def law_of(tree: LawfulTree) -> ClosenessLaw | CapLaw | None:
    """Return the law of shares, or by equal distance, that is all a model asks; or None."""
    pricing, instance = tree.pricing, tree.instance
    if len(pricing.kind) != 1 or (pricing.kind[0] != VARIATION and tree.shares is None):
        return None
    value = pricing.value[pricing.attribute[0]]
    values = int(pricing.start_first[1]) - 1
    table = np.bincount(value, weights=instance.counts, minlength=values).astype(np.int64)
    start = np.append(0, np.cumsum(table))
    if tree.shares is not None and int(table.sum()) * values > MOST_CELLS:
        return None
    if tree.shares is not None:
        return CapLaw(tree.k, tree.shares.lows, tree.shares.caps, start, value)
    least, within = int(pricing.data[0]), float(pricing.data[1])
    return ClosenessLaw(least, within, pricing.data[3 : 3 + values].copy(), start, value)


class Charging(NamedTuple):
    """Prices, patterns, and what the charges of these at those are worked out in.

    u, gradient: float64, counts: int64, by distinct row.  lists: the patterns.  s: scratch for a
    class.  idle: int64, shape (patterns, 2): how often in a row a pattern was worth nothing, and
    the step at which it is asked again: the later the longer it has been idle, so F may be too
    high.
    """

    u: NDArray[np.float64]
    lists: Emission
    counts: NDArray[np.int64]
    law: ClosenessLaw | CapLaw
    s: CopiesByValue
    gradient: NDArray[np.float64]
    idle: NDArray[np.int64]


def charging_of(
    u: NDArray[np.float64],
    lists: Emission,
    patterns: int,
    tree: LawfulTree,
    law: ClosenessLaw | CapLaw,
) -> Charging:
    """Return what the charges of the first patterns of a list are worked out in."""
    scratch = copies_by_value_of(tree, law), np.zeros(len(u)), np.zeros((patterns, 2), np.int64)
    return Charging(u, lists, tree.instance.counts, law, *scratch)


@lean_kernel
def charge(at: Any, step: int, close: Any, capped: Any, shared: Any) -> float:
    """Return F(u) and fill its supergradient; say when each pattern is asked again.

    close, capped: the law, and None for what is no law of that kind.  shared: see ``charge_all``.
    """
    bound = worth = 0.0
    for r in range(at.u.size):
        at.gradient[r] = at.counts[r]
        bound += at.counts[r] * at.u[r]
    cost, offset, rows = at.lists
    idle = at.idle
    for p in range(len(idle)):
        if step < idle[p, 1]:
            continue
        first, last, c = offset[p], offset[p + 1], float(cost[p])
        if close is not None:
            worth = most_worth(rows, first, last, at.u, at.counts, c, close, at.s)
        if capped is not None:
            worth = most_worth_capped(rows, first, last, at.u, at.counts, c, capped, at.s)
        idle[p, 0] = idle[p, 0] + 1 if worth <= 0.0 else 0
        idle[p, 1] = step + min(LONGEST, idle[p, 0])
        if worth > 0.0:
            bound -= worth
            take_dearest(first, last, at, shared)
    return bound


@inner_kernel
def take_dearest(first: int, last: int, at: Any, shared: Any) -> None:
    """Take a pattern's dearest class from the gradient; add it to the shares of its pairs."""
    if shared[1].size > 0:
        for x in range(first, last):
            shared[0][at.lists.rows[x]] = x
    for v in range(at.law.start.size - 1):
        for x in range(at.law.start[v], at.law.start[v] + at.s.best[v]):
            at.gradient[at.s.row[x]] -= 1.0
            if shared[1].size > 0:
                shared[1][shared[0][at.s.row[x]]] += 1.0


def charge_all(
    at: Charging, step: int = 0, shared: tuple[NDArray[np.int64], NDArray[np.float64]] = UNASKED
) -> float:
    """Return F(u) and fill its supergradient.

    shared: scratch, int64, shape (distinct,), and how many copies each pair carries, float64,
        shape (pairs,), which the dearest classes are added to; empty where nobody asks.
    """
    laws = (None, at.law) if isinstance(at.law, CapLaw) else (at.law, None)
    return charge(at, step, *laws, shared)


@dataclass(frozen=True, kw_only=True)
class ChargedBound:
    """Rounds of enumeration and ascent for prices with charges.

    Attributes
    ----------
    rounds, iterations: rounds of enumeration, and ascent steps within each.
    margin: patterns that prices so much higher violate are respected, in mean prices.
    rate: first and last step, in mean prices.
    work: what all steps of a round may take, in the units of ``work_of``; there are fewer steps for
        it, or none.
    """

    rounds: int = 2
    iterations: int = 50
    margin: tuple[float, float] = (0.1, 0.05)
    rate: tuple[float, float] = (0.12, 0.006)
    work: float = 2e8

    @classmethod
    def capped(cls) -> "ChargedBound":
        """Return a schedule for caps on shares, whose prices without charges are far too low."""
        return cls(rounds=3, iterations=120, margin=(1.0, 0.4), rate=(0.6, 0.003), work=6e8)

    def ascend(
        self,
        tree: LawfulTree,
        law: ClosenessLaw | CapLaw,
        start: NDArray[np.float64],
        stop: Stop = no_stop,
        report: Report = no_report,
    ) -> NDArray[np.float64]:
        """Improve prices ``start`` (float64, distinct); ``safe_charges`` says what they prove."""
        counts = tree.instance.counts
        sink = new_sink(MOST_PATTERNS, MOST_PAIRS)
        u = start.astype(np.float64)
        first, second = np.zeros_like(u), np.zeros_like(u)
        free = np.full(len(u), np.inf)
        for n in range(self.rounds):
            mean = max(float(u @ counts) / tree.instance.rows, 1e-9)
            margin = fade(self.margin, n / max(1, self.rounds - 1)) * mean
            patterns = emitted(tree, u, margin, sink)
            if patterns is None:
                return u
            steps = int(min(self.iterations, self.work / work_of(sink, patterns)))
            if steps < LEAST_STEPS:
                return u
            at, best, best_u = charging_of(u, sink, patterns, tree, law), -np.inf, u
            for i in range(steps):
                if stop():
                    return best_u
                bound = charge_all(at, i)
                if bound > best:
                    best, best_u = bound, u.copy()
                step = fade(self.rate, (n + i / steps) / self.rounds) * mean
                stride = tree.strides.of_row
                adam_step(u, at.gradient, counts, first, second, step, stride, 1e-2, -free, free)
                report(best, (n + (i + 1) / steps) / self.rounds)
            u = best_u.copy()
        return u


def emitted(tree: LawfulTree, u: NDArray[np.float64], margin: float, sink: Emission) -> int | None:
    """List patterns that prices within a margin violate, or a smaller one; return how many.

    None where there is no room for those that u violates itself.
    """
    for part in (1.0, 0.5, 0.25, 0.0):
        state = emit_box(tree, u, part * margin, sink)
        if state[3] != OVERFLOW:
            return int(state[0])
    return None


def work_of(sink: Emission, patterns: int) -> float:
    """Say what a step over these patterns takes: some six million a second."""
    return 1.0 + 200.0 * patterns + 0.5 * float(sink.offset[patterns])


def copies_by_value_of(tree: LawfulTree, law: ClosenessLaw | CapLaw) -> CopiesByValue:
    """Allocate scratch for the classes of a tree's patterns."""
    return new_copies_by_value(tree.instance.rows, tree.instance.distinct, len(law.start) - 1)


def safe_charges(
    tree: LawfulTree, law: ClosenessLaw | CapLaw, u: NDArray[np.float64]
) -> Prices | None:
    """Return integer prices near u with what all patterns are charged; None where they do not fit.

    The prices are rounded down to multiples of 2^−30 of the largest, so that sums of them are
    exact in doubles; each charge is raised by more than its multipliers can lose.
    """
    instance = tree.instance
    price, quantum = rounded_down(u, 30)
    sink = new_sink(MOST_PATTERNS, MOST_PAIRS)
    state = tree.run(EMIT, price, sink=sink)
    if state[3]:
        return None
    extra = (instance.rows + 4096) * 2.0**-40 * highest_term(instance, u)
    bound = charge_all(charging_of(price, sink, int(state[0]), tree, law))
    charge = float(price @ instance.counts) - bound + extra * (int(state[0]) + 1)
    unit = int(max(1 / quantum, 1))
    kept = np.floor(price / quantum).astype(np.int64) * int(max(quantum, 1))
    return Prices(kept, unit, charge=max(0, int(np.ceil(charge * unit))))
