"""Prices of rows far from all others, raised one by one at the end.

A row that is far from all others pays for a whole class: its price may be k times what the nearest
rows cost it, where boxes that are as wide for all rows never go.  With all other prices as they
are, a row's price is limited by the set T of k copies with it that leaves least,

    k·cost(T) − what the others of T pay.

The first guess at that limit is a set that is put together row by row.  Then the search for broken
sets (``incrowd.bounds.span_sets``) is asked for those of that row alone, and each that it finds
lowers the price, until it finds none.  Prices hold before and after each row, so that the pass may
end at any time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.row_sets import EMIT, SETS, STEPS, begun
from incrowd.bounds.span_sets import SpanSets, widen, with_row
from incrowd.kernels.jit import lean_kernel
from incrowd.lattice.emission import new_sink

FAR, MOST_ROWS = 2.0, 500  # times the mean price of neighbours, and how many rows at most
MARGIN = 0.001  # of its limit a price stays below it: so the many sets that cost alike are out
TRIES, FEW = 12, 400  # searches for a row, and sets that end one
LOOKS, ALL_LOOKS = 4_000_000, 100_000_000  # steps for a row, some .1 s, and for all


def far_rows(start: NDArray[np.int64], mean: float) -> NDArray[np.int64]:
    """Return the rows whose nearest ones cost them far more than the mean, farthest first.

    ``start``: what the nearest k − 1 copies cost each row, and ``mean`` its mean over copies.
    """
    rows = np.argsort(-start, kind="stable")
    return rows[start[rows] > FAR * mean][:MOST_ROWS]


@lean_kernel
def guess(
    row: int, price: Any, k: int, unit: int, counts: Any, tree: Any, span: Any, used: Any
) -> Any:
    """Return the limit by a set put together from the row on, by what each next row adds.

    ``span``, ``used``: int32, shape (2, columns), and bool, shape (rows,), scratch.  −1 where there
    are fewer than k copies.
    """
    for j in range(tree.codes.shape[1]):
        span[0, j] = span[1, j] = tree.codes[row, j]
    taken, paid, cost = 1, np.int64(0), np.int64(0)
    most = np.int64(1) << 62
    for s in range(counts.size):
        used[s] = s == row
    while taken < k:
        best, least = -1, most
        for s in range(counts.size):
            if not used[s]:
                enough = (least + price[s]) // (k * unit)
                pays = k * unit * with_row(span, s, tree, enough) - price[s]
                if pays < least:
                    best, least = s, pays
        if best < 0:
            return -1
        used[best] = True
        copies = min(k - taken, counts[best])
        taken, paid = taken + copies, paid + copies * price[best]
        cost = with_row(span, best, tree, most)
        widen(span, span, best, tree)
    return k * unit * cost - paid


@lean_kernel
def least_limit(
    sets: int, price: Any, k: int, unit: int, counts: Any, cost: Any, offset: Any, rows: Any
) -> Any:
    """Return the least limit that the sets listed set to their first row."""
    least = np.int64(1) << 62
    for p in range(sets):
        need, limit = k - 1, k * unit * cost[p]
        for x in range(offset[p] + 1, offset[p + 1]):
            taken = min(need, counts[rows[x]])
            need -= taken
            limit -= taken * price[rows[x]]
        least = min(least, limit)
    return least


class FarRows:
    """The pass bound to a search; one caller at a time.

    Attributes
    ----------
    sets: the search.  late: whether the time for prices is over.
    looks: steps of searches, and looks at rows to guess limits, so far.
    """

    def __init__(self, sets: SpanSets, late: Callable[[], bool]) -> None:
        self.sets, self.late, self.looks = sets, late, 0
        self.sink = new_sink(FEW, FEW * sets.k)
        rows, columns = sets.tree.codes.shape
        self.span, self.used = np.zeros((2, columns), np.int32), np.zeros(rows, np.bool_)

    def raised(
        self, price: NDArray[np.int64], unit: int, rows: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return prices in units of 1/unit that hold, given some that do.

        ``rows`` in turn, those of one copy.
        """
        price, self.looks = price.copy(), 0
        for row in rows:
            if self.late() or self.looks >= ALL_LOOKS:
                break
            if self.sets.counts[row] == 1:
                price[row] = max(price[row], self.limit(int(row), price, unit))
        return price

    def limit(self, row: int, price: NDArray[np.int64], unit: int) -> int:
        """Return a price of this row, nearly the highest, that breaks no set; 0 for none found.

        The row has one copy: of more a set may hold some, if other rows are dearer.
        """
        k, counts, tree = self.sets.k, self.sets.counts, self.sets.tree
        trial, left = price.copy(), LOOKS
        self.looks += k * len(price)
        limit = guess(row, price, k, unit, counts, tree, self.span, self.used)
        trial[row] = np.iinfo(np.int64).max  # the first of all
        order = np.argsort(-trial, kind="stable")
        self.sets.prepare(order, FEW)
        for _ in range(TRIES):
            trial[row] = max(0, int(limit * (1 - MARGIN)))
            if trial[row] <= price[row]:
                break
            state = begun(1)
            self.sets.advance(EMIT, order, trial, trial, unit, self.sink, state, left)
            left -= int(state[STEPS])
            self.looks += int(state[STEPS])
            found = int(state[SETS])
            if not found:
                return 0 if left <= 0 else int(trial[row])
            limit = min(limit, least_limit(found, price, k, unit, counts, *self.sink))
        return 0
