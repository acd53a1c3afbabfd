"""What a Parquet or Arrow file says beside the cells of its table.

Notes beside the schema, where programs put whole tables of settings: readers show none of them, and
whoever has the file has them.
"""

import base64
import binascii
import re
import struct
from collections.abc import Iterator

from incrowd.checker import arrow, buffers, claims, parquet

KNOWN = re.compile(r"ARROW:schema|pandas|org\.apache\.spark\.(version|timeZone|legacy\w+)")
OWN = re.compile(r"_PL_\w+|PARQUET:\w+|ARROW:extension:\w+")
SPARK = "org.apache.spark.sql.parquet.row.metadata"
SAIL = "SPARK::metadata::json", "{}"  # of a column without any
OTHER = "parts of a form that is not looked into"
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
            if not KNOWN.fullmatch(name):
                yield name
            if name == "ARROW:schema":
                held = base64.b64decode(value)
                yield from _notes_of_schema(arrow.message(held, 0)[0][1])
        return
    yield from _notes_of_arrow(data)


def _notes_of_arrow(data: bytes) -> Iterator[str]:
    """Yield the notes of a file or stream, of its messages and columns, and what buffers hold."""
    for found in schemas_of(data):
        yield from _notes_of_schema(found)
    tables = [arrow.first(data), *(arrow.root(data, at + 8) for at in arrow.places(data))]
    tables += [arrow.footer(data)] if data.startswith(b"ARROW1") else []
    yield from (name for one in tables for name, _ in _pairs(one, 4))
    fields = [arrow.root(data, at) for at in next(schemas_of(data)).vector(1, 4)]
    if note := buffers.hidden(data, fields):
        yield note


def schemas_of(data: bytes) -> Iterator[arrow.Table]:
    """Yield what an Arrow file or stream says of its columns; a file says it twice."""
    if data.startswith(b"ARROW1"):
        yield arrow.footer(data).table(1)
    yield arrow.first(data).table(2)


def _notes_of_schema(schema: arrow.Table) -> Iterator[str]:
    for name, _ in _pairs(schema, 2):
        if not KNOWN.fullmatch(name):
            yield name
    yield from _notes_of_fields(schema, 1)


def _notes_of_fields(table: arrow.Table, children: int) -> Iterator[str]:
    """Yield the notes of columns, and of those within them."""
    for one in (arrow.root(table.data, at) for at in table.vector(children, 4)):
        for name, value in _pairs(one, 6):
            if not (OWN.fullmatch(name) or (name, value) == SAIL):
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
