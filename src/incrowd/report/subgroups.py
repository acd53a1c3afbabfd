"""Who pays for the release: the share of changed cells by subgroup."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.tables.base import Column

MOST_GROUPS = 8
MOST_VALUES = 30  # columns with more values than this have no subgroups worth a picture


@dataclass(frozen=True)
class Subgroup:
    """Rows with one value of a column.

    Attributes
    ----------
    value: the value, None for a missing one; ``rest``: this stands for all smaller subgroups.
    rows: of the subgroup; share: of their cells that are changed (in which columns, the caller
        decides).
    """

    column: str
    value: str | None
    rest: bool
    rows: int
    share: float


def subgroups(
    name: str, column: Column, changed: NDArray[np.integer], cells: int
) -> list[Subgroup]:
    """Return the largest subgroups of a column, the rest as one.

    Parameters
    ----------
    changed: int, shape (rows,): changed cells of each row; cells: that may change per row.
    """
    column = column.compact()
    if not 2 <= len(column.values) <= MOST_VALUES or not cells:
        return []
    rows = column.counts
    total = np.bincount(column.codes, changed, len(column.values))
    order = np.argsort(-rows, kind="stable")
    head, tail = order[:MOST_GROUPS], order[MOST_GROUPS:]
    found = [
        Subgroup(name, column.values[c], False, int(rows[c]), float(total[c] / rows[c] / cells))
        for c in head
    ]
    if len(tail):
        n = int(rows[tail].sum())
        found.append(Subgroup(name, None, True, n, float(total[tail].sum() / n / cells)))
    return found


def starred(columns: Sequence[Column], star: str, rows: int) -> NDArray[np.int64]:
    """int64, shape (rows,): suppressed cells of each row in these columns."""
    total = np.zeros(rows, np.int64)
    for column in columns:
        total += column.shows(star)
    return total
