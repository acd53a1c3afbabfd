"""Whose each row is, by the columns that together name a person, or a household."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.tables.base import Column, FewerRows, Source, Table
from incrowd.text.missing import Marks, marks_for
from incrowd.text.units import counted


def ownerless(source: Table, names: Sequence[str]) -> NDArray[np.bool_]:
    """bool, shape (rows,): whether a row lacks a value in one column; empty text is none."""
    found = np.zeros(source.rows, bool)
    for column in map(source.encode, names):
        absent = [code for code, value in enumerate(column.values) if not value]
        found |= np.isin(column.codes, absent)
    return found


def owners(source: Table, names: Sequence[str]) -> Column:
    """Return whose each row is; a row without a value is a person of its own.

    Several columns give numbers in place of texts: nothing reads them.
    """
    columns = [source.encode(name) for name in names]
    alone = ownerless(source, names)
    if len(columns) == 1 and not alone.any():
        return columns[0]
    own = np.where(alone, np.arange(1, source.rows + 1), 0)
    several = np.column_stack([own, *(np.where(alone, 0, column.codes) for column in columns)])
    different, codes = np.unique(several, axis=0, return_inverse=True)
    return Column.of([f"{i:012}" for i in range(len(different))], codes.ravel())


def with_persons(source: Source, names: Sequence[str], missing: str) -> Source:
    """Return the table without the rows that do not say whose they are, where those are dropped.

    Parameters
    ----------
    names: the columns that together name a person.  missing: ``"error"``, ``"own"`` or ``"drop"``.

    Raises
    ------
    InputError: a row does not say whose it is, and nothing says what becomes of it.
    """
    if not names or missing == "own":
        return source
    for name in names if missing == "error" else ():
        require_named(
            name,
            ownerless(source, [name]),
            ": fill it in, or say what becomes of them (--missing-person own: each is a person of "
            "its own; drop: they are left out)",
        )
    without = ownerless(source, names)
    return FewerRows(source, np.flatnonzero(~without)) if without.any() else source


def require_named(name: str, lacking: NDArray[np.bool_], remedy: str) -> None:
    """Raise InputError where rows lack the name of a person in a column; it ends with a remedy."""
    if lacking.any():
        raise InputError(
            f"column {name!r} names people, but {int(lacking.sum()):,} of {len(lacking):,} rows "
            f"have no value in it{remedy}"
        )


def require_unmarked(source: Source, names: Sequence[str], marks: Marks) -> None:
    """Raise InputError for persons who are called like a missing value: whose they are is not said.

    The checker reads such a cell as a name, so no rule for missing ones is applied to it.
    """
    for name in names:
        column = source.encode(name)
        none = [c for c, value in enumerate(column.values) if value in marks_for(marks, name)]
        require_named(
            name,
            np.isin(column.codes, none),
            " (--na): empty these cells, and say what becomes of the rows (--missing-person)",
        )


def require_once(source: Source, names: Sequence[str]) -> None:
    """Raise InputError for a column left out that has one value in several rows."""
    for name, several, there in repeating(source, names):
        raise InputError(
            f"column {name!r}, which is left out, has {several:,} of its {there:,} "
            "values in several rows: if it names people, name it with --person, so that people "
            "are counted; if it does not, leave --strict out"
        )


def require_unlinked(source: Source, names: Sequence[str]) -> None:
    """Raise InputError for a column whose pseudonyms would link rows, of which nothing is asked."""
    for name, several, _ in repeating(source, names):
        raise InputError(
            f"column {name!r} has {counted(several, 'value')} in several rows, which pseudonyms "
            f"would link: whoever knows several of them knows more than k allows for. Name it "
            "with --person as well, so that all rows of a person together are shared by k "
            "people, or leave it out with --id"
        )


def repeating(source: Source, names: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the columns with values in several rows: how many these are, and how many in all."""
    for name in names:
        column = source.encode(name)
        counts = column.counts
        there = np.array([bool(value) for value in column.values], bool)
        if several := int((counts[there] > 1).sum()):
            yield name, several, int(there.sum())


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
