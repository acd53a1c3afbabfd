"""Row deletion (Aggarwal et al. 2005, §4): a row may leave its class with all cells suppressed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.problem.instance import Instance
from incrowd.problem.join import join_cost
from incrowd.problem.solution import Solution

FAR = 1 << 62


@dataclass(frozen=True, eq=False)
class WithDeletion:
    """Classes of at least k rows, and rows that are deleted instead.

    Attributes
    ----------
    solution: the classes before deletion.
    deleted: bool, shape (rows,): copies that are deleted.
    """

    solution: Solution
    deleted: NDArray[np.bool_]

    @property
    def cost(self) -> int:
        """Cost of the classes without the deleted rows, and of suppressing those cell by cell."""
        instance, kept = self.solution.instance, ~self.deleted
        total = int(row_worst(instance)[instance.copies[self.deleted]].sum())
        for number in np.unique(self.solution.classes[kept]):
            rows = instance.copies[kept & (self.solution.classes == number)]
            total += len(rows) * class_cost(instance, rows)
        return total

    def pooled(self, k: int) -> Solution:
        """Return a lawful solution: the deleted rows as one class, or back if there are < k."""
        if self.deleted.sum() < k:
            return self.solution
        classes = self.solution.classes.copy()
        classes[self.deleted] = classes.max() + 1
        pooled = Solution.of(self.solution.instance, classes)
        return pooled if pooled.cost <= self.solution.cost else self.solution


def row_worst(instance: Instance) -> NDArray[np.int64]:
    """int64, shape (distinct,): cost of suppressing all cells of each row."""
    worst = np.zeros(instance.distinct, np.int64)
    for j, tree in enumerate(instance.trees):
        worst += tree.roots[instance.codes[:, j]]
    return worst


def class_cost(instance: Instance, rows: NDArray[np.int64]) -> int:
    """Cost per row of the join of some distinct rows."""
    codes = instance.codes[rows]
    return int(join_cost(codes.min(axis=0), codes.max(axis=0), instance.tables, FAR))


def delete_outliers(solution: Solution, k: int) -> WithDeletion:
    """In each class of more than k rows delete rows while that lowers the cost."""
    instance = solution.instance
    worst = row_worst(instance)
    deleted = np.zeros(instance.rows, bool)
    order, starts = solution.order
    for number in np.flatnonzero((solution.sizes > k) & (solution.class_costs > 0)):
        members = order[starts[number] : starts[number] + solution.sizes[number]]
        while len(members) > k:
            rows = instance.copies[members]
            now = len(rows) * class_cost(instance, rows)
            after = [
                (len(rows) - 1) * class_cost(instance, np.delete(rows, i)) + int(worst[row])
                for i, row in enumerate(rows)
            ]
            best = int(np.argmin(after))
            if after[best] >= now:
                break
            deleted[members[best]] = True
            members = np.delete(members, best)
    return WithDeletion(solution, deleted)
