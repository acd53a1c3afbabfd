"""Hidden cells with the values that they may be, in flat arrays: what attacks on cells work on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.scene import People, Seen
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import ends, top_of
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.kernels.types import Bools, Floats, Ints
from incrowd.problem.instance import places_in

CANDIDATES = 3_000_000  # of the cells that an attack looks at: about 1 GB of figures


@dataclass(frozen=True, eq=False)
class Cells:
    """Entries, one for a hidden column of a label, and candidates, one for a value of an entry.

    Attributes
    ----------
    trees: one for each quasi-identifier.
    levels, nodes: int64, shape (labels, columns).
    label, column: int64, shape (entries,).
    entry, value: int64, shape (candidates,), entry by entry.
    truth: int64, shape (candidates,): rows under the label that bear the value.
    """

    trees: tuple[Family, ...]
    levels: Ints
    nodes: Ints
    label: Ints
    column: Ints
    entry: Ints
    value: Ints
    truth: Ints

    @cached_property
    def start(self) -> Ints:
        """int64, shape (entries,): the first candidate of each."""
        return np.searchsorted(self.entry, np.arange(len(self.label)))

    @cached_property
    def rows(self) -> Ints:
        """int64, shape (entries,): hidden cells of each: the rows of its class."""
        return self.total(self.truth)

    def total(self, values: NDArray) -> NDArray:
        """Sum over the candidates of each entry; same dtype, shape (entries,)."""
        return np.add.reduceat(values, self.start) if len(self.label) else values[:0]

    def most(self, values: NDArray) -> NDArray:
        """Largest over the candidates of each entry; same dtype, shape (entries,)."""
        return np.maximum.reduceat(values, self.start) if len(self.label) else values[:0]

    def by_cell(self, hits: Floats) -> tuple[Floats, Ints]:
        """Return the score of each hidden cell and its label, from expected hits of entries."""
        score = np.repeat(hits / np.maximum(self.rows, 1), self.rows)
        return score, np.repeat(self.label, self.rows)

    @cached_property
    def at(self) -> Ints:
        """int64, shape (candidates,): the label of each candidate."""
        return self.label[self.entry]

    @cached_property
    def by(self) -> Ints:
        """int64, shape (candidates,): the column of each candidate."""
        return self.column[self.entry]


def cells_of(
    trees: tuple[Family, ...], levels: Ints, nodes: Ints, hidden: Bools, place: Ints, codes: Ints
) -> Cells:
    """Return the hidden cells of some labels.

    Parameters
    ----------
    levels, nodes: int64, shape (labels, columns); hidden: bool, the same shape.
    place: int64, shape (people,): label of each, −1 for one who stands under none of these.
    codes: int64, shape (people, columns).
    """
    label, column = np.nonzero(hidden)
    low, high = np.zeros(len(label), np.int64), np.zeros(len(label), np.int64)
    for j, tree in enumerate(trees):
        mine = np.flatnonzero(column == j)
        low[mine], high[mine] = ends(tree, levels[label[mine], j], nodes[label[mine], j])
    width = high - low
    entry = np.repeat(np.arange(len(label)), width)
    value = np.arange(len(entry)) - np.repeat(np.cumsum(width) - width, width) + low[entry]
    made = Cells(trees, levels, nodes, label, column, entry, value, np.zeros(len(entry), np.int64))
    there = np.flatnonzero(place >= 0)
    for j, tree in enumerate(trees):
        mine = np.flatnonzero(made.by == j)
        leaves = len(tree.leaves)
        key, count = np.unique(place[there] * leaves + codes[there, j], return_counts=True)
        sought = made.at[mine] * leaves + made.value[mine]
        spot = np.minimum(np.searchsorted(key, sought), max(0, len(key) - 1))
        if len(key):
            made.truth[mine] = np.where(key[spot] == sought, count[spot], 0)
    return made


def affordable(
    trees: tuple[Family, ...], levels: Ints, nodes: Ints, rng: np.random.Generator
) -> Ints:
    """int64: labels by lot whose cells have at most ``CANDIDATES`` values in all, at least one.

    A birth date shown as a century may be any of its dates, in each of a thousand classes.
    """
    widths = np.zeros(len(levels), np.int64)
    for j, tree in enumerate(trees):
        low, high = ends(tree, levels[:, j], nodes[:, j])
        widths += np.where(high - low > 1, high - low, 0)
    if widths.sum() <= CANDIDATES:
        return np.arange(len(widths))
    order = rng.permutation(len(widths))
    fit = max(1, int(np.searchsorted(np.cumsum(widths[order]), CANDIDATES, "right")))
    return np.sort(order[:fit])


def hidden_cells(seen: Seen, members: People, most: int, rng: np.random.Generator) -> Cells:
    """Return the hidden cells of a release, of at most ``most`` classes by lot, fewer if large."""
    assert members.place is not None
    hidden = seen.hidden
    classes = np.flatnonzero(hidden.any(axis=1))
    if len(classes) > most:
        classes = np.sort(rng.choice(classes, most, replace=False))
    classes = classes[affordable(seen.trees, seen.levels[classes], seen.nodes[classes], rng)]
    number = np.full(len(seen.sizes), -1)
    number[classes] = np.arange(len(classes))
    return cells_of(
        seen.trees, seen.levels[classes], seen.nodes[classes], hidden[classes],
        number[members.place], members.codes,
    )  # fmt: skip


def opened(cells: Cells, seen: Seen) -> Ints:
    """int64, shape (candidates,): rows of the largest class that the cell, opened, would fit.

    Classes that are labelled as this one but lower in the hidden column, above the value: there a
    row with the value would have stood at lower cost.
    """
    found = np.zeros(len(cells.entry), np.int64)
    known = np.column_stack([seen.levels, seen.nodes])
    width = len(cells.trees)
    for j, tree in enumerate(cells.trees):
        mine = np.flatnonzero(cells.by == j)
        ranged = isinstance(tree, RangeFamily)  # of these only the value itself lies below
        for level in range(1 if ranged else tree.levels - 1):
            some = mine[cells.levels[cells.at[mine], j] > level]
            levels, nodes = cells.levels[cells.at[some]], cells.nodes[cells.at[some]]
            value = cells.value[some]
            levels[:, j], nodes[:, j] = level, value if ranged else tree.node[level][value]
            spot = places_in(known, np.column_stack([levels, nodes]).reshape(-1, 2 * width))
            size = np.where(spot >= 0, seen.sizes[spot], 0)
            found[some] = np.maximum(found[some], size)
    return found


def swapped(cells: Cells, seen: Seen) -> Ints:
    """int64, shape (candidates,): rows of classes with the cell open and another one suppressed."""
    found = np.zeros(len(cells.entry), np.int64)
    known = np.column_stack([seen.levels, seen.nodes])
    for d, other in enumerate(cells.trees):
        some = np.flatnonzero((cells.by != d) & (cells.levels[cells.at, d] == 0))
        levels, nodes = cells.levels[cells.at[some]], cells.nodes[cells.at[some]]
        every = np.arange(len(some))
        levels[every, cells.by[some]] = 0
        nodes[every, cells.by[some]] = cells.value[some]
        levels[:, d], nodes[:, d] = top_of(other), 0
        spot = places_in(known, np.column_stack([levels, nodes]))
        found[some] += np.where(spot >= 0, seen.sizes[spot], 0)
    return found
