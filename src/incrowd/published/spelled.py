"""Whether equal cells of a release look alike: who has the file tells rows of a class apart else.

A text in quotes and without, −0.0 and 0.0, lines that end in two ways: the same table, another
file.  How text is written is asked of the independent checker, as of releases with a proof.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl

from incrowd.checker.delimited import BARE, BLANK, MARK, MIXED, TWO_WAYS, Reading
from incrowd.checker.dictionaries import WORDS
from incrowd.checker.files import read_table
from incrowd.checker.rejection import RejectedError
from incrowd.checker.unchanged import has_one_form
from incrowd.errors import InputError
from incrowd.published.labels import said_beside
from incrowd.tables.base import Column, Source, encoded_alike
from incrowd.tables.csv_table import CsvTable
from incrowd.tables.packed import PackedTable
from incrowd.tables.parts import PartsTable
from incrowd.tables.spreadsheet import runs
from incrowd.tables.stat import StatTable

ROWS = "rows of the sheet look different, which tells rows of a class apart"


def told_apart(released: Source, original: Source | None, same: Iterable[str]) -> Iterator[str]:
    """Yield why equal cells of a release do not look alike.

    Parameters
    ----------
    original: None where there is not one.
    same: columns that are published as they are, and compared to the bit, see ``alike``.
    """
    whole = released.base if isinstance(released, PartsTable) else released
    if isinstance(released, PartsTable):
        yield from dict.fromkeys(released.odd)
    if isinstance(whole, CsvTable):
        yield from _written_apart(whole)
        return
    if isinstance(whole, PackedTable):
        yield from dict.fromkeys(whole.beside())
    if isinstance(whole, StatTable):
        yield from said_beside(whole, original)
    yield from _idle_categories(whole, original)
    own, apart = {*same}, {*getattr(whole, "apart", ())}
    if looks := getattr(whole, "looks", None):
        seen = looks()
        apart |= {whole.columns[j] for j in seen.columns}
        yield from (ROWS,) * seen.rows
        if seen.beside:
            yield f"the workbook holds more than its table: {seen.beside}"
    yield from (f"column {name!r}: {TWO_WAYS}" for name in whole.columns if name in apart)
    for name in whole.columns:
        cells = _numbers(whole, name)
        if cells is not None and not has_one_form(cells):
            before = None if original is None or name not in own else _numbers(original, name)
            if before is None or before.dtype != cells.dtype:
                yield f"column {name!r}: {TWO_WAYS}"


def unseen(released: Source) -> Iterator[str]:
    """Yield what a release may hold and nobody looks at."""
    if words := getattr(released, "unseen", ""):
        yield words


def _idle_categories(released: Any, original: Source | None) -> Iterator[str]:
    """Yield the columns whose type lists cells of the original that no released cell shows."""
    for name in released.columns if isinstance(released, PackedTable) else ():
        kind = released.take(name, slice(0, 0)).dtype
        if isinstance(kind, pl.Enum):
            held = {*kind.categories} - {*released.encode(name).compact().values}
            known = held if original is None else {*original.encode(name).values}
            if held & known:
                yield f"column {name!r}: {WORDS}"


def alike(original: Source, released: Source, name: str) -> tuple[Column, Column]:
    """Return a column of two tables, equal cells having equal values, see ``encoded_alike``.

    Where equal numbers of the release have several forms, cells are equal to the bit: each row has
    to have its own.
    """
    before, cells = _numbers(original, name), _numbers(released, name)
    if cells is None or before is None or before.dtype != cells.dtype or has_one_form(cells):
        return encoded_alike(original, released, name)
    both = [[repr(_to_the_bit(cell)) for cell in column.to_list()] for column in (before, cells)]
    first, second = (Column.of(texts, np.arange(len(texts))) for texts in both)
    return first, second


def _to_the_bit(cell: Any) -> Any:
    """Return a cell with the bits of its numbers."""
    if isinstance(cell, float):
        return struct.pack("<d", cell)
    if isinstance(cell, dict):
        return {key: _to_the_bit(part) for key, part in cell.items()}
    return [_to_the_bit(part) for part in cell] if isinstance(cell, list) else cell


def unsafe(columns: Mapping[str, Column]) -> Iterator[str]:
    """Yield where a cell lacks the apostrophe of ``--spreadsheet-safe``.

    With and without would be one text once apostrophes are taken away, but two in the release.
    """
    for name, column in columns.items():
        bare = np.array([runs(text) for text in column.values], bool)[column.codes]
        if bare.any():
            yield (
                f"column {name!r}, released row {int(bare.argmax()) + 1}: the cell lacks the "
                "apostrophe of --spreadsheet-safe"
            )


def _written_apart(table: CsvTable) -> Iterator[str]:
    """Yield what the checker says against the way in which delimited text is written."""
    data, end = table.in_utf8(), table.dialect.newline
    if b'"' not in data and b"\r" not in data and not data.endswith(b"\n\n"):
        return
    form = {"delimiter": table.dialect.delimiter, "newline": end, "encoding": "utf-8"}
    reading = Reading(form["delimiter"], "utf-8", odd_header=True)
    try:
        read_table(data, form, released=True, reading=reading, lean=True)
    except RejectedError as no:  # what else it does not read is no matter here
        if no.reason in (TWO_WAYS, BLANK, BARE, MIXED):
            yield str(RejectedError(no.reason, no.row, no.column and no.column.removeprefix(MARK)))


def _numbers(table: Any, name: str) -> Any:
    """Return a column of doubles, or of what may hold some, as a polars series; None for another.

    Of a table in parts it is that of the files: what stands in folders' names is text.
    """
    table = table.base if isinstance(table, PartsTable) else table
    if name in table.columns and hasattr(table, "take"):
        with suppress(InputError):
            kind = table.take(name, slice(0, 0)).dtype
            if kind.is_float() or kind.is_nested():
                return table.take(name, slice(None))
    return None
