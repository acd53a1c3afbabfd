"""The most uneven counts that a law allows, where evening counts out never breaks it.

Counts majorize others of the same sum when their j largest sum to at least as much, for each j
(Marshall and Olkin 1979).  Entropy and recursive diversity allow whatever lawful counts majorize.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

LARGEST = 24  # rows up to which all falling counts are tried: 1,575 of them


def most_uneven(
    size: int, values: int, lawful: Callable[[Sequence[int]], bool]
) -> list[tuple[int, ...]]:
    """Return the lawful falling counts of ``size`` rows, at most ``LARGEST``, of ``values`` values.

    Without those that others of them majorize.
    """
    found: list[tuple[int, ...]] = []
    for shape in falling(size, size, values):  # what majorizes another comes before it
        if not any(majorizes(other, shape) for other in found) and lawful(shape):
            found.append(shape)
    return found


def falling(rows: int, largest: int, values: int) -> Iterator[tuple[int, ...]]:
    """Yield all falling counts of so many rows, in falling lexicographic order."""
    if rows == 0:
        yield ()
        return
    for first in range(min(rows, largest), 0, -1):
        if first * values < rows:
            break
        for rest in falling(rows - first, first, values - 1):
            yield first, *rest


def majorizes(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether the j largest of falling counts sum to at least as much, for each j."""
    tops = [*accumulate(one)]
    tops += tops[-1:] * (len(other) - len(one))
    return all(x >= y for x, y in zip(tops, accumulate(other), strict=False))
