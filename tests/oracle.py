"""Brute force: the optimum of a small problem by trying every partition.

Deliberately naive and independent of the package's own join and cost code.
"""

from functools import cache

from incrowd.privacy.model import Model
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem


def join_cost(instance: Instance, copies: tuple[int, ...]) -> int:
    """Cost per row of the join of some copies, column by column, level by level."""
    total = 0
    for j, tree in enumerate(instance.trees):
        codes = [int(instance.codes[instance.copies[i], j]) for i in copies]
        for level in range(tree.levels):
            if len({int(tree.node[level, c]) for c in codes}) == 1:
                total += int(tree.cost[level, codes[0]])
                break
    return total


def optimum(instance: Instance, model: Model) -> int | None:
    """Return the least cost of a lawful partition of all copies, or None when there is none."""
    problem = Problem(instance, model)
    table = problem.table
    n = instance.rows

    @cache
    def class_cost(mask: int) -> int | None:
        copies = tuple(i for i in range(n) if mask >> i & 1)
        if not model.lawful(problem.group(list(copies)), table):
            return None
        return len(copies) * join_cost(instance, copies)

    @cache
    def best(rest: int) -> int | None:
        if not rest:
            return 0
        first = rest & -rest
        others = rest ^ first
        least: int | None = None
        part = others
        while True:
            cost = class_cost(part | first)
            if cost is not None and (least is None or cost <= least):
                more = best(others ^ part)
                if more is not None and (least is None or cost + more < least):
                    least = cost + more
            if not part:
                return least
            part = (part - 1) & others

    return best((1 << n) - 1)
