"""What no classes of k rows or more can cost less than: prices of rows."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.averages.axes import Ints
from incrowd.averages.lifting import lawful, lift
from incrowd.averages.search import near_rows
from incrowd.averages.strata import Floats, Points
from incrowd.run.stop import Stop

MARGIN, FAR = 1e-9, 4e-14  # of rounding: a share, and of the square of the farthest coordinate
SHARES = (0.3, 0.5, 0.7, 1.0)  # of the room that is left to a price, round by round
MOST_ROWS, MOST_K = 20_000, 6  # beyond which sets of k rows are too many to be searched
FEW = 5  # the rows of the sets that are searched for a larger k
BUDGET = 3_000  # sets looked at for a row


def prices_of(points: Points, seed: int, stop: Stop) -> Floats:
    """Return float64, shape (n,): prices that no class of k rows or more undercuts.

    Claim.  Prices that sum to no more than k rows cost as one class, whichever these are, sum to no
    more than a larger class costs, where squares are counted.
    Argument.  Let T have s rows.  Its classes A of k rows cost (k − 1)/(s − 1) of T on average,
    since squares about the mean are those of all pairs over the number of rows.  Their prices sum
    to k/s of those of T on average.  So these are at most s·(k − 1)/(k·(s − 1)) ≤ 1 of T's cost.

    ``pair_prices`` obey that, and are lifted in turn.  Those of medians are left as they are.  For
    larger k, prices of sets of b rows are lifted: by the same argument they sum to no more than
    s·(b − 1)/(b·(s − 1)) of T's cost, which is most for s = k.  Whichever sum to more are taken.
    """
    if points.k > MOST_K and points.count <= MOST_ROWS:
        pairs = pair_prices(points, nearest_of(points, stop))
        few = prices_of(replace(points, k=FEW), seed, stop)
        lifted = few * (FEW * (points.k - 1) / (points.k * (FEW - 1)))
        able = not points.absolute.any() and points.k <= points.count
        return lifted if able and lifted.sum() > pairs.sum() else pairs
    found = nearest_of(points, stop)
    pairs = pair_prices(points, found)
    large = points.count > MOST_ROWS or not 2 <= points.k <= min(points.count, MOST_K)
    if points.absolute.any() or large or found is None:
        return pairs
    order, place, near, _ = found
    price = pairs[order].copy()
    rng = np.random.default_rng(seed)
    for share in SHARES:
        turn = rng.permutation(points.count)
        lift(place, price, near, points.k, share, turn, BUDGET, stop.over)
        if stop.now():
            break
    price = np.maximum(price * (1 - MARGIN) - doubt_of(points), 0)
    if stop.now() or not lawful(place, price, points.k, BUDGET, stop.over):
        return pairs  # or the checker might take for ever
    lifted = np.empty_like(price)
    lifted[order] = price
    return lifted


def doubt_of(points: Points) -> float:
    """Return more than what doubles lose of a row: coordinates are right to 2⁻⁵² of themselves."""
    return FAR * len(points.axes) * (1 + float(np.abs(points.place).max(initial=0))) ** 2


class Nearest(NamedTuple):
    """The k − 1 rows nearest to each.

    Attributes
    ----------
    order: int64, shape (n,): the rows, rising in their first column; place: theirs, in that order.
    near, distance: shape (n, k − 1), in that order: places of the nearest rows, and how far.
    """

    order: Ints
    place: Floats
    near: NDArray[np.int32]
    distance: Floats


def nearest_of(points: Points, stop: Stop) -> Nearest | None:
    """Return the nearest rows; None where nothing is averaged, k is 1, or time is long up.

    They have some grace: without them nothing is proven.
    """
    if not points.axes or points.k == 1:
        return None
    order = np.argsort(points.place[:, 0], kind="stable")
    place = np.ascontiguousarray(points.place[order])
    known = near_rows(place, points.absolute, points.k - 1, stop.overdue)
    return None if known is None else Nearest(order, place, *known)


def pair_prices(points: Points, known: Nearest | None) -> Floats:
    """Return float64, shape (n,): prices from nearest rows alone; 0 where these are not known.

    Claim.  A class T costs at least (1/|T|) Σ d(i, j) over its pairs, d being the sum over the
    columns of squared differences, or of distances where medians are published.  So the row i may
    be charged half the sum of its k − 1 nearest d, over k.
    Argument.  For squares the sum over pairs is |T| times the squares about the mean.  For
    distances |xᵢ − xⱼ| ≤ |xᵢ − m| + |xⱼ − m|.  Each row pays half of its own pairs: at least half
    the sum of its |T| − 1 smallest, over |T|, and that never falls as T grows: the next d is no
    less than the mean of those before.
    """
    price = np.zeros(points.count)
    if known is None:
        return price
    price[known.order] = known.distance.sum(axis=1) / (2 * points.k)
    return np.maximum(price * (1 - MARGIN) - doubt_of(points), 0)
