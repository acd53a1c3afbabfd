"""Two tables with the same columns as one, in the form of the second."""

from collections.abc import Sequence

import numpy as np

from incrowd.tables.base import Column, Source, Table, texts
from incrowd.tables.csv_table import CsvTable, read_csv
from incrowd.tables.dialect import BOM
from incrowd.tables.files import alike
from incrowd.tables.native import as_polars, from_native


def union(first: Table, second: Table, like: Source, columns: Sequence[str]) -> Source:
    """Return the rows of ``first`` and then those of ``second``, in the form of ``like``."""
    if isinstance(like, CsvTable):
        return read_csv(
            as_csv(first, second, like, columns),
            "the union",
            like.dialect.delimiter,
            like.dialect.encoding,
        )
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


def as_csv(first: Table, second: Table, like: CsvTable, columns: Sequence[str]) -> bytes:
    """Return the union as a file in the dialect of ``like``."""
    dialect = like.dialect
    cells = []
    for name in columns:
        both = [first.encode(name), second.encode(name)]
        codes = np.concatenate([both[0].codes, both[1].codes + len(both[0].values)])
        column = Column.of([*both[0].values, *both[1].values], codes)
        words = np.array([*map(dialect.quoted, column.values), ""], dtype=object)
        cells.append(words[column.codes].tolist())
    header = dialect.delimiter.join(dialect.quoted(name) for name in columns)
    lines = [header, *map(dialect.delimiter.join, zip(*cells, strict=True)), ""]
    text = dialect.newline.join(lines)
    if dialect.encoding is None:
        return (BOM if dialect.bom else b"") + text.encode()
    return text.encode(dialect.encoding)
