"""What no classes of k rows or more can cost less than: prices of rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.averages.axes import Ints
from incrowd.averages.boxes import boxed, ends_of
from incrowd.averages.lifting import lift, mend
from incrowd.averages.program import programmed
from incrowd.averages.search import near_rows
from incrowd.averages.strata import Floats, Points
from incrowd.run.stop import Stop

MARGIN, FAR = 1e-9, 4e-14  # of rounding: a share, and of the square of the farthest coordinate
SHARES = (0.5, 1.0)  # of the room that is left to a price, round by round
MOST_ROWS = 60_000  # of which the checker compares every pair
BUDGET, CHECKED = 3_000, 500  # sets looked at for a row to lift it, and on average to check all
MOST_SETS = 5_000_000  # looked at to lift prices from one size of sets to the next
PIECE = 2_000  # rows whose prices are lifted between two looks at that


class Priced(NamedTuple):
    """Prices of rows that sum to no more over a class than it costs.

    Attributes
    ----------
    price: int64, shape (n,): in units of 1/unit.
    fewer: by b: int64, shape (n,): prices that sum to no more over any b rows than these cost as
        one class, rising in b, by which the next ones are checked.
    """

    price: Ints
    fewer: dict[int, Ints]


def prices_of(points: Points, unit: int, seed: int, stop: Stop) -> Priced:
    """Return prices that no class of k rows or more undercuts, in units of 1/unit.

    Claim.  Prices that sum to no more than k rows cost as one class, whichever these are, sum to no
    more than a larger class costs, where squares are counted.
    Argument.  Let T have s rows.  Its classes A of k rows cost (k − 1)/(s − 1) of T on average,
    since squares about the mean are those of all pairs over the number of rows.  Their prices sum
    to k/s of those of T on average.  So these are at most s·(k − 1)/(k·(s − 1)) ≤ 1 of T's cost.

    Those of medians are ``pair_prices``.  Others are ``lifted_prices``, step by step.  Where these
    end at sets of r < k rows, r·(k − 1)/(k·(r − 1)) times as high prices are lawful, by the same
    argument.  Whichever sum to more are taken.
    """
    found, k = nearest_of(points, stop), points.k
    pairs = Priced(np.floor(pair_prices(points, found) * unit).astype(np.int64), {})
    few = points.count <= MOST_ROWS and 2 <= k <= points.count
    if points.absolute.any() or found is None or not few:
        return pairs
    known = lifted_prices(points, found, unit, seed, stop)
    if not known:
        return pairs
    top = max(known)
    fewer = {size: np.empty_like(price) for size, price in known.items()}
    for size, price in known.items():
        fewer[size][found.order] = price
    more, less = top * (k - 1), k * (top - 1)
    price = np.array([x * more // less for x in fewer[top].tolist()], np.int64)
    if price.sum() <= pairs.price.sum():
        return pairs
    return Priced(price, {size: price for size, price in fewer.items() if size < k})


def lifted_prices(
    points: Points, found: "Nearest", unit: int, seed: int, stop: Stop
) -> dict[int, Ints]:
    """Return by b ≤ k prices that no b rows undercut, in the order of the nearest rows.

    The prices for b rows begin with those of nearest rows, or with those for b − 1 rows, times
    (b − 1)²/(b·(b − 2)), and are lifted in turn.  What those before sum to bounds what rows to come
    cost (``lifting.py``), so few sets are looked at.  They end before the next step takes
    too long, and where a checker would take too long.
    """
    place, n, ends = found.place, points.count, ends_of(found.place)
    rng, known = np.random.default_rng(seed), dict[int, Ints]()
    price, fewer, left, spare = np.zeros(n), np.zeros((2, n)), CHECKED, CHECKED
    for b in range(2, points.k + 1):
        near = found.distance[:, : b - 1].sum(axis=1) / (2 * b)
        before = price * ((b - 1) ** 2 / (b * (b - 2)) if b > 2 else 0)
        price = lowered(max(near, before, key=np.sum), points)
        nearest = np.ascontiguousarray(found.near[:, : b - 1])
        sets = 0
        for share in SHARES:
            for turn in np.split(rng.permutation(n), range(PIECE, n, PIECE)):
                if sets <= MOST_SETS:
                    sets += lift(
                        place, ends, price, fewer, nearest, b, share, turn, BUDGET, stop.over
                    )
        whole = np.floor(lowered(price, points) * unit).astype(np.int64)
        price = whole / unit
        checked = -1 if stop.now() else looked_at(place, price, fewer, left, stop.over)
        if checked < 0:
            break
        spare, left = left, left - checked // n
        known[b] = whole
        fewer = np.vstack([fewer, price])
        if 2 * sets > MOST_SETS:
            break
    if known:
        b = max(known)
        known[b] = together(points, place, known[b], fewer[:b], unit, spare, stop)
    return known


def together(
    points: Points, place: Floats, known: Ints, fewer: Floats, unit: int, budget: int, stop: Stop
) -> Ints:
    """Return prices like those known that sum to more, if the program finds them."""
    price = programmed(place, known / unit, fewer, stop)
    whole = np.floor(lowered(price, points) * unit).astype(np.int64)
    if whole.sum() <= known.sum():
        return known
    # what the program found is checked also where it took all of the time
    checked = looked_at(place, whole / unit, fewer, budget, stop.overdue)
    return whole if checked >= 0 else known


def looked_at(place: Floats, price: Floats, fewer: Floats, budget: int, over: Ints) -> int:
    """Return how many sets show that no rows, as many as ``fewer`` is long, are priced too high.

    -1 if some are, if time is up, or if that takes more sets than ``budget`` for each row.
    """
    found = price.copy()
    _, looked = mend(place, ends_of(place), found, fewer, len(fewer), len(price) * budget, over)
    return looked if (found == price).all() else -1


def lowered(price: Floats, points: Points) -> Floats:
    """Return prices less what doubles may lose: coordinates are right to 2⁻⁵² of themselves."""
    far = 1 + float(np.abs(points.place).max(initial=0))
    return np.maximum(price * (1 - MARGIN) - FAR * len(points.axes) * far**2, 0)


class Nearest(NamedTuple):
    """The k − 1 rows nearest to each, the nearest first.

    Attributes
    ----------
    order: int64, shape (n,): the rows, as ``boxed``; place: theirs, in that order.
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
    if known is None:
        return None
    near, distance = known
    turn = boxed(place)
    at = np.argsort(turn).astype(np.int32)
    return Nearest(order[turn], place[turn], at[near[turn]], distance[turn])


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
    return lowered(price, points)
