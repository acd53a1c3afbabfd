"""Whether equal cells of a release look alike: who has the file tells rows of a class apart else.

A text in quotes and without, −0.0 and 0.0, lines that end in two ways: the same table, another
file.  How text is written is asked of the independent checker, as of releases with a proof.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from incrowd.checker.delimited import BARE, BLANK, MARK, MIXED, TWO_WAYS, Reading
from incrowd.checker.files import read_table
from incrowd.checker.rejection import RejectedError
from incrowd.checker.unchanged import bits_of, has_one_form
from incrowd.errors import InputError
from incrowd.tables.base import Source
from incrowd.tables.csv_table import CsvTable
from incrowd.tables.parts import PartsTable


def told_apart(released: Source, original: Source | None, same: Iterable[str]) -> Iterator[str]:
    """Yield why equal cells of a release do not look alike.

    Parameters
    ----------
    original: None where there is not one.
    same: columns that are published as they are; their cells may have the original's very bits.
    """
    whole = released.base if isinstance(released, PartsTable) else released
    if isinstance(whole, CsvTable):
        yield from _written_apart(whole)
        return
    own = {*same}
    for name in whole.columns:
        cells = _numbers(whole, name)
        if cells is not None and not has_one_form(cells):
            before = None if original is None or name not in own else _numbers(original, name)
            if before is None or sorted(bits_of(before)) != sorted(bits_of(cells)):
                yield f"column {name!r}: {TWO_WAYS}"


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
    """Return a column of doubles as a polars series; None for another."""
    if name in table.columns and hasattr(table, "take"):
        with suppress(InputError):
            if table.take(name, slice(0, 0)).dtype.is_float():
                return table.take(name, slice(None))
    return None
