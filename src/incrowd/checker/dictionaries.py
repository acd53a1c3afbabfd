"""Words of a Parquet or Arrow file that no cell shows, and what else it says of cells.

Mostly the categories that a frame of pandas had before its cells were hidden.  Readers show cells
alone, of some files as texts that are none of categories, and whoever has the file has the words.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from incrowd.checker import arrow, claims, parquet
from incrowd.checker.beside import BROKEN, schemas_of
from incrowd.checker.lean import flat, unmapped

WORDS = "the file holds more values than its cells show"
DICTIONARY, CHILDREN = 4, 5  # what a field of Arrow has


@dataclass(frozen=True)
class Words(claims.Said):
    """A dictionary of a column; ``size``: how many words it has."""

    size: int

    def exceed(self, cells: pl.Series, plain: bool) -> bool:
        """Whether there are more than the cells show."""
        return self.size > different(cells)


@dataclass(frozen=True)
class Unwalked(claims.Said):
    """What a file says that cannot be walked: nobody can say what it tells."""

    def exceed(self, cells: pl.Series, plain: bool) -> bool:
        """It may be more."""
        return True


def words_of(data: bytes, kinds: Sequence[Any]) -> list[claims.Said]:
    """Return what a file says of cells, and its dictionaries, but those of fixed categories (Enum).

    Parameters
    ----------
    kinds: the columns' types.
    """
    told: Mapping[int, Sequence[claims.Claims]] = {}
    try:
        if data.startswith(b"PAR1"):
            found, told = _of_parquet(data), claims.of_parquet(data)
        else:
            found = _of_arrow(data)
    except BROKEN:
        return [Unwalked()] if kinds else []
    leaves = [(n, j, one) for n, kind in enumerate(kinds) for j, one in enumerate(inner(kind))]
    return [
        replace(said, column=number, leaf=leaf)
        for at, (number, leaf, kind) in enumerate(leaves)
        for said in (*(() if isinstance(kind, pl.Enum) else found.get(at, ())), *told.get(at, ()))
    ]


def inner(kind: Any) -> list[Any]:
    """Return the types of the columns within one of such a type, in the order of ``flat``."""
    kind = unmapped(kind)
    if isinstance(kind, pl.Struct):
        return [one for part in kind.fields for one in inner(part.dtype)]
    return inner(kind.inner) if isinstance(kind, pl.List | pl.Array) else [kind]


def _of_parquet(data: bytes) -> dict[int, list[Words]]:
    """Equal dictionaries of several groups of rows are one: writers hand on all categories."""
    found: dict[int, dict[bytes, Words]] = defaultdict(dict)
    row = 0
    for group in parquet.footer(data)[4]:
        for number, column in enumerate(group[1]):
            for kind, _, head, place in parquet.pages(data, column[3]):
                if kind == parquet.DICTIONARY:
                    words = found[number].setdefault(data[place], Words(head[1]))
                    words.rows.append((row, row + group[3]))
        row += group[3]
    return {number: [*words.values()] for number, words in found.items()}


def _of_arrow(data: bytes) -> dict[int, list[Words]]:
    """One dictionary may stand in the place of another, from some row on."""
    starts: dict[int, list[tuple[int, int]]] = defaultdict(list)  # size and first row of each
    row = 0
    for kind, batch, _ in arrow.messages(data):
        if kind == arrow.DICTIONARY:
            number, size = batch.number(0, "<q"), batch.table(1).number(0, "<q")
            more = batch.number(2, "<?") and starts[number]
            known, first = starts[number].pop() if more else (0, row)
            starts[number].append((known + size, first))
        else:
            row += batch.number(0, "<q")
    fields = [*_leaves(next(schemas_of(data)), 1)]
    found = {}
    for at, number in enumerate(fields):
        held = starts[number] if number is not None else []
        ends = [first for _, first in held[1:]] + [row]
        found[at] = [Words(n, rows=[(a, b)]) for (n, a), b in zip(held, ends, strict=False)]
    return found


def _leaves(table: arrow.Table, children: int) -> Iterator[int | None]:
    """Yield the numbers of the dictionaries of a schema's or field's columns; None for none."""
    for at in table.vector(children, 4):
        one = arrow.root(table.data, at)
        if one.has(DICTIONARY):
            yield one.table(DICTIONARY).number(0, "<q")
        elif one.vector(CHILDREN, 4):
            yield from _leaves(one, CHILDREN)
        else:
            yield None


def idle(words: Iterable[claims.Said], cells: Callable[[int, slice], pl.Series]) -> Iterator[int]:
    """Yield the numbers of columns of which a file says more than the cells show that it is of.

    Parameters
    ----------
    cells: returns some rows of a column.
    """
    for one in words:
        runs = [cells(one.column, slice(*run)) for run in one.rows or [(0, 0)]]
        plain = not runs[0].dtype.is_nested()
        if one.exceed(pl.concat([[*flat(run)][one.leaf] for run in runs]), plain):
            yield one.column


def different(cells: pl.Series) -> int:
    """Return how many different cells a column has, missing ones left out."""
    cells = cells.drop_nulls()
    if not cells.dtype.is_float():
        return cells.n_unique()
    bits = cells.to_numpy()
    return len(np.unique(bits.view(f"u{bits.itemsize}")))
