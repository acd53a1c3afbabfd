"""Hierarchies from a file: ``leaf;level1;…;*``, one line per leaf, as ARX writes them."""

from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path

import numpy as np

from incrowd.errors import HierarchyError, LackingError
from incrowd.hierarchy.ladder import Ladder, apart, distinct
from incrowd.hierarchy.paths import LabelRows, Where, chart
from incrowd.hierarchy.text import read_lines
from incrowd.hierarchy.tree import STAR


@dataclass(frozen=True)
class HierarchyFile:
    """A hierarchy file: one line per leaf, its labels from the leaf up to the root ``*``.

    The delimiter is sniffed among ``;``, ``,``, tab and ``|`` unless given; the text is UTF-8 with
    or without byte-order mark.  If the last level is not ``*``, a root ``*`` is added above it.
    A line that repeats an earlier one is ignored.  A ``*`` before the last level means that the
    value has no further groups: it, or its last group, repeats itself up to the root.  Lines may
    be of unequal length (shallow leaves are padded), but then levels cannot serve as costs.  An
    empty leaf (``;unknown;*``) is the missing value, unless the table holds both ``""`` and
    missing values: then it is ``""``.
    """

    path: str | Path
    delimiter: str | None = None

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values; its domain is the leaves of the file.

        Raises
        ------
        HierarchyError: the file cannot be read or is broken, or lacks a value.
        """
        return _fit(column, values, self.tidy())

    def tidy(self) -> "Tidy":
        """Return the rows of the file, straightened out; see `tidy`."""
        lines = read_lines(self.path, self.delimiter)
        columns = lines.even_columns()
        clean = _clean_columns(columns) if columns else None
        if clean is not None:
            return Tidy(LabelRows(clean, lines.name, lines.where))
        return tidy(lines.rows, lines.name, lines.where)


@dataclass(frozen=True)
class HierarchyRows:
    """A hierarchy given in memory: rows ``(leaf, level1, …, "*")``, read as the lines of a file."""

    rows: Sequence[Sequence[str]]
    name: str = "the given hierarchy"

    def __post_init__(self) -> None:
        if isinstance(self.rows, str | Mapping) or any(isinstance(row, str) for row in self.rows):
            raise HierarchyError(
                f"{self.name}: a row is a value and its groups, as in HierarchyRows([('nurse', "
                "'health', '*')]); of a dict from values to groups, HierarchyRows([*d.items()])"
            )

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values; its domain is the leaves of the rows.

        Raises
        ------
        HierarchyError: the rows are broken, or lack a value.
        """
        return _fit(column, values, self.tidy())

    def tidy(self) -> "Tidy":
        """Return the rows, straightened out; see `tidy`."""
        if not self.rows:
            raise HierarchyError(f"{self.name} is empty; it needs one row per value")
        return tidy(self.rows, self.name, lambda row: f"{self.name}, row {row + 1}")


@dataclass(frozen=True, eq=False)
class Tidy:
    """Rows straightened out to `LabelRows`, and what was wrong with the rows that were left out."""

    grid: LabelRows
    faults: list[str] = field(default_factory=list)
    repeated: int = 0


def tidy(rows: Sequence[Sequence[str]], origin: str, where: Where) -> Tidy:
    """Make rows of labels rectangular, with one root ``*`` on top and every leaf once.

    Rows that are wrong in themselves are left out and reported in `Tidy.faults`.
    """
    faults: list[str] = []
    paths: list[list[str]] = []
    places: list[int] = []
    for row, fields in enumerate(rows):
        path = _trim(fields)
        fault = _row_fault(path)
        if fault:
            faults.append(f"{where(row)}: {fault}")
        else:
            paths.append(path if path[-1] == STAR and len(path) > 1 else [*path, STAR])
            places.append(row)
    uneven = _unequal(paths, places, where)
    paths = _pad(paths) if uneven else [_spread(path) for path in paths]
    kept, repeated = _once(paths, places, where, faults)
    columns = list(zip(*(paths[i] for i in kept), strict=True)) or [(), ()]
    index = [places[i] for i in kept]
    return Tidy(LabelRows(columns, origin, lambda i: where(index[i]), uneven), faults, repeated)


def _clean_columns(columns: list[list[str]]) -> list[list[str]] | None:
    """Return the columns, ``*`` on top, when nothing has to be mended: the fast way; else None."""
    size = len(columns[0])
    if len(columns) == 1 or STAR not in columns[-1]:
        columns = [*columns, [STAR] * size]
    leaves, *groups, roots = columns
    mended = any("" in labels or STAR in labels for labels in groups) or STAR in leaves
    return None if mended or set(roots) != {STAR} or len(set(leaves)) < size else columns


def _trim(fields: Sequence[str]) -> list[str]:
    """Drop the empty fields at the end, which spreadsheets add."""
    path = list(fields)
    while len(path) > 1 and path[-1] == "":
        path.pop()
    return path


def _row_fault(path: list[str]) -> str | None:
    if path[0] == STAR:
        return f"{STAR!r} is the root and cannot be a value"
    if "" in path[1:]:
        return f"an empty label at level {path.index('', 1)}"
    if STAR in path and any(label != STAR for label in path[path.index(STAR) :]):
        return f"a label stands above {STAR!r}, the root"
    return None


def _unequal(paths: list[list[str]], places: list[int], where: Where) -> str | None:
    """Return where two rows differ in length, or None."""
    for i, path in enumerate(paths):
        if len(path) != len(paths[0]):
            return (
                f"{where(places[i])} has {len(path)} labels, {where(places[0])} has {len(paths[0])}"
            )
    return None


def _spread(path: list[str]) -> list[str]:
    """Put one ``*`` at the end, and repeat the last label below it where there were more."""
    root = path.index(STAR)
    return path[:root] + [path[root - 1]] * (len(path) - 1 - root) + [STAR]


def _pad(paths: list[list[str]]) -> list[list[str]]:
    """Drop repeats, and repeat each leaf until all paths are of one length."""
    short = [[path[0], *(b for a, b in pairwise(path) if a != b)] for path in paths]
    height = max(map(len, short))
    return [[path[0]] * (height - len(path)) + path for path in short]


def _once(
    paths: list[list[str]], places: list[int], where: Where, faults: list[str]
) -> tuple[list[int], int]:
    """Return which rows to keep and how many repeat an earlier one; report those that disagree."""
    first: dict[str, int] = {}
    repeated = 0
    for i, path in enumerate(paths):
        one = first.setdefault(path[0], i)
        if one == i:
            continue
        if paths[one] == path:
            repeated += 1
            continue
        faults.append(
            f"{where(places[i])}: its value has other groups here than in {where(places[one])}"
        )
    return list(first.values()), repeated


def _fit(column: str, values: Sequence[str | None], tidied: Tidy) -> Ladder:
    for fault in tidied.faults:
        raise HierarchyError(fault)
    known, missing = distinct(values)
    grid = _with_declared(tidied.grid, known)
    paths = chart(grid)
    row_of = dict(zip(grid.columns[0], range(paths.ids.shape[1]), strict=True))
    absent = lacking(known, row_of)
    if absent:
        raise LackingError(column, absent, tidied.grid.origin)
    leaves: list[str | None] = [*known]
    rows = [row_of[value] for value in known]
    stray = missing
    if missing and "" in row_of and "" not in values:
        leaves.append(None)
        rows.append(row_of[""])
        stray = False
    return paths.ladder(column, np.array(rows, np.int64), leaves, stray)


def _with_declared(grid: LabelRows, known: Sequence[str]) -> LabelRows:
    """Add the values declared missing that a file lacks: they stay, or become ``*``."""
    declared = sorted(set(apart(known)[1]).difference(grid.columns[0]))
    if not declared:
        return grid
    below = [[*labels, *declared] for labels in grid.columns[:-1]]
    size = len(grid.columns[0])
    return replace(
        grid,
        columns=[*below, [STAR] * len(below[0])],
        where=lambda row: grid.where(row) if row < size else f"{grid.origin}, a missing value",
    )


def lacking(known: Sequence[str], leaves: Container[str]) -> list[str]:
    """Return the values that are not among the leaves, sorted by text; missing ones need not be."""
    return sorted(value for value in apart(known)[0] if value not in leaves)


def nearest(value: str, leaves: Sequence[str]) -> str:
    """Return a hint at the leaf nearest to a value, quickly even among 100,000 leaves.

    Nearest is: equal but for blanks, case or leading zeros; else the nearest number; else nearly
    the same text; else the neighbour in text order.
    """

    def bare(text: str) -> str:
        return text.strip().casefold().lstrip("0")

    alike = [leaf for leaf in leaves if bare(leaf) == bare(value)]
    if alike:
        return f"; did you mean {alike[0]!r}?"
    numbers = [(abs(number - wanted), leaf) for number, leaf, wanted in _numbers(value, leaves)]
    if numbers:
        return f"; nearest: {min(numbers)[1]!r}"
    ordered = sorted(leaves)
    at = bisect_left(ordered, value)
    near = get_close_matches(value, ordered[max(0, at - 200) : at + 200], n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; nearest: {ordered[max(0, at - 1)]!r}" if ordered else ""


def _numbers(value: str, leaves: Sequence[str]) -> Iterator[tuple[float, str, float]]:
    """Yield (leaf as a number, leaf, value as a number) where both are numbers."""
    try:
        wanted = float(value)
    except ValueError:
        return
    for leaf in leaves:
        with suppress(ValueError):
            yield float(leaf), leaf, wanted
