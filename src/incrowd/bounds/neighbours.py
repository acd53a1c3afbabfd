"""The bound by neighbours: what the join with the (k−1)-st nearest other row costs each row.

Claim.  Let a row's price be the least cost of its join with k copies, its own among them, one at a
time.  Then the price inequality holds.

Argument.  A row that matches a pattern p with k copies or more has no join with one of these that
is dearer than p.  So its price is at most cost(p), and so is the mean of k such prices.

Source.  Aggarwal et al., Anonymizing tables, ICDT 2005, Lemma 3.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.differences import apart, least_weight, packed
from incrowd.bounds.row_sets import PIECE, Sheet
from incrowd.kernels.jit import inner_kernel, lean_kernel


@inner_kernel
def distance(r: int, s: int, limit: int, sheet: Any) -> int:
    """Return what the join with s costs r, or a number above the limit if that is."""
    cost = 0
    for b in range(sheet.node.shape[1]):
        if sheet.node[r, b] != sheet.node[s, b]:
            cost += sheet.weight[r, b]
            if cost > limit:
                break
    return cost


@lean_kernel
def nearest(begin: int, end: int, k: int, sheet: Any, pack: Any, near: Any, price: Any) -> None:
    """Fill the prices of rows begin..end−1; ``near``: int64, shape (k,), scratch."""
    for r in range(begin, end):
        near[:] = np.iinfo(np.int64).max
        least, most = least_weight(r, sheet), sheet.node.shape[1]
        for s in range(sheet.counts.size):
            if apart(r, s, most, pack):
                continue
            cost = distance(r, s, near[k - 1], sheet)
            for _ in range(min(k, sheet.counts[s])):
                if cost >= near[k - 1]:
                    break
                x = k - 1
                while x > 0 and near[x - 1] > cost:
                    near[x] = near[x - 1]
                    x -= 1
                near[x] = cost
                if least > 0:
                    most = min(most, near[k - 1] // least)
        price[r] = near[k - 1]


def neighbour_prices(sheet: Sheet, k: int, stop: Callable[[], bool]) -> NDArray[np.int64] | None:
    """Return prices in units of 1/scale, int64 (distinct,); None where time is up first.

    ``k``: at most the number of copies.
    """
    rows = len(sheet.counts)
    price, near = np.zeros(rows, np.int64), np.zeros(k, np.int64)
    piece, pack = max(1, PIECE // max(1, rows)), packed(sheet)
    for begin in range(0, rows, piece):
        if stop():
            return None
        nearest(begin, min(rows, begin + piece), k, sheet, pack, near, price)
    return price
