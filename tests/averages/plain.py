"""Averages by their definitions, and all partitions of a few rows: slow, and plain."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from statistics import mean, median
from typing import Any


def partitions(rows: Sequence[int], k: int) -> Iterator[list[list[int]]]:
    """Yield each way to part rows into classes of k or more."""
    if not rows:
        yield []
        return
    first, others = rows[0], rows[1:]
    for mask in range(1 << len(others)):
        mine = [first, *(row for i, row in enumerate(others) if mask >> i & 1)]
        rest = [row for i, row in enumerate(others) if not mask >> i & 1]
        if len(mine) >= k and (not rest or len(rest) >= k):
            for more in partitions(rest, k):
                yield [mine, *more]


def spread(numbers: Sequence[Fraction], kind: str) -> Fraction:
    """Return the squares about the mean, or the distances from the median."""
    if kind == "median":
        return sum((abs(x - median(numbers)) for x in numbers), Fraction(0))
    return sum(((x - mean(numbers)) ** 2 for x in numbers), Fraction(0))


def cost(
    table: dict[str, list[Any]], kinds: dict[str, str], weights: dict[str, Any], classes: Any
) -> Fraction:
    """Return what classes cost: each column's spread over that of the whole, times its rows."""
    total = Fraction(0)
    columns = {name: [Fraction(str(x)) for x in cells] for name, cells in table.items()}
    weight = {name: Fraction(str(weights.get(name, 1))) for name in table}
    for name, cells in columns.items():
        together = [n for n in columns if n == name or kinds[n] == kinds[name] == "centroid"]
        worth = sum(weight[n] * len(cells) for n in together)
        whole = sum(weight[n] * spread(columns[n], kinds[n]) for n in together)
        own = sum(spread([cells[row] for row in one], kinds[name]) for one in classes)
        total += weight[name] * worth * own / whole if whole else 0
    return total


def optimum(
    table: dict[str, list[Any]], kinds: dict[str, str], weights: dict[str, Any], k: int
) -> Fraction:
    """Return what the cheapest classes of k rows or more cost."""
    rows = range(len(next(iter(table.values()))))
    return min(cost(table, kinds, weights, classes) for classes in partitions(rows, k))
