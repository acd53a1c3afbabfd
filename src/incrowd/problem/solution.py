"""An assignment of copies to classes, and what follows from it: joins, sizes, cost."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.problem.instance import Instance


@dataclass(frozen=True, eq=False)
class Solution:
    """Which class each copy belongs to.

    Attributes
    ----------
    instance: what it solves.
    classes: int64, shape (rows,): class of each copy, dense ids 0..class_count-1.
    least: int64, shape (classes, columns): the lowest level at which each class may show a column,
        where that is more than its join asks for; None where joins say all.
    """

    instance: Instance
    classes: NDArray[np.int64]
    least: NDArray[np.int64] | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, instance: Instance, classes: NDArray[np.integer]) -> "Solution":
        """Build from any class ids, renumbered densely."""
        _, dense = np.unique(np.asarray(classes), return_inverse=True)
        return cls(instance, dense.ravel().astype(np.int64))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """int64, shape (classes,): copies in each class."""
        return np.bincount(self.classes).astype(np.int64)

    @cached_property
    def order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Copies sorted by class, and where each class starts."""
        order = np.argsort(self.classes, kind="stable")
        return order, np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """int64, shape (classes, columns): level of each class's join, or of ``least`` above it.

        The leaves below a node are a run of codes, so the join of a class is the lowest level at
        which its smallest and largest code agree.
        """
        instance = self.instance
        order, starts = self.order
        member = instance.copies[order]
        levels = np.zeros((len(self.sizes), instance.columns), np.int64)
        for j, tree in enumerate(instance.trees):
            codes = instance.codes[member, j]
            low = np.minimum.reduceat(codes, starts)
            high = np.maximum.reduceat(codes, starts)
            for level in range(tree.levels - 1, -1, -1):
                levels[tree.node[level][low] == tree.node[level][high], j] = level
        return levels if self.least is None else np.maximum(levels, self.least)

    @cached_property
    def class_costs(self) -> NDArray[np.int64]:
        """int64, shape (classes,): cost per row of each class's join, in units of 1/scale."""
        instance = self.instance
        order, starts = self.order
        first = instance.copies[order[starts]]
        total = np.zeros(len(self.sizes), np.int64)
        for j, tree in enumerate(instance.trees):
            total += tree.cost[self.levels[:, j], instance.codes[first, j]]
        return total

    @cached_property
    def cost(self) -> int:
        """Cost of the release: Σ size × cost(join), in units of 1/scale."""
        return int(np.dot(self.sizes, self.class_costs))
