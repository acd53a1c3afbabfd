"""Coins of the operating system's generator: no seed, nothing that could be tossed again."""

import os
from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

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


def shuffled(rows: int) -> NDArray[np.int64]:
    """int64, shape (rows,): an order, all as likely as good as exactly (equal keys: 2⁻⁶⁴ each)."""
    return np.argsort(numbers(rows), kind="stable").astype(np.int64)


def numbers(count: int) -> NDArray[np.uint64]:
    """uint64, shape (count,): each of 2⁶⁴ numbers as likely."""
    return np.frombuffer(os.urandom(8 * count), np.uint64)
