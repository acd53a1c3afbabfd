"""Reading Parquet and Arrow: their cells alone, none of what they claim, in moderate memory."""

import io
import struct
from typing import Any

import polars as pl

from incrowd.checker import arrow, beside
from incrowd.checker.dictionaries import WORDS, idle, words_of
from incrowd.checker.lean import BLOCK, flat, once_each, table_of, without_maps
from incrowd.checker.limits import LONG, require_within
from incrowd.checker.parquet import SMALL, require_moderate, rows_of
from incrowd.checker.rejection import RejectedError, require

READERS = {"Parquet": pl.read_parquet, "Arrow": pl.read_ipc, "Arrow stream": pl.read_ipc_stream}
FORMS = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\xff\xff\xff\xff": "Arrow stream"}
FORMS |= {b"\x1f\x8b": "gzip", b"PK\3\4": "zip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2"}
FORMS |= {
    b"$FL2": "SPSS",
    b"$FL3": "SPSS",
    b"<stata_dta>": "Stata",
    b"HEADER RECORD*******LI": "SAS",
}
UNREADABLE = "a table cannot be read in the form that the proof states"
ROWS = 1 << 20  # from which on a column at a time is read; of Arrow files ``BLOCK`` bytes
TEXT = 1 << 12  # bytes of a mean text


def form_of(data: bytes) -> str | None:
    """Return what a file begins like; None for delimited text."""
    form = next((form for magic, form in FORMS.items() if data.startswith(magic)), None)
    spss = b"SPSSPORT" in data[:600].translate(None, b"\r\n")
    return form or ("SPSS" if spss else None)


def require_sizes(data: bytes, rows: int | None, name: str) -> None:
    """Reject a table that says it has more rows than the original, before it is inflated.

    Or that inflates to much more than so many rows need.  Other forms are as large as they are.
    """
    try:
        if data.startswith(b"PAR1") and rows is not None:
            require_moderate(data, rows, name, flat=False)
        elif form_of(data) in READERS and not data.startswith(b"PAR1"):
            arrow.require_moderate(data, rows, name)
    except (LookupError, TypeError, ValueError, struct.error):
        raise RejectedError(UNREADABLE) from None


def read_packed(data: bytes, lean: bool = False) -> pl.DataFrame:
    """Read Parquet or Arrow: the cells alone; ``lean``: column by column, see ``once_each``."""
    form = str(form_of(data))
    read, rows = READERS[form], rows_of(data) if form == "Parquet" else len(data) * ROWS // BLOCK
    try:
        if lean and rows > ROWS:
            width = read(io.BytesIO(data), n_rows=0).width
            return table_of([one_of(read, data, number) for number in range(width)])
        table = read(io.BytesIO(data))
    except (pl.exceptions.PanicException, OSError):  # polars trusts what it reads, and says so
        raise ValueError("damaged") from None
    return checked(table)


def require_alone(data: bytes) -> None:
    """Reject a release that holds more than the cells of its table, see ``beside``."""
    read, note = READERS[str(form_of(data))], beside.notes_of(data)
    require(note is None, f"{beside.BESIDE} {note!r}")

    def cells(number: int, rows: slice) -> pl.Series:
        return stored(read(io.BytesIO(data), columns=[number]).to_series())[rows]

    kinds = [stored(column).dtype for column in read(io.BytesIO(data), n_rows=0)]
    require(next(idle(words_of(data, kinds), cells), None) is None, WORDS)


def one_of(read: Any, data: bytes, number: int) -> pl.Series:
    """Return a column, each different text held once where that is less."""
    return once_each(checked(read(io.BytesIO(data), columns=[number])).to_series())


def checked(table: pl.DataFrame) -> pl.DataFrame:
    """Return the cells alone; reject too long texts."""
    table = pl.DataFrame({column.name: stored(column) for column in table.get_columns()})
    for column in table.get_columns():
        fine = sum(map(length_of, flat(column))) <= SMALL + 4 * TEXT * len(column)
        require_within(fine, f"a column {LONG}", column.name)
    return unclaimed(table)


def stored(column: pl.Series) -> pl.Series:
    """Return the cells of an extension type or a map as what they are stored as.

    Polars cannot count the former, and of the latter the numbers are looked at one by one.
    """
    own = getattr(pl, "BaseExtension", None)  # polars before 1.36 reads none
    extended = own and isinstance(column.dtype, own)
    return without_maps(column.ext.storage() if extended else column)


class _Cells:
    """A table that gives its cells through Arrow's interface, and nothing else that it knows."""

    def __init__(self, table: pl.DataFrame) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def unclaimed(table: pl.DataFrame) -> pl.DataFrame:
    """Return the same cells, without what a file claims of them.

    A Parquet or Arrow file may say that a column is sorted; polars believes it, and counts,
    groups and joins wrongly where it is not.

    Raises
    ------
    ValueError: a name holds a NUL, at which Arrow's interface would end the whole process.
    """
    nested = repr([kind for kind in table.dtypes if kind.is_nested()])
    if "\\x00" in nested or any("\0" in name for name in table.columns):
        raise ValueError("a name with a NUL")
    return pl.DataFrame(_Cells(table))


def length_of(column: pl.Series) -> int:
    """Return how many bytes a column's cells are, one by one; 0 where they are no text or bytes.

    A file holds equal cells once, and may be a thousandth of that.
    """
    if column.dtype == pl.Binary:
        return int(column.bin.size().cast(pl.Int64).sum())
    some: Any = {pl.String: column.str, pl.Categorical: column.cat, pl.Enum: column.cat}
    texts = some.get(column.dtype.base_type())
    return 0 if texts is None else int(texts.len_bytes().cast(pl.Int64).sum())
