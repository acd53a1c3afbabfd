"""Large tables in little memory: each different text once, and some rows at a time.

Nothing is decided here: these are other ways to write down and count the same cells.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

BLOCK = 1 << 26  # bytes that are read at once; smaller files are read whole
SLICE = 1 << 20  # rows that are counted at once
MANY, SHARE = 1 << 16, 8  # rows from which on it pays; of so many rows one may be another text


def once_each(column: pl.Series) -> pl.Series:
    """Return a column of texts with each different one held once (Enum), where that is less."""
    if column.dtype != pl.String or len(column) < MANY or not few(column):
        return column
    return column.cast(pl.Enum(column.drop_nulls().unique()))


def few(column: pl.Series) -> bool:
    """Whether a column has few different texts for its rows."""
    return SHARE * column.n_unique() <= len(column)


def joined(blocks: list[pl.DataFrame]) -> pl.DataFrame:
    """Join blocks of ``coded``, and hold each different text once where that is less."""
    columns = []
    for name in blocks[0].columns:
        cells = [block[name] for block in blocks]
        if all(isinstance(part.dtype, pl.Categorical) for part in cells):
            whole = pl.concat(cells)
            kinds = whole.unique().drop_nulls().cast(pl.String)
            columns.append(whole.cast(pl.Enum(kinds)))
        else:
            columns.append(pl.concat([part.cast(pl.String) for part in cells]))
    return table_of(columns)


def table_of(columns: list[pl.Series]) -> pl.DataFrame:
    """Return a table of these columns; polars would call one without a name otherwise."""
    table = pl.DataFrame([column.alias(str(j)) for j, column in enumerate(columns)])
    table.columns = [column.name for column in columns]
    return table


def coded(block: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Return a block of texts with these columns as numbers of texts."""
    return block.with_columns([block[name].cast(pl.Categorical) for name in names])


def blocks_of(data: bytes, begin: int) -> Iterator[bytes]:
    """Yield the lines from a place on, about ``BLOCK`` bytes at once.

    Blank lines at the end of the file are with its last line.
    """
    last = len(data)
    while last > begin and data[last - 1] == 10:
        last -= 1
    while begin < len(data):
        cut = data.rfind(b"\n", begin, min(begin + BLOCK, last)) + 1
        cut = cut or data.find(b"\n", begin, last) + 1
        end = cut if cut and last - begin > BLOCK else len(data)
        yield data[begin:end]
        begin = end


def codes_of(cells: pl.Series, leaves: pl.Series) -> NDArray[np.integer[Any]]:
    """Return the place of each cell's text among the leaves, in as few bytes as they take.

    Shape (rows,); each cell is one of the leaves, of which none stands twice.
    """
    code = pl.Series(np.arange(len(leaves))).shrink_dtype()
    codes = pl.DataFrame({"leaf": leaves.cast(pl.String), "code": code})
    words = pl.DataFrame({"leaf": cells.cast(pl.String)})
    found = words.join(codes, on="leaf", how="left", nulls_equal=True, maintain_order="left")
    return found["code"].to_numpy()


def different_rows(table: pl.DataFrame) -> pl.DataFrame:
    """Return the different rows, with their ``copies`` and the ``first`` of them: int64 both.

    Some rows are merged at a time: each part is far smaller then.
    """
    keys, whole = table.columns, table.with_row_index("first")
    copies, first = pl.len().alias("copies"), pl.col("first").min()
    slices = range(0, max(1, whole.height), SLICE)
    parts = [whole.slice(at, SLICE).group_by(keys).agg(copies, first) for at in slices]
    several = pl.col("copies").cast(pl.Int64).sum(), first.cast(pl.Int64)
    return pl.concat(parts).group_by(keys).agg(several)


def flat(column: pl.Series) -> Iterator[pl.Series]:
    """Yield the cells of a column, of nested ones what they hold; without its name.

    Polars takes some names for patterns, and finds no column.
    """
    column = without_maps(column.alias("cells"))
    if isinstance(column.dtype, pl.Struct):
        for field in column.struct.unnest().get_columns():
            yield from flat(field)
    elif isinstance(column.dtype, pl.List | pl.Array):
        yield from flat(column.explode())
    else:
        yield column


def without_maps(column: pl.Series) -> pl.Series:
    """Return a column with lists of keys and values in the place of maps."""
    kind = unmapped(column.dtype)
    return column if kind == column.dtype else column.cast(kind)


def unmapped(kind: Any) -> Any:
    """Return a type with lists of keys and values in the place of maps, as files hold them."""
    own = getattr(pl, "Map", None)  # older versions of polars read them so
    if own and isinstance(kind, own):
        return pl.List(pl.Struct({"key": unmapped(kind.key), "value": unmapped(kind.value)}))
    if isinstance(kind, pl.Struct):
        return pl.Struct({part.name: unmapped(part.dtype) for part in kind.fields})
    if isinstance(kind, pl.List):
        return pl.List(unmapped(kind.inner))
    return pl.Array(unmapped(kind.inner), kind.size) if isinstance(kind, pl.Array) else kind
