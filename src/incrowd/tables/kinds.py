"""Cells of files whose columns have no type, such as workbooks: several kinds may read alike."""

from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

EXACT = 2**53
"""Beyond it a sheet's numbers are not exact."""


class Kinds:
    """The kinds of a column's cells: a number 34 reads like the text ``34``.

    What is seen is kept by kind, and compared as texts only where there are several.
    """

    def __init__(self) -> None:
        self._of: dict[type, set[Any]] = {}

    def see(self, cells: Sequence[Any]) -> None:
        """Look at some cells; None is a missing one."""
        kinds = {*map(type, cells)}
        for kind in kinds - {type(None)}:
            mine = cells if len(kinds) == 1 else (cell for cell in cells if type(cell) is kind)
            self._of.setdefault(kind, set()).update(mine)

    @property
    def apart(self) -> bool:
        """Whether two cells that read alike are of different kinds.

        By these a reader of the file tells their rows apart.
        """
        if len(self._of) < 2:
            return False
        # sheets show what is true as TRUE, whatever it is as a text
        texts = [{as_text(cell).upper() for cell in cells} for cells in self._of.values()]
        return len(set().union(*texts)) < sum(map(len, texts))


class Padded(str):
    """The text of a number that is shown with leading zeros; not the text itself."""


def as_text(value: Any) -> str:
    """Return a cell as a text, where its column has several kinds of cells."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        whole = value.time() == time()
        return value.date().isoformat() if whole else value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date | time) else str(value)
