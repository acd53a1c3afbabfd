"""A pattern's copies by sensitive value, and the dearest of them.

A row's excess e is its price less the cost of the pattern.  In a class of n rows let the j-th
dearest copy of v lie c = min(1, (j − n·qᵥ)⁺) beyond its quota, q the table's distribution.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.top_copies import sort_pieces
from incrowd.kernels.jit import inner_kernel

NOTHING = -1e300


class ClosenessLaw(NamedTuple):
    """A t-closeness: quota float64, shape (values,); start int64, shape (values + 1,).

    ``start[v]``: rows of the table with a smaller value than v.  value: int32, shape (distinct,).
    """

    least: int
    t: float
    quota: NDArray[np.float64]
    start: NDArray[np.int64]
    value: NDArray[np.int32]


class CopiesByValue(NamedTuple):
    """A pattern's copies by value, dearest first, and scratch; one caller at a time.

    excess, row: of the j-th copy of v at ``start[v] + j``.  sum: of the j dearest, at
    ``start[v] + v + j``.  held: copies there, per value.  take, good, trial, best: histograms of
    the last slope, the best slope, the choice at work, the dearest class.  side: 1 for values
    beyond quota; inside, beyond: what a value loses there; order, state, lost: of the search for
    sides.  above, well_above: copies above a limit, and above another.  price, amount, member:
    pieces to sort, per distinct row.
    """

    excess: NDArray[np.float64]
    row: NDArray[np.int64]
    sum: NDArray[np.float64]
    held: NDArray[np.int64]
    take: NDArray[np.int64]
    good: NDArray[np.int64]
    trial: NDArray[np.int64]
    best: NDArray[np.int64]
    side: NDArray[np.int64]
    order: NDArray[np.int64]
    state: NDArray[np.int64]
    above: NDArray[np.int64]
    well_above: NDArray[np.int64]
    inside: NDArray[np.float64]
    beyond: NDArray[np.float64]
    lost: NDArray[np.float64]
    price: NDArray[np.float64]
    amount: NDArray[np.float64]
    member: NDArray[np.int64]


def new_copies_by_value(rows: int, distinct: int, values: int) -> CopiesByValue:
    """Allocate for a table."""
    sizes = {"excess": rows, "row": rows, "sum": rows + values}
    sizes |= dict.fromkeys(("price", "amount", "member"), distinct)
    whole = {"row", "held", "take", "good", "trial", "best", "side", "order", "state", "above"}
    whole |= {"well_above", "member"}
    scratch: dict[str, Any] = {
        name: np.zeros(sizes.get(name, values) + 1, np.int64 if name in whole else np.float64)
        for name in CopiesByValue._fields
    }
    return CopiesByValue(**scratch)


@inner_kernel
def keep(histogram: Any, target: Any) -> None:
    """Copy a histogram."""
    for v in range(target.size):
        target[v] = histogram[v]


@inner_kernel
def sort_by_value(
    rows: Any, begin: int, end: int, u: Any, counts: Any, cost: float, law: Any, s: Any
) -> int:
    """Sort a pattern's copies by value; return how many may matter.

    A row that lowers a class by more than all positive excesses is in none that is worth anything.
    """
    worth = 0.0
    for i in range(begin, end):
        worth += counts[rows[i]] * max(0.0, u[rows[i]] - cost)
    s.held[:] = 0
    s.take[:] = 0
    if worth <= 0.0:
        return 0
    pieces = 0
    for i in range(begin, end):
        r = rows[i]
        if u[r] - cost + worth > 0:
            s.price[pieces] = u[r] - cost
            s.member[pieces] = r
            pieces += 1
    sort_pieces(s.price, s.amount, s.member, pieces, False)
    total = 0
    for i in range(pieces):
        r = s.member[i]
        v = law.value[r]
        at = law.start[v]
        for _ in range(counts[r]):
            x = s.held[v]
            s.excess[at + x] = s.price[i]
            s.row[at + x] = r
            s.sum[at + v + x + 1] = (0.0 if x == 0 else s.sum[at + v + x]) + s.price[i]
            s.held[v] += 1
        total += counts[r]
    for v in range(law.start.size - 1):
        s.sum[law.start[v] + v] = 0.0
    return total


@inner_kernel
def key(v: int, x: int, size: int, slope: float, law: Any, s: Any) -> float:
    """Return e − slope·c of the copy of v before which there are x, in classes of this size."""
    return s.excess[law.start[v] + x] - slope * min(1.0, max(0.0, x + 1 - size * law.quota[v]))


@inner_kernel
def ends(size: int, slope: float, law: Any, s: Any) -> Any:
    """Return the highest key of a copy not taken and its value, and the lowest of one taken."""
    high, to, low, from_ = NOTHING, -1, -NOTHING, -1
    for v in range(law.quota.size):
        x = s.take[v]
        if x < s.held[v]:
            found = key(v, x, size, slope, law, s)
            if found > high:
                high, to = found, v
        if x > 0:
            found = key(v, x - 1, size, slope, law, s)
            if found < low:
                low, from_ = found, v
    return high, to, low, from_


@inner_kernel
def line(size: int, slope: float, law: Any, s: Any) -> Any:
    """Return (sum of the ``size`` highest e − slope·c, how far they lie beyond, the last of them).

    Their histogram is left in ``take``, from where the next search starts: it seldom differs much.
    """
    taken = 0
    for v in range(law.quota.size):
        taken += s.take[v]
    while True:
        high, to, low, from_ = ends(size, slope, law, s)
        if taken == size and high <= low:
            break
        if taken >= size:
            s.take[from_] -= 1
            taken -= 1
        if taken < size and to >= 0:
            s.take[to] += 1
            taken += 1
    total = 0.0
    far = 0.0
    for v in range(law.quota.size):
        total += s.sum[law.start[v] + v + s.take[v]]
        far += max(0.0, s.take[v] - size * law.quota[v])
    return total - slope * far, far, low
