"""The m-approximation for k-anonymity at every k (Liang and Yuan 2012, Theorem 10)."""

from dataclasses import dataclass

import numpy as np

from incrowd.hierarchy.family import no_ranges, trees_of
from incrowd.kernels.types import Ints
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.chain import MergeDuplicates
from incrowd.solvers.base import Context, Outcome, Scope, refuse_other_models


@dataclass(frozen=True, kw_only=True)
class MApproximation:
    """Rows with k copies or more stay as they are; the others form one class.

    With S the copies of rows that have fewer than k, every one of them pays at least one star.

    1. |S| ≥ k: S is one class, of at most m·|S| ≤ m·OPT stars.
    2. |S| < k, and the copies beyond k of the other rows fill it up: OPT ≥ k, cost ≤ m·k.
    3. Otherwise no release can leave a pure class of every other row, so one of them pays too,
       and OPT ≥ |S| + the smallest of them; S and that smallest row form the class.

    Linear time after the merging of equal rows.  For m = 1 it is optimal.  With weights or
    hierarchies a row that changes pays at least its cheapest change, and the ratio is the
    largest cost of a row over the smallest such change.
    """

    id = "m-approximation"
    guarantee = "m = number of columns (with equal weights)"
    scope = Scope(models=("k-anonymity",))
    source = "Liang & Yuan 2012, Theorem 10"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse other models."""
        return refuse_other_models(problem) or no_ranges(problem.instance.trees, "its ratio")

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Return the release and the bound of its case."""
        k = problem.smallest_class
        reduced = MergeDuplicates().apply(problem)
        instance = reduced.problem.instance
        counts = instance.counts
        if instance.rows < k:
            return Outcome(None)
        small = counts < k
        cheapest = cheapest_change(instance)
        bound = int(np.dot(counts[small], cheapest[small]))
        taken = np.where(small, counts, 0)
        missing = k - int(taken.sum())
        if small.any() and missing > 0:
            spare = np.where(small, 0, counts - k)
            if int(spare.sum()) >= missing:
                # Case 2.  At least ``missing`` copies of other rows pay in every release.
                bound += missing * int(cheapest[~small].min())
                taken += np.clip(missing - np.cumsum(spare) + spare, 0, spare)
            else:
                # Case 3.
                large = np.flatnonzero(~small)
                bound += int((counts[large] * cheapest[large]).min())
                smallest = large[np.argmin(counts[large])]
                taken[smallest] = counts[smallest]
        solution = Solution.of(instance, gather(instance, taken))
        return Outcome(reduced.lift(solution), min(bound, solution.cost))


def gather(instance: Instance, taken: Ints) -> Ints:
    """Class ids: the first ``taken[r]`` copies of each row are one class, the rest stay pure."""
    classes = instance.copies + 1
    partly = np.flatnonzero(taken)
    first = instance.first_copy[partly]
    number = taken[partly]
    offset = np.arange(int(number.sum())) - np.repeat(np.cumsum(number) - number, number)
    classes[np.repeat(first, number) + offset] = 0
    return classes


def cheapest_change(instance: Instance) -> Ints:
    """int64, shape (distinct,): the least that a row pays in a class with a different row.

    In some column the class's node covers a second value of the table: the lowest such node.
    """
    least = np.full(instance.distinct, np.iinfo(np.int64).max, np.int64)
    for j, tree in enumerate(trees_of(instance.trees, "m-approximation")):
        present = np.flatnonzero(np.bincount(instance.codes[:, j], minlength=tree.node.shape[1]))
        price = np.full(tree.node.shape[1], -1, np.int64)
        for level in range(tree.levels):
            node = tree.node[level]
            shared = np.bincount(node[present], minlength=int(node.max()) + 1)[node] > 1
            price = np.where((price < 0) & shared, tree.cost[level], price)
        mine = price[instance.codes[:, j]]
        least = np.minimum(least, np.where(mine < 0, least, mine))
    return np.where(least == np.iinfo(np.int64).max, 0, least)
