"""Coins of the operating system's generator: no seed, nothing that could be tossed again."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from incrowd.run import entropy


def tossed(rows: int, chances: Sequence[Fraction]) -> NDArray[np.bool_]:
    """bool, shape (rows, columns): True with each column's probability."""
    found = np.zeros((rows, len(chances)), bool)
    for j, chance in enumerate(chances):
        found[:, j] = entropy.tossed(rows, chance)
    return found
