"""Lies that a Parquet file can tell of its cells: in its footer, in the headers of its pages.

Each is one that some reader could believe: counts, least and largest values, orders, indexes of
pages, types in a second place, dictionaries.
"""

import io
import random
from collections.abc import Callable
from typing import Any

import polars as pl
import pyarrow.parquet as pq
from parquet_forger import BINARY, BOOL, I16, I32, I64, LIST, STRUCT, Fields

from incrowd.checker.parquet import footer

NUMBERS = (-(2**62), -1, 0, 1, 2, 3, 7, 40, 2**20, 2**31 - 1, 2**40)
TEXTS = (b"", b"\0", b"a", b"zzz", b"\xff" * 8, b"\0" * 8, b"\1" + b"\0" * 7)


def statistics(draw: random.Random) -> Any:
    """Least and largest values and counts that are not the column's."""
    facts = {number: (BINARY, draw.choice(TEXTS)) for number in (1, 2, 5, 6)}
    facts |= {number: (I64, draw.choice(NUMBERS)) for number in (3, 4)}  # type: ignore[dict-item]
    facts |= {7: (BOOL, True), 8: (BOOL, True)}  # type: ignore[dict-item]
    return STRUCT, {n: facts[n] for n in facts if draw.random() < 0.8}


def one(draw: random.Random, fields: Fields, numbers: dict[int, int]) -> None:
    """Set one of these fields, given with their kinds, to a number."""
    number = draw.choice(list(numbers))
    fields[number] = numbers[number], draw.choice(NUMBERS)


def keys(draw: random.Random) -> Any:
    """Metadata as text: Arrow's schema of another table, pandas' index, polars' own."""
    other = pl.DataFrame({"text": [1], "number": ["x"], "gaps": [0.5]}).to_arrow().schema
    out = io.BytesIO()
    pq.write_table(other.empty_table(), out)
    schema = next(kv[2] for kv in footer(out.getvalue())[5] if kv[1] == b"ARROW:schema")
    pandas = b'{"index_columns": ["number"], "columns": [{"name": "text", "numpy_type": "int8"}]}'
    known = {b"ARROW:schema": schema, b"pandas": pandas, b"sorted": b"number", b"": b""}
    chosen = draw.sample(list(known), draw.randrange(1, 4))
    chosen += chosen[:1] if draw.random() < 0.3 else []
    pairs = [{1: (BINARY, key), 2: (BINARY, draw.choice([known[key], b"x"]))} for key in chosen]
    return LIST, (STRUCT, pairs)


def orders(draw: random.Random) -> Any:
    """A claim that a group is sorted by some column."""
    by = {1: (I32, draw.choice([0, 1, 2, 9, -1])), 2: (BOOL, draw.random() < 0.5)}
    return LIST, (STRUCT, [by | {3: (BOOL, draw.random() < 0.5)}])


def lie(draw: random.Random, facts: Fields) -> None:
    """Change one claim of the footer."""
    group = draw.choice(facts[4][1][1])
    column = draw.choice(group[1][1][1])
    chunk = column[3][1]
    offsets = {4: I64, 5: I32, 6: I64, 7: I32}
    counts = {2: I64, 3: I64, 5: I64, 6: I64, 7: I16}
    choices: dict[str, Callable[[], Any]] = {
        "statistics": lambda: chunk.__setitem__(12, statistics(draw)),
        "order": lambda: group.__setitem__(4, orders(draw)),
        "keys": lambda: facts.__setitem__(5, keys(draw)),
        "keys of a column": lambda: chunk.__setitem__(8, keys(draw)),
        "page index": lambda: one(draw, column, offsets),
        "bloom filter": lambda: one(draw, chunk, {14: I64, 15: I32}),
        "place of a column": lambda: one(draw, column, {2: I64}),
        "counts of a group": lambda: one(draw, group, counts),
        "counts of a column": lambda: one(draw, chunk, {5: I64, 6: I64, 7: I64}),
        "rows": lambda: one(draw, facts, {3: I64}),
        "version": lambda: one(draw, facts, {1: I32}),
        "writer": lambda: facts.__setitem__(6, (BINARY, draw.choice(TEXTS[:4]))),
        "no order of values": lambda: facts.pop(7, None),
        "encodings": lambda: chunk.__setitem__(2, (LIST, (I32, [draw.randrange(9)]))),
    }
    choices[draw.choice(list(choices))]()


def page_lie(draw: random.Random, header: Fields) -> None:
    """Change one claim of a page's header."""
    inner = next(header[n][1] for n in (5, 7, 8) if n in header)
    kinds = {5: {1: I32}, 7: {1: I32}, 8: {1: I32, 2: I32, 3: I32}}
    choices: list[Callable[[], Any]] = [
        lambda: one(draw, header, {2: I32, 4: I32}),
        lambda: one(draw, inner, next(kinds[n] for n in kinds if n in header)),
        lambda: inner.__setitem__(5 if 5 in header else 8, statistics(draw)),
    ]
    if 7 in header:
        choices[-1] = lambda: inner.__setitem__(3, (BOOL, True))  # a dictionary that is sorted
    draw.choice(choices)()
