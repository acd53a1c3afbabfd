"""Types of columns of pyarrow, duckdb and pandas on their way to polars."""

from typing import Any

import narwhals as nw

from incrowd.errors import InputError

LOST = ("interval", "time with time zone", "union")  # of duckdb: months, offsets, tags


def unpacked(series: "nw.Series[Any]") -> "nw.Series[Any]":
    """Return a series in which a dictionary of pyarrow of other words than texts is plain.

    Of one in several chunks polars makes categories, with texts of its own: ``-0`` for −0.0.
    """
    if not series.implementation.is_pyarrow():
        return series
    import pyarrow as pa

    cells = series.to_native()
    if not pa.types.is_dictionary(cells.type):
        return series
    texts = (pa.string(), pa.large_string(), pa.string_view())
    if cells.type.value_type in texts:
        return series
    return nw.from_native(cells.cast(cells.type.value_type), series_only=True)


def to_polars(series: "nw.Series[Any]", column: str) -> Any:
    """Return a series as one of polars.

    Raises
    ------
    InputError: polars knows no such type, as times with a fixed offset (+02:00).
    """
    import polars as pl

    try:
        return unpacked(series).to_polars()
    except pl.exceptions.PolarsError:
        kind = getattr(series.to_native(), "type", "another library")
        raise _unreadable(column, kind) from None


def require_readable(frame: Any) -> None:
    """Raise InputError for columns that polars, or pandas itself, does not take as they are."""
    native = frame.to_native()
    if frame.implementation.is_duckdb():
        kinds = [(str(kind), kind.id in LOST) for kind in native.types]
    elif frame.implementation.is_pyarrow():
        from pyarrow import types

        beyond = (types.is_decimal256, types.is_interval, types.is_run_end_encoded, types.is_union)
        kinds = [
            (str(cells.type), _apart(cells) or any(refused(cells.type) for refused in beyond))
            for cells in native.columns
        ]
    elif frame.implementation.is_pandas_like():
        kinds = [
            (str(kind), _unknown(kind) or _apart_in_pandas(native.iloc[:, place]))
            for place, kind in enumerate(native.dtypes)
        ]
    else:
        return
    for column, (kind, refused) in zip(frame.columns, kinds, strict=True):
        if refused:
            raise _unreadable(column, kind)


def _unreadable(column: str, kind: object) -> InputError:
    reason = f"column {column!r} is of type {kind}, which cannot be read"
    return InputError(f"{reason}; make it text, or leave it out")


def _unknown(dtype: Any) -> bool:
    """Whether pandas holds a type of pyarrow, such as views of text, that it can do little with."""
    try:
        return dtype.type is None
    except NotImplementedError:
        return True


def _apart_in_pandas(series: Any) -> bool:
    """Whether a series of pandas holds such dictionaries of pyarrow."""
    return "dictionary" in str(series.dtype) and _apart(series.array.__arrow_array__())


def _apart(cells: Any) -> bool:
    """Whether a chunked array has dictionaries that pyarrow cannot make one.

    They have null words, or more words together than their codes can tell apart.
    """
    import pyarrow as pa
    from pyarrow import types

    kind = cells.type
    if not types.is_dictionary(kind) or cells.num_chunks < 2:
        return False
    words = [part.dictionary for part in cells.chunks]
    if any(each.null_count for each in words):
        return True
    bits = kind.index_type.bit_width - types.is_signed_integer(kind.index_type)
    most = 2**bits - 1  # pyarrow leaves one code out
    many = sum(map(len, words)) > most  # chunks of one dictionary are common: then it is counted
    return many and len(pa.chunked_array(words, kind.value_type).unique()) > most
