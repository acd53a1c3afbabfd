"""Reading tables and proofs as others would: the standard library and pyarrow."""

import io
import json
import zipfile
from datetime import date, datetime, time
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

Cells = list[list[str | None]]


class Unreadable(Exception):  # noqa: N818
    """Another reader makes nothing of a file."""


class Plain(NamedTuple):
    """A table as text: names of its columns, and its rows."""

    header: list[str]
    rows: Cells


ENDS = "\r\n"


def table_of(data: bytes, delimiter: str, encoding: str, ends: str = ENDS) -> Plain:
    """Read a table; delimited text by the dialect that it was written in.

    ``ends``: what ends a line; an original's are its own, whatever other readers think.
    """
    if data[:4] == b"PAR1" or data[:6] == b"ARROW1" or data[:4] == b"\xff" * 4:
        table = packed_of(data)
        columns = [[shown(cell) for cell in column] for column in lists_of(table)]
        return Plain(table.column_names, [list(row) for row in zip(*columns, strict=True)])
    try:
        lines = records(data.decode(encoding).removeprefix("\ufeff"), delimiter, ends=ends)
    except UnicodeError:
        raise Unreadable("not of its encoding") from None
    header, *rows = lines
    if any(len(row) != len(header) for row in rows):
        raise Unreadable("ragged")
    return Plain([name or "" for name in header], rows)


def arrow_of(data: bytes) -> pa.Table:
    """Read Parquet or Arrow with pyarrow."""
    try:
        if data[:4] == b"PAR1":
            return pq.read_table(io.BytesIO(data), page_checksum_verification=False)
        kind = pa.ipc.open_file if data[:6] == b"ARROW1" else pa.ipc.open_stream
        return kind(pa.BufferReader(data)).read_all()
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        raise Unreadable(str(error)[:80]) from None


def packed_of(data: bytes) -> pa.Table:
    """Read Parquet or Arrow; where pyarrow does not, which misleads nobody, with polars."""
    try:
        table = arrow_of(data)
        lists_of(table)
        return table
    except Unreadable:
        pass
    kinds = {b"PAR": pl.read_parquet, b"ARR": pl.read_ipc}
    found = kinds.get(data[:3], pl.read_ipc_stream)(io.BytesIO(data))
    wide = [name for name, kind in found.schema.items() if str(kind) in ("Int128", "UInt128")]
    try:
        return found.with_columns(pl.col(wide).cast(pl.Int64)).to_arrow()  # Arrow has none so wide
    except pl.exceptions.PolarsError as error:
        raise Unreadable(str(error)[:80]) from None


def lists_of(table: pa.Table) -> list[list[Any]]:
    """Return the columns as Python lists."""
    try:
        table.validate(full=True)
        return [column.to_pylist() for column in table.columns]
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise Unreadable(str(error)[:80]) from None


def shown(cell: Any) -> str | None:
    """Return a cell as the text of a release."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, float):
        return str(int(cell)) if cell == cell and abs(cell) != float("inf") and cell == int(cell) \
            else str(cell)  # fmt: skip
    if isinstance(cell, datetime):
        midnight = cell.tzinfo is None and cell.time() == time()
        return cell.date().isoformat() if midnight else cell.isoformat(sep=" ")
    return cell.isoformat() if isinstance(cell, date) else str(cell)


def records(text: str, delimiter: str, written: bool = False, ends: str = ENDS) -> Cells:
    """Cut delimited text into fields; an empty one without quotes is None.

    Lines end where most readers end them: at a line feed, a carriage return, or both; or at one of
    ``ends`` alone, before which a carriage return may stand.
    ``written``: return fields as they are written, quotes and all.
    """
    lines: Cells = [[]]
    at, end = 0, len(text)
    while True:
        start = at
        if text[at : at + 1] == '"':
            field, at = quoted(text, at + 1)
        else:
            while at < end and text[at] not in (delimiter, *ends) and text[at : at + 2] != "\r\n":
                at += 1
            field = text[start:at] or None
        lines[-1].append(text[start:at] if written else field)
        if at >= end:
            break
        if text[at] != delimiter and text[at] not in "\r\n":
            raise Unreadable("text behind a quote")
        if text[at] != delimiter:
            lines.append([])
        at += 2 if text[at : at + 2] == "\r\n" else 1
    while (
        len(lines) > 1
        and lines[-1] in ([None], [""])
        and (len(lines[0]) > 1 or text[-1:] in "\r\n")
    ):
        del lines[-1]
        if len(lines[0]) == 1:
            break
    return lines


def quoted(text: str, at: int) -> tuple[str, int]:
    """Return the text of a field in quotes from ``at`` on, and where it ends."""
    field = ""
    while True:
        stop = text.find('"', at)
        if stop < 0:
            raise Unreadable("a quote that does not end")
        field, at = field + text[at:stop], stop + 1
        if text[at : at + 1] != '"':
            return field, at
        field, at = field + '"', at + 1


class Stated(NamedTuple):
    """What a proof file says: its JSON part, and its tables as lists of rows by name."""

    facts: dict[str, Any]
    rows: list[dict[str, Any]]
    ladders: list[dict[str, Any]]


def proof_of(data: bytes) -> Stated:
    """Read a proof file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        facts = json.loads(archive.read("proof.json"), object_pairs_hook=once)
        tables = [
            packed_of(archive.read(name)).to_pylist()
            for name in ("rows.parquet", "ladders.parquet")
        ]
    return Stated(facts, *tables)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """No key may stand twice."""
    if len(dict(pairs)) < len(pairs):
        raise Unreadable("a key stands twice")
    return dict(pairs)
