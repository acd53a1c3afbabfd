"""The support bound: each row pays at least its cheapest pattern with support ≥ k.

Claim.  In a lawful release, a row's class has a join that at least k rows match, so the row pays
at least the cheapest such pattern.  The row prices found here are a price certificate: among the
rows that match a pattern p with support ≥ k nobody's price exceeds cost(p), so neither does the
mean of the k highest.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prefix_tree import SUPPORT, UNLIMITED, PrefixTree
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.problem.instance import Instance

MOST_VISITS = 30_000_000
VISITS_A_SECOND = 1_000_000  # about, at ten columns
MANY_VISITS = 2_000_000
PRICED_A_SECOND = 120_000
HASTE = 4  # where a support search takes a larger part of the time, prices would take all of it


def affordable(columns: int, seconds: float = np.inf, most: int = MOST_VISITS) -> int:
    """Return how many nodes of the prefix tree one enumeration may touch; one more second's worth.

    A visit takes longer the more columns there are.
    """
    return int(min(most, VISITS_A_SECOND * (1 + max(0.0, seconds)))) * 10 // max(10, columns)


def priceable(seconds: float = np.inf) -> int:
    """Return how many such nodes a support search may touch for a table that can be priced whole.

    Prices by rounds take some 100 µs for each, and something is gained before they end.
    """
    return int(min(MANY_VISITS, PRICED_A_SECOND * (1 + max(0.0, seconds))))


def support_prices(
    tree: PrefixTree,
    k: int,
    visits: int = UNLIMITED,
    known: NDArray[np.int64] | None = None,
    patient: bool = False,
) -> tuple[NDArray[np.int64], bool]:
    """Return each distinct row's cheapest supported pattern cost, and whether the search finished.

    ``known``: int64, shape (distinct,): costs of patterns of at least k copies, which the search
    need not look beyond.  ``patient``: whether the search has some grace beyond the time.

    Returns
    -------
    int64, shape (distinct,), in units of 1/scale.  When the search ran out of visits the prices
    are upper bounds on the support prices only, and prove nothing.
    """
    instance = tree.instance
    price = np.zeros(instance.distinct, np.int64)
    for j, column in enumerate(instance.trees):
        price += column.roots[instance.codes[:, j]]
    price[instance.counts >= k] = 0
    if known is not None:
        price = np.minimum(price, known)
    state = tree.run(SUPPORT, k, price, visits=visits, patient=patient)
    return price, state[3] == 0


def in_reach(instance: Instance, price: NDArray[np.int64]) -> int:
    """Return how many rows all intervals have together that cost less than the highest price.

    Of the column with most of them.  A support search that starts from these prices looks at each,
    again and again below other columns, whether it counts as a visit or not: in 3,000 incomes with
    a long tail nearly all are in reach, and a visit takes 6 ms.
    """
    most, highest = 0, int(price.max(initial=0))
    for j, tree in enumerate(instance.trees):
        if not isinstance(tree, RangeFamily):
            continue
        used, count = np.unique(instance.codes[:, j], return_counts=True)
        held = used < sum(map(bool, tree.first))  # a missing value is in no interval
        used, place = used[held], np.arange(held.sum())
        before = np.concatenate([[0], np.cumsum(count[held])])
        end = np.searchsorted(tree.up[used], tree.down[used] + highest)
        end = np.minimum(end, np.searchsorted(used, tree.reach[used], side="right"))
        end = np.maximum(end, place + 1)
        upto = np.concatenate([[0], np.cumsum(before[1:])])  # rows up to all ends before this one
        most = max(most, int((upto[end] - upto[place] - (end - place) * before[place]).sum()))
    return most


def uniqueness_prices(instance: Instance, k: int) -> NDArray[np.int64]:
    """Return the weakest bound that always holds: a row with fewer than k copies changes a cell.

    Such a row pays at least its cheapest single step up, in any column.  Copies are counted
    whatever their sensitive values.

    Returns
    -------
    int64, shape (distinct,), in units of 1/scale.
    """
    step = np.full(instance.distinct, np.iinfo(np.int64).max)
    for j, column in enumerate(instance.trees):
        cheapest = np.where(column.steps < 0, np.iinfo(np.int64).max, column.steps)
        step = np.minimum(step, cheapest[instance.codes[:, j]])
    step[step == np.iinfo(np.int64).max] = 0
    copies = instance.counts
    if instance.sensitive_codes.size:
        alike, row = replace(instance, sensitive=None).of_columns(range(instance.columns))
        copies = alike.counts[row]
    return np.where(copies >= k, 0, step)
