"""Cells of files whose columns have no type, such as workbooks: several kinds may read alike."""

from collections.abc import Iterable
from datetime import date, datetime, time
from typing import Any

EXACT = 2**53
"""Beyond it a sheet's numbers are not exact."""


class Kinds:
    """The kinds of a column's cells: a number 34 reads like the text ``34``.

    Attributes
    ----------
    apart: whether two cells that read alike are of different kinds, by which a reader of the file
        tells their rows apart.
    """

    def __init__(self) -> None:
        self._of: dict[str, type] = {}
        self.apart = False

    def see(self, cells: Iterable[Any]) -> None:
        """Look at some cells; None is a missing one."""
        for value in cells:
            if value is not None and not self.apart:
                self.apart = self._of.setdefault(as_text(value), type(value)) is not type(value)


class Padded(str):
    """The text of a number that is shown with leading zeros; not the text itself."""


def as_text(value: Any) -> str:
    """Return a cell as a text, where its column has several kinds of cells."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, date | time) else str(value)
