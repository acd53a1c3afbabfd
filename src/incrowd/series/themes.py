"""What the choice of signatures is worth to later releases.

Later releases keep everybody's signature and may part its people anew.  That is cheap where people
of one signature are alike: for each column, value and signature, ``n`` people who agree are worth
``ALIKE``·n·log n cells, and ``n`` people of one signature cost ``CROWDED``·n·log n.  With as many
columns as the second is of the first these were the entropies of the columns given the signature;
it is less, as signatures of few people, who are always alike, leave few ways to part them.

A guess, and it steers the search alone: no count in here decides what is lawful.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel
from incrowd.kernels.types import Ints

ALIKE, CROWDED = 0.05, 0.25
TABLE, CELLS = 1 << 18, 1 << 16  # counts, and cells of a column; if two meet it does no harm


class Themes(NamedTuple):
    """Counts of people by signature and cell.

    Attributes
    ----------
    counts: int64, shape (TABLE,): people, by the key of signature and cell.
    worth: float64, shape (2, cells + 1): what so many who agree in a column are worth, and so many
        of one signature, in units of cost.
    salt: int64, shape (columns + 1, cells): a key of each cell; the last column is the signature's.
    part: int64, shape (values,): keys of the sensitive values; a signature's is their xor.
    """

    counts: Ints
    worth: NDArray[np.float64]
    salt: Ints
    part: Ints


def themes_of(
    member: Ints, key: Ints, part: Ints, leaves: NDArray[np.int32], cell: float
) -> Themes:
    """Return the counts of some classes.

    Parameters
    ----------
    member: int64, shape (classes, widest): rows, −1 for nobody; key: int64, (classes,).
    cell: cost of a typical cell.
    """
    columns = leaves.shape[1]
    rng = np.random.default_rng(1)
    salt = rng.integers(1 << 62, size=(columns + 1, min(CELLS, int(leaves.max(initial=0)) + 1)))
    there = member >= 0
    rows, keys = member[there], np.repeat(key, there.sum(axis=1))
    count = np.zeros(TABLE, np.int64)
    for j in range(columns + 1):
        mine = salt[j, leaves[rows, j] % salt.shape[1]] if j < columns else salt[j, 0]
        np.add.at(count, (keys ^ mine) & (TABLE - 1), 1)
    n = np.arange(rows.size * (columns + 1) + 1)  # if all met in one place
    worth = np.outer([ALIKE, -CROWDED], n * np.log(np.maximum(n, 1)) * cell)
    return Themes(count, worth, salt, part)


@inner_kernel
def count_row(row: int, key: int, change: int, themes: Any, leaves: Any) -> float:
    """Count a row in (1) or out (−1) of a signature; return what that is worth."""
    total = 0.0
    columns = leaves.shape[1]
    for j in range(columns + 1 if row >= 0 else 0):
        value = leaves[row, j] % themes.salt.shape[1] if j < columns else 0
        at = (key ^ themes.salt[j, value]) & (TABLE - 1)
        kind = 0 if j < columns else 1
        before = themes.counts[at]
        themes.counts[at] = before + change
        total += themes.worth[kind, before + change] - themes.worth[kind, before]
    return total
