"""Columns that a release publishes as they are, and the bits of equal numbers in all of them.

−0.0 and 0.0 are equal, and so are all forms of NaN, but whoever has the file can tell them apart,
and rows of a class by them.  So equal numbers have one form in a column, unless it is published
unchanged and each cell has the very bits of the original's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.checker import files
from incrowd.checker.delimited import TWO_WAYS
from incrowd.checker.lean import flat
from incrowd.checker.rejection import require, require_none


def require_unchanged(
    before: pl.DataFrame,
    after: pl.DataFrame,
    origin: NDArray[np.int64],
    roles: Mapping[str, Sequence[str]],
    safe: bool,
) -> None:
    """Reject changed cells of sensitive and kept columns, and bits that tell equal cells apart."""
    same = [*roles["sensitive"], *roles["keep"]]
    for column in same:
        old, new = before[column].gather(origin), after[column]
        if old.dtype != new.dtype:
            old, new = files.as_text(old), files.as_text(new)
        marked = safe and new.dtype == pl.String
        wrong = old.ne_missing(files.undone(new) if marked else new).arg_true()
        require_none(wrong, "the cell was changed", column)
    for column in after.columns:
        fine = has_one_form(after[column])
        if not fine and column in same and before[column].dtype == after[column].dtype:
            fine = bits_of(before[column].gather(origin)) == bits_of(after[column])
        require(fine, TWO_WAYS, column=column)


def has_one_form(column: pl.Series) -> bool:
    """Whether equal numbers have the same bits, those within lists as well."""
    for cells in (bits for bits in flat(column) if bits.dtype.is_float()):
        if len(np.unique(_bits(cells))) > cells.drop_nulls().n_unique():
            return False
    return True


def bits_of(column: pl.Series) -> list[bytes]:
    """Return the bits of a column's numbers, missing ones left out."""
    return [_bits(cells).tobytes() for cells in flat(column) if cells.dtype.is_float()]


def _bits(cells: pl.Series) -> NDArray[Any]:
    held = cells.drop_nulls().to_numpy()
    return held.view(f"u{held.itemsize}")
