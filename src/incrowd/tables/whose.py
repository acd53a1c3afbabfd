"""Whose each row is, by the columns that together name a person, or a household."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.tables.base import Column, Table


def ownerless(source: Table, names: Sequence[str]) -> NDArray[np.bool_]:
    """bool, shape (rows,): whether a row lacks a value in one column; empty text is none."""
    found = np.zeros(source.rows, bool)
    for column in map(source.encode, names):
        absent = [code for code, value in enumerate(column.values) if not value]
        found |= np.isin(column.codes, absent)
    return found


def owners(source: Table, names: Sequence[str], alone: NDArray[np.bool_] | None = None) -> Column:
    """Return whose each row is.

    Several columns give numbers in place of texts: nothing reads them.

    Parameters
    ----------
    alone: bool, shape (rows,): rows that are owners of their own; None: those without a value.
    """
    columns = [source.encode(name) for name in names]
    alone = ownerless(source, names) if alone is None else alone
    if len(columns) == 1 and not alone.any():
        return columns[0]
    own = np.where(alone, np.arange(1, source.rows + 1), 0)
    several = np.column_stack([own, *(np.where(alone, 0, column.codes) for column in columns)])
    different, codes = np.unique(several, axis=0, return_inverse=True)
    return Column.of([f"{i:012}" for i in range(len(different))], codes.ravel())


@dataclass(frozen=True, eq=False)
class OwnedTable:
    """A table with a column beside it that says whose each row is; for counting alone.

    Attributes
    ----------
    table: the other columns.  owner: name of the column.  cells: its cells.
    """

    table: Table
    owner: str
    cells: Column

    @property
    def columns(self) -> tuple[str, ...]:
        """The table's, then the owners."""
        return (*self.table.columns, self.owner)

    @property
    def rows(self) -> int:
        """The table's."""
        return self.table.rows

    def encode(self, column: str) -> Column:
        """Return a column."""
        return self.cells if column == self.owner else self.table.encode(column)

    def native(self) -> Any:
        """Return the table without owners, as it came."""
        return self.table.native()
