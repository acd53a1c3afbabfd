"""Patterns and the rows that match them, as a search lists them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Emission(NamedTuple):
    """Patterns: ``rows[offset[p]:offset[p+1]]`` match p, which costs ``cost[p]`` a row.

    int64, shape (patterns,); int64, shape (patterns + 1,); int32, shape (pairs,).  A search fills
    one from the start, as far as there is room.
    """

    cost: NDArray[np.int64]
    offset: NDArray[np.int64]
    rows: NDArray[np.int32]

    def first(self, patterns: int) -> "Emission":
        """Return a copy of the first patterns alone."""
        end = int(self.offset[patterns])
        offset = self.offset[: patterns + 1].copy()
        return Emission(self.cost[:patterns].copy(), offset, self.rows[:end].copy())

    def before(self, other: "Emission") -> "Emission":
        """Return the patterns of both, one list behind the other."""
        return Emission(
            np.concatenate([self.cost, other.cost]),
            np.concatenate([self.offset, other.offset[1:] + self.offset[-1]]),
            np.concatenate([self.rows, other.rows]),
        )


def new_sink(patterns: int, pairs: int) -> Emission:
    """Allocate room for so many patterns and (row, pattern) pairs."""
    offset = np.zeros(patterns + 1, np.int64)
    return Emission(np.empty(patterns, np.int64), offset, np.empty(pairs, np.int32))
