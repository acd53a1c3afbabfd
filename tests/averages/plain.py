"""Averages by their definitions: slow, and plain."""

from collections.abc import Sequence
from fractions import Fraction
from statistics import mean, median
from typing import Any

from oracle import least_cost


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
    found = least_cost(
        len(next(iter(table.values()))),
        lambda rows: cost(table, kinds, weights, [rows]) if len(rows) >= k else None,
    )
    assert found is not None
    return found
