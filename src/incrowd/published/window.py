"""A few rows of a release beside the original's, at once: a page of a table of any length."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError, no_column
from incrowd.tables.base import Column, Edit, Source, narrowed

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Window:
    """Some rows before and after, in the original's order.

    Attributes
    ----------
    columns: names of the released columns.
    total: rows that the choice holds, of which these are a part.
    rows: number of each row in the original, from 0.
    before, after: the cells of each row as text (None: missing); equal where nothing changed.
    classes: number of each row's class, by its first original row, from 0.
    sizes: rows of each row's class.
    """

    columns: tuple[str, ...]
    total: int
    rows: tuple[int, ...]
    before: tuple[tuple[str | None, ...], ...]
    after: tuple[tuple[str | None, ...], ...]
    classes: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(eq=False)
class Windows:
    """Cuts windows out of a release; what it has read of the table, it keeps.

    Attributes
    ----------
    classes: int64, shape (rows,): the class of each original row.
    """

    source: Source
    edit: Edit
    classes: Rows
    _columns: dict[str, Column] = field(default_factory=dict)
    _chosen: tuple[Any, Rows] | None = None

    def window(
        self,
        start: int,
        count: int,
        changed: "bool | str | Sequence[str]" = False,
        of_class: int | None = None,
        where: tuple[str, str | None] | None = None,
    ) -> Window:
        """Return ``count`` rows of the chosen ones; see ``Release.window``."""
        if start < 0 or count < 0:
            raise InputError("a window starts at a row from 0 on and has no fewer than 0 rows")
        rows = self.chosen(changed, of_class, where)
        total = self.source.rows if rows is None else len(rows)
        end = min(start + count, total)
        shown = np.arange(min(start, end), end) if rows is None else rows[start:end]
        cells = [self.cells(name, shown) for name in self.edit.columns]
        mine = self.classes[shown]
        return Window(
            columns=self.edit.columns,
            total=total,
            rows=tuple(shown.tolist()),
            before=_by_row([before for before, _ in cells], len(shown)),
            after=_by_row([after for _, after in cells], len(shown)),
            classes=tuple(mine.tolist()),
            sizes=tuple(self.sizes[mine].tolist()),
        )

    @cached_property
    def sizes(self) -> Rows:
        """int64, shape (classes,): rows of each class."""
        return np.bincount(self.classes)

    def column(self, name: str) -> Column:
        """Return a column of the original."""
        if name not in self._columns:
            if name not in self.edit.columns:
                raise no_column("window", name, self.edit.columns)
            self._columns[name] = narrowed(self.source.encode(name))
        return self._columns[name]

    def cells(self, name: str, rows: Rows) -> tuple[list[str | None], list[str | None]]:
        """Return cells of one column before and after."""
        column = self.column(name)
        before = [column.values[code] for code in column.codes[rows].tolist()]
        new = self.edit.replacements.get(name)
        if new is None:
            return before, before
        ids = new.ids[rows].tolist()
        return before, [b if i < 0 else new.labels[i] for b, i in zip(before, ids, strict=True)]

    def chosen(self, changed: Any, of_class: int | None, where: Any) -> Rows | None:
        """Return the rows asked for; None for all.  The last choice is kept."""
        if not changed and of_class is None and where is None:
            return None
        asked = (str(changed), of_class, where)
        if self._chosen is None or self._chosen[0] != asked:
            keep = np.ones(self.source.rows, bool)
            if changed:
                keep &= self.changed(changed)
            if of_class is not None:
                keep &= self.classes == of_class
            if where is not None:
                keep &= self.equal(*where)
            self._chosen = asked, np.flatnonzero(keep).astype(np.int64)
        return self._chosen[1]

    def changed(self, where: "bool | str | Sequence[str]") -> NDArray[np.bool_]:
        """bool, shape (rows,): rows of which a cell changes, of any or of some columns."""
        names = [where] if isinstance(where, str) else where
        hit = np.zeros(self.source.rows, bool)
        for name, new in self.edit.replacements.items():
            if isinstance(names, bool) or name in names:
                hit |= new.ids >= 0
        return hit

    def equal(self, name: str, value: str | None) -> NDArray[np.bool_]:
        """bool, shape (rows,): rows whose cell is this one, in the original."""
        column = self.column(name)
        codes = [code for code, each in enumerate(column.values) if each == value]
        return np.isin(column.codes, codes)


def _by_row(columns: list[list[Any]], rows: int) -> tuple[tuple[Any, ...], ...]:
    return tuple(zip(*columns, strict=True)) if columns else ((),) * rows
