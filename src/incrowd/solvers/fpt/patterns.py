"""All closed patterns of a small table that enough rows match.

A pattern is one node per column; it is *closed* when it is the join of all rows that match it.
The join of any class is closed, and merging two lawful classes with the same join costs nothing
under a model that is closed under union, so one class per closed pattern is enough.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from incrowd.problem.instance import Instance


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


def effort(instance: Instance) -> int:
    """Return an upper bound on the incidences: level vectors × distinct rows."""
    return prod(tree.levels for tree in instance.trees) * instance.distinct


def closed_patterns(instance: Instance, least: int) -> Patterns:
    """List the closed patterns that at least ``least`` copies match."""
    costs: list[NDArray[np.int64]] = []
    sizes: list[NDArray[np.int64]] = []
    rows: list[NDArray[np.int64]] = []

    def descend(
        levels: tuple[int, ...], members: NDArray[np.int64], group: NDArray[np.int64]
    ) -> None:
        """Refine groups of rows by the next column, at each of its levels."""
        if not len(members):
            return
        j = len(levels)
        if j == instance.columns:
            emit(levels, members, group)
            return
        tree = instance.trees[j]
        codes = instance.codes[members, j]
        for level in range(tree.levels):
            key = group * (int(tree.node[level].max()) + 1) + tree.node[level][codes]
            _, dense = np.unique(key, return_inverse=True)
            dense = dense.ravel()
            support = np.bincount(dense, weights=instance.counts[members])
            enough = support[dense] >= least
            descend((*levels, level), members[enough], dense[enough])

    def emit(levels: tuple[int, ...], members: NDArray[np.int64], group: NDArray[np.int64]) -> None:
        """Keep the groups whose join is no lower than ``levels``."""
        order = np.argsort(group, kind="stable")
        members, group = members[order], group[order]
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        closed = np.ones(len(starts), bool)
        cost = np.zeros(len(starts), np.int64)
        for j, level in enumerate(levels):
            tree, codes = instance.trees[j], instance.codes[members, j]
            if level:
                below = tree.node[level - 1][codes]
                closed &= np.minimum.reduceat(below, starts) != np.maximum.reduceat(below, starts)
            cost += tree.cost[level][codes[starts]]
        size = np.diff(np.append(starts, len(members)))
        costs.append(cost[closed])
        sizes.append(size[closed])
        rows.append(members[np.repeat(closed, size)])

    descend((), np.arange(instance.distinct), np.zeros(instance.distinct, np.int64))
    if not costs:
        return Patterns(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64))
    start = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return Patterns(np.concatenate(costs), start, np.concatenate(rows))
