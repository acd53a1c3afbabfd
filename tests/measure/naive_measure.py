"""The figures of a table written straight from their definitions, over lists of tuples."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations

Row = tuple[object, ...]


def classes(rows: list[Row]) -> list[list[int]]:
    """Row numbers by equal rows."""
    found = defaultdict(list)
    for i, row in enumerate(rows):
        found[row].append(i)
    return list(found.values())


def unique_by_subset(rows: list[Row], most: int) -> dict[tuple[int, ...], tuple[int, int, int]]:
    """Columns → unique rows, smallest class, classes."""
    found = {}
    width = len(rows[0])
    for size in range(1, most + 1):
        for chosen in combinations(range(width), size):
            counts = Counter(tuple(row[j] for j in chosen) for row in rows).values()
            found[chosen] = (sum(c == 1 for c in counts), min(counts), len(counts))
    return found


def people(row: Row, population: list[Row], star: str = "*") -> int:
    """People whom a row may stand for."""
    return sum(
        all(c in (star, p) for c, p in zip(row, person, strict=True)) for person in population
    )


def beta(part: list[object], table: list[object]) -> Fraction:
    """Largest relative gain."""
    return max(
        Fraction(part.count(v) * len(table), len(part) * table.count(v)) - 1 for v in set(part)
    )


def total_variation(part: list[object], table: list[object]) -> Fraction:
    """Half the sum of differences."""
    return (
        sum(
            (
                abs(Fraction(part.count(v), len(part)) - Fraction(table.count(v), len(table)))
                for v in set(table)
            ),
            Fraction(0),
        )
        / 2
    )
