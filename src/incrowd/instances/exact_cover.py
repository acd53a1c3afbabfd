"""Exhaustive search for exact covers and largest packings: the source problems' small solvers."""

from collections.abc import Iterator, Sequence
from functools import cache


def exact_covers(size: int, parts: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Yield every choice of parts that holds each of ``0..size-1`` exactly once.

    Branches on the element with the fewest parts left (Knuth's rule), so forced choices cost
    nothing.  Exponential in the worst case.
    """
    holding: list[list[int]] = [[] for _ in range(size)]
    masks = [sum(1 << e for e in part) for part in parts]
    for number, part in enumerate(parts):
        for element in part:
            holding[element].append(number)

    def search(free: int, chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if not free:
            yield chosen
            return
        best: list[int] | None = None
        for element in range(size):
            if free >> element & 1:
                fitting = [p for p in holding[element] if masks[p] & free == masks[p]]
                if best is None or len(fitting) < len(best):
                    best = fitting
                if not fitting:
                    return
        for number in best or ():
            yield from search(free ^ masks[number], (*chosen, number))

    yield from search((1 << size) - 1, ())


def largest_packing(size: int, parts: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return as many pairwise disjoint parts as there can be.  Exponential in the worst case."""
    masks = [sum(1 << e for e in part) for part in parts]
    holding = [[p for p, part in enumerate(parts) if min(part) == e] for e in range(size)]

    @cache
    def best(element: int, used: int) -> tuple[int, ...]:
        if element == size:
            return ()
        found = best(element + 1, used)
        for number in holding[element]:
            if not masks[number] & used:
                other = (number, *best(element + 1, used | masks[number]))
                if len(other) > len(found):
                    found = other
        return found

    return best(0, 0)
