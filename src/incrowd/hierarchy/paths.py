"""The one place that checks a hierarchy and numbers its nodes, whatever its source.

A node *is* its label: a label has one parent, is not its own ancestor, and is not both a value
and a group of other values.  Then no released text can stand for two different nodes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import HierarchyError
from incrowd.hierarchy.ladder import Ladder
from incrowd.hierarchy.text import form
from incrowd.hierarchy.tree import STAR

Where = Callable[[int], str]
"""Names the place of a row, such as ``zip.csv, line 7``."""


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Rows of labels, all of one length, from a leaf to ``*``; leaves pairwise different.

    Attributes
    ----------
    columns: ``columns[level][row]``, the label.
    origin: the file or rule, for messages.
    where: names the place of a row, for messages.
    uneven: why levels cannot serve as costs, when rows had to be padded.
    derived: whether the groups' labels are made of values, as rules make them.
    """

    columns: Sequence[Sequence[str]]
    origin: str
    where: Where
    uneven: str | None = None
    derived: bool = False

    def said(self, label: str) -> str:
        """Return how messages call a label: values, and what is made of them, by their form."""
        leaf = label in self.columns[0]
        return (
            f"the {'value' if leaf else 'label'} of the form {form(label)}"
            if (leaf or self.derived)
            else repr(label)
        )


@dataclass(frozen=True, eq=False)
class Paths:
    """A checked hierarchy over its whole domain.

    Attributes
    ----------
    names: the labels, by number; numbered level by level in order of appearance.
    ids: int32, shape (levels, leaves): the number of each leaf's ancestor at each level.
    total: int64, shape (names,): number of leaves below each label.
    """

    names: list[str]
    ids: NDArray[np.int32]
    total: NDArray[np.int64]
    uneven: str | None
    origin: str

    def ladder(
        self, column: str, rows: NDArray[np.integer], leaves: Sequence[str | None], stray: bool
    ) -> Ladder:
        """Return the ladder of some leaves.

        Parameters
        ----------
        rows: integer, shape (n,): the rows of `ids` to take, pairwise different.
        leaves: their texts in the table (a leaf ``""`` may be a missing value there).
        stray: whether to add a missing value that only ``*`` generalizes, as the last leaf.
        """
        # Sorting by the root's level first makes every node a run; nodes follow the source's order.
        order = np.lexsort(_first_rows(self.ids, len(self.names))[self.ids[:, rows]])
        ids = self.ids[:, rows[order]]
        repeats = np.zeros(ids.shape, bool)
        repeats[1:] = ids[1:] == ids[:-1]
        level = np.empty(ids.shape, np.int32)
        level[0] = 0
        for up in range(1, len(ids)):
            level[up] = np.where(repeats[up], level[up - 1], up)
        new = np.ones(ids.shape, bool)
        new[:, 1:] = ids[:, 1:] != ids[:, :-1]
        node = np.cumsum(new, axis=1, dtype=np.int32) - np.int32(1)
        texts = [leaves[i] for i in order.tolist()]
        labels: list[list[str | None]] = [texts]
        for up in range(1, len(ids)):
            starts = np.flatnonzero(new[up])
            own = level[up, starts] == 0
            pairs = zip(starts.tolist(), own.tolist(), strict=True)
            labels.append([texts[i] if o else self.names[ids[up, i]] for i, o in pairs])
        below = self.total[ids]
        domain = self.ids.shape[1]
        if stray:
            domain += 1
            node, level, below = _add_stray(labels, node, level, below)
        below[-1] = domain
        labels[-1] = [STAR]
        return Ladder(
            column, tuple(map(tuple, labels)), node, level, below, domain, self.uneven, self.origin
        )


def _add_stray(
    labels: list[list[str | None]],
    node: NDArray[np.int32],
    level: NDArray[np.int32],
    below: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Append a missing value that repeats itself up to the root."""
    top = len(node) - 1
    own = np.array([len(texts) for texts in labels[:-1]] + [0], np.int32)
    for texts in labels[:-1]:
        texts.append(None)
    rung = np.zeros(top + 1, np.int32)
    rung[-1] = top
    return (
        np.column_stack([node, own]).astype(np.int32),
        np.column_stack([level, rung]).astype(np.int32),
        np.column_stack([below, np.ones(top + 1, np.int64)]).astype(np.int64),
    )


def chart(grid: LabelRows) -> Paths:
    """Check a grid and number its nodes.

    Raises
    ------
    HierarchyError: the first of `faults`.
    """
    names, ids = number(grid.columns)
    for fault in faults(grid, names, ids):
        raise HierarchyError(fault)
    total = _totals(ids, len(names))
    uneven = grid.uneven
    slanted = _slanted(ids, total)
    if slanted is not None:
        name = names[slanted]
        levels, rows = np.nonzero(ids == slanted)
        low, high = int(levels.argmin()), int(levels.argmax())
        uneven = uneven or (
            f"{grid.said(name)} stands at level {levels[low]} in {grid.where(int(rows[low]))} "
            f"and at level {levels[high]} in {grid.where(int(rows[high]))}"
        )
        ids = _hang(ids)
    return Paths(names, ids, total, uneven, grid.origin)


def rule_ladder(
    column: str,
    origin: str,
    columns: Sequence[Sequence[str]],
    missing: bool,
    declared: Sequence[str] = (),
) -> Ladder:
    """Return the ladder of a rule: ``columns[0]`` are all the values but the missing one.

    Parameters
    ----------
    declared: further values, which repeat themselves up to ``*``.

    Raises
    ------
    HierarchyError: ``*`` is a value, or labels are no tree.
    """
    columns = [[*labels, *declared] for labels in columns]
    count = len(columns[0])
    require_no_star(column, origin, columns[0])
    place = f"column {column!r}, {origin}"
    paths = chart(LabelRows([*columns, [STAR] * count], origin, lambda row: place, derived=True))
    return paths.ladder(column, np.arange(count), columns[0], missing)


def require_no_star(column: str, origin: str, leaves: Sequence[str | None]) -> None:
    """Raise HierarchyError if ``*`` is among the values."""
    if STAR in leaves:
        raise HierarchyError(
            f"column {column!r}, {origin}: a value is {STAR!r}, which stands for a suppressed "
            "cell: write these cells otherwise"
        )


def number(columns: Sequence[Sequence[str]]) -> tuple[list[str], NDArray[np.int32]]:
    """Number the labels level by level in order of appearance; ``columns[0]`` are distinct."""
    size = len(columns[0])
    seen = dict(zip(columns[0], range(size), strict=True))
    ids = np.empty((len(columns), size), np.int32)
    ids[0] = np.arange(size)
    for up, column in enumerate(columns[1:], 1):
        for name in dict.fromkeys(column):
            seen.setdefault(name, len(seen))
        ids[up] = np.fromiter(map(seen.__getitem__, column), np.int32, size)
    return list(seen), ids


def faults(grid: LabelRows, names: list[str], ids: NDArray[np.int32]) -> Iterator[str]:
    """Yield what is wrong with the shape of a hierarchy, one message per broken label.

    Checks in this order, and stops after the first kind found, since one mistake shows itself in
    several ways: a label that is its own ancestor; a value that is also a group; two parents.
    """
    for kind in (_cycles, _values_as_groups, _two_parents):
        found = False
        for fault in kind(grid, names, ids):
            found = True
            yield fault
        if found:
            return


def _cycles(grid: LabelRows, names: list[str], ids: NDArray[np.int32]) -> Iterator[str]:
    reported: set[int] = set()
    for low in range(len(ids)):
        for high in range(low + 2, len(ids)):
            same = ids[low] == ids[high]
            left = (ids[low + 1 : high] != ids[low]).any(axis=0)
            for row in np.flatnonzero(same & left).tolist():
                label = int(ids[low, row])
                if label not in reported:
                    reported.add(label)
                    yield (
                        f"{grid.where(row)}: {grid.said(names[label])} is its own ancestor "
                        f"(it stands at level {low} and again at level {high})"
                    )


def _values_as_groups(grid: LabelRows, names: list[str], ids: NDArray[np.int32]) -> Iterator[str]:
    value_row = np.full(len(names), -1, np.int64)
    value_row[ids[0]] = np.arange(ids.shape[1])
    reported: set[int] = set()
    for up in range(1, len(ids)):
        clash = (ids[up] != ids[up - 1]) & (value_row[ids[up]] >= 0)
        for row in np.flatnonzero(clash).tolist():
            label = int(ids[up, row])
            if label not in reported:
                reported.add(label)
                also = "" if grid.derived else f" ({grid.where(int(value_row[label]))})"
                mend = "use a hierarchy file" if grid.derived else "rename the group"
                yield (
                    f"{grid.where(row)}: the label at level {up} is also a value{also}, of the "
                    f"form {form(names[label])}; released, it would be ambiguous: {mend}"
                )


def _two_parents(grid: LabelRows, names: list[str], ids: NDArray[np.int32]) -> Iterator[str]:
    child, parent = ids[:-1].ravel(), ids[1:].ravel()
    row = np.tile(np.arange(ids.shape[1]), len(ids) - 1)
    step = child != parent
    child, parent, row = child[step], parent[step], row[step]
    first = np.full(len(names), -1, np.int64)
    first[child[::-1]] = np.arange(len(child))[::-1]
    clash = np.flatnonzero(parent[first[child]] != parent)
    reported: set[int] = set()
    for at in clash.tolist():
        label, one = int(child[at]), int(first[child[at]])
        if label in reported:
            continue
        reported.add(label)
        here, there = grid.said(names[parent[at]]), grid.said(names[parent[one]])
        ancestors = _upward(int(parent[at]), first, parent) | _upward(
            int(parent[one]), first, parent
        )
        if label in ancestors:
            yield (
                f"{grid.where(int(row[at]))}: {grid.said(names[label])} is its own ancestor: it "
                f"stands under {here} here and under {there} in {grid.where(int(row[one]))}"
            )
        else:
            yield (
                f"{grid.where(int(row[at]))}: {grid.said(names[label])} has two parents, {here} "
                f"here and {there} in {grid.where(int(row[one]))}; a group belongs to one group "
                "above it"
            )


def _upward(label: int, first: NDArray[np.int64], parent: NDArray[np.int32]) -> set[int]:
    """Labels met on the way up from a label, by each label's first parent."""
    met: set[int] = set()
    while label not in met:
        met.add(label)
        if first[label] < 0:
            break
        label = int(parent[first[label]])
    return met


def _first_rows(ids: NDArray[np.int32], names: int) -> NDArray[np.int64]:
    """Return the first row of each label, at whatever level."""
    size = ids.shape[1]
    first = np.full(names, size, np.int64)
    for labels in ids:
        here = np.full(names, size, np.int64)
        here[labels[::-1]] = np.arange(size)[::-1]
        np.minimum(first, here, out=first)
    return first


def _totals(ids: NDArray[np.int32], names: int) -> NDArray[np.int64]:
    fresh = np.ones(ids.shape, bool)
    fresh[1:] = ids[1:] != ids[:-1]
    return np.bincount(ids[fresh], minlength=names).astype(np.int64)


def _slanted(ids: NDArray[np.int32], total: NDArray[np.int64]) -> int | None:
    """Return a label that some of its leaves carry at one level and others at another."""
    for labels in ids:
        count = np.bincount(labels, minlength=len(total))
        partial = np.flatnonzero((count > 0) & (count < total))
        if len(partial):
            return int(partial[0])
    return None


def _hang(ids: NDArray[np.int32]) -> NDArray[np.int32]:
    """Drop repeats and hang each path from the root; shallow leaves repeat themselves below."""
    fresh = np.ones(ids.shape, bool)
    fresh[1:] = ids[1:] != ids[:-1]
    height = int(fresh.sum(axis=0).max())
    hung = np.tile(ids[0], (height, 1))
    # The i-th label from the top among those kept goes to level height - 1 - i.
    from_top = np.cumsum(fresh[::-1], axis=0)[::-1] - 1
    levels, rows = np.nonzero(fresh)
    hung[height - 1 - from_top[levels, rows], rows] = ids[levels, rows]
    return hung
