"""A column's hierarchy as the engine sees it: levels over leaf codes, with integer costs.

Suppression is the tree of height 1, so there is one model, not two.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import HierarchyError
from incrowd.text.marks import STAR as STAR


@dataclass(frozen=True, eq=False)
class Tree:
    """One column's hierarchy, restricted to the values that occur in the table.

    Leaf codes are numbered in hierarchy order, so that at every level the leaves below one node
    are a run of consecutive codes.  Leaves at unequal depth are padded: a shallow leaf repeats
    itself (same label, cost 0) at the levels it lacks, and joins the root at the last one.

    Attributes
    ----------
    column: the column's name.
    labels: ``labels[level][node]``, the text released for that node; ``labels[0]`` are the
        values themselves (``None`` = missing), ``labels[-1] == ("*",)``.
    node: int32, shape (levels, leaves): dense id of the leaf's ancestor at that level;
        ``node[0] == arange``, ``node[-1] == 0``, each row nondecreasing.
    cost: int64, shape (levels, leaves): what a cell pays when released at that level, in units of
        ``1/Instance.scale``; row 0 is 0 and columns never fall towards the root.
    """

    column: str
    labels: tuple[tuple[str | None, ...], ...]
    node: NDArray[np.int32]
    cost: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.node.shape != self.cost.shape or len(self.labels) != len(self.node):
            raise HierarchyError(f"column {self.column!r}: levels of nodes, costs, labels differ")
        if (self.cost[0] != 0).any() or (np.diff(self.cost, axis=0) < 0).any():
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

    @classmethod
    def suppression(cls, column: str, leaves: tuple[str | None, ...], weight: int = 1) -> "Tree":
        """Return the tree of height 1: a value stays, or becomes ``*`` at cost ``weight``."""
        size = len(leaves)
        node = np.vstack([np.arange(size, dtype=np.int32), np.zeros(size, dtype=np.int32)])
        cost = np.vstack([np.zeros(size, np.int64), np.full(size, weight, np.int64)])
        return cls(column, (leaves, (STAR,)), node, cost)
