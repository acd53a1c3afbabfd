"""k-member clustering: grow classes of k rows greedily (Byun, Kamra, Bertino, Li 2007)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel
from incrowd.problem.instance import Instance, NodeTables
from incrowd.problem.join import span_cost
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.chain import MergeDuplicates
from incrowd.solvers.base import Context, Outcome, Scope, refuse_other_models

MOST_DISTINCT = 100_000


@kernel
def cheapest_member(
    codes: NDArray[np.int32],
    left: NDArray[np.int64],
    tables: NodeTables,
    span: NDArray[np.int32],
    farthest: bool,
) -> int:
    """Return the row with copies left whose join with a class costs least (or most).

    ``span``, shape (2, columns): the least and greatest codes of the class.  Ties go to the first
    row; −1 when no row is left.
    """
    distinct, columns = codes.shape
    best = np.int64(-1)
    chosen = -1
    for v in range(distinct):
        if left[v] == 0:
            continue
        total = np.int64(0)
        for j in range(columns):
            low = min(span[0, j], codes[v, j])
            high = max(span[1, j], codes[v, j])
            total += span_cost(j, low, high, tables)
            if not farthest and chosen >= 0 and total >= best:
                break
        if chosen < 0 or (total > best if farthest else total < best):
            best = total
            chosen = v
    return chosen


@kernel
def cheapest_class(
    codes: NDArray[np.int32],
    tables: NodeTables,
    spans: NDArray[np.int32],
    sizes: NDArray[np.int64],
    row: int,
) -> int:
    """Return the class whose total cost grows least when a copy of ``row`` joins.

    ``spans``, shape (classes, 2, columns): as ``span`` of ``cheapest_member``.
    """
    best = np.int64(-1)
    chosen = -1
    for c in range(len(spans)):
        before = np.int64(0)
        after = np.int64(0)
        for j in range(codes.shape[1]):
            low = spans[c, 0, j]
            high = spans[c, 1, j]
            before += span_cost(j, low, high, tables)
            after += span_cost(j, min(low, codes[row, j]), max(high, codes[row, j]), tables)
        grows = (sizes[c] + 1) * after - sizes[c] * before
        if chosen < 0 or grows < best:
            best = grows
            chosen = c
    return chosen


@dataclass(frozen=True, kw_only=True)
class KMember:
    """Start at the row farthest from the last start, add the cheapest row until there are k.

    Rows left over at the end, fewer than k, join the classes that they cost least.
    """

    id = "k-member"
    guarantee = "none"
    scope = Scope(models=("k-anonymity",), rows=MOST_DISTINCT)
    source = "Byun, Kamra, Bertino & Li 2007"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse other models and large tables."""
        if other := refuse_other_models(problem):
            return other
        if problem.instance.distinct > MOST_DISTINCT:
            return (
                f"its time grows with the square of the {problem.instance.distinct:,} distinct "
                f"rows, {MOST_DISTINCT:,} at most; use mondrian or engine"
            )
        return None

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Grow classes; when stopped, the rows left form one class (or join the last)."""
        k = problem.smallest_class
        reduced = MergeDuplicates().apply(problem)
        instance = reduced.problem.instance
        if instance.rows < k:
            return Outcome(None)
        growth = Growth(instance, k, context.seed)
        while growth.remaining >= k and not context.stop.now():
            growth.one_class()
            context.tell("growing classes", share=1 - growth.remaining / instance.rows)
        stopped = growth.remaining >= k
        growth.finish(together=stopped)
        ended = context.stop.why() if stopped else "finished"
        return Outcome(reduced.lift(Solution.of(instance, growth.classes)), 0, ended)


class Growth:
    """The classes so far: of each its least and greatest codes, and its size."""

    def __init__(self, instance: Instance, k: int, seed: int) -> None:
        self.instance = instance
        self.k = k
        self.left = instance.counts.copy()
        self.remaining = instance.rows
        self.classes = np.full(instance.rows, -1, np.int64)
        self.spans: list[np.ndarray] = []
        self.sizes: list[int] = []
        self.last = int(np.random.default_rng(seed).integers(instance.distinct))

    def take(self, row: int, number: int, into: int) -> None:
        """Put copies of a row into a class."""
        first = int(self.instance.first_copy[row + 1] - self.left[row])
        self.classes[first : first + number] = into
        self.left[row] -= number
        self.remaining -= number
        self.sizes[into] += number

    def one_class(self) -> None:
        """Grow the next class to k rows."""
        instance, tables = self.instance, self.instance.tables
        codes, into = instance.codes, len(self.spans)
        last = codes[[self.last, self.last]]
        seed = cheapest_member(codes, self.left, tables, last, True)
        span = codes[[seed, seed]]
        self.spans.append(span)
        self.sizes.append(0)
        self.take(seed, min(int(self.left[seed]), self.k), into)
        while self.sizes[into] < self.k:
            row = cheapest_member(codes, self.left, tables, span, False)
            widen(span, codes[row])
            self.take(row, min(int(self.left[row]), self.k - self.sizes[into]), into)
        self.last = seed

    def finish(self, together: bool) -> None:
        """Place what is left: as one class, or each copy where it costs least."""
        instance, tables = self.instance, self.instance.tables
        if together:
            self.classes[self.classes < 0] = len(self.spans)
            return
        spans = np.array(self.spans, np.int32)
        for row in np.flatnonzero(self.left):
            while self.left[row]:
                sizes = np.array(self.sizes, np.int64)
                into = cheapest_class(instance.codes, tables, spans, sizes, int(row))
                widen(spans[into], instance.codes[row])
                self.take(int(row), 1, into)


def widen(span: np.ndarray, codes: np.ndarray) -> None:
    """Let a span of codes, shape (2, columns), hold a row's."""
    np.minimum(span[0], codes, out=span[0])
    np.maximum(span[1], codes, out=span[1])
