"""A column's hierarchy as the engine sees it: levels over leaf codes, with integer costs.

Suppression is the tree of height 1, so there is one model, not two.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import HierarchyError
from incrowd.text.marks import STAR as STAR


@dataclass(frozen=True, eq=False, repr=False)  # which would quote cells
class Tree:
    """One column's hierarchy, restricted to the values that occur in the table.

    Leaf codes are numbered in hierarchy order, so that at every level the leaves below one node
    are a run of consecutive codes.  Leaves at unequal depth are padded: a shallow leaf repeats
    itself (same label and cost) at the levels it lacks, and joins the root at the last one.

    Attributes
    ----------
    column: the column's name.
    labels: ``labels[level][node]``, the text released for that node; ``labels[0]`` are the
        values themselves (``None`` = missing), ``labels[-1] == ("*",)``.
    node: int32, shape (levels, leaves): dense id of the leaf's ancestor at that level;
        ``node[0] == arange``, ``node[-1] == 0``, each row nondecreasing.
    cost: int64, shape (levels, leaves): what a cell pays when released at that level, in units of
        ``1/Instance.scale``; columns never fall towards the root, and row 0 mostly is 0: else see
        ``incrowd.reduce.leaf_costs``.
    """

    column: str
    labels: tuple[tuple[str | None, ...], ...]
    node: NDArray[np.int32]
    cost: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.node.shape != self.cost.shape or len(self.labels) != len(self.node):
            raise HierarchyError(f"column {self.column!r}: levels of nodes, costs, labels differ")
        if (self.cost[0] < 0).any() or (np.diff(self.cost, axis=0) < 0).any():
            raise HierarchyError(f"column {self.column!r}: a cost falls towards the root")
        if (np.diff(self.node, axis=1) < 0).any():
            raise HierarchyError(f"column {self.column!r}: leaves are not in hierarchy order")
        self.node.setflags(write=False)
        self.cost.setflags(write=False)

    @property
    def levels(self) -> int:
        """Number of levels, leaves and root included."""
        return len(self.node)

    @property
    def leaves(self) -> tuple[str | None, ...]:
        """The column's values by leaf code; ``None`` stands for a missing value."""
        return self.labels[0]

    @property
    def roots(self) -> NDArray[np.int64]:
        """int64, shape (leaves,): what a cell of each value costs as ``*``."""
        return self.cost[-1]

    @property
    def dearest(self) -> int:
        """What ``*`` costs."""
        return int(self.cost[-1].max(initial=0))

    @property
    def nodes(self) -> int:
        """Number of levels: of nodes that hold a leaf."""
        return len(self.node)

    @property
    def star(self) -> str:
        """How the root is written."""
        return str(self.labels[-1][0])

    def join_levels(self, low: NDArray[np.integer], high: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the lowest level at which each pair of codes, ``low <= high``, has one node.

        The leaves below a node are a run of codes, so it is that of the join of all in between.
        """
        found = np.zeros(low.shape, np.int64)
        for level in range(self.levels - 1, -1, -1):
            found[self.node[level][low] == self.node[level][high]] = level
        return found

    def join_costs(self, low: NDArray[np.integer], high: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return what the join of each pair of codes, ``low <= high``, costs."""
        return self.cost[self.join_levels(low, high), low]

    @property
    def above(self) -> NDArray[np.int64]:
        """int64, shape (leaves,): number of nodes above each value, itself and ``*`` included."""
        return np.full(len(self.leaves), self.levels, np.int64)

    @property
    def steps(self) -> NDArray[np.int64]:
        """int64, shape (leaves,): the least cost at which each value meets another; −1 for none."""
        cheapest = np.full(len(self.leaves), -1, np.int64)
        # the lowest level whose node holds more than this leaf is the first real step
        for level in range(self.levels - 1, 0, -1):
            members = np.bincount(self.node[level])[self.node[level]]
            cheapest[members > 1] = self.cost[level][members > 1]
        return cheapest

    def times(self, factor: int) -> "Tree":
        """Return the tree with all costs multiplied."""
        return replace(self, cost=self.cost * np.int64(factor))

    @classmethod
    def suppression(cls, column: str, leaves: tuple[str | None, ...], weight: int = 1) -> "Tree":
        """Return the tree of height 1: a value stays, or becomes ``*`` at cost ``weight``."""
        size = len(leaves)
        node = np.vstack([np.arange(size, dtype=np.int32), np.zeros(size, dtype=np.int32)])
        cost = np.vstack([np.zeros(size, np.int64), np.full(size, weight, np.int64)])
        return cls(column, (leaves, (STAR,)), node, cost)
