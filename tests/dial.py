"""The dial of the suite: how many random tables each test tries.

A test that holds the product against brute force over random tables asks ``few`` how many of them
it tries: a third, and all of them with ``pytest --thorough``.  Seeds stay fixed, and hypothesis
draws the same examples each time unless the run is thorough: the default can be repeated.
"""

thorough = False
"""Set by ``conftest.py`` before any test is imported, in each worker."""


def few(tables: int, least: int = 6) -> int:
    """Return how many of so many random tables are tried, not fewer than ``least`` if there are."""
    return tables if thorough else min(tables, max(least, -(-tables // 3)))


def enough(count: int) -> int:
    """Return what must have been met among a few tables, where among all it is so many."""
    return count if thorough else count // 3
