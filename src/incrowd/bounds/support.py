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
