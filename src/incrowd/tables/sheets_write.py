"""Releases as workbooks (extra ``excel``): numbers, dates and texts as a sheet holds them.

What a sheet has no kind for, such as a time with a zone, is the text that CSV would hold.  What it
cannot hold at all is refused, before the search where that is asked first.
"""

import io
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from typing import IO, Any

import polars as pl

from incrowd.errors import InputError
from incrowd.tables.atomic import temporary
from incrowd.tables.base import Table
from incrowd.tables.kinds import EXACT, as_text
from incrowd.tables.native import encode_polars
from incrowd.tables.sheets import library
from incrowd.tables.times import beyond, nanoseconds

MOST_ROWS, MOST_COLUMNS = 1_048_575, 16_384
"""Rows of a sheet of Excel's, less the one with the names; and columns."""
LONGEST = 32_767
"""Characters of a cell of Excel's."""
UNHELD = r"[\x00-\x08\x0b-\x1f\x{fffe}\x{ffff}]"
FIRST_YEAR = 1900  # of Excel's calendar
NAME = "release"
NARROWEST, WIDEST = 9, 50  # characters of a column as it is shown
TRUTHS = {"True": True, "False": False}
OTHER = "write .csv or .parquet"


def require_held(table: Table, columns: Sequence[str], form: str) -> None:
    """Raise InputError for a table that a workbook cannot hold, before the search.

    Parameters
    ----------
    columns: that are published.
    """
    if table.rows > MOST_ROWS or len(columns) > MOST_COLUMNS:
        raise InputError(f"a sheet holds {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns; {OTHER}")
    names = [str(name) for name in columns]  # those of a database are no plain texts
    _require_texts(pl.Series(names, dtype=pl.String), "the name of a column", form)
    whole: Any = getattr(table, "base", table)  # of several files
    for name in columns:
        if name in whole.columns and hasattr(whole, "take"):
            held(whole.take(name, slice(None)), name, form)
        elif name in whole.columns:
            held(pl.Series(whole.encode(name).values, dtype=pl.String), name, form)


def held(series: pl.Series, name: str, form: str) -> list[Any]:
    """Return the cells of a column as a sheet holds them.

    Parameters
    ----------
    series: of any type that polars has.
    name: of the column, for messages.

    Raises
    ------
    InputError: lists, structs or bytes; texts that no sheet of this form holds.
    """
    series = series.alias("cells")  # polars takes names like ^a$ for patterns of names
    encode_polars(series.clear(), name)  # which refuses what has no text form
    kind = series.dtype
    if isinstance(kind, pl.Enum | pl.Categorical):
        series = series.cast(pl.String)
    if series.dtype == pl.String:
        _require_texts(series, f"column {name!r}", form)
        return series.to_list()
    values = _of_python(series)
    fit = [] if values is None else [_fits(value, form) for value in values]
    if values is not None and all(fit):
        return values
    column = encode_polars(series, name)
    texts = [column.values[code] for code in column.codes]
    if values is None or isinstance(kind, pl.Decimal):  # with all of its digits in each cell
        return texts
    return [value if good else text for value, good, text in zip(values, fit, texts, strict=True)]


def _require_texts(texts: pl.Series, what: str, form: str) -> None:
    """Raise InputError for texts that no sheet holds, or gives back as others."""
    if texts.str.contains(UNHELD).any():
        raise InputError(
            f"{what} has control characters, or line ends with a carriage return (\\r\\n for \\n), "
            f"which no workbook holds; {OTHER}"
        )
    if form != "xlsx":
        return
    if (texts == "").any():
        raise InputError(
            f"{what} has empty texts, which an Excel file does not tell from missing cells; write "
            ".ods, .csv or .parquet"
        )
    if texts.len() and (texts.str.len_chars() > LONGEST).any():
        raise InputError(
            f"{what} has a text of more than {LONGEST:,} characters, which no cell of Excel's "
            "holds; write .ods, .csv or .parquet"
        )


def _of_python(series: pl.Series) -> list[Any] | None:
    """Return cells as Python's own values; None where these are not exactly the cells."""
    finer = nanoseconds(series.drop_nulls()).any()
    return None if finer or beyond(series) else series.to_list()


def _fits(value: Any, form: str) -> bool:
    """Whether a sheet holds a value exactly, and programs show it as what it is."""
    if isinstance(value, bool | str | None):
        return True
    if isinstance(value, int):
        return abs(value) < EXACT
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Decimal):
        return value.is_finite() and Decimal(repr(float(value))) == value
    if isinstance(value, datetime):
        fine = form != "xlsx" or value.microsecond % 1000 == 0
        return value.tzinfo is None and value.year >= FIRST_YEAR and fine
    if isinstance(value, date):
        return value.year >= FIRST_YEAR
    if isinstance(value, timedelta):
        return form == "xlsx" and value >= timedelta() and value.microseconds % 1000 == 0
    return form == "xlsx" and isinstance(value, time) and value.microsecond % 1000 == 0


def as_before(texts: Sequence[str | None], kind: Any) -> list[Any]:
    """Return texts of a release as what the column held before some of its cells were changed.

    Each text by itself: cells that read alike are alike, whatever they were.

    Parameters
    ----------
    kind: the type of polars' that the original's column has.
    """
    if kind.is_numeric():
        back: Callable[[str], Any] = _number
    elif kind == pl.Time:
        back = time.fromisoformat
    elif kind == pl.Boolean:
        back = TRUTHS.__getitem__
    elif kind == pl.Date:
        back = date.fromisoformat
    elif kind == pl.Datetime and kind.time_zone is None:
        back = datetime.fromisoformat
    else:
        return list(texts)
    known: dict[str | None, Any] = {None: None}
    for text in texts:
        if text is not None and text not in known:
            known[text] = _same(text, back)
    return [known[text] for text in texts]


def _number(text: str) -> int | float:
    with suppress(ValueError):
        return int(text)
    return float(text)


def _same(text: str, back: Callable[[str], Any]) -> Any:
    """Return what a text writes, if that is written so and not otherwise; else the text."""
    with suppress(ValueError, KeyError):
        value = back(text)
        if _fits(value, "xlsx") and as_text(value) == text:
            return value
    return text


def write_sheet(
    frame: pl.DataFrame,
    form: str,
    file: IO[bytes],
    kinds: Mapping[str, Any] | None = None,
    formats: Mapping[str, str] | None = None,
) -> None:
    """Write a frame as a workbook with one sheet, ``release``; text is never a formula.

    Parameters
    ----------
    kinds: types that columns with changed cells, which are text, had before.
    formats: of an Excel file, how columns of the original show their numbers and dates.

    Raises
    ------
    InputError: more rows than a sheet has, a row without any cell, or cells that none holds.
    """
    if frame.height > MOST_ROWS:
        raise InputError(f"a sheet holds {MOST_ROWS:,} rows; {OTHER}")
    if frame.height and frame.select(pl.all_horizontal(pl.all().is_null())).to_series().any():
        raise InputError(f"a row without any cell is no row of a sheet; {OTHER}")
    columns = {name: held(frame[name], name, form) for name in frame.columns}
    for name, kind in (kinds or {}).items():
        columns[name] = as_before(columns[name], kind)
    whole = io.BytesIO()  # an archive that a full disk cut off would complain again when it goes
    with temporary():
        if form == "xlsx":
            _write_excel(columns, whole, formats or {})
        else:
            _write_opendocument(columns, whole)
    file.write(whole.getbuffer())


Columns = Mapping[str, Sequence[Any]]


def _write_excel(columns: Columns, file: IO[bytes], formats: Mapping[str, str]) -> None:
    openpyxl = library("openpyxl", "an Excel file")
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils import get_column_letter

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(NAME)
    for number, (name, cells) in enumerate(columns.items(), 1):
        sheet.column_dimensions[get_column_letter(number)].width = _width(name, cells)
    shown = [formats.get(name) for name in columns]
    make = partial(WriteOnlyCell, sheet)
    sheet.append([_excel_cell(make, name, None) for name in columns])
    for row in zip(*columns.values(), strict=True):
        sheet.append([_excel_cell(make, *each) for each in zip(row, shown, strict=True)])
    book.save(file)


def _excel_cell(make: Callable[..., Any], value: Any, shown: str | None) -> Any:
    """Return a cell; ``shown``: its number format, None for the usual one of its kind."""
    fraction = isinstance(value, float)
    cell = make(value=repr(value) if fraction else value)
    if isinstance(value, str | float):  # all digits; text also where it is like a formula
        cell.data_type = "n" if fraction else "s"
    if shown is not None and not isinstance(value, str | bool | None):
        cell.number_format = shown
    return cell


def _width(name: str, cells: Sequence[Any]) -> int:
    """Return how wide a column is: dates that do not fit are shown as ``####``."""
    longest = max((len(str(cell)) for cell in cells if cell is not None), default=0)
    return min(max(longest, len(name), NARROWEST - 2) + 2, WIDEST)


def _write_opendocument(columns: Columns, file: IO[bytes]) -> None:
    library("odf", "an OpenDocument file")
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table as Sheet
    from odf.table import TableRow

    book: Any = OpenDocumentSpreadsheet()
    table = Sheet(name=NAME)
    for row in (tuple(columns), *zip(*columns.values(), strict=True)):
        line = TableRow()
        for value in row:
            line.addElement(_opendocument_cell(value))
        table.addElement(line)
    book.spreadsheet.addElement(table)
    book.save(file)


def _opendocument_cell(value: Any) -> Any:
    from odf.table import TableCell
    from odf.teletype import addTextToElement
    from odf.text import P

    if value is None:
        return TableCell()
    if isinstance(value, bool):
        return TableCell(valuetype="boolean", booleanvalue=str(value).lower())
    if isinstance(value, int | float | Decimal):
        number = repr(value) if isinstance(value, float) else str(value)
        return TableCell(valuetype="float", value=number)
    if isinstance(value, date):
        return TableCell(valuetype="date", datevalue=value.isoformat())
    cell = TableCell(valuetype="string")
    for piece in value.split("\n"):
        words = P()
        addTextToElement(words, piece)
        cell.addElement(words)
    return cell
