"""The forest algorithm (Aggarwal et al. 2005, §4): within max{2k−1, 3k−5} of the optimum."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import no_widest
from incrowd.kernels.jit import kernel
from incrowd.kernels.types import Ints
from incrowd.problem.instance import Instance, NodeTables
from incrowd.problem.join import join_cost
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.chain import MergeDuplicates
from incrowd.run.events import Event
from incrowd.solvers.approx import forest_kernels as kernels
from incrowd.solvers.approx.deletion import delete_outliers
from incrowd.solvers.base import Context, Outcome, Scope, refuse_other_models
from incrowd.solvers.baseline.first import first_release

PAIRS_PER_BLOCK = 50_000_000
MOST_DISTINCT = 500_000


@kernel
def nearest_copies(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    tables: NodeTables,
    need: int,
    first: int,
    end: int,
    found: NDArray[np.int32],
    distance: NDArray[np.int64],
    length: NDArray[np.int32],
) -> None:
    """For rows ``first:end`` list the nearest other rows that hold ``need`` more copies.

    The row's own further copies count, at distance 0.  ``found`` and ``distance`` have shape
    (rows, need), nearest first, ``length`` entries of each row are filled; a row with more than
    ``need`` copies gets none.  The last entry's distance is that to the need-th nearest copy.
    ``codes`` should have the columns that tell most rows apart first: sums stop once too large.
    No matrix of all pairs is kept.
    """
    distinct = len(codes)
    for u in range(first, end):
        held = counts[u] - 1
        number = 0
        limit = np.int64(9223372036854775807)
        if held >= need:
            length[u] = 0
            continue
        for v in range(distinct):
            if v == u:
                continue
            total = join_cost(codes[u], codes[v], tables, limit - 1)
            if total >= limit:
                continue
            at_end = number
            while at_end > 0 and distance[u, at_end - 1] > total:
                at_end -= 1
            # Drop from the tail what the new row makes unnecessary.
            held += counts[v]
            while number > at_end and held - counts[found[u, number - 1]] >= need:
                number -= 1
                held -= counts[found[u, number]]
            for i in range(number, at_end, -1):
                found[u, i] = found[u, i - 1]
                distance[u, i] = distance[u, i - 1]
            found[u, at_end] = v
            distance[u, at_end] = total
            number += 1
            if held >= need:
                limit = distance[u, number - 1]
        length[u] = number


@dataclass(frozen=True, kw_only=True)
class Forest:
    """Grow a forest of nearest neighbours, cut it into trees of k..max{2k−1, 3k−5} rows.

    1. FOREST: while a component has fewer than k rows, its one row u without an outgoing edge
       gets an edge to one of its k−1 nearest neighbours that lies outside.
    2. Cut every edge that leaves k rows on both sides.
    3. In a tree that is still too large all subtrees around some row are smaller than k: pack
       them into bins of at least k rows.

    Steps 2 and 3 replace the paper's DECOMPOSE-COMPONENT, whose cases B, C and D leave a Steiner
    vertex that counts for nothing; a later step may pick that vertex as candidate and then lacks
    the one row that its case C needs (k = 5, subtrees of 4, 4 and 3 rows around a Steiner vertex
    have no split at all).  Here all edges are cut before any centre is split, so the centre is
    always a row.

    Each edge is at most what its row pays in any release, so the forest's weight is a lower bound;
    it is reported by an event with ``proof="forest weight"``.  So is, by the same argument, the sum
    over all rows of the distance to the (k−1)-st nearest neighbour (Lemma 3): it is never less than
    the forest's weight, and it is the outcome's bound.  Distances need only be a cost per pair
    that is a metric, as hierarchies and weights give.  Deleting whole rows does not change the
    bound or the ratio.

    Attributes
    ----------
    row_deletion: move outliers whose release with all cells suppressed costs less than what they
        cost their class into one all-suppressed class, if at least k such rows are found.
    """

    row_deletion: bool = False

    id = "forest"
    guarantee = "max{2k−1, 3k−5}"
    scope = Scope(models=("k-anonymity",), rows=MOST_DISTINCT)
    source = "Aggarwal et al. 2005, §4, Theorem 5"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse other models, and tables with too many pairs of distinct rows."""
        if other := refuse_other_models(problem):
            return other
        if problem.instance.distinct > MOST_DISTINCT:
            return (
                f"it compares all pairs of {problem.instance.distinct:,} distinct rows; "
                "use m-approximation or engine"
            )
        return no_widest(problem.instance.trees, "its ratio")

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Return the release and the nearest-neighbour bound."""
        k = problem.smallest_class
        reduced = MergeDuplicates().apply(problem)
        instance = reduced.problem.instance
        if instance.rows < k:
            return Outcome(None)
        neighbours = Neighbours.of(instance, k - 1, context)
        if neighbours is None:
            return Outcome(first_release(problem), 0, context.stop.why())
        solution, weight = plant(instance, neighbours, k)
        bound = neighbours.bound(instance)
        context.listener(Event("forest", solution.cost, weight, proof="forest weight"))
        context.tell("nearest-neighbour bound", solution.cost, bound)
        if self.row_deletion:
            solution = delete_outliers(solution, k).pooled(k)
        return Outcome(reduced.lift(solution), bound)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Nearest other rows of each row, enough to hold ``need`` further copies.

    Attributes
    ----------
    row, distance: int32 and int64, shape (distinct, need): nearest first.
    length: int32, shape (distinct,): entries filled.
    """

    row: NDArray[np.int32]
    distance: Ints
    length: NDArray[np.int32]

    @classmethod
    def of(cls, instance: Instance, need: int, context: Context) -> "Neighbours | None":
        """Compare all pairs, block by block; None when stopped."""
        distinct = instance.distinct
        row = np.zeros((distinct, need), np.int32)
        distance = np.zeros((distinct, need), np.int64)
        length = np.zeros(distinct, np.int32)
        tables = instance.tables
        # Columns that tell most pairs apart first; distances do not depend on the order.
        alike = [
            np.square(np.bincount(column, instance.counts)).sum() for column in instance.codes.T
        ]
        order = np.argsort(alike, kind="stable")
        codes = np.ascontiguousarray(instance.codes[:, order])
        tables = tables.in_order(order)
        block = max(1, PAIRS_PER_BLOCK // max(distinct, 1))
        for first in range(0, distinct, block):
            if context.stop.now():
                return None
            end = min(first + block, distinct)
            found = row, distance, length
            nearest_copies(codes, instance.counts, tables, need, first, end, *found)
            context.tell("nearest neighbours", share=end / distinct)
        return cls(row, distance, length)

    def bound(self, instance: Instance) -> int:
        """Return Σ over all copies of the distance to the need-th nearest copy (Lemma 3)."""
        filled = np.flatnonzero(self.length)
        last = self.distance[filled, self.length[filled] - 1]
        return int(np.dot(instance.counts[filled], last))


def plant(instance: Instance, neighbours: Neighbours, k: int) -> tuple[Solution, int]:
    """Grow the forest and cut it; return the solution and the forest's weight."""
    rows = instance.distinct
    most = max(2 * k - 1, 3 * k - 5)
    # Of 2k copies and more, all but k form a class of their own: it costs nothing.
    weight = np.where(instance.counts >= 2 * k, k, instance.counts)
    target, below, top, centre, item = (np.empty(rows, np.int64) for _ in range(5))
    total = kernels.grow_forest(
        weight, neighbours.row, neighbours.distance, neighbours.length, k, target
    )
    order = kernels.leaves_first(target)
    kernels.cut_edges(weight, target, order, k, below, top)
    kernels.find_centres(target, order, below, top, k, most, centre, item)
    label = np.full(instance.rows, -1, np.int64)
    first_copy = instance.first_copy[:-1]
    classes = kernels.label_copies(weight, first_copy, order, top, centre, item, k, most, label)
    apart = label < 0
    label[apart] = classes + instance.copies[apart]
    return Solution.of(instance, label), int(total)
