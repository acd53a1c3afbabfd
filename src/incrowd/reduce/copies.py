r"""Cut the number of copies of one row: an optimum keeps the rest in a class of their own.

Write d(p) for the cost per row of pattern p.  The patterns above a fixed row a are closed under
join, and d(p ∨ q) ≤ d(p) + d(q), since in each column the join is the higher of the two.  A class
is *pure* when all its rows are copies of a.

**The paper's threshold** (Blocki and Williams 2010, Lemma 2 and Algorithm 1).  There are P
patterns above a (2^m under suppression).  Among more than k(2k−1)P copies, some k classes of at
most 2k−1 rows have the same pattern; merged, they give k copies to a pure class and stay lawful.
So above k·2k·P copies an optimum has two pure classes, and k copies can go.

**The tighter threshold.**  Take an optimum.

1. From every impure class take out the copies of a that it has beyond k rows; call them free.
   What is left are classes of exactly k rows with x ≥ 1 copies of a (the others have none left).
2. Two such classes p, q with x + x' = y copies: merge them and take out min(y, k) copies.  The
   cost falls or stays if (2k − min(y, k))·d(p ∨ q) ≤ k(d(p) + d(q)): *mergeable*.  With y ≥ k
   this always holds.  So merge until no two are mergeable; then any two have y ≤ k − 1, and
   (2k−2)·d(p ∨ q) > k(d(p) + d(q)) because y ≥ 2.
3. If F is the size of the largest family of patterns for which that holds pairwise, at most
   M = max(k − 1, ⌊F(k−1)/2⌋) copies are left in impure classes.
4. If k or more copies are free they form a pure class, and the cost did not rise.  So with at
   least M + k copies there is an optimum with at least c − M ≥ k of them in pure classes.

Hence tables with c and c' ≥ M + k copies of a have the same optimum.  Only when c ≥ M + 2k are
c − (M + k) ≥ k copies taken away, so that they can stand as a class whatever the rest does.
F is bounded from above by covering the patterns with sets of pairwise mergeable ones, greedily.
For k = 2 no two classes are unmergeable, F = M = 1, and at most four copies stay.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.tree import Tree
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.base import Reduced, unchanged

MOST_PATTERNS = 1024  # beyond it F is bounded by the number of patterns, which is always safe


def without(problem: Problem, removed: NDArray[np.int64]) -> Reduced:
    """Take away ``removed[r]`` copies of row r (0 or at least k); each set becomes one class."""
    instance = problem.instance
    if not removed.any():
        return unchanged(problem)
    smaller = replace(instance, counts=instance.counts - removed)
    place = np.arange(instance.rows) - np.repeat(instance.first_copy[:-1], instance.counts)
    kept = place < smaller.counts[instance.copies]

    def lift(solution: Solution) -> Solution:
        classes = np.empty(instance.rows, np.int64)
        classes[kept] = solution.classes
        first_new = int(solution.classes.max(initial=-1)) + 1
        classes[~kept] = first_new + instance.copies[~kept]
        return Solution.of(instance, classes)

    return Reduced(Problem(smaller, problem.model), lift)


@dataclass(frozen=True)
class PaperThreshold:
    """Algorithm 1 of the paper: while a row has more than 2k²P copies, set k of them aside."""

    id = "paper-threshold"
    source = "Blocki & Williams 2010, Lemma 2 and Algorithm 1"

    def threshold(self, problem: Problem) -> int:
        """Return 2k²·P; P bounds the patterns above a row: 2^m, ∏ levels, or ∏ intervals."""
        k = problem.smallest_class
        above = (int(tree.above.max(initial=1)) for tree in problem.instance.trees)
        return 2 * k * k * prod(above)

    def apply(self, problem: Problem) -> Reduced:
        """Set aside multiples of k copies."""
        if not problem.model.size_decides:
            return unchanged(problem)
        k = problem.smallest_class
        above = np.maximum(problem.instance.counts - self.threshold(problem), 0)
        return without(problem, -(-above // k) * k)


@dataclass(frozen=True)
class TightThreshold:
    """At most M + 2k − 1 copies of a row matter; see the module's text for the proof."""

    id = "tight-threshold"
    source = "exchange argument, proved in incrowd.reduce.copies"

    def apply(self, problem: Problem) -> Reduced:
        """Set aside all but M + k copies of every row that has at least M + 2k."""
        if not problem.model.size_decides:
            return unchanged(problem)
        instance, k = problem.instance, problem.smallest_class
        removed = np.zeros(instance.distinct, np.int64)
        for row in np.flatnonzero(instance.counts >= 3 * k - 1):  # M is at least k − 1
            most = most_impure(instance, int(row), k)
            if instance.counts[row] >= most + 2 * k:
                removed[row] = instance.counts[row] - most - k
        return without(problem, removed)


def most_impure(instance: Instance, row: int, k: int) -> int:
    """Return M: how many copies of ``row`` some optimum keeps outside pure classes at most."""
    trees = [tree for tree in instance.trees if isinstance(tree, Tree)]
    if len(trees) < instance.columns:  # of intervals only how many lie above the row is asked
        above = (int(tree.above[instance.codes[row, j]]) for j, tree in enumerate(instance.trees))
        return max(k - 1, (prod(above) - 1) * (k - 1) // 2)
    costs = tuple(
        tuple(int(x) for x in tree.cost[:, instance.codes[row, j]]) for j, tree in enumerate(trees)
    )
    return max(k - 1, family_bound(costs, k) * (k - 1) // 2)


@lru_cache(maxsize=4096)
def family_bound(costs: tuple[tuple[int, ...], ...], k: int) -> int:
    """Bound the size of a family of pairwise unmergeable patterns above one row.

    Parameters
    ----------
    costs: for each column the row's cost at each level.
    """
    if k <= 2:
        return 1
    patterns = prod(len(column) for column in costs) - 1
    if patterns > MOST_PATTERNS:
        return patterns
    table = np.zeros((len(costs), max(len(column) for column in costs)), np.int64)
    for j, column in enumerate(costs):
        table[j, : len(column)] = column
    levels = np.array(list(product(*(range(len(column)) for column in costs))), np.int64)[1:]
    columns = np.arange(len(costs))
    cost = table[columns, levels].sum(axis=1)
    levels, cost = levels[np.argsort(cost, kind="stable")], np.sort(cost)
    free = np.ones(len(cost), bool)
    cover = 0
    while free.any():
        # Grow one set of pairwise mergeable patterns, cheapest first.
        candidates = free.copy()
        while candidates.any():
            p = int(np.argmax(candidates))
            free[p] = candidates[p] = False
            join = table[columns, np.maximum(levels, levels[p])].sum(axis=1)
            candidates &= (2 * k - 2) * join <= k * (cost + cost[p])
        cover += 1
    return cover
