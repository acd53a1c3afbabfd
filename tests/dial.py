"""The dial of the suite: how many random tables each test tries, and which cells of a matrix.

A test that holds the product against brute force over random tables asks ``few`` how many of them
it tries: a fifth, and all of them with ``pytest --thorough``.  A test of several kinds of tables,
methods and models asks ``crossed`` which of them it tries together.  Seeds stay fixed, and
hypothesis draws the same examples each time unless the run is thorough: the default can be
repeated.
"""

from collections.abc import Iterable
from itertools import product
from typing import Any

thorough = False
"""Set by ``conftest.py`` before any test is imported, in each worker."""


def few(tables: int, least: int = 4) -> int:
    """Return how many of so many random tables are tried, not fewer than ``least`` if there are."""
    return tables if thorough else min(tables, max(least, -(-tables // 5)))


def enough(count: int) -> int:
    """Return what must have been met among a few tables, where among all it is so many."""
    return count if thorough else count // 5


def crossed(*axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return the cells of a matrix that are tried: each value of each axis, or all of them.

    Without ``--thorough`` they go along all axes at once, as long as the longest of them.
    """
    every = [list(axis) for axis in axes]
    if thorough:
        return [*product(*every)]
    return [tuple(axis[i % len(axis)] for axis in every) for i in range(max(map(len, every)))]


def in_turn(kinds: Iterable[Any], number: int, most: int = 2) -> list[Any]:
    """Return which of the kinds a table of this number meets: every ``most``-th, or all of them."""
    every = list(kinds)
    step = 1 if thorough else min(most, len(every))
    return every[number % step :: step]
