"""What a Parquet or Arrow file says beside the cells of its table.

Notes beside the schema, where programs put whole tables of settings: readers show none of them, and
whoever has the file has them.
"""

import base64
import binascii
import re
import struct
from collections.abc import Iterator

from incrowd.checker import arrow, claims, parquet

KNOWN = re.compile(r"ARROW:schema|pandas|org\.apache\.spark\.(version|timeZone|legacy\w+)")
OWN = re.compile(r"_PL_\w+|PARQUET:\w+|ARROW:extension:\w+")
SPARK = "org.apache.spark.sql.parquet.row.metadata"
SAIL = "SPARK::metadata::json", "{}"  # of a column without any
BESIDE = "the file holds more than its table:"
BROKEN = (IndexError, KeyError, TypeError, ValueError, struct.error, binascii.Error)


def notes_of(data: bytes) -> str | None:
    """Return the name of the first note that says more than what columns are; None of none.

    A file of a form that is walked no further has none that is known.
    """
    try:
        return next(_notes(data), None)
    except BROKEN:
        return None


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
    for found in schemas_of(data):
        yield from _notes_of_schema(found)


def schemas_of(data: bytes) -> Iterator[arrow.Table]:
    """Yield what an Arrow file or stream says of its columns."""
    if data.startswith(b"ARROW1"):
        length = int.from_bytes(data[-10:-6], "little")
        yield arrow.root(data, len(data) - 10 - length).table(1)
    else:
        yield arrow.message(data, 0)[0][1]


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
