"""The dial of the suite: how many random tables each test tries.

A test that holds the product against brute force over random tables asks ``few`` how many of them
it tries: a third, and all of them with ``pytest --thorough``.  Seeds stay fixed, and hypothesis
draws the same examples each time unless the run is thorough: the default can be repeated.
"""

LEAST = 6
"""Fewer tables than these are all tried."""

thorough = False
"""Set by ``conftest.py`` before any test is imported, in each worker."""


def few(tables: int) -> int:
    """Return how many of so many random tables are tried."""
    return tables if thorough else min(tables, max(LEAST, -(-tables // 3)))


def enough(count: int) -> int:
    """Return what is counted at least in a part of the tables where all of them count so many."""
    return count if thorough else count // 3
