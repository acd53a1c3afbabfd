"""Coins of the operating system's generator: no seed, nothing that could be tossed again."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from incrowd.run import entropy


def tossed(rows: int, chances: Sequence[Fraction]) -> NDArray[np.bool_]:
    """bool, shape (rows, columns): True with each column's probability."""
    return raised(rows, chances, [1] * len(chances)) > 0


def raised(rows: int, chances: Sequence[Fraction], heights: Sequence[int]) -> NDArray[np.int64]:
    """int64, shape (rows, columns): the level from which on a cell is known.

    Each level above the values, of which a column has ``heights``, has the column's probability; 0
    has what is left, which must not be negative.
    """
    found = np.zeros((rows, len(chances)), np.int64)
    for j, (chance, height) in enumerate(zip(chances, heights, strict=True)):
        left = Fraction(1)
        for level in range(height, 0, -1):
            here = entropy.tossed(rows, chance / left if left else Fraction(0))
            found[:, j] = np.where((found[:, j] == 0) & here, level, found[:, j])
            left -= chance
    return found
