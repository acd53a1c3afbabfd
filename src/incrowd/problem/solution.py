"""An assignment of copies to classes, and what follows from it: joins, sizes, cost."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.range_family import RangeFamily
from incrowd.problem.instance import Instance


@dataclass(frozen=True, eq=False)
class Solution:
    """Which class each copy belongs to.

    Attributes
    ----------
    instance: what it solves.
    classes: int64, shape (rows,): class of each copy, dense ids 0..class_count-1.
    least: int64, shape (classes, columns): the lowest level at which each class may show a column,
        where that is more than its join asks for, 0 of intervals; None where joins say all.
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
        return order, (np.cumsum(self.sizes) - self.sizes).astype(np.int64)

    @cached_property
    def spans(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """int32, shape (classes, columns): the least and the greatest code of each class.

        The leaves below a node are a run of codes, so these two have the join of the class.
        """
        order, starts = self.order
        member = self.instance.copies[order]
        low, high = np.zeros((2, len(starts), self.instance.columns), np.int32)
        for j in range(self.instance.columns):
            codes = self.instance.codes[member, j]
            low[:, j] = np.minimum.reduceat(codes, starts)
            high[:, j] = np.maximum.reduceat(codes, starts)
        return low, high

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """int64, shape (classes, columns): level of each class's join, or of ``least`` above it.

        Of a column with intervals 0 where the class shows its value, and else 1.
        """
        (low, high), trees = self.spans, self.instance.trees
        levels = np.zeros(low.shape, np.int64)
        for j, tree in enumerate(trees):
            if isinstance(tree, RangeFamily):
                levels[:, j] = low[:, j] != high[:, j]
            else:
                levels[:, j] = tree.join_levels(low[:, j], high[:, j])
        return levels if self.least is None else np.maximum(levels, self.least)

    @cached_property
    def class_costs(self) -> NDArray[np.int64]:
        """int64, shape (classes,): cost per row of each class's join, in units of 1/scale."""
        low, high = self.spans
        total = np.zeros(len(self.sizes), np.int64)
        for j, tree in enumerate(self.instance.trees):
            if isinstance(tree, RangeFamily):
                total += tree.join_costs(low[:, j], high[:, j])
            else:
                total += tree.cost[self.levels[:, j], low[:, j]]
        return total

    @cached_property
    def cost(self) -> int:
        """Cost of the release: Σ size × cost(join), in units of 1/scale."""
        return int(np.dot(self.sizes, self.class_costs))

    def part(self, block: NDArray[np.int64]) -> tuple["Solution", NDArray[np.int64]]:
        """Return some copies as a problem of their own, and its distinct rows' numbers here.

        ``block``: int64: numbers of copies, ascending, whole classes of them.
        """
        whole = self.instance
        rows, counts = np.unique(whole.copies[block], return_counts=True)
        part = Instance(whole.codes[rows], counts.astype(np.int64), whole.trees, whole.scale)
        return Solution.of(part, self.classes[block]), rows
