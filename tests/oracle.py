"""Brute force: the optimum of a small problem by trying every partition.

Deliberately naive and independent of the package's own join and cost code.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations
from typing import Any

from incrowd.hierarchy.range_family import RangeFamily
from incrowd.privacy.model import Model
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem


@lru_cache(maxsize=4)
def plainly(instance: Instance) -> tuple[list[int], list[list[int]], list[tuple[Any, ...]], dict]:
    """The row of each copy; codes of rows; for each column its tree, and its levels; known joins.

    Of each level its nodes and costs.  One class is met again and again, as are copies of a row.
    """
    levels = [
        (tree, *zip(tree.node.tolist(), tree.cost.tolist(), strict=True))
        if not isinstance(tree, RangeFamily)
        else (tree,)
        for tree in instance.trees
    ]
    return instance.copies.tolist(), instance.codes.tolist(), levels, {}


def join_cost(instance: Instance, copies: Sequence[int]) -> int:
    """Cost per row of the join of some copies, column by column, level by level."""
    row_of, rows, columns, known = plainly(instance)
    some = frozenset([row_of[i] for i in copies])
    if some in known:
        return known[some]
    total = 0
    for j, (tree, *levels) in enumerate(columns):
        codes = {rows[r][j] for r in some}
        if not levels:
            total += range_cost(tree, {tree.leaves[c] for c in codes})
        for node, cost in levels:
            if len({node[c] for c in codes}) == 1:
                total += cost[next(iter(codes))]
                break
    known[some] = total
    return total


@lru_cache(maxsize=1000)
def snapped(value: str, step: str | None) -> tuple[Fraction, Fraction]:
    """The multiples of a step below and above a number, or the number."""
    number = Fraction(value)
    if step is None:
        return number, number
    below = Fraction(step) * (number // Fraction(step))
    return below, below if below == number else below + Fraction(step)


@lru_cache(maxsize=16)
def ends_of(family: RangeFamily) -> tuple[Fraction, Fraction, list[Fraction]]:
    """The least and the greatest end that an interval of a column may have, and its numbers."""
    of_all = [value for value in family.leaves if value is not None]
    ends = [snapped(value, family.rule["round"]) for value in of_all]
    numbers = sorted({Fraction(value) for value in of_all})
    return min(low for low, _ in ends), max(high for _, high in ends), numbers


def range_cost(family: RangeFamily, values: set[str | None]) -> int:
    """What the interval of some numbers costs, from their texts and the rule as a proof has it."""
    rule, star = family.rule, family.dearest
    if len(values) == 1:
        return 0
    if None in values or rule["cost"] == "stars":
        return star
    own = [snapped(value, rule["round"]) for value in values if value is not None]
    low, high = min(low for low, _ in own), max(high for _, high in own)
    if rule["most"] is not None and high - low > Fraction(rule["most"]):
        return star
    least, greatest, numbers = ends_of(family)
    if rule["cost"] == "values":
        low = sum(number < low for number in numbers)
        high = sum(number <= high for number in numbers) - 1
        least, greatest = 0, len(numbers) - 1
    width = Fraction(greatest - least) or Fraction(1)
    ends_at = [(10**6 * Fraction(end - least) / width + Fraction(1, 2)) // 1 for end in (low, high)]
    return int(ends_at[1] - ends_at[0]) * (star // 10**6)


def optimum(instance: Instance, model: Model) -> int | None:
    """Return the least cost of a lawful partition of all copies, or None when there is none."""
    return least_cost(instance.rows, class_cost_of(instance, model))


def class_cost_of(instance: Instance, model: Model) -> Callable[[tuple[int, ...]], int | None]:
    """Return what a class of copies costs, None where it is unlawful, as a function."""
    problem = Problem(instance, model)
    table = problem.table
    secrets = [tuple(values) for values in table.values.tolist()]
    known: dict[tuple[tuple[int, ...], ...], bool] = {}  # a law sees values alone

    def cost(copies: tuple[int, ...]) -> int | None:
        values = tuple(sorted([secrets[i] for i in copies]))
        if values not in known:
            known[values] = model.lawful(problem.group(list(copies)), table)
        return len(copies) * join_cost(instance, copies) if known[values] else None

    return cost


def optimum_deleting(instance: Instance, model: Model, price: int, most: int) -> int | None:
    """Return the least cost of lawful classes and at most so many deleted rows, never all.

    None where there is none, or deleting all rows costs no more.
    """
    rows, found, cost = range(instance.rows), [], class_cost_of(instance, model)
    for number in range(min(most, instance.rows - 1) + 1):
        for gone in combinations(rows, number):
            kept = [i for i in rows if i not in gone]

            def of_kept(copies: tuple[int, ...], kept: list[int] = kept) -> int | None:
                return cost(tuple(kept[i] for i in copies))

            one = least_cost(len(kept), of_kept)
            found += [] if one is None else [one + price * number]
    best = min(found, default=None)
    everything = most >= instance.rows and best is not None and price * instance.rows <= best
    return None if everything else best


def least_cost(n: int, cost: Callable[[tuple[int, ...]], Any]) -> Any:
    """Return the least sum of costs of a partition of 0, …, n − 1, or None when there is none.

    ``cost``: of a class, an exact number; None where it is unlawful.
    """

    def alone(members: tuple[int, ...]) -> Any:
        one = cost(members)
        return None if one is None else (one, ())

    return least_within(n, alone, ())


def least_within(n: int, cost: Callable[[tuple[int, ...]], Any], room: tuple[int, ...]) -> Any:
    """Return the same where classes also take up of some rooms, and all together no more than is.

    ``cost``: of a class, and what it takes up of each room; None where it is unlawful.
    """

    @cache
    def class_cost(mask: int) -> Any:
        return cost(tuple(i for i in range(n) if mask >> i & 1))

    @cache
    def best(rest: int, room: tuple[int, ...]) -> Any:
        if not rest:
            return 0
        first = rest & -rest
        others = rest ^ first
        least = None
        part = others
        while True:
            one = class_cost(part | first)
            if one is not None and (least is None or one[0] <= least):
                left = tuple(a - b for a, b in zip(room, one[1], strict=True))
                more = None if min(left, default=0) < 0 else best(others ^ part, left)
                if more is not None and (least is None or one[0] + more < least):
                    least = one[0] + more
            if not part:
                return least
            part = (part - 1) & others

    return best((1 << n) - 1, room)
