"""A list of patterns that was fixed without the table, and the pattern of each row.

What a row becomes must depend on that row alone: otherwise nothing is proven.  So hierarchies are
asked for the labels of one value at a time, and nothing about other rows changes what is matched.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.errors import HierarchyError, InputError, LackingError
from incrowd.hierarchy.file import HierarchyFile, HierarchyRows
from incrowd.hierarchy.tree import STAR
from incrowd.kernels.types import Ints
from incrowd.tables.base import Column, Source, Table
from incrowd.tables.files import open_table

if TYPE_CHECKING:
    import polars as pl

    from incrowd.hierarchy.ladder import Source as Hierarchy

Cell = str | None
NONE = -1
"""The pattern of a row that matches none."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """Patterns, the first that a row matches being its own.

    Attributes
    ----------
    columns: the quasi-identifiers.
    cells: one tuple for each pattern, all different: ``star`` matches every value, any other text
        the value that it is, or the values that a hierarchy puts below it; None a missing value.
    star: the mark of a suppressed cell.
    path: the file or address that they were read from; None for a frame.
    """

    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    star: str = STAR
    path: str | None = None

    @classmethod
    def of(cls, data: Any, star: str = STAR) -> "Patterns":
        """Take the rows of a frame or a file, in their order; one that repeats an earlier is idle.

        Raises
        ------
        InputError: there are no rows, or what is given cannot be read.
        """
        if isinstance(data, Patterns):
            return data
        table = open_table(data)
        if not table.rows or not table.columns:
            raise InputError(
                "the patterns have no rows: write a header with the quasi-identifiers, and a line "
                "for each pattern"
            )
        cells = tuple(dict.fromkeys(rows_of(table, table.columns)))
        return cls(table.columns, cells, star, table.path)

    def frame(self) -> "pl.DataFrame":
        """Return the patterns as a polars frame of texts, one row each: what ``of`` reads."""
        import polars as pl

        texts = zip(*self.cells, strict=True) if self.cells else ((),) * len(self.columns)
        pairs = zip(self.columns, texts, strict=True)
        return pl.DataFrame({name: pl.Series(cells, dtype=pl.String) for name, cells in pairs})

    @cached_property
    def shadowed(self) -> frozenset[tuple[Cell, ...]]:
        """The patterns that no row becomes, for an earlier one matches all that they match.

        What the labels of hierarchies stand for is not asked: then there may be more of them.
        """
        found: set[tuple[Cell, ...]] = set()
        earlier: dict[tuple[int, ...], set[tuple[Cell, ...]]] = {}
        for cells in self.cells:
            shown = tuple(j for j, cell in enumerate(cells) if cell != self.star)
            if any(
                {*places} <= {*shown} and tuple(cells[j] for j in places) in rows
                for places, rows in earlier.items()
            ):
                found.add(cells)
            earlier.setdefault(shown, set()).add(tuple(cells[j] for j in shown))
        return frozenset(found)

    def of_rows(self, table: Table, hierarchies: "Mapping[str, Hierarchy]") -> Ints:
        """int64, shape (rows,): number of the first pattern that each row matches, or ``NONE``.

        Raises
        ------
        HierarchyError: a hierarchy's file is broken.
        """
        columns = [table.encode(name) for name in self.columns]
        codes = np.column_stack([column.codes for column in columns]).astype(np.int64)
        kinds, kind = np.unique(codes, axis=0, return_inverse=True)
        below = [
            _below(name, column, hierarchies.get(name))
            for name, column in zip(self.columns, columns, strict=True)
        ]
        sizes = [len(column.values) for column in columns]
        found, free = np.full(len(kinds), NONE), np.arange(len(kinds))
        for number, cells in enumerate(self.cells):
            hit = free
            for j, cell in enumerate(cells):
                if cell != self.star and len(hit):
                    fits = np.zeros(sizes[j], bool)
                    fits[below[j].get(cell, [])] = True
                    hit = hit[fits[kinds[hit, j]]]
            if len(hit):
                found[hit] = number
                free = free[found[free] == NONE]
        return found[kind.ravel()]


def rows_of(table: Table, columns: Sequence[str]) -> list[tuple[Cell, ...]]:
    """Return the rows of some columns as texts."""
    read = [table.encode(name) for name in columns]
    texts = ([column.values[code] for code in column.codes.tolist()] for column in read)
    return list(zip(*texts, strict=True))


def _below(name: str, column: Column, hierarchy: "Hierarchy | None") -> dict[Cell, list[int]]:
    """Return label → codes of the values that it stands for; the values themselves included."""
    found: dict[Cell, list[int]] = {}
    labels = labels_above(name, column.values, hierarchy)
    for code, value in enumerate(column.values):
        for label in {value, *labels.get(value, ())}:
            found.setdefault(label, []).append(code)
    return found


def labels_above(
    name: str, values: Sequence[Cell], hierarchy: "Hierarchy | None"
) -> dict[Cell, tuple[Cell, ...]]:
    """Return value → what a hierarchy puts above it, but for the root; nothing without one.

    A value that it does not know has nothing above it: whether somebody has such a value must not
    end the run.
    """
    if hierarchy is None:
        return {}
    alone: list[Cell] = list(values)
    found: dict[Cell, tuple[Cell, ...]] = {}
    if isinstance(hierarchy, HierarchyFile | HierarchyRows):  # of each value the file alone tells
        together = [value for value in values if value]
        alone = [value for value in values if not value]
        try:
            ladder = hierarchy.build(name, together)
        except LackingError as error:
            together = [value for value in together if value not in set(error.absent)]
            ladder = hierarchy.build(name, together)
        found = {leaf: ladder.path(i)[1:-1] for i, leaf in enumerate(ladder.leaves)}
    for value in alone:
        with suppress(HierarchyError):
            found[value] = hierarchy.build(name, [value]).path(0)[1:-1]
    return found


def made_of(release: Source, columns: Sequence[str], star: str = STAR) -> Patterns:
    """Return the patterns of a release of other people: fewest stars first, then most rows.

    Parameters
    ----------
    columns: its quasi-identifiers.

    Raises
    ------
    InputError: it has no rows.
    """
    counts: dict[tuple[Cell, ...], int] = {}
    for row in rows_of(release, columns):
        counts[row] = counts.get(row, 0) + 1
    if not counts:
        raise InputError("the release has no rows to make patterns of")
    in_order = sorted(counts, key=lambda row: (row.count(star), -counts[row]))
    return Patterns(tuple(columns), tuple(in_order), star)
