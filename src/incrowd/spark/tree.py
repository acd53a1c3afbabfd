"""Which block a row belongs to: a tree of cuts through the codes, made from a sample."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
FAIR = 0.25  # of the rows, that the smaller side of a cut has at the least


@dataclass(frozen=True, eq=False)
class Splits:
    """A binary tree over codes, node 0 the root.

    Attributes
    ----------
    column: int64, shape (nodes,): column that a node cuts; −1 for a leaf.
    limit: int64, shape (nodes,): codes up to this go to ``left``, others to ``right``.
    left, right: int64, shape (nodes,).
    """

    column: NDArray[np.int64]
    limit: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]

    def block(self, codes: Codes) -> NDArray[np.int64]:
        """int64, shape (rows,): the leaf that each row (shape (rows, columns)) falls into."""
        at = np.zeros(len(codes), np.int64)
        moving = np.flatnonzero(self.column[at] >= 0)
        while len(moving):
            node = at[moving]
            low = codes[moving, self.column[node]] <= self.limit[node]
            at[moving] = np.where(low, self.left[node], self.right[node])
            moving = moving[self.column[at[moving]] >= 0]
        return at

    @property
    def leaves(self) -> int:
        """Number of blocks."""
        return int((self.column < 0).sum())

    def without_small(self, size: dict[int, int], least: int) -> "Splits":
        """Join leaves of fewer than ``least`` copies with their neighbours.

        Parameters
        ----------
        size: leaf → copies in it; leaves not named have none.
        """
        column = self.column.copy()
        total = [size.get(node, 0) for node in range(len(column))]
        for node in range(len(column) - 1, -1, -1):  # children stand behind their parents
            if self.column[node] >= 0:
                sides = (int(self.left[node]), int(self.right[node]))
                total[node] = sum(total[side] for side in sides)
                if any(total[side] < least for side in sides):
                    column[node] = -1
        return Splits(column, self.limit, self.left, self.right)


def split(codes: Codes, order: Sequence[int], most: int) -> Splits:
    """Cut a sample into parts of at most ``most`` rows.

    Each part is cut at the median of the first column in ``order`` that can be cut into sides of
    at least a quarter; where there is none, at the fairest cut of any.  Depends on the set of rows
    alone.
    """
    column, limit, left, right = [-1], [0], [0], [0]
    waiting = [(0, np.arange(len(codes)))]
    while waiting:
        node, rows = waiting.pop()
        cut = best_cut(codes[rows], order) if len(rows) > most else None
        if cut is None:
            continue
        column[node], limit[node] = cut
        low = codes[rows, cut[0]] <= cut[1]
        for side, part in ((left, rows[low]), (right, rows[~low])):
            side[node] = len(column)
            waiting.append((len(column), part))
            for array, none in ((column, -1), (limit, 0), (left, 0), (right, 0)):
                array.append(none)
    arrays = (np.array(array, np.int64) for array in (column, limit, left, right))
    return Splits(*arrays)


def best_cut(codes: Codes, order: Sequence[int]) -> tuple[int, int] | None:
    """Return column and limit of the cut to take; None when all rows are alike."""
    best, found = 0.0, None
    for j in order:
        size = np.bincount(codes[:, j])
        low = np.cumsum(size)[:-1] / len(codes)
        fair = np.minimum(low, 1 - low)
        at = int(fair.argmax()) if len(fair) else 0
        if len(fair) and fair[at] >= FAIR:
            return j, at
        if len(fair) and fair[at] > best:
            best, found = float(fair[at]), (j, at)
    return found
