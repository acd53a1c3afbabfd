"""Prices of rows of which averages are published: over a class they sum to no more than it costs.

Two ways, of which one is enough.

*Pairs.*  A class T costs at least Σ d(i, j) / |T| over its pairs, so a row may be priced at half
the sum of its k − 1 nearest d, over k; for squares and distances.

*Sets of k rows*, for squares.  If no k rows are priced above what they cost as one class, no larger
class is: its classes of k rows cost (k − 1)/(s − 1) of it on average and hold k/s of its prices.
Sets are searched depth first, each from its row of the highest price, u.  All others of a set that
is priced above its cost are nearer to that row than 2k·u, for two rows that are d apart cost d/2.
Of a rows with centre c, of k, the class costs their squares about c, (a/k)·|x − c|² for each row x
of the b = k − a to come, and b/k of what these cost as a class of their own.  That is no less than
what prices for b rows sum to; the proof has such for b = 2, 3, …, which are checked in that order.
Or those for r < k rows prove it: r·(k − 1)/(k·(r − 1)) times these sum over a class of s ≥ k rows
to no more than s·(k − 1)/(k·(s − 1)) ≤ 1 of its cost.
All are proved in docs/explanation/averages.md.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from incrowd.checker.limits import require_within
from incrowd.checker.rejection import require

Floats, Ints = NDArray[np.float64], NDArray[np.int64]
MARGIN, FAR = 1e-10, 2e-14  # of doubles: a share, and of the square of the farthest coordinate
BLOCK = 1 << 22  # pairs of rows looked at together
SETS, FEW = 1 << 12, 1 << 8  # sets looked at for each of the rows, and how many more
PAIRS = 1 << 16  # likewise
REASON = "a row's price is too high"


def require_cheap(
    place: Floats,
    absolute: Sequence[bool],
    k: int,
    price: Ints,
    unit: int,
    fewer: Mapping[int, Ints] = MappingProxyType({}),
) -> None:
    """Reject prices that may sum to more than a class of k rows or more costs.

    Parameters
    ----------
    place: float64, shape (rows, columns).  absolute: of which columns distances count, not squares.
    price: int64, shape (rows,), in units of 1/unit.
    fewer: by b, prices for b rows, by which those for more are checked.
    """
    doubt = FAR * place.shape[1] * (1 + float(np.abs(place).max())) ** 2

    def raised(units: Ints) -> Floats:
        return np.where(units > 0, (units / unit + doubt) * (1 + MARGIN), units / unit)

    if cheap_by_pairs(place, absolute, k, raised(price)):
        return
    require(not any(absolute) and k > 1, REASON)
    known = np.zeros((max(fewer, default=0) + 1, len(place)))
    left = SETS * (FEW + len(place))
    for b in sorted(fewer):
        if fewer[b].any():
            left = require_sets(place, b, raised(fewer[b]), known, left)
            known[b] = fewer[b] / unit
            most = fewer[b].astype(object) * (b * (k - 1))  # beyond 64 bits
            if (price.astype(object) * (k * (b - 1)) <= most).all():
                return
    require_sets(place, k, raised(price), known, left)


def require_sets(place: Floats, k: int, raised: Floats, fewer: Floats, left: int) -> int:
    """Reject prices that sum to more than some k rows cost as one class.

    fewer: float64, shape (any, rows): by b, prices that no b rows undercut.
    left: how many sets may be looked at.  Returns how many still may be.
    """
    order, low, high = windows(place, [False] * place.shape[1], 2 * k * np.maximum(raised, 0))
    place, raised, fewer = place[order], raised[order], fewer[:, order]
    for row in range(len(place)):
        some = np.arange(low[row], high[row])
        lower = (raised[some] < raised[row]) | ((raised[some] == raised[row]) & (some < row))
        apart = ((place[some] - place[row]) ** 2).sum(axis=1)
        near = some[lower & (apart < 2 * k * raised[row])]
        if len(near) >= k - 1:
            others, below = place[near] - place[row], fewer[:, near]
            left = without_set(others, raised[near], below, float(raised[row]), k, left)
    return left


def cheap_by_pairs(place: Floats, absolute: Sequence[bool], k: int, price: Floats) -> bool:
    """Whether no price is above half what the row's k − 1 nearest are apart from it, over k.

    One that is 2k prices apart is enough for that, so no rows farther in a column are looked at.
    """
    reach = 2 * k * np.maximum(price, 0)
    order, low, high = windows(place, absolute, reach)
    place, reach = place[order], reach[order]
    step = max(1, min(FEW, BLOCK // (2 * int((high - low).max()) + FEW)))
    left = PAIRS * (FEW + len(place))
    for first in range(0, len(place), step):
        block, most = place[first : first + step], reach[first : first + step, None]
        some = place[low[first : first + step].min() : high[first : first + step].max()]
        left -= len(block) * len(some)
        require_within(left >= 0, "the prices leave too many pairs of rows to look at")
        apart = np.zeros((len(block), len(some)))
        for j, distances in enumerate(absolute):
            way = np.abs(block[:, j : j + 1] - some[:, j])
            apart += way if distances else way * way
        if len(some) >= k:  # else a row is apart so far
            nearest = np.partition(apart, k - 1, axis=1)[:, :k]  # with the row itself, at 0
            far = np.logical_or(nearest.sum(axis=1) >= most[:, 0], (nearest >= most).any(axis=1))
            if not far.all():
                return False
    return True


def windows(
    place: Floats, absolute: Sequence[bool], reach: Floats
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return rows in the order of a column, and per row between which of them the nearer ones are.

    Of all columns the one is taken in which fewest are.
    """
    found = []
    for j, distances in enumerate(absolute):
        order = np.argsort(place[:, j], kind="stable")
        x, far = place[order, j], (reach if distances else np.sqrt(reach))[order]
        low = np.searchsorted(x, x - far * (1 + MARGIN), "left")
        high = np.searchsorted(x, x + far * (1 + MARGIN), "right")
        found.append((int((high - low).sum()), order, low, high))
    return min(found, key=lambda one: one[0])[1:]


def without_set(others: Floats, price: Floats, fewer: Floats, own: float, k: int, left: int) -> int:
    """Reject k rows priced above their cost: the one at 0 with the price ``own``, and others.

    fewer, left: see ``require_sets``.  Returns how many sets still may be looked at.
    """
    todo = [(1, np.zeros(others.shape[1]), 0.0, own, np.arange(len(others)))]
    while todo:
        a, total, square, paid, some = todo.pop()
        left -= 1
        require_within(left >= 0, "the prices leave too many sets of rows to look at")
        base, rest = square - float(total @ total) / a - paid, k - a
        apart = ((others[some] - total / a) ** 2).sum(axis=1)
        least = fewer[rest, some] if rest < len(fewer) else 0.0
        worth = (a * apart + rest * least) / k - price[some]
        ranked = np.argsort(worth, kind="stable")
        some, worth = some[ranked], worth[ranked]
        if rest == 1:
            require(base + worth[0] >= 0, REASON)
            continue
        if len(some) >= rest:  # with the least others, those behind are cheap enough
            some = some[: np.searchsorted(worth, -base - worth[: rest - 1].sum())]
            worth = worth[: len(some)]
        sums = np.cumsum(np.concatenate([[0.0], worth]))
        for first in range(len(some) - rest + 1):
            if base + sums[first + rest] - sums[first] >= 0:
                break  # the least of those from here on
            x = some[first]
            more = square + float(others[x] @ others[x])
            due = paid + float(price[x])
            todo.append((a + 1, total + others[x], more, due, some[first + 1 :]))
    return left
