"""Two tables with the same columns as one, in the form of the second."""

from collections.abc import Sequence

import numpy as np

from incrowd.tables.base import Column, Edit, Source, Table, texts
from incrowd.tables.csv_table import CsvTable, EditedCsv, as_csv, read_csv, stacked_csv
from incrowd.tables.files import alike
from incrowd.tables.native import as_polars, from_native


def union(first: Table, second: Table, like: Source, columns: Sequence[str]) -> Source:
    """Return the rows of ``first`` and then those of ``second``, in the form of ``like``."""
    if isinstance(like, CsvTable):
        earlier = (
            first.edited(Edit.of_nothing(tuple(columns))) if isinstance(first, CsvTable) else None
        )
        if isinstance(earlier, EditedCsv) and isinstance(second, EditedCsv):
            together = stacked_csv(earlier, second)
            if together is not None:  # cells as they are written, with their quotes
                return together
        both = {name: below(first.encode(name), second.encode(name)) for name in columns}
        form = like.dialect
        return read_csv(as_csv(both, form), "the union", form.delimiter, form.encoding)
    import polars as pl

    one, two = as_polars(first), as_polars(second)
    stacked = {}
    for name in columns:
        a, b = one.get_column(name), two.get_column(name)
        if a.dtype != b.dtype:  # a column that was changed in one of them is text there
            a = texts(first, [name]).get_column(name)
            b = texts(second, [name]).get_column(name)
        stacked[name] = pl.concat([a.rechunk(), b.rechunk()]).to_list()
    return from_native(alike(like, stacked))


def below(first: Column, second: Column) -> Column:
    """Return the cells of one column and then those of another."""
    codes = np.concatenate([first.codes, second.codes + len(first.values)])
    return Column.of([*first.values, *second.values], codes)
