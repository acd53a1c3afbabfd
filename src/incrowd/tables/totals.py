"""Tables as spreadsheets and exports leave them: without rows, or without names of columns.

Also with rows that sum up others.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np

from incrowd.errors import InputError
from incrowd.tables.base import Source

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
FEWEST = 10
"""Rows below which a word that few rows have is nothing of note."""
LARGEST = 300_000
"""Rows beyond which nobody sums a table up below it, and reading all columns takes long."""
MOST = 3
"""Rows with such a word beyond which it is a value like others."""


def totals(source: Source) -> Iterator[str]:
    """Yield what is odd of rows: none, one for the header, or a few with a word like ``Total``."""
    if not source.rows:
        yield (
            "the table has no rows below its header: if it should have some, look at the export or "
            "the query that made it"
        )
    found: set[int] = set()
    named: list[int] = []
    for number, name in enumerate(source.columns if FEWEST <= source.rows <= LARGEST else (), 1):
        try:
            column = source.encode(name)
        except InputError:  # without a text form there is no word
            continue
        named += [number] if holds(column.values, name) else []
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


def holds(values: Sequence[str | None], text: str) -> bool:
    """Whether a text is among the values of a column, which are sorted."""
    first = int(bool(values) and values[0] is None)
    at = bisect_left(values, text, first)  # pyright: ignore[reportArgumentType, reportCallIssue]
    return at < len(values) and values[at] == text


def spoken(values: Sequence[str | None]) -> list[int]:
    """Return the places of such words among the values of a column, which are sorted."""
    first = int(bool(values) and values[0] is None)
    texts = [value for value in values[first:] if value is not None]
    found = ((bisect_left(texts, word), word) for word in SPELLED)
    return [first + n for n, word in found if n < len(texts) and texts[n] == word]
