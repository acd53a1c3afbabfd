"""The published classes above each new row, the cheapest first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import SPAN, shown_ends
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.kernels.types import Ints
from incrowd.problem.instance import places_in

FAR = np.iinfo(np.int64).max // 4


@dataclass(frozen=True, eq=False)
class Published:
    """The classes of the earlier release that can cover new rows.

    Attributes
    ----------
    levels, nodes: int64, shape (classes, columns): their labels in the new rows' trees.
    values: sensitive values of each class's rows: int32 of shape (rows, attributes).
    """

    levels: Ints
    nodes: Ints
    values: tuple[NDArray[np.int32], ...]

    def ends(self, trees: Sequence[Family]) -> list[Ints]:
        """Return by column the leaf codes of the ends that the classes show, of ranges only."""
        columns = zip(trees, self.levels.T, self.nodes.T, strict=True)
        return [shown_ends(tree, level, node) for tree, level, node in columns]


@dataclass(frozen=True, eq=False)
class Covers:
    """The cheapest classes above each row: shape (rows, options), by rising cost.

    ``place`` is −1 and ``cost`` is FAR where there is none.
    """

    cost: Ints
    place: Ints

    def with_one(self, rows: Ints, place: Ints, cost: Ints) -> "Covers":
        """Return them with one more class for some rows."""
        both = [np.column_stack([self.cost, np.full(len(self.cost), FAR)]),
                np.column_stack([self.place, np.full(len(self.cost), -1)])]  # fmt: skip
        both[0][rows, -1], both[1][rows, -1] = cost, place
        order = np.argsort(both[0], axis=1, kind="stable")[:, :-1]
        return Covers(*(np.take_along_axis(each, order, axis=1) for each in both))


def covers(
    codes: NDArray[np.integer], trees: tuple[Family, ...], levels: Ints, nodes: Ints, options: int
) -> Covers:
    """Find the cheapest classes above each row.

    Parameters
    ----------
    codes: shape (rows, columns): leaf codes.
    levels, nodes: shape (classes, columns); see ``incrowd.hierarchy.labels.places_among``.  At one
        vector of levels a row has one class at most, so there is one look-up for each vector that
        occurs; but of intervals several may hold it.
    """
    found = Covers(np.full((len(codes), options), FAR), np.full((len(codes), options), -1))
    shapes, of_shape = np.unique(levels, axis=0, return_inverse=True)
    for s, shape in enumerate(shapes):
        members = np.flatnonzero(of_shape.ravel() == s)
        held = Shape(tuple(trees), shape, nodes[members])
        for rows, place, cost in held.holding(codes, options):
            found = found.with_one(rows, members[place], cost)
    return found


@dataclass(frozen=True, eq=False)
class Shape:
    """Classes with the same levels.

    Attributes
    ----------
    shape: int64, shape (columns,): the levels; nodes: int64, shape (classes, columns).
    """

    trees: tuple[Family, ...]
    shape: Ints
    nodes: Ints

    def holding(
        self, codes: NDArray[np.integer], options: int
    ) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Yield rows, one class that holds each, and its cost: all of the cheapest ``options``.

        Rows and classes agree in all columns but those that show an interval.  Classes that do are
        tried from the narrowest on.
        """
        spans = [j for j, tree in enumerate(self.trees) if self.ranged(tree, j)]
        rest = [j for j in range(len(self.trees)) if j not in spans]
        above, price = self.above(codes, rest)
        low, high, width = self.intervals(spans)
        one = np.zeros((len(self.nodes), 1), np.int64)  # where all columns show an interval
        same = np.column_stack([one, self.nodes[:, rest]])
        kinds, of_class = np.unique(same, axis=0, return_inverse=True)
        group = places_in(kinds, np.column_stack([np.zeros(len(codes), np.int64), above]))
        order = np.lexsort((width, of_class.ravel()))
        begin = np.concatenate([[0], np.cumsum(np.bincount(of_class.ravel()))])
        rows = np.flatnonzero(group >= 0)
        at, left = begin[group[rows]], np.full(len(rows), options)
        while len(rows):
            place, mine = order[at], codes[rows][:, spans]
            inside = ((low[place] <= mine) & (mine <= high[place])).all(axis=1)
            yield rows[inside], place[inside], (price[rows] + width[place])[inside]
            at, left = at + 1, left - inside
            more = (at < begin[group[rows] + 1]) & (left > 0)
            rows, at, left = rows[more], at[more], left[more]

    def ranged(self, tree: Family, j: int) -> bool:
        """Whether a column shows an interval."""
        return isinstance(tree, RangeFamily) and self.shape[j] == SPAN

    def above(self, codes: NDArray[np.integer], columns: list[int]) -> tuple[Ints, Ints]:
        """Return the nodes of rows in some columns, shape (rows, columns), and what they cost."""
        nodes, price = (
            np.zeros((len(codes), len(columns)), np.int64),
            np.zeros(len(codes), np.int64),
        )
        for at, j in enumerate(columns):
            tree, level, code = self.trees[j], int(self.shape[j]), codes[:, j]
            if isinstance(tree, RangeFamily):
                nodes[:, at] = code if level == 0 else 0
                price += 0 if level == 0 else tree.dearest
            else:
                nodes[:, at] = tree.node[level][code]
                price += tree.cost[level][code]
        return nodes, price

    def intervals(self, columns: list[int]) -> tuple[Ints, Ints, Ints]:
        """Return the ends of the classes' intervals, shape (classes, columns), and their costs."""
        low = np.zeros((len(self.nodes), len(columns)), np.int64)
        high, width = low.copy(), np.zeros(len(self.nodes), np.int64)
        for at, j in enumerate(columns):
            low[:, at], high[:, at] = np.divmod(self.nodes[:, j], len(self.trees[j].leaves))
            width += self.trees[j].join_costs(low[:, at], high[:, at])
        return low, high, width
