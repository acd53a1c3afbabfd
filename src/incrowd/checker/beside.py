"""What a Parquet or Arrow file says beside the cells of its table.

Notes beside the schema, where programs put whole tables of settings: readers show none of them, and
whoever has the file has them.
"""

import base64
import binascii
import io
import json
import re
import struct
from collections.abc import Iterator

import polars as pl

from incrowd.checker import arrow, buffers, claims, parquet

# notes with what they may say, one a line: its name, an end of line, and its words
KNOWN = re.compile(
    r"ARROW:schema\n.*|org\.apache\.spark\.(version|timeZone|legacy\w+)\n[\w./+:-]{0,40}", re.DOTALL
)
OWN = re.compile(
    r"_PL_ENUM_VALUES2?\n.*|_PL_\w+\n[^\n]{0,80}|PARQUET:\w+\n-?\d{0,10}|ARROW:extension:\w+\n.*",
    re.DOTALL,
)
PANDAS = {"index_columns", "column_indexes", "columns", "creator", "pandas_version", "attributes"}
PANDAS |= {"partition_columns"}
COLUMN = {"name", "field_name", "pandas_type", "numpy_type", "metadata"}
DETAILS = {"num_categories", "ordered", "timezone", "encoding", "precision", "scale", "unit"}
SPARK = "org.apache.spark.sql.parquet.row.metadata"
SAIL = "SPARK::metadata::json", "{}"  # of a column without any
OTHER = "parts of a form that is not looked into"
TWICE = "other columns at its beginning than at its end"
MARK = b"\xff" * 4  # of a message
BESIDE = "the file holds more than its table:"
BROKEN = (IndexError, KeyError, TypeError, ValueError, struct.error, binascii.Error)


def notes_of(data: bytes) -> str | None:
    """Return the name of the first note that says more than what columns are; None of none.

    What cannot be walked is such a note, for nobody can say what it holds.
    """
    try:
        return next(_notes(data), None)
    except BROKEN:
        return OTHER


def _notes(data: bytes) -> Iterator[str]:
    if data.startswith(b"PAR1"):
        if (other := claims.between(data)) is not None:
            yield other
        facts = parquet.footer(data)
        chunks = (column[3] for group in facts[4] for column in group[1])
        yield from (pair[1].decode(errors="replace") for c in chunks for pair in c.get(8, []))
        for pair in facts.get(5, []):
            name, value = pair[1].decode(errors="replace"), pair.get(2, b"")
            told = value.count(b'"metadata":{') > value.count(b'"metadata":{}')
            if name == SPARK and not told:
                continue
            if not _known(name, value.decode(errors="replace")):
                yield name
            if name == "ARROW:schema":
                held = base64.b64decode(value, validate=True)
                (_, schema, _), end = arrow.message(held, 0)
                yield from [name] if any(held[end:]) else _notes_of_schema(schema)
        return
    yield from _notes_of_arrow(data)


def _known(name: str, value: str) -> bool:
    """Whether a note says what columns are, and nothing else."""
    if name != "pandas":
        return KNOWN.fullmatch(f"{name}\n{value}") is not None
    said = json.loads(value)
    columns = [*said.get("columns", ()), *said.get("column_indexes", ())]
    fine = {*said} <= PANDAS and not said.get("attributes")
    fine = fine and all({*one} <= COLUMN for one in columns)
    return fine and all({*(one.get("metadata") or ())} <= DETAILS for one in columns)


def _notes_of_arrow(data: bytes) -> Iterator[str]:
    """Yield the notes of a file or stream, of its messages and columns, and what buffers hold."""
    for found in schemas_of(data):
        yield from _notes_of_schema(found)
    if data.startswith(b"ARROW1") and not says_one_schema(data):
        yield TWICE
    tables = [arrow.first(data), *(arrow.root(data, at + 8) for at in arrow.places(data))]
    tables += [arrow.footer(data)] if data.startswith(b"ARROW1") else []
    yield from (name for one in tables for name, _ in _pairs(one, 4))
    fields = [arrow.root(data, at) for at in next(schemas_of(data)).vector(1, 4)]
    if note := buffers.hidden(data, fields):
        yield note


def says_one_schema(data: bytes) -> bool:
    """Whether an Arrow file says the same of its columns at its beginning as at its end.

    Some readers believe the one and some the other.
    """
    ends = [len(data) - 10 - int.from_bytes(data[-10:-6], "little"), *arrow.places(data)]
    found = data[8 + 8 * (data[8:12] == MARK) : min(ends)]
    stream = MARK + len(found).to_bytes(4, "little") + found + MARK + bytes(4)
    try:
        first = pl.read_ipc_stream(io.BytesIO(stream)).schema
        return [*first.items()] == [*pl.read_ipc(io.BytesIO(data), n_rows=0).schema.items()]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return False


def schemas_of(data: bytes) -> Iterator[arrow.Table]:
    """Yield what an Arrow file or stream says of its columns; a file says it twice."""
    if data.startswith(b"ARROW1"):
        yield arrow.footer(data).table(1)
    yield arrow.first(data).table(2)


def _notes_of_schema(schema: arrow.Table) -> Iterator[str]:
    for name, value in _pairs(schema, 2):
        if not _known(name, value):
            yield name
    yield from _notes_of_fields(schema, 1)


def _notes_of_fields(table: arrow.Table, children: int) -> Iterator[str]:
    """Yield the notes of columns, and of those within them."""
    for one in (arrow.root(table.data, at) for at in table.vector(children, 4)):
        for name, value in _pairs(one, 6):
            idle = name.startswith("_PL_ENUM") and not one.has(4)  # no reader looks at it
            if idle or not (OWN.fullmatch(f"{name}\n{value}") or (name, value) == SAIL):
                yield name
        yield from _notes_of_fields(one, 5)


def _pairs(table: arrow.Table, field: int) -> Iterator[tuple[str, str]]:
    """Yield the names of notes, and what they say."""
    for at in table.vector(field, 4):
        pair = arrow.root(table.data, at)
        yield _text(pair, 0), _text(pair, 1)


def _text(table: arrow.Table, field: int) -> str:
    letters = table.vector(field, 1)
    return table.data[letters.start : letters.stop].decode(errors="replace")
