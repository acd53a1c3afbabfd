"""What the operating system draws: no seed, nothing that could be drawn again."""

from os import urandom

import numpy as np
from numpy.typing import NDArray


def numbers(count: int) -> NDArray[np.uint64]:
    """uint64, shape (count,): each of 2⁶⁴ numbers as likely."""
    return np.frombuffer(urandom(8 * count), np.uint64)


def shuffled(rows: int) -> NDArray[np.int64]:
    """int64, shape (rows,): an order, all as likely as good as exactly (equal keys: 2⁻⁶⁴ each)."""
    return np.argsort(numbers(rows), kind="stable").astype(np.int64)
