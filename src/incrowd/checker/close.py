"""Which rows may be near which, for ``crowds``: what the join of two costs one of them at least.

Rows agree in a column where they have one node there.  Nodes are put into a few buckets: rows that
agree have one bucket.  So what a row's columns cost in all, less what those cost where both have
one bucket, is no more than the join costs; that is a product of matrices.  Their entries are whole
numbers, and no sum is beyond those that the type of floats holds exactly.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd.checker.inequality import Ints

MOST = 1 << 28  # bytes of the matrix of all rows
BUCKETS = 16  # of a column, or fewer for want of room
SINGLE, DOUBLE = 1 << 24, 1 << 53  # whole numbers up to these are exact


class Close:
    """The rows of a table by buckets.

    Attributes
    ----------
    node, weight: int64, shape (rows, columns): what rows are, and what hiding it costs them.
    """

    def __init__(self, node: Ints, weight: Ints) -> None:
        self.node, self.weight = node, weight
        rows, columns = node.shape
        self.total = weight.sum(axis=1)
        highest = int(self.total.max(initial=0))
        self.kind = np.float32 if highest < SINGLE else np.float64
        room = MOST // max(1, rows * columns * np.dtype(self.kind).itemsize)
        self.buckets = min(BUCKETS, room) if highest < DOUBLE else 0
        if self.buckets > 1:
            self.every = self.spread(np.arange(rows), np.ones_like(weight))

    def spread(self, some: Ints, value: Ints) -> NDArray[np.floating]:
        """Return a line for each of some rows, with a value in each column's bucket."""
        columns = self.node.shape[1]
        lines = np.zeros((len(some), columns * self.buckets), self.kind)
        at = self.node[some] % self.buckets + np.arange(columns) * self.buckets
        np.put_along_axis(lines, at, value.astype(self.kind), axis=1)
        return lines

    def least(self, some: Ints) -> Ints:
        """Return what the join with each row costs each of some at least: (some, rows)."""
        if self.buckets <= 1:
            return np.zeros((len(some), len(self.node)), np.int64)
        shared = self.spread(some, self.weight[some]) @ self.every.T
        return self.total[some, None] - shared.astype(np.int64)
