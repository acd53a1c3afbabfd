"""All closed patterns of a small table that enough rows match.

A pattern is one node per column; it is *closed* when it is the join of all rows that match it.
The join of any class is closed, and merging two lawful classes with the same join costs nothing
under a model that is closed under union, so one class per closed pattern is enough.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import StoppedError
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.problem.instance import Instance
from incrowd.run.stop import Stop


@dataclass(frozen=True, eq=False)
class Patterns:
    """Closed patterns and the distinct rows that match each.

    Attributes
    ----------
    cost: int64, shape (patterns,): cost per row.
    start: int64, shape (patterns + 1,): pattern p matches ``row[start[p]:start[p+1]]``.
    row: int64, shape (incidences,): distinct rows, ascending within a pattern.
    """

    cost: NDArray[np.int64]
    start: NDArray[np.int64]
    row: NDArray[np.int64]

    @property
    def owner(self) -> NDArray[np.int64]:
        """int64, shape (incidences,): the pattern of each incidence."""
        return np.repeat(np.arange(len(self.cost)), np.diff(self.start))

    def scaled(self, *prices: int) -> "tuple[Patterns, int]":
        """Return the patterns in the largest unit of their costs and of some prices, and it."""
        unit = max(int(np.gcd.reduce(np.append(self.cost, np.array(prices, np.int64)))), 1)
        return replace(self, cost=self.cost // unit), unit

    def where(self, kept: NDArray[np.bool_]) -> "Patterns":
        """Return some of the patterns: bool, shape (patterns,)."""
        size = np.diff(self.start)
        start = np.concatenate([[0], np.cumsum(size[kept])]).astype(np.int64)
        return Patterns(self.cost[kept], start, self.row[np.repeat(kept, size)])


class Cut(NamedTuple):
    """A level of a tree, or an interval, and where it puts the rows at hand.

    node: int64, shape (rows,): the node above each row, −1 for none.
    level: of a tree; low, high: the codes of an interval.
    """

    node: NDArray[np.int64]
    level: int = 0
    low: int = 0
    high: int = 0

    def is_join(
        self, family: Family, low: NDArray[np.int32], high: NDArray[np.int32]
    ) -> NDArray[np.bool_]:
        """Whether the join of these extreme codes is the chosen node."""
        if isinstance(family, RangeFamily):
            if self.high > family.reach[self.low]:  # the star
                return high > family.reach[low]
            return (low == self.low) & (high == self.high)
        return family.join_levels(low, high) == self.level

    def costs(self, family: Family, low: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return what this node costs above each of these codes."""
        if isinstance(family, RangeFamily):
            ends = np.full(len(low), self.low), np.full(len(low), self.high)
            return family.join_costs(*ends)
        return family.cost[self.level, low]


def cuts_of(family: Family, codes: NDArray[np.int32]) -> Iterator[Cut]:
    """Yield the levels of a tree, or the intervals whose ends some row has."""
    if not isinstance(family, RangeFamily):
        for level in range(family.levels):
            yield Cut(family.node[level][codes].astype(np.int64), level)
        return
    present = np.unique(codes).tolist()
    for low, high in product(present, present):
        whole = (low, high) == (present[0], present[-1])
        if low <= high and (whole or high <= family.reach[low]):
            inside = (low <= codes) & (codes <= high)
            yield Cut(np.where(inside, 0, -1), low=low, high=high)


def effort(instance: Instance) -> int:
    """Return an upper bound on the incidences: vectors of levels (or intervals) × distinct rows."""
    return prod(tree.nodes for tree in instance.trees) * instance.distinct


def closed_patterns(instance: Instance, least: int, stop: Stop) -> Patterns:
    """List the closed patterns that at least ``least`` copies match.

    Raises
    ------
    StoppedError: time ended before all were listed.
    """
    costs: list[NDArray[np.int64]] = []
    sizes: list[NDArray[np.int64]] = []
    rows: list[NDArray[np.int64]] = []

    def descend(
        chosen: tuple[Cut, ...], members: NDArray[np.int64], group: NDArray[np.int64]
    ) -> None:
        """Refine groups of rows by the next column, at each of its levels or intervals."""
        if not len(members):
            return
        if stop.now():
            raise StoppedError(f"patterns are not all listed ({stop.why()})")
        j = len(chosen)
        if j == instance.columns:
            emit(chosen, members, group)
            return
        for cut in cuts_of(instance.trees[j], instance.codes[members, j]):
            inside = cut.node >= 0
            key = group[inside] * (int(cut.node.max()) + 1) + cut.node[inside]
            _, dense = np.unique(key, return_inverse=True)
            dense, mine = dense.ravel(), members[inside]
            support = np.bincount(dense, weights=instance.counts[mine])
            enough = support[dense] >= least
            descend((*chosen, cut), mine[enough], dense[enough])

    def emit(chosen: tuple[Cut, ...], members: NDArray[np.int64], group: NDArray[np.int64]) -> None:
        """Keep the groups whose join costs what was chosen, and is no lower level of a tree."""
        order = np.argsort(group, kind="stable")
        members, group = members[order], group[order]
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        closed = np.ones(len(starts), bool)
        cost = np.zeros(len(starts), np.int64)
        for j, cut in enumerate(chosen):
            tree, codes = instance.trees[j], instance.codes[members, j]
            low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
            closed &= cut.is_join(tree, low, high)
            cost += cut.costs(tree, low)
        size = np.diff(np.append(starts, len(members)))
        costs.append(cost[closed])
        sizes.append(size[closed])
        rows.append(members[np.repeat(closed, size)])

    descend((), np.arange(instance.distinct), np.zeros(instance.distinct, np.int64))
    if not costs:
        return Patterns(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64))
    start = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return Patterns(np.concatenate(costs), start, np.concatenate(rows))
