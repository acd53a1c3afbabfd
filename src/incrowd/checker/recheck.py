"""Truth of every cell, lawfulness of every class, the cost: counted on the released text itself."""

import types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.checker.alike import require_obeyed
from incrowd.checker.ladder import rungs
from incrowd.checker.ranges import Intervals
from incrowd.checker.rejection import RejectedError, require, require_none


def recheck(
    original: pl.DataFrame,
    released: pl.DataFrame,
    ladders: Mapping[str, pl.DataFrame],
    k: int,
    cost: int,
    *,
    origin: NDArray[np.integer] | None = None,
    sensitive: pl.DataFrame | None = None,
    models: Sequence[Mapping[str, Any]] = (),
    ranges: Mapping[str, Intervals] = types.MappingProxyType({}),
) -> NDArray[np.int64]:
    """Check a release against its original.

    Parameters
    ----------
    original, released: the quasi-identifiers as text (null = missing), of type String or, with
        each different text held once, Enum; other columns are ignored.
    ladders: one per quasi-identifier, as ``incrowd.checker.ladder.validated`` returns them.
    k: least size of a class.
    cost: the claimed cost, in the units of the ladders' costs.
    origin: int, shape (rows,): the original row (from 0) of each released row; None = same order.
    sensitive: the released sensitive columns, in the order of ``released``.
    models: further privacy models as plain data, see ``incrowd.checker.models``.
    ranges: of the columns that may become intervals; their ladders have no groups.

    Returns
    -------
    int64, shape (rows,): the class of each released row, numbered by first appearance.

    Raises
    ------
    RejectedError: the first violation, by row number and column, never by value.
    """
    rows = original.height
    require(
        released.height == rows, f"the release has {released.height} rows, the original has {rows}"
    )
    if origin is not None:
        require_permutation(origin, rows)
    total = 0
    for column, ladder in ladders.items():
        require(column in original.columns, "the original lacks this column", column=column)
        require(column in released.columns, "the release lacks this column", column=column)
        before = original[column] if origin is None else original[column].gather(origin)
        total += cells_cost(before, released[column], ladder, column, ranges.get(column))
    classes = classes_of(released, list(ladders))
    require_size(classes, k)
    require_obeyed(classes, sensitive, models, (original, released, origin, list(ladders)))
    require(total == cost, f"the release costs {total}, not {cost} as claimed")
    return classes


def require_permutation(origin: NDArray[np.integer], rows: int) -> None:
    """Reject a row map that does not name each of the original rows once."""
    require(len(origin) == rows, "the row map has another length than the table")
    inside = rows == 0 or bool(origin.min() >= 0 and origin.max() < rows)
    whole = inside and bool((np.bincount(origin, minlength=rows) == 1).all())
    require(whole, "the row map loses one original row or uses one twice")


def cells_cost(
    before: pl.Series,
    after: pl.Series,
    ladder: pl.DataFrame,
    column: str,
    intervals: Intervals | None = None,
) -> int:
    """Return what a column pays by its validated ladder; reject the first false cell."""
    pairs = pl.DataFrame({"leaf": before, "label": after})
    known = rungs(ladder)
    # One look-up per different pair, not per cell: columns have few values, tables many rows.
    kinds = pairs.with_row_index("row").group_by("leaf", "label")
    kinds = kinds.agg(pl.len().cast(pl.Int64).alias("cells"), pl.col("row").min())
    kinds = kinds.with_columns(pl.col("leaf", "label").cast(pl.String))
    kinds = kinds.join(known, on=["leaf", "label"], how="left", nulls_equal=True)
    if intervals is not None:
        kinds = intervals.priced(kinds)
    false = kinds.filter(pl.col("cost").is_null())["row"].sort()
    require_none(
        false, "the released cell is neither the original value nor one of its ancestors", column
    )
    return sum(
        c * n for c, n in zip(kinds["cost"].to_list(), kinds["cells"].to_list(), strict=True)
    )


def classes_of(released: pl.DataFrame, columns: Sequence[str]) -> NDArray[np.int64]:
    """Number the rows that agree on all columns: int64, shape (rows,), by first appearance."""
    key, size = np.zeros(released.height, np.int64), 1
    for column in columns:
        number = numbered(released.get_column(column))
        width = int(number.max(initial=0)) + 1
        if size * width >= 2**62:  # number the rows so far afresh, to have room
            key, size = by_appearance(key), released.height
        key, size = key * width + number, size * width
    return by_appearance(key)


def numbered(column: pl.Series) -> NDArray[np.int64]:
    """Give equal texts equal numbers, from 0; null has its own."""
    words = column if isinstance(column.dtype, pl.Enum) else column.cast(pl.Categorical)
    return words.alias("").to_physical().cast(pl.Int64).fill_null(-1).to_numpy() + 1


def by_appearance(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number equal keys from 0 in the order in which they first appear."""
    keys = pl.DataFrame({"key": key})
    first = keys.unique(maintain_order=True).with_row_index("class")
    found = keys.join(first, on="key", how="left", maintain_order="left")
    return found.get_column("class").cast(pl.Int64).to_numpy()


def require_size(classes: NDArray[np.int64], k: int) -> None:
    """Reject the first row whose class has fewer than k rows."""
    require(isinstance(k, int) and not isinstance(k, bool) and k >= 1, "k is not whole and ≥ 1")
    sizes = np.bincount(classes)[classes] if len(classes) else classes
    small = np.flatnonzero(sizes < k)
    if len(small):
        reason = f"its class has {sizes[small[0]]} rows, fewer than k = {k}"
        raise RejectedError(reason, int(small[0]) + 1)
