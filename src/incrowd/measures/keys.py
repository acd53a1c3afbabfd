"""Rows that agree on some columns, as dense numbers; no frame is looked at here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.cautions import together
from incrowd.tables.base import Column

LARGEST = 2**62
Codes = tuple[NDArray[np.int32], int]
"""A column's codes, and how many values they number."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Which rows agree on all of some columns.

    Attributes
    ----------
    member: int64, shape (rows,): dense class id of each row, in no meaningful order.
    sizes: int64, shape (classes,): rows of each class.
    """

    member: NDArray[np.int64]
    sizes: NDArray[np.int64]


def agreement(columns: Sequence[Codes], rows: int) -> Agreement:
    """Number the classes of rows that agree on all ``columns`` (none: one class)."""
    key, width = np.zeros(rows, np.int64), 1
    for codes, values in columns:
        if width * max(values, 1) >= LARGEST:
            key, width = dense(key, width)
        key = key * values + codes
        width *= max(values, 1)
    member, classes = dense(key, width)
    return Agreement(member, np.bincount(member, minlength=classes).astype(np.int64))


def found_together(columns: Mapping[str, Column], rows: int, k: int) -> Iterator[str]:
    """Yield the caution that columns, taken together, are those of fewer than k rows mostly."""
    if len(columns) < 2:
        return
    sizes = agreement([(one.codes, len(one.values)) for one in columns.values()], rows).sizes
    few = int(sizes[sizes < k].sum())
    if 2 * few > rows:
        yield together(list(columns), rows, few, int((sizes == 1).sum()), k)


def dense(key: NDArray[np.int64], width: int) -> tuple[NDArray[np.int64], int]:
    """Renumber keys 0..width-1 without gaps; by a table where that is small, else by sorting."""
    if width <= 4 * len(key) + 4096:
        used = np.zeros(width, bool)
        used[key] = True
        return (np.cumsum(used, dtype=np.int64) - 1)[key], int(used.sum())
    order = np.argsort(key)
    ordered = key[order]
    new = np.empty(len(key), bool)
    new[:1] = False
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    number = np.empty(len(key), np.int64)
    number[order] = np.cumsum(new, dtype=np.int64)
    return number, int(new.sum()) + (len(key) > 0)


def representatives(agreed: Agreement) -> NDArray[np.int64]:
    """int64, shape (classes,): one row of each class."""
    row = np.empty(len(agreed.sizes), np.int64)
    row[agreed.member] = np.arange(len(agreed.member), dtype=np.int64)
    return row
