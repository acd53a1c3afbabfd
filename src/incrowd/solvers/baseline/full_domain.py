"""Full-domain recoding: one level per column for the whole table, and a few suppressed rows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import trees_of
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution

Levels = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class FullDomain:
    """A problem seen through level vectors.

    Attributes
    ----------
    suppression: the largest share of rows that may be suppressed whole, 0..1.
    """

    problem: Problem
    suppression: float

    @cached_property
    def table(self) -> Group:
        """The sensitive values of the table."""
        return self.problem.table

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """The hierarchies, which have levels."""
        return trees_of(self.problem.instance.trees, "a method that generalizes whole columns")

    def groups(self, columns: tuple[int, ...], levels: Levels) -> NDArray[np.int64]:
        """int64, shape (distinct,): dense ids of the rows' groups on some columns."""
        instance = self.problem.instance
        ids = np.zeros(instance.distinct, np.int64)
        for j, level in zip(columns, levels, strict=True):
            node = self.trees[j].node[level]
            key = ids * (int(node.max()) + 1) + node[instance.codes[:, j]]
            ids = np.unique(key, return_inverse=True)[1].ravel().astype(np.int64)
        return ids

    def lawful_groups(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """bool, shape (groups,): which groups are lawful classes."""
        instance, model = self.problem.instance, self.problem.model
        if model.size_decides:
            return np.bincount(ids, weights=instance.counts) >= model.smallest_class(self.table)
        return model.lawful_classes(Classes(ids[instance.copies], self.table))

    def holds(self, columns: tuple[int, ...], levels: Levels) -> bool:
        """Whether the rows outside lawful groups are few enough to suppress."""
        instance = self.problem.instance
        ids = self.groups(columns, levels)
        outside = ~self.lawful_groups(ids)[ids]
        return int(instance.counts[outside].sum()) <= self.suppression * instance.rows

    def release(self, levels: Levels) -> Solution:
        """Return the lawful groups as classes and the other rows as one class.

        Should the suppressed rows be no lawful class of their own, the smallest lawful groups
        are suppressed with them until they are.  Classes are released at their joins, which lie
        at or below ``levels``.
        """
        problem, instance = self.problem, self.problem.instance
        ids = self.groups(tuple(range(instance.columns)), levels)
        lawful = self.lawful_groups(ids)
        suppressed = ~lawful[ids]
        if suppressed.any():
            size = np.bincount(ids, weights=instance.counts)
            for group in np.flatnonzero(lawful)[np.argsort(size[lawful], kind="stable")]:
                copies = np.flatnonzero(suppressed[instance.copies])
                if problem.model.lawful(problem.group(copies), self.table):
                    break
                suppressed |= ids == group
        ids = np.where(suppressed, len(lawful), ids)
        return Solution.of(instance, ids[instance.copies])
