"""Tables as spreadsheets and exports leave them: without rows, or without names of columns.

Also with rows that sum up others, or tell units.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.tables.base import Column, Source
from incrowd.text.numerals import DECIMALS, pointed
from incrowd.text.units import counted

TOTALS = (
    *("total", "totals", "grand total", "sum", "sums", "subtotal", "overall", "all patients"),
    *("summe", "gesamt", "insgesamt", "gesamtsumme", "zwischensumme", "somme", "totale", "suma"),
)
SPELLED = tuple(
    way(word) + end
    for word in TOTALS
    for way in (str.lower, str.capitalize, str.title, str.upper)
    for end in ("", ":", " ")
)
NO_ROWS = (
    "the table has no rows below its header: if it should have some, look at the export or the "
    "query that made it"
)
FEWEST = 10
"""Rows below which a word that few rows have is nothing of note."""
LARGEST = 300_000
"""Rows beyond which nobody sums a table up below it, and reading all columns takes long."""
MOST = 3
"""Rows with such a word beyond which it is a value like others."""


def totals(source: Source) -> Iterator[str]:
    """Yield what is odd of rows: none, one for the header, units, sums, a word like ``Total``."""
    if not source.rows:
        yield NO_ROWS
    found: set[int] = set()
    named: list[int] = []
    units: list[int] = []
    sums, held = 0, np.zeros(source.rows, np.int64)
    for number, name in enumerate(source.columns if FEWEST <= source.rows <= LARGEST else (), 1):
        try:
            column = source.encode(name)
        except InputError:  # without a text form there is no word
            continue
        named += [number] if holds(column.values, name) else []
        units += [number] if tells_a_unit(column) else []
        sums += sums_up(column)
        held += 1 if all(column.values) else np.array(column.values, bool)[column.codes]
        words = spoken(column.values)
        rows = np.flatnonzero(np.isin(column.codes, words)) if words else np.zeros(0, int)
        found |= {*rows.tolist()} if len(rows) <= MOST else set()
    if len(named) >= max(2, len(source.columns) / 3):
        yield (
            f"{len(named)} of {len(source.columns)} columns are called like one of their own "
            f"values (the first is column {named[0]}): does the table lack its header? Then the "
            "names of the columns are a person's row, and are published; add a line of names first"
        )
    if 0 < len(found) <= MOST:
        one = len(found) == 1
        yield (
            f"{len(found)} {'row has' if one else 'rows have'} a cell that reads like total or "
            f"sum, the first in row {min(found) + 1:,}: a row that sums up others is nobody's; "
            f"delete {'it' if one else 'them'} first"
        )
    elif sums:
        yield (
            f"the last row, {source.rows:,}, has the sum of all others in {counted(sums, 'column')}"
            ": a row that sums up others is nobody's; delete it first"
        )
    elif is_note(held, len(source.columns)):
        yield (
            f"the last row, {source.rows:,}, has cells in {held[-1]} of {len(source.columns)} "
            "columns, and no other row in so few: a count or a note below a table is nobody's; "
            "delete it first"
        )
    if units:
        yield (
            f"in {counted(len(units), 'column')} the first row alone is no number (the first is "
            f"column {units[0]}): units, or a second line of names, are nobody's; delete that row "
            "first"
        )


def is_note(held: NDArray[np.int64], columns: int) -> bool:
    """Whether the last row alone has cells in so few columns as what is written below a table.

    held: how many cells each row has.
    """
    few = max(1, columns // 4)
    return len(held) >= FEWEST and columns > 2 and bool(0 < held[-1] <= few < held[:-1].min())


def holds(values: Sequence[str | None], text: str) -> bool:
    """Whether a text is among the values of a column, which are sorted."""
    first = int(bool(values) and values[0] is None)
    at = bisect_left(values, text, first)  # pyright: ignore[reportArgumentType, reportCallIssue]
    return at < len(values) and values[at] == text


def numbers(values: Sequence[str | None]) -> Iterator[list[float]]:
    """Yield the numbers that texts write, with a decimal point and with a comma, 0 for none.

    A reading in which a text is no number is left out.
    """
    for decimal in DECIMALS:
        with suppress(ValueError):
            yield [float(pointed(value, decimal) or "none") if value else 0.0 for value in values]


def tells_a_unit(column: Column) -> bool:
    """Whether the first row's cell is the only one of a column that is no number."""
    first = column.codes[0]
    own = column.values[first]
    if not own or any(numbers([own])) or (column.codes == first).sum() > 1:
        return False
    others = [value for value in column.values if value and value != own]
    return len(others) > 1 and any(numbers(others))


def sums_up(column: Column) -> bool:
    """Whether the last row's cell is above all others, no less than 0, and their sum."""
    last = column.codes[-1]
    if not any(numbers([column.values[last]])) or (column.codes == last).sum() > 1:
        return False
    times = column.counts
    return any(
        0 < found[last] == max(found) < math.inf
        and min(found) >= 0
        and math.isclose(math.fsum(times * found), 2 * found[last], rel_tol=1e-9)
        for found in numbers(column.values)
    )


def spoken(values: Sequence[str | None]) -> list[int]:
    """Return the places of such words among the values of a column, which are sorted."""
    first = int(bool(values) and values[0] is None)
    texts = [value for value in values[first:] if value is not None]
    found = ((bisect_left(texts, word), word) for word in SPELLED)
    return [first + n for n, word in found if n < len(texts) and texts[n] == word]
