"""A column as columns that are wholly shown or wholly hidden, what a set costs being their sum.

A tree has one for each level below the root: the nodes, and what the step up costs.

Intervals are read as a thermometer.  A class from code a to code b > a costs up[b] − down[a].  To a
row of code r in it that is

    (up[r] − down[r]) + Σ up[t+1] − up[t] over r ≤ t < b + Σ down[t+1] − down[t] over a ≤ t < r,

so there is a column for "is not r", and for each t one that says whether a code is above t, of
which a class is constant or not.  A value that no interval holds differs from all others in all
columns, and in one more that makes up for what * costs beyond the widest interval.

Where a widest interval is given, the * beyond it costs more than this sum: the sum is still no
more than a class costs, so what holds of it proves a bound, a lower one.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import Family
from incrowd.hierarchy.range_family import RangeFamily

Columns = Iterator[tuple[NDArray[np.integer], NDArray[np.int64]]]


def columns_of(family: Family, code: NDArray[np.integer]) -> Columns:
    """Yield nodes, and what a row pays where the column is hidden; both of shape (rows,)."""
    if isinstance(family, RangeFamily):
        yield from marks_of(family, code)
        return
    for level in range(family.levels - 1):
        yield family.node[level][code], family.cost[level + 1][code] - family.cost[level][code]


def marks_of(family: RangeFamily, code: NDArray[np.integer]) -> Columns:
    """Yield the columns of intervals; those that cost nothing are left out."""
    known = sum(bool(text) for text in family.first)
    down, up, within = family.down, family.up, code < known
    widest = int(up[known - 1] - down[0]) if known else 0
    own = np.where(within, up[code] - down[code], 0)
    if own.any():
        yield code, own
    rest = np.where(within, family.dearest - widest, family.dearest)
    if known < len(family.leaves) and rest.any():
        yield np.where(within, -1, code), rest
    for t in range(known - 1):
        above = code > t
        weight = np.where(above, down[t + 1] - down[t], up[t + 1] - up[t])
        weight = np.where(within, weight, 0)
        if weight.any():
            yield np.where(within, above, code + 2), weight


def marks_at_most(family: Family) -> int:
    """Return how many columns there are at most."""
    return len(family.leaves) + 1 if isinstance(family, RangeFamily) else family.levels - 1
