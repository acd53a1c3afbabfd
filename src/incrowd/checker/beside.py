"""What a Parquet or Arrow file holds beside the cells of its table.

Words of a dictionary that no cell shows, mostly the categories that a frame of pandas had before
its cells were hidden; and notes beside the schema, where programs put whole tables of settings.
Readers show neither, and whoever has the file has both.
"""

import base64
import binascii
import re
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import polars as pl

from incrowd.checker import arrow, parquet

KNOWN = re.compile(r"ARROW:schema|pandas|org\.apache\.spark\.(version|timeZone|legacy\w+)")
OWN = re.compile(r"_PL_\w+|PARQUET:\w+|ARROW:extension:\w+")
SPARK = "org.apache.spark.sql.parquet.row.metadata"
SAIL = "SPARK::metadata::json", "{}"  # of a column without any
BESIDE = "the file holds more than its table:"
WORDS = "the file holds more values than its cells show"
BYTES = 6  # of Parquet: texts and bytes, which writers of dictionaries may hand on as a whole
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
        for pair in parquet.footer(data).get(5, []):
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
    for at in schema.vector(1, 4):
        for name, value in _pairs(arrow.root(schema.data, at), 6):
            if not (OWN.fullmatch(name) or (name, value) == SAIL):
                yield name


def _pairs(table: arrow.Table, field: int) -> Iterator[tuple[str, str]]:
    """Yield the names of notes, and what they say."""
    for at in table.vector(field, 4):
        pair = arrow.root(table.data, at)
        yield _text(pair, 0), _text(pair, 1)


def _text(table: arrow.Table, field: int) -> str:
    letters = table.vector(field, 1)
    return table.data[letters.start : letters.stop].decode(errors="replace")


def words_of_dictionaries(data: bytes) -> dict[int, int]:
    """Return by column's number how many words its largest dictionary has."""
    try:
        return _of_parquet(data) if data.startswith(b"PAR1") else _of_arrow(data)
    except BROKEN:
        return {}


def _of_parquet(data: bytes) -> dict[int, int]:
    found: dict[int, int] = defaultdict(int)
    facts = parquet.footer(data)
    nested = len(facts[2]) - 1 != facts[2][0].get(5)  # then columns have other numbers
    for group in [] if nested else facts[4]:
        for number, column in enumerate(group[1]):
            if column[3][1] != BYTES:
                continue
            for kind, _, inner in parquet.pages(data, column[3]):
                if kind == parquet.DICTIONARY:
                    found[number] = max(found[number], inner[1])
    return dict(found)


def _of_arrow(data: bytes) -> dict[int, int]:
    sizes: dict[int, int] = defaultdict(int)
    for kind, batch, _ in arrow.messages(data):
        if kind == arrow.DICTIONARY:
            number, size = batch.number(0, "<q"), batch.table(1).number(0, "<q")
            sizes[number] = size + sizes[number] if batch.number(2, "<?") else size
    found = {}
    for schema in schemas_of(data):
        for number, at in enumerate(schema.vector(1, 4)):
            field = arrow.root(data, at)
            if field.has(4):
                found[number] = sizes[field.table(4).number(0, "<q")]
    return found


def idle(data: bytes, kinds: Sequence[Any], column: Callable[[int], pl.Series]) -> list[int]:
    """Return the numbers of columns of categories of which more are held than cells show.

    Parameters
    ----------
    kinds: the columns' types; ``column``: returns the cells of one, by its number.
    """
    named = [n for n, kind in enumerate(kinds) if isinstance(kind, pl.Categorical)]
    words = words_of_dictionaries(data) if named else {}
    return [n for n in named if words.get(n, 0) > column(n).drop_nulls().n_unique()]
