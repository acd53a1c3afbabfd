"""Plain tables, the source problem of the reductions between privacy models."""

import csv
from dataclasses import dataclass
from functools import cache
from io import StringIO
from itertools import combinations
from typing import ClassVar

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import FromFile
from incrowd.instances.table import HardTable, ModelSpec, Partition, encode

MOST_ROWS = 18


@dataclass(frozen=True)
class PlainTable:
    """Quasi-identifiers as text; every column counts.

    Attributes
    ----------
    columns: names.
    cells: rows of text.
    """

    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, text: str) -> "PlainTable":
        """Read CSV with a header; raises InputError for ragged or empty tables."""
        rows = [tuple(row) for row in csv.reader(StringIO(text)) if row]
        if len(rows) < 2:
            raise InputError("the table needs a header and rows")
        for number, row in enumerate(rows, 1):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"row {number} has {len(row)} cells, the header has {len(rows[0])}"
                )
        return cls(rows[0], tuple(rows[1:]))

    def text(self) -> str:
        """CSV with a header."""
        out = StringIO()
        csv.writer(out, lineterminator="\n").writerows([self.columns, *self.cells])
        return out.getvalue()

    def hard_table(self, model: ModelSpec) -> HardTable:
        """The same table under a model."""
        alphabet, codes = encode(self.cells)
        meaning = tuple(f"row {i + 1}" for i in range(len(self.cells)))
        return HardTable(self.columns, alphabet, codes, model, meaning)


@dataclass(frozen=True)
class OfTable(FromFile):
    """What families of a plain table share: their file is CSV."""

    table: PlainTable

    form: ClassVar[type[PlainTable]] = PlainTable
    file_format: ClassVar[str] = "CSV"
    decision: ClassVar[bool] = False


def best_partition(table: HardTable, k: int) -> Partition:
    """An optimal k-anonymous partition by dynamic programming over sets of rows.

    Classes of k to 2k − 1 rows are enough, and the lowest free row is in one of them.  Raises
    InputError beyond ``MOST_ROWS`` rows, or with fewer than k.
    """
    n = table.rows
    if n > MOST_ROWS:
        raise InputError(f"exhaustive search serves at most {MOST_ROWS} rows, not {n}")
    if n < k:
        raise InputError(f"{n} rows cannot hide in a class of {k}")

    @cache
    def class_cost(group: tuple[int, ...]) -> int:
        return table.class_cost(group)

    @cache
    def best(free: tuple[int, ...]) -> tuple[int, Partition] | None:
        if not free:
            return 0, ()
        found: tuple[int, Partition] | None = None
        for size in range(k, min(2 * k, len(free) + 1)):
            for others in combinations(free[1:], size - 1):
                rest = best(tuple(row for row in free[1:] if row not in others))
                group = (free[0], *others)
                if rest is not None and (found is None or rest[0] + class_cost(group) < found[0]):
                    found = rest[0] + class_cost(group), (group, *rest[1])
        return found

    found = best(tuple(range(n)))
    if found is None:
        raise InputError(f"{n} rows cannot be split into classes of at least {k}")
    return found[1]


def random_table(rng: np.random.Generator, rows: int, columns: int, values: int) -> PlainTable:
    """Cells drawn evenly from ``values`` values."""
    cells = rng.integers(values, size=(rows, columns))
    return _named([[str(v) for v in row] for row in cells])


def plant_classes(
    rng: np.random.Generator, rows: int, columns: int, values: int, k: int
) -> tuple[PlainTable, Partition]:
    """A table with a known optimum: classes that agree except on some columns of their own.

    In those columns every cell differs from all others of the column, so any release with k ≥ 2
    stars it; the classes as planted star nothing else.
    """
    label = np.minimum(np.arange(rows) // k, max(rows // k - 1, 0))
    cells = [[""] * columns for _ in range(rows)]
    for group in range(int(label[-1]) + 1):
        shared = [str(v) for v in rng.integers(values, size=columns)]
        own = set(rng.choice(columns, (columns + 1) // 2, replace=False).tolist())
        for row in np.flatnonzero(label == group):
            cells[row] = [f"u{row + 1}" if j in own else shared[j] for j in range(columns)]
    order = [int(i) for i in rng.permutation(rows)]
    place = {row: new for new, row in enumerate(order)}
    classes = tuple(
        tuple(sorted(place[int(row)] for row in np.flatnonzero(label == group)))
        for group in range(int(label[-1]) + 1)
    )
    return _named([cells[i] for i in order]), classes


def _named(cells: list[list[str]]) -> PlainTable:
    columns = tuple(f"q{j + 1}" for j in range(len(cells[0])))
    return PlainTable(columns, tuple(tuple(row) for row in cells))
