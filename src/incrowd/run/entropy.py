"""What the operating system draws: no seed, nothing that could be drawn again."""

from fractions import Fraction
from os import urandom

import numpy as np
from numpy.typing import NDArray


def numbers(count: int) -> NDArray[np.uint64]:
    """uint64, shape (count,): each of 2⁶⁴ numbers as likely."""
    return np.frombuffer(urandom(8 * count), np.uint64)


def shuffled(rows: int) -> NDArray[np.int64]:
    """int64, shape (rows,): an order, all as likely as good as exactly (equal keys: 2⁻⁶⁴ each)."""
    return np.argsort(numbers(rows), kind="stable").astype(np.int64)


def tossed(count: int, chance: Fraction) -> NDArray[np.bool_]:
    """bool, shape (count,): coins, each True with exactly this probability.

    A number of 64 bits decides unless it is the one that the probability lies within; then further
    bits do.
    """
    most, rest = divmod(chance.numerator << 64, chance.denominator)
    if most >= 1 << 64:
        return np.ones(count, bool)
    drawn = numbers(count)
    found = drawn < np.uint64(most)
    tied = np.flatnonzero(drawn == np.uint64(most))
    if rest and len(tied):
        found[tied] = tossed(len(tied), Fraction(rest, chance.denominator))
    return found
