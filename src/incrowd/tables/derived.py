"""A table with a column in place of another: a table of the same form, as if it had come so."""

from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.tables.base import Column, Source
from incrowd.tables.csv_table import CsvTable, as_csv, read_csv
from incrowd.tables.native import NativeTable
from incrowd.tables.packed import PackedTable, packed


def in_place(
    source: Source, old: str, new: str, numbers: list[int | None], codes: NDArray[np.int32]
) -> Source:
    """Return a table with the column ``new`` where ``old`` stood.

    Parameters
    ----------
    numbers: the different cells of the new column; None is missing.  codes: int32, shape (rows,):
        index into them.

    Raises
    ------
    InputError: the table is one in several files, or of a statistics package.
    """
    names = {name: new if name == old else name for name in source.columns}
    if isinstance(source, CsvTable):
        words = [None if number is None else str(number) for number in numbers]
        columns = {
            after: Column.of(words, codes) if after == new else source.encode(before)
            for before, after in names.items()
        }
        form = source.dialect
        return read_csv(as_csv(columns, form), "the table", form.delimiter, form.encoding)
    if isinstance(source, PackedTable):
        cells = pl.Series(new, numbers, pl.Int64).gather(codes.astype(np.int64))
        own = {after: source.part(before) for before, after in names.items() if after != new}
        parts = {after: packed(cells) if after == new else own[after] for after in names.values()}
        return PackedTable(parts, source.rows, source.form)
    if isinstance(source, NativeTable):
        return source.with_column(old, new, _cells(source, new, numbers, codes))
    raise InputError(
        "derive is served for single files of CSV, Parquet, Arrow and workbooks, for databases and "
        "data frames"
    )


def _cells(
    source: NativeTable, new: str, numbers: list[int | None], codes: NDArray[np.int32]
) -> Any:
    """Return whole numbers as a column of the frame's library; where it has no missing, text."""
    listed = np.array([*numbers, None], object)[codes].tolist()
    kind: Any = nw.Int64
    backend: Any = source.backend
    if source.backend.is_pandas_like() and None in numbers:
        listed, kind = [None if cell is None else str(cell) for cell in listed], nw.String
    return nw.new_series(new, listed, kind, backend=backend)
