"""Coins of the operating system's generator: no seed, nothing that could be tossed again."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from incrowd.run.entropy import numbers

SIDES = 2**64


def tossed(rows: int, chances: Sequence[Fraction]) -> NDArray[np.bool_]:
    """bool, shape (rows, columns): True with each column's probability, or 2⁻⁶⁴ more."""
    found = np.zeros((rows, len(chances)), bool)
    for j, chance in enumerate(chances):
        most = ceil(chance * SIDES)
        if most >= SIDES:
            found[:, j] = True
        elif most:
            found[:, j] = numbers(rows) < np.uint64(most)
    return found
