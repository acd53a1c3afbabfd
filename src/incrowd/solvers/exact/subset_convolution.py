"""Exact subset convolution over what prices leave: 2^n·poly(n), with the gap as a factor."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import trees_of
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.chain import Level, presolve
from incrowd.solvers.base import Context, Outcome, Scope, refuse_open_models
from incrowd.solvers.baseline.first import first_release
from incrowd.solvers.exact.class_prices import ClassPrices, class_prices
from incrowd.solvers.exact.convolution_kernels import count_block
from incrowd.solvers.exact.submultisets import enumerate_submultisets, too_big
from incrowd.solvers.exact.subset_dp import SubsetDP

TRIES = 50_000  # steps of the search for a tiling before the sure way is taken
MOST_ROWS = 24
LOW = 12  # bits of the sets that one call of the kernel goes through
HELD = 1 << 22  # numbers for each size of class in one call, about
MOST_PARTS = 300  # slack beyond which going through all pairs of sets is faster
FINE = 100  # units of cost in a row beyond which slacks are expected to be that large
RING = 1 << 64


@dataclass(frozen=True, eq=False)
class CandidateClasses:
    """Classes that an optimum may have.

    Attributes
    ----------
    part: int64, shape (classes,): rows as bits.
    size, slack: int64, shape (classes,).
    rows: of the table; smallest: size of a class.
    """

    part: NDArray[np.int64]
    size: NDArray[np.int64]
    slack: NDArray[np.int64]
    rows: int
    smallest: int

    def where(self, kept: NDArray[np.bool_]) -> "CandidateClasses":
        """Return some of them."""
        arrays = self.part[kept], self.size[kept], self.slack[kept]
        return CandidateClasses(*arrays, self.rows, self.smallest)

    def within(self, most: int) -> "CandidateClasses":
        """Return those of a slack up to ``most``."""
        return self.where(self.slack <= most)


Count = Callable[[CandidateClasses, int, Context], NDArray[np.uint64] | None]


def tile(found: CandidateClasses, slack: int, context: Context, count: Count) -> list[int] | None:
    """Return classes that partition the rows with this slack in all; None when stopped.

    There are such classes.  If a search among them takes too long, each two rows are asked whether
    they may be together: at most n(n − 1)/2 counts, after which the classes are known.
    """
    chosen = _searched(found, slack)
    if chosen is not None:
        return chosen
    bits = range(found.rows)
    for a in bits:
        for b in bits[a + 1 :]:
            together = (found.part >> a & 1) == (found.part >> b & 1)
            rest = found.where(together)
            counts = count(rest, slack, context)
            if counts is None:
                return None
            apart = (found.part >> a & 1) + (found.part >> b & 1) < 2
            found = rest if counts[slack] else found.where(apart)
    return sorted({int(part) for part in _blocks(found)})


def _blocks(found: CandidateClasses) -> NDArray[np.int64]:
    """For each row the class that it is in, once every two rows are decided."""
    return np.array([found.part[(found.part >> r & 1) == 1][0] for r in range(found.rows)])


def _searched(found: CandidateClasses, slack: int) -> list[int] | None:
    """Depth first by the row with the fewest classes left; None when it takes too long."""
    bits = np.arange(found.rows)
    holds = (found.part[:, None] >> bits & 1).astype(bool)
    failed: set[tuple[int, int]] = set()
    left = TRIES

    def descend(at: NDArray[np.int64], free: int, rest: int) -> list[int] | None:
        nonlocal left
        if not free:
            return [] if rest == 0 else None
        number = np.where(free >> bits & 1, holds[at].sum(axis=0), len(at) + 1)
        row = int(np.argmin(number))
        here = at[holds[at, row]]
        for i in here[np.argsort(found.slack[here], kind="stable")].tolist():
            left -= 1
            if left < 0:
                return None
            part, less = int(found.part[i]), rest - int(found.slack[i])
            if (free ^ part, less) in failed:
                continue
            fits = (found.part[at] & part == 0) & (found.slack[at] <= less)
            chosen = descend(at[fits], free ^ part, less)
            if chosen is not None:
                return [part, *chosen]
        failed.add((free, rest))
        return None

    return descend(np.flatnonzero(found.slack <= slack), (1 << found.rows) - 1, slack)


@dataclass(frozen=True, kw_only=True)
class SubsetConvolution:
    """Count the partitions into lawful classes by cost, by inclusion and exclusion over rows.

    Prices of the rows (whole numbers, proven) leave each class a slack ≥ 0, and a release of cost c
    has slack units·c − Σ prices in all.  For g = 0, 1, 3, 7, … the sequences of classes that
    partition the rows with slack ≤ g in all are counted, in 2^n·n²·g² steps; the first slack
    with any is the optimum's.  Counts are taken modulo 2^64; a table is refused unless there are
    fewer than 2^64 partitions into sequences of classes, so that none is taken for 0.
    """

    reductions: Level = "all"

    id = "subset-convolution"
    guarantee = "exact"
    scope = Scope(
        models=("any closed under union",),
        rows=MOST_ROWS,
        size="24 rows, copies counted, with classes of 3 and more; 21 with 2, 18 with 1",
    )
    source = "Björklund, Husfeldt, Kaski & Koivisto 2007, on what prices leave (see methods)"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse models that are not closed under union, and too many rows."""
        if not problem.model.closed_under_union:
            return refuse_open_models(problem)
        reduced = presolve(problem, self.reductions).problem
        rows, smallest = reduced.instance.rows, max(problem.smallest_class, 1)
        if rows > MOST_ROWS or sequences(rows, smallest) >= RING:
            exact = "pattern-milp or " if problem.model.size_decides else ""
            return (
                f"it goes through all sets of the {rows} rows, copies counted, and can do so up to "
                f"{MOST_ROWS}, or fewer with classes of 1 or 2; use {exact}engine"
            )
        if fine(reduced.instance) and too_big(reduced.instance):
            return "costs in small units leave it too much to count; use engine"
        return None

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Count with a growing slack; returns bound = cost when it finishes."""
        reduced = presolve(problem, self.reductions)
        small = told_apart(reduced.problem)
        context.tell("pricing subsets")
        parts = enumerate_submultisets(small, context.stop)
        if parts is None:
            return Outcome(first_release(problem), 0, context.stop.why())
        # A model that looks at sizes alone leaves out classes that split; the table is one still.
        if small.instance.rows < max(problem.smallest_class, 1) or not small.model.lawful(
            small.table, small.table
        ):
            return Outcome(None)
        price = parts.price
        if price[-1] < 0:
            price[-1] = small.instance.worst_cost
        unit = max(int(np.gcd.reduce(price[price > 0])), 1)
        prices = class_prices(
            np.where(price > 0, price // unit, price), small.instance.rows, context.stop
        )
        if prices is None:
            return Outcome(first_release(problem), 0, context.stop.why())
        chosen, bound = self.search(small, parts.size, prices, context)
        if chosen is None and not context.stop.now():
            return SubsetDP(reductions=self.reductions).run(problem, context)
        if chosen is None:
            return Outcome(first_release(problem), bound * unit, context.stop.why())
        classes = np.zeros(small.instance.rows, np.int64)
        for number, group in enumerate(chosen):
            classes[group >> np.arange(small.instance.rows) & 1 == 1] = number
        solution = reduced.lift(Solution.of(reduced.problem.instance, classes))
        return Outcome(solution, solution.cost)

    def search(
        self, problem: Problem, size: NDArray[np.int32], prices: ClassPrices, context: Context
    ) -> tuple[list[int] | None, int]:
        """Return the classes of an optimum as bits, and the bound.

        None when stopped, or when prices leave so much that pairs of sets are the better way.
        """
        rows, smallest = problem.instance.rows, max(problem.smallest_class, 1)
        bound = prices.bound
        most = prices.units * bound - prices.total
        while most <= MOST_PARTS or too_big(problem.instance):
            at = np.flatnonzero((prices.slack >= 0) & (prices.slack <= most))
            found = CandidateClasses(
                at, size[at].astype(np.int64), prices.slack[at], rows, smallest
            )
            context.tell("subsets", bound=bound)
            counts = counted(found, most, context)
            if counts is None:
                return None, bound
            if counts.any():
                least = int(np.argmax(counts > 0))
                chosen = tile(found.within(least), least, context, counted)
                return chosen, (prices.total + least) // prices.units
            # No release has a slack up to ``most``: the next cost is one unit above its last.
            bound = (prices.total + most) // prices.units + 1
            most = max(2 * most + 1, prices.units * bound - prices.total)
        return None, bound


def counted(found: CandidateClasses, most: int, context: Context) -> NDArray[np.uint64] | None:
    """uint64, shape (most + 1,): sequences of classes that partition the rows, by slack.

    None when stopped.
    """
    counts = np.zeros(most + 1, np.uint64)
    low = min(found.rows, LOW, max((HELD // (most + 1)).bit_length() - 1, 0))
    blocks = 1 << (found.rows - low)
    for top in range(blocks):
        if context.stop.now():
            return None
        arrays = found.part, found.size, found.slack
        count_block(top, low, found.rows, found.smallest, *arrays, counts)
        context.tell("subsets", share=(top + 1) / blocks)
    return counts


def fine(instance: Instance) -> bool:
    """Whether a row may cost many units of cost, so that slacks may be large."""
    if instance.ranged:
        return True
    costs = [tree.cost for tree in trees_of(instance.trees, "subset-convolution")]
    unit = max(int(np.gcd.reduce(np.concatenate([c.ravel() for c in costs] or [[0]]))), 1)
    return sum(int(c.max(initial=0)) for c in costs) // unit > FINE


def sequences(rows: int, smallest: int) -> int:
    """Return the number of ways to partition rows into a sequence of classes of a smallest size."""
    ways = [1]
    for j in range(1, rows + 1):
        ways.append(sum(comb(j, i) * ways[j - i] for i in range(smallest, j + 1)))
    return ways[rows]


def told_apart(problem: Problem) -> Problem:
    """Return the problem with each copy as a row of its own."""
    instance = problem.instance
    codes = np.ascontiguousarray(instance.codes[instance.copies])
    sensitive = None if instance.sensitive is None else instance.sensitive[instance.copies]
    counts = np.ones(instance.rows, np.int64)
    return replace(
        problem, instance=replace(instance, codes=codes, counts=counts, sensitive=sensitive)
    )
