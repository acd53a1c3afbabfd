"""Whether equal cells of a release look alike: who has the file tells rows of a class apart else.

A text in quotes and without, −0.0 and 0.0, lines that end in two ways: the same table, another
file.  How text is written is asked of the independent checker, as of releases with a proof.

So it is with what a file of SPSS, Stata or SAS says beside its cells.  A label of a value that no
cell shows mostly means that somebody had it, and any label may name somebody.  So those of a
release are the original's, of values that cells show; or of all values that the original labels
(``--codebook``), of which none is chosen by what is hidden.
"""

import re
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
from incrowd.hierarchy.tree import STAR
from incrowd.tables.base import Column, Source, encoded_alike
from incrowd.tables.csv_table import CsvTable
from incrowd.tables.packed import PackedTable
from incrowd.tables.parts import PartsTable
from incrowd.tables.spreadsheet import runs
from incrowd.tables.stat import StatTable
from incrowd.tables.stat_column import GROUP, SUPPRESSED, Raw, StatColumn

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


NOTES = (
    "the file holds notes, attributes, sets of variables, labels of no variable, or bytes behind "
    "its rows or texts, which no release keeps"
)
LABELS = "the file labels values that no cell shows, or otherwise than the original does"
MISSING = "the file declares values missing that no cell shows"
WIDE = "the variable is wider than the texts that its cells show"
USUAL = 9  # letters that programs show of shorter texts
TITLE = "the label of {} is not the original's"
Item = tuple[str | None, str]


def said_beside(released: StatTable, original: Source | None) -> Iterator[str]:
    """Yield what a release says beside its cells, and its original does not; None: there is none.

    Parameters
    ----------
    released: as it was read, or as it is before it is written.
    """
    known = original if isinstance(original, StatTable) else None
    if released.notes:
        yield NOTES
    if (released.title or "") not in ("", known and known.title):
        yield TITLE.format("the file")
    for name, each in released.variables.items():
        column, before = each.bare(), known.variables.get(name) if known else None
        if (column.title or "") not in ("", before and before.title):
            yield f"column {name!r}: {TITLE.format('the variable')}"
        if not labelled_alike(column, before):
            yield f"column {name!r}: {LABELS}"
        if not missing_alike(column, before):
            yield f"column {name!r}: {MISSING}"
        if not wide_alike(column, before):
            yield f"column {name!r}: {WIDE}"


def labelled_alike(column: StatColumn, before: StatColumn | None) -> bool:
    """Whether labels are the original's, and those of values without cells all that it has."""
    shown = {_text(column, value) for value in column.values}
    made = {(STAR, SUPPRESSED)} | {(text, f"{GROUP}{text}") for text in shown}
    labels = {*_items(column, [*column.labels])}
    idle = {item for item in labels if item[0] not in shown}
    # a number that became text keeps no labels of missing values
    whole = before is None or before.text or not column.text
    known: set[Item] = set()
    if before is not None:
        known |= {*_items(before, [v for v in before.labels if whole or not before.is_missing(v)])}
    left = {item for item in known if item[0] not in shown}
    return labels - idle <= known | made and (not idle or idle == left)


def missing_alike(column: StatColumn, before: StatColumn | None) -> bool:
    """Whether values declared missing are shown, or all single ones that the original declares."""
    shown, known = {*column.values}, before.missing if before else ()
    ends = {end for pair in known for end in pair}
    idle = [pair for pair in column.missing if not {*pair} <= shown]
    single = any(low == high for low, high in idle)
    own = {end for pair in column.missing for end in pair}
    whole = all(low != high or low in own or column.is_missing(low) for low, high in known)
    return all({*pair} <= ends | shown for pair in idle) and (whole or not single)


def wide_alike(column: StatColumn, before: StatColumn | None) -> bool:
    """Whether texts are as long as the variable, or all are there that the original has.

    A program that hides cells may leave the variable as wide as the longest hidden one was.
    """
    shown = {*column.values} - {None}
    if not column.text or (before is not None and {*before.values} - {None} <= shown):
        return True
    longest = max((len(str(value).encode()) for value in shown), default=0)
    told = max([column.width or 0, *map(int, re.findall(r"\d+", column.format or ""))])
    return (column.storage or 0) <= max(longest, 1) + 1 and told <= max(longest, USUAL)


def _items(column: StatColumn, values: list[Raw]) -> Iterator[Item]:
    """Yield what labelled values read as, with their labels."""
    for value in values:
        yield _text(column, value), column.labels[value]


def _text(column: StatColumn, value: Raw) -> str | None:
    with suppress(InputError):  # dates of no calendar
        return column.as_text(value)
    return repr(value)
