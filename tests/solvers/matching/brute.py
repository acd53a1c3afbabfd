"""Brute force over groups of nodes: the least cost of a partition, and the linear program."""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from incrowd.problem.instance import Instance
from incrowd.solvers.matching.nodes import FAR, Nodes
from oracle import join_cost

Group = tuple[int, ...]


def partition_cost(nodes: int, cost: Mapping[Group, int]) -> int | None:
    """The least cost of a partition of the nodes into the given groups."""
    masks: dict[int, list[tuple[int, int]]] = {}
    for group, price in cost.items():
        masks.setdefault(min(group), []).append((sum(1 << v for v in group), price))

    @cache
    def best(rest: int) -> int | None:
        if not rest:
            return 0
        lowest = (rest & -rest).bit_length() - 1
        options = []
        for mask, price in masks.get(lowest, ()):
            if mask & rest == mask and (more := best(rest ^ mask)) is not None:
                options.append(price + more)
        return min(options, default=None)

    return best((1 << nodes) - 1)


def all_groups(nodes: Nodes) -> dict[Group, int]:
    """Every lawful group of nodes and its cost, from the oracle's own join."""
    color, home = nodes.grid.color, nodes.grid.home
    cost: dict[Group, int] = {(u,): int(home[u]) for u in range(nodes.size) if home[u] < FAR}
    for size in (2, 3):
        for group in combinations(range(nodes.size), size):
            if len({int(color[u]) for u in group}) == size:
                copies = tuple(int(nodes.copy[u]) for u in group)
                cost[group] = size * join_cost(nodes.instance, copies)
    return cost


def padded(groups: list[Group]) -> np.ndarray:
    """Groups in the form of the solvers."""
    return np.array([[*g, *[-1] * (3 - len(g))] for g in groups], np.int32).reshape(-1, 3)


def relaxation(nodes: int, cost: Mapping[Group, int]) -> float:
    """The linear program over all groups."""
    groups = list(cost)
    matrix = np.zeros((nodes, len(groups)))
    for j, group in enumerate(groups):
        matrix[list(group), j] = 1
    return float(linprog([cost[g] for g in groups], A_eq=matrix, b_eq=np.ones(nodes)).fun)


def classes_of(instance: Instance) -> Iterator[Group]:
    """All classes of two or three copies."""
    for size in (2, 3):
        yield from combinations(range(instance.rows), size)
