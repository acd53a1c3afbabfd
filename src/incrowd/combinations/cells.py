"""A release cell by cell, and which changes of it leave every combination's groups large enough.

Here a row has no class: each combination groups the rows by what they show in its columns, and each
group has to have its k rows.  A state gives the level of every cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.tree import Tree
from incrowd.kernels.types import Ints
from incrowd.problem.instance import Instance, packed
from incrowd.problem.solution import Solution

Levels = NDArray[np.int8]
Mask = NDArray[np.bool_]
TRIES = 40  # rounds in which rows are taken out of a move before it is given up


@dataclass(frozen=True)
class Crowd:
    """A combination by the places of its columns.

    Attributes
    ----------
    columns: of the instance.  k: least number of rows that show the same in these columns.
    """

    columns: tuple[int, ...]
    k: int


@dataclass(frozen=True, eq=False)
class Cells:
    """The rows of a table, and what their cells may show.

    Attributes
    ----------
    instance: its trees have no intervals; rows below are its copies.
    trees: the same.
    crowds: what has to be obeyed.
    """

    instance: Instance
    trees: tuple[Tree, ...]
    crowds: tuple[Crowd, ...]

    @cached_property
    def leaves(self) -> Ints:
        """int64, shape (rows, columns)."""
        return self.instance.codes[self.instance.copies].astype(np.int64)

    @cached_property
    def labels(self) -> tuple[Ints, ...]:
        """int64, shape (levels, leaves), by column: numbers of the texts that are shown.

        A value that repeats itself on several levels has one number.
        """
        found = []
        for tree in self.trees:
            number: dict[str | None, int] = {}
            of = [
                np.array([number.setdefault(text, len(number)) for text in texts], np.int64)
                for texts in tree.labels
            ]
            found.append(np.array([names[tree.node[up]] for up, names in enumerate(of)], np.int64))
        return tuple(found)

    @cached_property
    def tops(self) -> Levels:
        """int8, shape (columns,): the level of ``*``."""
        return np.array([tree.levels - 1 for tree in self.trees], np.int8)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.instance.rows

    def costs(self, level: Levels) -> Ints:
        """int64, shape (rows,): what the rows pay in all columns."""
        total = np.zeros(self.rows, np.int64)
        for j, tree in enumerate(self.trees):
            total += tree.cost[level[:, j], self.leaves[:, j]]
        return total

    def keys(self, level: Levels, columns: Sequence[int]) -> Ints:
        """int64, shape (rows,): a number for what the rows show in these columns."""
        return packed([self.labels[j][level[:, j], self.leaves[:, j]] for j in columns], self.rows)[
            0
        ]

    def groups(self, level: Levels, crowd: Crowd) -> tuple[Ints, Ints]:
        """Return the group of each row under a combination, and the size of each group."""
        _, group, size = np.unique(
            self.keys(level, crowd.columns), return_inverse=True, return_counts=True
        )
        return group.ravel(), size

    def small(self, level: Levels, crowd: Crowd) -> Mask:
        """bool, shape (rows,): which rows are in a group that is too small."""
        group, size = self.groups(level, crowd)
        return (size < crowd.k)[group]

    def lawful(self, level: Levels) -> bool:
        """Whether every combination's groups are large enough."""
        return not any(self.small(level, crowd).any() for crowd in self.crowds)

    def solution(self, level: Levels) -> Solution:
        """Return the release: rows that show the same in all columns are a class."""
        _, first, classes = np.unique(
            self.keys(level, range(len(self.trees))), return_index=True, return_inverse=True
        )
        least = level[first].astype(np.int64)
        return Solution(self.instance, classes.ravel().astype(np.int64), least=least)

    def settled(self, level: Levels, moved: Levels, rows: Mask) -> Levels | None:
        """Return a lawful state in which some of the rows have moved; None if none may.

        Rows whose new group is too small stay, and as many others as a group needs that they leave;
        again and again, until every group is large enough.

        Parameters
        ----------
        level: a lawful state.  moved: what the rows would show; of others it does not matter.
        rows: which rows would move.
        """
        went = rows.copy()
        changed = (moved[rows] != level[rows]).any(axis=0)
        crowds = [one for one in self.crowds if changed[list(one.columns)].any()]
        before = [self.groups(level, one)[0] for one in crowds]
        for _ in range(TRIES):
            new = np.where(went[:, None], moved, level)
            stays = np.zeros(self.rows, bool)
            for crowd, old in zip(crowds, before, strict=True):
                group, size = self.groups(new, crowd)
                few = (size < crowd.k)[group]
                stays |= few & went
                left = few & ~went
                if left.any():
                    stays |= needed(old, left, went, crowd.k, size[group])
            if not stays.any():
                return new if went.any() else None
            went &= ~stays
            if not went.any():
                return None
        return None


def needed(old: Ints, left: Mask, went: Mask, k: int, size: Ints) -> Mask:
    """Return which rows have to stay so that those that are left behind are enough.

    Parameters
    ----------
    old: the group of each row before; left: rows whose group has become too small; went: rows that
        have left one.  size: how large the group of each row is now: the largest ones give first.
    """
    have = np.bincount(old[left], minlength=int(old.max()) + 1)
    lacks = np.where(have > 0, k - have, 0)
    mine = np.flatnonzero(went & (lacks[old] > 0))
    mine = mine[np.lexsort((-size[mine], old[mine]))]
    starts = np.searchsorted(old[mine], old[mine], "left")
    stay = np.zeros(len(old), bool)
    stay[mine[np.arange(len(mine)) - starts < lacks[old[mine]]]] = True
    return stay
