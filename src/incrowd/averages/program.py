"""Prices of rows by a linear program: as much together as all sets of k rows allow.

Prices that are lifted row by row (``lifting.py``) end where no single one can rise, which may be
far below what prices can sum to.  The program is: the greatest sum of prices, none above its box,
of which no k rows have more than they cost as one class.  Its sets are found as they are broken.
It is solved by its dual, so that a set that is found is a column more.
"""

import numpy as np
import scipy

from incrowd.averages.axes import Ints
from incrowd.averages.lifting import mend
from incrowd.averages.strata import Floats
from incrowd.linear.highs import append_columns, model_of, optimum, run_until
from incrowd.run.stop import Stop

MOST = 25_000  # rows times k of a table whose prices come from one program
BOX, LEAST = 3.0, 0.05  # the most that a price may be: times its own, and of the mean price
FIRST = 1.06  # prices to begin with, times their own
STEP, FASTER, MOST_STEP = 0.3, 1.1, 0.9  # a share of the way, and what it grows by
ROUNDS, NEAR = 50, 5e-4  # the share of the sum below which no more is sought
LOOKS = 4_000_000  # sets looked at in all
SHARE = 10  # no round has more than one in so many: too few rounds gain nothing
PRIMAL = 4  # HiGHS's number of the primal simplex method, which goes on where columns have joined


def programmed(place: Floats, price: Floats, fewer: Floats, stop: Stop) -> Floats:
    """Return prices like those given, no k rows of which cost less, that sum to as much or more.

    Each round tries prices on the way from the best so far to the optimum of the sets found, and
    mends them: prices that are mended are lawful, and the sets that were broken join the program.

    Parameters
    ----------
    place: float64, shape (n, columns).  price: float64, shape (n,), lawful for sets of k rows.
    fewer: float64, shape (k, n): by b, prices that no b rows undercut, or 0.
    """
    k, n, left, step = len(fewer), len(price), LOOKS, STEP
    if n * k > MOST or not price.any():
        return price
    box = BOX * price + LEAST * price.mean()
    free, ones = np.full(n, np.inf), np.ones(n)
    model = model_of(scipy.sparse.eye_array(n, format="csc"), box, free, ones, free)
    model.setOptionValue("simplex_strategy", PRIMAL)
    trial = np.minimum(FIRST * price, box)
    for _ in range(ROUNDS):
        lawful = trial.copy()
        sets, looked = mend(place, lawful, fewer, k, min(left, LOOKS // SHARE), stop.over)
        if looked < 0:
            break
        left -= looked
        if lawful.sum() > price.sum():
            price, step = lawful, min(step * FASTER, MOST_STEP)
        sets = np.unique(np.sort(sets, axis=1), axis=0)
        append_columns(model, costs_of(place, sets), columns_of(sets, n))
        point = optimum(model) if run_until(model, stop) else None
        if point is None or point.value - price.sum() <= NEAR * price.sum():
            break
        trial = np.clip(price + step * (point.y - price), 0, box)
    return price


def costs_of(place: Floats, sets: Ints) -> Floats:
    """Return what each set costs as one class: the squares about its mean."""
    apart = place[sets] - place[sets].mean(axis=1, keepdims=True)
    return (apart**2).sum(axis=(1, 2))


def columns_of(sets: Ints, rows: int) -> "scipy.sparse.csc_array":
    """Return which rows each set holds: rows × sets."""
    number, k = sets.shape
    start = np.arange(0, number * k + 1, k)
    return scipy.sparse.csc_array((np.ones(number * k), sets.ravel(), start), (rows, number))
