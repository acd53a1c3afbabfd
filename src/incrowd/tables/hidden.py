"""Rows and columns that a workbook hides: who looks at the sheet does not see them published."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from incrowd.errors import InputError

HIDDEN = re.compile(rb'<(?:\w+:)?(?:col|row)\s[^<>]{0,800}?\bhidden="(?:1|true)"[^<>]{0,800}')
NUMBER = re.compile(rb'\s(min|max|r)="(\d{1,7})"')
PIECE = 1 << 20  # bytes of a sheet that are looked at together
LENGTH = 2_000
"""No element of a row or column is longer: one that two pieces share is found in the later."""
UNSEEN = ("collapse", "filter")
"""How OpenDocument says so."""


@dataclass(frozen=True)
class Hidden:
    """What a sheet hides, numbered from 1.

    Attributes
    ----------
    rows: row numbers.  columns: first and last of each run of columns.
    """

    rows: frozenset[int]
    columns: tuple[tuple[int, int], ...]

    def require_seen(self, rows: Iterator[Sequence[Any]], name: str) -> Iterator[Any]:
        """Yield the rows of a sheet, but raise InputError for a hidden one that holds something.

        So for a hidden column that has a name in the first row.
        """
        for number, row in enumerate(rows, 1):
            if number == 1:
                for first, last in self.columns:
                    for j in range(first, min(last, len(row)) + 1):
                        if row[j - 1] is not None:
                            raise InputError(
                                f"{name}: column {row[j - 1].place.rstrip('0123456789')} of the "
                                "sheet is hidden; show it and give it a role, or delete it"
                            )
            if number in self.rows and any(cell is not None for cell in row):
                raise InputError(
                    f"{name}: row {number} of the sheet is hidden (filters do that) and would be "
                    "published; show all rows, and delete those that do not belong to the table"
                )
            yield row


def hidden_in(part: IO[bytes]) -> Hidden:
    """Return what the XML of a sheet of Excel's hides."""
    rows, columns, seen = set(), set(), b""
    while piece := part.read(PIECE):
        seen = seen[-LENGTH:] + piece
        for met in HIDDEN.finditer(seen):
            at = {key: int(number) for key, number in NUMBER.findall(met[0])}
            if b"r" in at:
                rows.add(at[b"r"])
            elif b"min" in at:
                columns.add((at[b"min"], at.get(b"max", at[b"min"])))
    return Hidden(frozenset(rows), tuple(sorted(columns)))


def hidden_of(rows: Sequence[Any], columns: Sequence[Any]) -> Hidden:
    """Return what a sheet of an OpenDocument file hides, of its elements."""
    runs = runs_of(rows, "numberrowsrepeated")
    unseen = frozenset(n for first, last in runs for n in range(first, last + 1))
    return Hidden(unseen, tuple(runs_of(columns, "numbercolumnsrepeated")))


def runs_of(elements: Sequence[Any], repeated: str) -> list[tuple[int, int]]:
    """Return the first and last numbers of hidden elements that stand for several each."""
    found, number = [], 0
    for element in elements:
        times = int(element.getAttribute(repeated) or 1)
        if element.getAttribute("visibility") in UNSEEN:
            found.append((number + 1, number + times))
        number += times
    return found
