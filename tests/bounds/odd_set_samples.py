"""Small programs with odd sets, and their classes by definition."""

from itertools import combinations

import numpy as np

from incrowd.bounds.odd_sets.lifted import Lifted, OddSets
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.support import support_prices
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance
from solvers.engine.engine_samples import supported


def everything(instance: Instance, k: int) -> Emission:
    """All patterns that k copies match."""
    patterns = supported(instance, k)
    offset = np.cumsum([0] + [len(rows) for rows in patterns]).astype(np.int64)
    rows = np.array([r for rows in patterns for r in rows], np.int32)
    return Emission(np.array(list(patterns.values()), np.int64), offset, rows)


def raised(
    instance: Instance, k: int, searches: int = 40, room: float | None = None, turns: int = 40
) -> tuple[Lifted, PrefixTree]:
    """The program over all patterns of a small table, solved."""
    tree = PrefixTree(instance)
    start, _ = support_prices(tree, k)
    problem = everything(instance, k), instance.counts, k, start.astype(float), room
    sets = OddSets(searches=searches)
    return sets.raised(*problem, instance.cell, 1, lambda n: n / turns), tree


def worth_of(rows: tuple[int, ...], p: int, lists: Emission, lifted: Lifted) -> float:
    """What a class of copies is worth, by definition."""
    worth = sum(lifted.price[r] - lists.cost[p] for r in rows)
    for members, modulus, penalty in lifted.sets:
        worth -= penalty * (sum(r in set(members.tolist()) for r in rows) // modulus)
    return worth


def classes_of(instance: Instance, p: int, lists: Emission, k: int) -> set[tuple[int, ...]]:
    """All multisets of k to 2k − 1 copies of a pattern."""
    rows = lists.rows[lists.offset[p] : lists.offset[p + 1]].tolist()
    copies = [r for r in rows for _ in range(instance.counts[r])]
    return {tuple(sorted(some)) for size in range(k, 2 * k) for some in combinations(copies, size)}
