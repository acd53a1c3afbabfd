"""Sets of near rows for tests: all of them by brute force, and those that a search lists."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.row_sets import RowSets
from incrowd.lattice.emission import new_sink
from incrowd.problem.instance import Instance
from oracle import join_cost

UNIT = 7


def never() -> bool:
    """Go on."""
    return False


def broken_sets(
    instance: Instance, k: int, price: NDArray[np.int64], unit: int
) -> set[tuple[int, ...]]:
    """The distinct rows of each set of k copies whose prices sum to more than it costs."""
    found = set()
    row_of, prices = instance.copies.tolist(), price.tolist()
    for copies in combinations(range(instance.rows), k):
        rows = [row_of[i] for i in copies]
        if sum(prices[r] for r in rows) > k * unit * join_cost(instance, copies):
            found.add(tuple(sorted({*rows})))
    return found


def listed(search: RowSets, instance: Instance, price: NDArray[np.int64]) -> list[tuple[int, ...]]:
    """The sets that a search lists, each at its cost."""
    sink = new_sink(10_000, 50_000)
    found = search.listed(price, UNIT, never, 1 << 40, sink)
    assert found is not None
    sets = []
    for p in range(found):
        rows = sink.rows[sink.offset[p] : sink.offset[p + 1]].tolist()
        copies = tuple(int(instance.first_copy[r]) for r in rows)
        assert join_cost(instance, copies) == sink.cost[p]
        sets.append(tuple(sorted(rows)))
    return sets
