"""Tables of figures for people; rounded so that a printed figure is never too good."""

import io
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.table import Table as Grid
from rich.text import Text


class Tabled(ABC):
    """Figures that people see as tables: printed, by rich, and in a notebook."""

    @abstractmethod
    def __rich__(self) -> Group:
        """Return the tables, which rich prints."""

    def __str__(self) -> str:
        """Return them as plain text, the same in a notebook and under FORCE_COLOR.

        In a notebook rich would show them by itself, and leave the file empty.
        """
        file = io.StringIO()
        plain: Any = {"no_color": True, "force_terminal": False, "force_jupyter": False}
        Console(file=file, width=100, highlight=False, **plain).print(self)
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show them in a notebook, where the last value of a cell is shown by itself."""
        printer.text(str(self))


def share(part: int, whole: int) -> str:
    """Write a number and its percentage."""
    return f"{part:,} ({part / whole:.1%})" if whole else "0"


def grid(columns: Iterable[str], title: str | None = None) -> Grid:
    """Return an empty table: first column to the left, numbers to the right."""
    made = Grid(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    made.caption_justify = "left"
    for i, name in enumerate(columns):
        made.add_column(name, justify="left" if i == 0 else "right", overflow="fold")
    return made


def named(text: str) -> Text:
    """A column's name as it is, whatever marks it holds; none and line breaks shown."""
    return Text(text if text and text.isprintable() else repr(text))
