"""Prices of a table from those of its rows told apart (``incrowd.reduce.leaf_costs``).

Claim.  Where prices hold for rows told apart, so does the mean over the copies of a row.

Argument.  Copies may change places: the prices that this gives hold as well.  What prices obey is
that sums, or largest sums, do not exceed something, so the mean of prices that hold does hold.  It
is rounded down, in a unit that is a thousandth where copies are not alone.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prices import Prices
from incrowd.reduce.leaf_costs import Apart

FINER = 1000


def averaged(prices: Prices | None, apart: Apart) -> Prices | None:
    """Return prices of the original; None where there are none, or odd sets tell copies apart."""
    return None if prices is None or prices.odd_sets else of_original(prices, apart)


def in_apart(prices: Prices, apart: Apart) -> Prices:
    """Return the prices of each original row for its copies, told apart."""
    price = np.empty(apart.instance.distinct, np.int64)
    price[apart.instance.copies[apart.place]] = prices.price[apart.original.copies]
    return Prices(price, prices.quantum)


def of_original(prices: Prices, apart: Apart, finer: int = FINER) -> Prices:
    """Return prices of the original from prices without odd sets of its rows told apart.

    ``finer``: how many parts their unit gets where copies are not alone.
    """
    instance = apart.original
    factor = 1 if (instance.counts == 1).all() else finer
    rows = apart.instance.copies[apart.place]

    def mean(price: NDArray[np.int64]) -> NDArray[np.int64]:
        total = np.zeros(instance.distinct, np.int64)
        np.add.at(total, instance.copies, price[rows] * factor)
        return total // instance.counts

    groups = tuple(replace(one, price=mean(one.price)) for one in prices.groups)
    price = np.sum([one.price for one in groups], axis=0) if groups else mean(prices.price)
    return replace(
        prices,
        price=price,
        quantum=prices.quantum * factor,
        groups=groups,
        charge=prices.charge * factor,
    )
