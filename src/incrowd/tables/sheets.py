"""Excel and OpenDocument workbooks as tables (extra ``excel``): one sheet, its first row the names.

Text stays text, so leading zeros stay; a number that is shown with leading zeros (format ``00000``)
is the text that is seen.  Formulas are refused: what is published must be what was read.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import IO, Any

import polars as pl

from incrowd.errors import InputError, MissingExtraError, did_you_mean
from incrowd.tables.hidden import PIECE, hidden_in, hidden_of
from incrowd.tables.kinds import EXACT, Kinds, Padded, as_text
from incrowd.tables.looks import PICTURE, Looks, has_picture, looks_of_excel, looks_of_opendocument
from incrowd.tables.opendocument import shown
from incrowd.tables.packed import PackedTable, packed

SHEETS = {".xlsx": "xlsx", ".xlsm": "xlsx", ".ods": "ods"}
ZEROS = re.compile(r"0{2,}")
PADDED = re.compile(r"0[0-9]{1,14}")
MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^<>]{0,99}?ref="([A-Z]{1,3}\d+:[A-Z]{1,3}\d+)"')
SPANNED = ("numberrowsspanned", "numbercolumnsspanned")  # the same in OpenDocument
SHOWN = re.compile(r"""([^"<>=@]|"[^"]{0,4}")+""")
"""Formats of Excel's that a release may keep: they hold no words, and ask for no value."""
MERGED_LENGTH = 200
"""No element of a merged cell is longer: one that two pieces share is found in the later."""


@dataclass(frozen=True)
class Cell:
    """A cell that holds something.

    Attributes
    ----------
    place: as the sheet calls it, such as ``B7``.
    value: text, number, truth value, date or time.
    shown: of a number or a date, the format of Excel's that it is shown in.
    """

    place: str
    value: Any
    shown: str = ""


Rows = Iterator[list[Cell | None]]


def read_sheet(data: bytes, name: str, form: str, sheet: str | None = None) -> PackedTable:
    """Return a workbook's sheet as a table.

    Parameters
    ----------
    form: ``"xlsx"`` or ``"ods"``.
    sheet: its name; None where the workbook has one sheet that is not empty.

    Raises
    ------
    InputError: the file is damaged, the sheet is not there, a cell holds a formula or an error
        (the message names the cell, not what is in it), columns have no name or the same one.
    MissingExtraError: the library is not installed.
    """
    rows, looks = (_excel if form == "xlsx" else _opendocument)(data, name, sheet)
    header = next(rows, [])
    while header and header[-1] is None:
        header.pop()
    if not header:
        raise InputError(f"{name}: the first row of the sheet is empty; it should name the columns")
    names = [_name_of(cell, j, name) for j, cell in enumerate(header)]
    if len(set(names)) < len(names):
        twice = next(one for one in names if names.count(one) > 1)
        raise InputError(f"{name}: two columns are called {twice!r}")
    columns: list[list[Any]] = [[] for _ in names]
    shown: list[set[str]] = [set() for _ in names]
    for row in _without_blank_ends(rows, name):
        beside = next((cell for cell in row[len(names) :] if cell is not None), None)
        if beside is not None:
            more = "; delete the rows above the columns' names" if len(names) == 1 else ""
            raise InputError(f"{name}: cell {beside.place} stands in a column without a name{more}")
        for j, cells in enumerate(columns):
            cell = row[j] if j < len(row) else None
            cells.append(None if cell is None else cell.value)
            shown[j] |= {cell.shown} if cell is not None and cell.shown else set()
    parts = {one: packed(typed(one, cells)) for one, cells in zip(names, columns, strict=True)}
    apart = [one for one, cells in zip(names, columns, strict=True) if of_two_kinds(cells)]
    found = PackedTable(parts, len(columns[0]) if columns else 0, form, frozenset(apart), looks)
    found.formats = {
        one: min(forms)
        for one, forms in zip(names, shown, strict=True)
        if len(forms) == 1 and SHOWN.fullmatch(min(forms)) and min(forms) != "General"
    }
    found.unseen = PICTURE if has_picture(data) else ""
    return found


def of_two_kinds(cells: Sequence[Any]) -> bool:
    """Whether cells that read alike are of two kinds."""
    kinds = Kinds()
    kinds.see(cells)
    return kinds.apart


def _without_blank_ends(rows: Rows, name: str) -> Rows:
    """Yield the rows below the header, but for empty ones at the end: sheets hold formatted ones.

    Anywhere else an empty row is refused: as a row of the table it would be a person who hides
    others.
    """
    blank = 0
    for number, row in enumerate(rows, 2):
        if not any(cell is not None for cell in row):
            blank = blank or number
        elif blank:
            raise InputError(
                f"{name}: row {blank} of the sheet is empty, with more rows below it; delete it, "
                "for it would count as a person"
            )
        else:
            yield row


def _name_of(cell: Cell | None, j: int, name: str) -> str:
    if cell is None:
        raise InputError(f"{name}: column {j + 1} of the sheet has no name in the first row")
    return as_text(cell.value)


def typed(name: str, cells: Sequence[Any]) -> pl.Series:
    """Return cells as a column of one type: that of all of them, or else text."""
    kinds = {type(value) for value in cells if value is not None}
    large = any(type(value) is int and abs(value) >= EXACT for value in cells)
    if kinds and kinds <= {int, float} and not large:
        return pl.Series(name, cells, pl.Int64 if kinds == {int} else pl.Float64, strict=False)
    if kinds == {bool}:
        return pl.Series(name, cells, pl.Boolean)
    if kinds == {datetime}:
        days = all(value is None or value.time() == time() for value in cells)
        found = pl.Series(name, cells, pl.Datetime("us"))
        return found.cast(pl.Date) if days else found
    plain = {date: pl.Date, time: pl.Time, timedelta: pl.Duration("us")}
    for kind, own in plain.items():
        if kinds == {kind}:
            return pl.Series(name, cells, own)
    return pl.Series(name, [None if v is None else as_text(v) for v in cells], pl.String)


def _chosen(names: Sequence[str], wanted: str | None, name: str) -> str:
    """Return the sheet to read."""
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted in names:
        return str(wanted)
    listed = ", ".join(map(repr, names))
    if wanted is None:
        raise InputError(
            f"{name}: holds several sheets ({listed}); write the sheet behind the name, as in "
            f"'{name}#{names[0]}' (on the command line also --sheet)"
        )
    raise InputError(f"{name}: no sheet is called {wanted!r}{did_you_mean(wanted, names)}")


def _excel(data: bytes, name: str, sheet: str | None) -> tuple[Rows, Callable[[], Looks]]:
    """Return the rows of a sheet of Excel's, and what tells how its cells look."""
    openpyxl = library("openpyxl", "an Excel file")
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=False)
    except MemoryError:
        raise
    except Exception:  # the library's own message may quote the file's content
        raise InputError(f"{name}: begins like a workbook, but cannot be read as one") from None
    seen = [one.title for one in book.worksheets if one.sheet_state == "visible"]
    filled = [one for one in seen if _holds_a_cell(book[one])] if sheet is None else []
    found = book[_chosen(filled if len(filled) == 1 else seen or book.sheetnames, sheet, name)]
    place, shared = found._worksheet_path, found._shared_strings
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        with parts.open(place) as part:
            _require_unmerged(part, name)
        with parts.open(place) as part:
            hidden = hidden_in(part)
    rows = (
        [None if cell.value is None else _excel_cell(cell, name) for cell in row]
        for row in found.iter_rows()
    )
    looks = partial(looks_of_excel, data, place, shared)
    return hidden.require_seen(rows, name), looks


def _holds_a_cell(sheet: Any) -> bool:
    return any(cell.value is not None for row in sheet.iter_rows() for cell in row)


def _require_unmerged(part: IO[bytes], name: str) -> None:
    """Raise InputError for merged cells: all but the first are empty, so rows would lack theirs.

    Parameters
    ----------
    part: the sheet's XML, in which merged cells stand at the end.
    """
    seen = b""
    while piece := part.read(PIECE):
        seen = seen[-MERGED_LENGTH:] + piece
        if met := MERGED.search(seen):
            raise _merged(met[1].decode(), name)


def _merged(place: str, name: str) -> InputError:
    return InputError(
        f"{name}: cells {place} are merged, and only the first of them holds what is shown; take "
        "them apart, and give each row its own (where they are a heading above the columns' names, "
        "delete that row)"
    )


def _excel_cell(cell: Any, name: str) -> Cell:
    place = f"{cell.column_letter}{cell.row}" if hasattr(cell, "column_letter") else cell.coordinate
    if cell.data_type in ("f", "e"):
        what = "a formula" if cell.data_type == "f" else "an error"
        raise InputError(
            f"{name}: cell {place} holds {what}; a release is made of values: copy them over it"
        )
    shown = cell.number_format or ""
    if isinstance(cell.value, int) and not isinstance(cell.value, bool) and ZEROS.fullmatch(shown):
        return Cell(place, Padded(str(cell.value).zfill(len(shown))))
    return Cell(place, cell.value, "" if isinstance(cell.value, str | bool) else shown)


def _opendocument(data: bytes, name: str, sheet: str | None) -> tuple[Rows, Callable[[], Looks]]:
    """Return the rows of a sheet of an OpenDocument file, as ``_excel`` does."""
    library("odf", "an OpenDocument file")
    from odf.opendocument import load
    from odf.table import Table, TableColumn, TableRow

    try:
        opened: Any = load(io.BytesIO(data))
        tables = opened.spreadsheet.getElementsByType(Table)
    except MemoryError:
        raise
    except Exception:
        raise InputError(f"{name}: begins like a workbook, but cannot be read as one") from None
    by_name = {table.getAttribute("name"): table for table in tables}
    found = by_name[_chosen(list(by_name), sheet, name)]
    rows, columns = (found.getElementsByType(kind) for kind in (TableRow, TableColumn))
    seen = hidden_of(rows, columns).require_seen(_opendocument_rows(rows, name), name)
    return seen, partial(looks_of_opendocument, data)


def _opendocument_rows(rows: Iterable[Any], name: str) -> Rows:
    """Yield the cells of rows, each as often as it is repeated; not empty ones at the end."""
    from odf.table import CoveredTableCell, TableCell

    empty = number = 0
    for row in rows:
        times = int(row.getAttribute("numberrowsrepeated") or 1)
        cells: list[Cell | None] = []
        for cell in row.childNodes:
            if cell.qname in (TableCell().qname, CoveredTableCell().qname):
                repeated = int(cell.getAttribute("numbercolumnsrepeated") or 1)
                value = _opendocument_cell(cell, f"{_letters(len(cells))}{number + 1}", name)
                cells += [value] * (repeated if value is not None or repeated < 1000 else 1)
        number += times
        if not any(cells):
            empty += times
            continue
        yield from ([] for _ in range(empty))  # blank lines between rows are rows, not the last
        empty = 0
        yield from (list(cells) for _ in range(times))


def _opendocument_cell(cell: Any, place: str, name: str) -> Cell | None:
    kind = cell.getAttribute("valuetype")
    spans = [int(cell.getAttribute(of) or 1) for of in SPANNED]
    if max(spans) > 1:
        raise _merged(f"from {place}", name)
    if cell.getAttribute("formula"):
        raise InputError(
            f"{name}: cell {place} holds a formula; a release is made of values: copy them over it"
        )
    if kind in ("float", "percentage", "currency"):
        number, seen = float(cell.getAttribute("value")), shown(cell) or ""
        if PADDED.fullmatch(seen) and int(seen) == number:
            return Cell(place, Padded(seen))
        return Cell(place, int(number) if number.is_integer() and abs(number) < EXACT else number)
    if kind == "boolean":
        return Cell(place, cell.getAttribute("booleanvalue") == "true")
    if kind == "date":
        text = cell.getAttribute("datevalue")
        day = date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
        return Cell(place, day)
    text = shown(cell)
    if kind is None:  # some programs write texts without their kind
        return None if not text else Cell(place, text)
    return Cell(place, (cell.getAttribute("stringvalue") or "") if text is None else text)


def _letters(j: int) -> str:
    """Return what a sheet calls its column number j from 0."""
    text = ""
    while j >= 0:
        text = chr(65 + j % 26) + text
        j = j // 26 - 1
    return text


def library(name: str, what: str) -> Any:
    """Import openpyxl or odfpy."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(
            "openpyxl" if name == "openpyxl" else "odfpy", "excel", what
        ) from None
