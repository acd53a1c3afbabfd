"""All ways to part a few rows into classes, for brute force."""

from collections.abc import Iterator


def partitions(rows: list[int]) -> Iterator[list[list[int]]]:
    """All ways to part some rows into classes."""
    if not rows:
        yield []
        return
    first, *others = rows
    for parts in partitions(others):
        yield [[first], *parts]
        for i, part in enumerate(parts):
            yield [*parts[:i], [first, *part], *parts[i + 1 :]]
