"""Whole-numbered prices of rows that no lawful class exceeds, by column generation over all sets.

Claim: Σ worth ≤ units × optimum.  Argument: a release is a partition into lawful classes, and the
prices of the rows of each sum to at most units × the price of the class: that is checked in whole
numbers for every set of rows.  Source: duality of the set-partitioning program.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.run.stop import Stop
from incrowd.solvers.exact.convolution_kernels import add_up, least_slack

UNITS = 1, 2, 3, 4, 6  # parts of a unit of cost that are tried, as duals have small denominators
ROUNDS = 200
AT_ONCE = 400  # classes that join the program together


@dataclass(frozen=True, eq=False)
class ClassPrices:
    """Prices and what they leave of each class.

    Attributes
    ----------
    units: of the prices in one unit of cost.
    worth: int64, shape (rows,).
    slack: int64, shape (2^rows,): units × price − Σ worth ≥ 0, or −1 where a set is no class.
    """

    units: int
    worth: NDArray[np.int64]
    slack: NDArray[np.int64]

    @property
    def total(self) -> int:
        """Σ worth: no release costs less than this many units' parts."""
        return int(self.worth.sum())

    @property
    def bound(self) -> int:
        """The bound in units of cost, rounded up."""
        return -(-self.total // self.units)


def class_prices(price: NDArray[np.int64], rows: int, stop: Stop) -> ClassPrices | None:
    """Return the best of the prices tried; None when stopped.

    ``price``: int64, shape (2^rows,), −1 for what is no class; the set of all rows is one.
    """
    duals = fractional(price, rows, stop)
    if duals is None:
        return None
    best = None
    for units in UNITS:
        worth = np.floor(units * duals + 1e-6).astype(np.int64)
        slack = repaired(price, rows, units, worth)
        found = ClassPrices(units, worth, slack)
        # What counts is how far the sum stays below the next cost that there may be, in parts.
        if best is None or _short(found, best) < _short(best, found):
            best = found
        if stop.now():
            return None
    return best


def _short(one: ClassPrices, other: ClassPrices) -> tuple[int, int]:
    """How many parts the first's sum stays below the higher of two bounds, then its units."""
    bound = max(one.bound, other.bound)
    return one.units * bound - one.total, one.units


def fractional(price: NDArray[np.int64], rows: int, stop: Stop) -> NDArray[np.float64] | None:
    """Return duals of the set-partitioning program, about optimal; None when stopped."""
    from scipy.optimize import linprog

    lawful = np.flatnonzero(price >= 0)
    cost = price[lawful].astype(np.float64)
    top = max(float(price[-1]), 1.0)
    bits = np.arange(rows)
    # Start with the cheapest classes a row, and the whole table, which bounds the program.
    size = np.zeros(len(price), np.int64)
    add_up(np.ones(rows, np.int64), size)
    order = np.argsort(cost / size[lawful], kind="stable")[: AT_ONCE * 4]
    pool = np.unique(np.append(lawful[order], lawful[-1]))
    duals = np.zeros(rows)
    for _ in range(ROUNDS):
        if stop.now():
            return None
        matrix = (pool[:, None] >> bits & 1).astype(np.float64)
        ends = price[pool].astype(np.float64)
        told = linprog(-np.ones(rows), A_ub=matrix, b_ub=ends, bounds=(-top, top), method="highs")
        if told.x is None:
            break
        duals = np.asarray(told.x, np.float64)
        sums = np.zeros(1)
        for worth in duals:
            sums = np.concatenate([sums, sums + worth])
        excess = sums[lawful] - cost
        if float(excess.max()) < 1e-7:
            break
        worst = np.argpartition(-excess, min(AT_ONCE, len(excess) - 1))[:AT_ONCE]
        pool = np.unique(np.append(pool, lawful[worst[excess[worst] > 1e-9]]))
    return duals


def repaired(
    price: NDArray[np.int64], rows: int, units: int, worth: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Lower and raise ``worth`` until no class is exceeded and no price can rise; return slacks."""
    total, slack = np.zeros(len(price), np.int64), np.full(len(price), -1, np.int64)
    least = np.zeros(rows + 1, np.int64)

    def look() -> None:
        add_up(worth, total)
        least_slack(price, total, units, rows, slack, least)

    look()
    while least[rows] < 0:
        worth[int(np.argmin(least[:rows]))] -= -int(least[rows])
        look()
    for r in range(rows):
        if least[r] > 0:
            worth[r] += int(least[r])
            look()
    return slack
