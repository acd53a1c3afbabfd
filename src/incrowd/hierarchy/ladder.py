"""A column's hierarchy before it has costs: each value's labels, from the leaf up to ``*``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from operator import eq
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.tree import STAR

DECLARED = re.compile(r"missing \S+( \(.*\))?", re.DOTALL)
"""How a value that an SPSS, Stata or SAS file declares missing reads: ``missing 99 (refused)``."""
TWICE = "a hierarchy is built from distinct values; some value occurs twice"


@dataclass(frozen=True, eq=False)
class Ladder:
    """The paths of a column's distinct values, one rung per level, in hierarchy order.

    Attributes
    ----------
    column: the column's name.
    labels: ``labels[level][node]``, the text released for that node, as in `Tree.labels`.
    node: int32, shape (levels, leaves): as in `Tree.node`; every node is a run of leaves.
    level: int32, shape (levels, leaves): the lowest level that carries the same label.  It is
        ``level`` itself unless a label repeats; 0 where the leaf repeats itself (padding).
    below: int64, shape (levels, leaves): number of leaves of the *domain* under the node.  The
        domain of a file is the file; that of a rule (intervals, prefixes, dates, suppression)
        is the values of the table.
    domain: number of leaves of the domain; a missing value that the source does not know is one.
    uneven: why levels cannot serve as costs (leaves at unequal depth), or None when they can.
    origin: the file or rule, for messages.
    by_itself: it is of no column: a file looked at without a table.
    """

    column: str
    labels: tuple[tuple[str | None, ...], ...]
    node: NDArray[np.int32]
    level: NDArray[np.int32]
    below: NDArray[np.int64]
    domain: int
    uneven: str | None
    origin: str
    by_itself: bool = False

    @property
    def subject(self) -> str:
        """What it is the hierarchy of, for messages."""
        return self.origin if self.by_itself else f"column {self.column!r}"

    @property
    def levels(self) -> int:
        """Number of levels, leaves and root included."""
        return len(self.node)

    @property
    def leaves(self) -> tuple[str | None, ...]:
        """The column's values by leaf code; ``None`` stands for a missing value."""
        return self.labels[0]

    def path(self, leaf: int) -> tuple[str | None, ...]:
        """Return the labels of one leaf code, from the leaf to ``*``."""
        return tuple(self.labels[up][self.node[up, leaf]] for up in range(self.levels))


@runtime_checkable
class Source(Protocol):
    """Where a column's hierarchy comes from: a frozen value."""

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of a column's distinct values, given in any order.

        Raises
        ------
        HierarchyError: the hierarchy is broken, or does not fit the values.
        """
        ...


def distinct(values: Sequence[str | None]) -> tuple[list[str], bool]:
    """Return the values without the missing one, and whether there was one.

    Raises
    ------
    ValueError: a value occurs twice (the caller's mistake, not the user's).
    """
    if len(set(values)) != len(values):
        raise ValueError(TWICE)
    known = [value for value in values if value is not None]
    return known, len(known) < len(values)


class Declared(str):
    """A text that stands for a missing value, as somebody has said."""

    __slots__ = ()


def is_missing(value: str | None) -> bool:
    """Whether a cell is missing, or is said to stand for a missing one."""
    return value is None or isinstance(value, Declared)


def _is_declared(value: str) -> bool:
    return isinstance(value, Declared) or DECLARED.fullmatch(value) is not None


def apart(known: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the values that a rule applies to, and those that are declared missing.

    The latter are no numbers, dates or codes: under a rule they stay, or become ``*``.
    """
    declared = [value for value in known if _is_declared(value)]
    if not declared:
        return list(known), []
    return [value for value in known if not _is_declared(value)], sorted(declared)


def flat(column: str, values: Sequence[str | None], origin: str = "none") -> Ladder:
    """Return the ladder of height 1, suppression: leaves sorted by text, a missing value last."""
    known = sorted(value for value in values if value is not None)
    missing = len(known) < len(values)
    # Neighbours in order instead of `distinct`: half the time on a million values.
    if len(values) > len(known) + missing or any(map(eq, known, islice(known, 1, None))):
        raise ValueError(TWICE)
    leaves: tuple[str | None, ...] = (*known, None) if missing else tuple(known)
    size = len(leaves)
    zero = np.zeros(size, np.int32)
    node = np.vstack([np.arange(size, dtype=np.int32), zero])
    level = np.vstack([zero, zero + 1])
    below = np.vstack([np.ones(size, np.int64), np.full(size, size, np.int64)])
    return Ladder(column, (leaves, (STAR,)), node, level, below, size, None, origin)


@dataclass(frozen=True)
class Suppression:
    """A value stays, or becomes ``*``: the hierarchy of height 1."""

    def __str__(self) -> str:
        return "none"

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values, sorted by text, a missing one last."""
        return flat(column, values, str(self))
