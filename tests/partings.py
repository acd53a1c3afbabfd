"""All ways to part a few rows into classes, for brute force."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeVar

T = TypeVar("T")


def partitions(items: Sequence[T], least: int = 1) -> Iterator[list[list[T]]]:
    """All ways to part some items into classes of at least ``least``."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(max(least - 1, 0), len(rest) + 1):
        for others in map(set, combinations(range(len(rest)), size)):
            left = [item for i, item in enumerate(rest) if i not in others]
            taken = [first, *(rest[i] for i in sorted(others))]
            for more in partitions(left, least):
                yield [taken, *more]
