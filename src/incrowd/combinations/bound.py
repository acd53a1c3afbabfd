"""What no release costs less than in which each combination of columns has its k.

**Claim (rows).**  Let a choice of levels be open to a row if, in each combination, at least k rows
of the table share the row's nodes at these levels.  No release costs less than the sum over rows of
the cheapest choice that is open.

**Argument.**  What a row shows in a combination's columns at least k released rows show; all of
these lie below the same nodes.  So the levels at which the row is released are open to it.

**Claim (prices).**  Let parts of the columns not overlap, each lie within a combination, and have
prices that obey the inequality of ``incrowd.bounds.price`` for the combination's k in the table of
the part's columns alone.  No release costs less than the sum of all prices.

**Argument.**  Rows that show the same in a combination's columns do so in some of them, so a part
is k-anonymous; its prices sum to no more than its cells cost, and no cell is in two parts.

Combinations that share columns, directly or by others, are a cluster; bounds of clusters add up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import lcm, prod

import numpy as np

from incrowd.bounds.best import best_prices
from incrowd.bounds.column_groups import group_prices
from incrowd.bounds.prices import ColumnGroup, Prices
from incrowd.combinations.cells import Cells, Crowd, Ints
from incrowd.problem.instance import packed
from incrowd.run.stop import Stop

MOST_CHOICES = 4_096  # of levels, of one combination and of the columns that several share
MOST_OF_ALL = 8 * MOST_CHOICES  # of all combinations together, as the checker tries them
NEVER = np.int64(1) << 60


@dataclass(frozen=True, eq=False)
class Least:
    """A lower bound, in units of 1/scale, and the prices behind part of it.

    Attributes
    ----------
    prices: of parts of the columns (``groups``); each row's price is their sum.
    """

    bound: int
    prices: Prices


def clusters(crowds: Sequence[Crowd]) -> list[list[Crowd]]:
    """Return the combinations by clusters, which share no column."""
    found: list[list[Crowd]] = []
    for crowd in crowds:
        mine = [some for some in found if any({*one.columns} & {*crowd.columns} for one in some)]
        found = [some for some in found if some not in mine]
        found.append([one for some in mine for one in some] + [crowd])
    return found


def least(cells: Cells, stop: Stop) -> Least:
    """Return the best bound of the two claims, cluster by cluster."""
    instance, parts, bound = cells.instance, [], 0
    left = [MOST_OF_ALL]
    for cluster in clusters(cells.crowds):
        mine = priced(cells, cluster, stop)
        quantum = lcm(*(one.quantum for one in mine))
        worth = sum(one.total(instance.counts) * (quantum // one.quantum) for one in mine)
        bound += max(rows_least(cells, cluster, left), -(-worth // quantum))
        parts += mine
    quantum = lcm(*(one.quantum for one in parts)) if parts else 1
    groups = tuple(
        replace(group, price=group.price * np.int64(quantum // one.quantum))
        for one in parts
        for group in one.groups
    )
    price = np.zeros(instance.distinct, np.int64)
    for group in groups:
        price = price + group.price
    return Least(bound, Prices(price, quantum, groups=groups))


def priced(cells: Cells, cluster: Sequence[Crowd], stop: Stop) -> list[Prices]:
    """Return prices of parts: the strongest combination, and what the others have beside it."""
    alone = {crowd: part_of(cells, crowd.columns, crowd.k, stop) for crowd in cluster}
    counts = cells.instance.counts
    order = sorted(cluster, key=lambda crowd: -alone[crowd].bound(counts))
    found, taken = [alone[order[0]]], {*order[0].columns}
    for crowd in order[1:]:
        rest = tuple(j for j in crowd.columns if j not in taken)
        if rest:
            found.append(part_of(cells, rest, crowd.k, stop))
            taken |= {*rest}
    return found


def part_of(cells: Cells, columns: Sequence[int], k: int, stop: Stop) -> Prices:
    """Return prices per distinct row of the table that hold in some columns alone."""
    alone, row = cells.instance.of_columns(columns)
    found = best_prices(alone, k, stop)
    if found.by_rows or found.odd_sets:
        found = group_prices(alone, k, stop)
    inner = found.groups or (ColumnGroup(tuple(range(len(columns))), found.price),)
    groups = tuple(
        ColumnGroup(tuple(columns[j] for j in group.columns), group.price[row], k)
        for group in inner
    )
    return Prices(found.price[row], found.quantum, groups=groups)


def rows_least(cells: Cells, cluster: Sequence[Crowd], left: list[int]) -> int:
    """Return the sum over rows of the cheapest choice of levels that is open; 0 for too many.

    ``left``: how many choices may be tried in all, counted down.
    """
    instance, trees = cells.instance, cells.trees
    columns = sorted({j for crowd in cluster for j in crowd.columns})
    shared = [j for j in columns if sum(j in crowd.columns for crowd in cluster) > 1]
    sizes = [
        prod(trees[j].levels for j in some) for some in (shared, *(c.columns for c in cluster))
    ]
    if max(sizes) > MOST_CHOICES:
        return 0
    left[0] -= sum(sizes[1:])
    if left[0] < 0:
        return 0
    alone = [dict(own_costs(cells, crowd, shared)) for crowd in cluster]
    best = np.full(instance.distinct, NEVER)
    for levels in choices(cells, shared):
        at = dict(zip(shared, levels, strict=True))
        total = np.zeros(instance.distinct, np.int64)
        for j, level in at.items():
            total += trees[j].cost[level, instance.codes[:, j]]
        for crowd, costs in zip(cluster, alone, strict=True):
            total += costs[tuple(at[j] for j in crowd.columns if j in at)]
        np.minimum(best, total, out=best)
    return int(best @ instance.counts)


def choices(cells: Cells, columns: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield all choices of levels of some columns."""
    return product(*(range(cells.trees[j].levels) for j in columns))


def own_costs(
    cells: Cells, crowd: Crowd, shared: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Yield levels of a combination's shared columns, and what its other columns then cost.

    int64, shape (distinct,): the least over all levels of these that are open to each row.
    """
    instance = cells.instance
    both = [j for j in crowd.columns if j in shared]
    own = [j for j in crowd.columns if j not in shared]
    alone, row = instance.of_columns(crowd.columns)
    place = {j: n for n, j in enumerate(crowd.columns)}
    for fixed in choices(cells, both):
        best = np.full(alone.distinct, NEVER // 4)
        for free in choices(cells, own):
            cost = np.zeros(alone.distinct, np.int64)
            for j, level in zip(own, free, strict=True):
                cost += cells.trees[j].cost[level, alone.codes[:, place[j]]]
            if not (cost < best).any():
                continue
            levels = zip([*both, *own], [*fixed, *free], strict=True)
            nodes = [cells.trees[j].node[up][alone.codes[:, place[j]]] for j, up in levels]
            _, group = np.unique(packed(nodes, alone.distinct)[0], return_inverse=True)
            size = np.bincount(group.ravel(), weights=alone.counts)[group.ravel()]
            np.minimum(best, np.where(size >= crowd.k, cost, best), out=best)
        yield fixed, best[row]
