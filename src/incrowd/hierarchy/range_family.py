"""A column whose nodes are the intervals of its values, and ``*``: closed under join, monotone.

The join of a class is the interval from its least to its greatest leaf code, or ``*`` where that
is wider than allowed.  What it costs depends on these two codes alone, never falls as the interval
grows, and is 0 for a single leaf: that is all a search, a bound or a proof asks of a hierarchy.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.template import WHOLE, Template
from incrowd.hierarchy.tree import STAR


@dataclass(frozen=True, eq=False, repr=False)  # which would quote cells
class RangeFamily:
    """One column's intervals, over the values that occur in the table.

    Attributes
    ----------
    column: the column's name.
    leaves: the values by leaf code, rising; after them those that no interval holds (missing ones).
    first, last: the text of an interval that begins, and that ends, at each leaf.
    down, up: int64, shape (leaves,), ``down <= up``, neither falling among the values that
        intervals hold: codes a < b cost ``up[b] - down[a]``, in units of ``1/Instance.scale``.
    reach: int64, shape (leaves,), not falling, ``reach[c] >= c``: the greatest code that an
        interval which begins at c may hold; beyond it the join is ``*``.
    dearest: what ``*`` costs; no interval costs more.
    rule: what the proof says of the column (``incrowd.hierarchy.ranges.Ranges.stated``).
    shown: how an interval is written.
    star: how ``*`` is written.
    """

    column: str
    leaves: tuple[str | None, ...]
    first: tuple[str, ...]
    last: tuple[str, ...]
    down: NDArray[np.int64]
    up: NDArray[np.int64]
    reach: NDArray[np.int64]
    dearest: int
    rule: dict[str, Any]
    shown: Template = WHOLE
    star: str = STAR

    def __post_init__(self) -> None:
        known = self.reach > np.arange(len(self.reach))
        assert (np.diff(self.reach) >= 0).all() and (self.down[known] <= self.up[known]).all()
        for array in (self.down, self.up, self.reach):
            array.setflags(write=False)

    @property
    def spared(self) -> tuple[str, ...]:
        """The values, but for the missing one, that no interval holds."""
        both = zip(self.leaves, self.first, strict=True)
        return tuple(leaf for leaf, text in both if leaf is not None and not text)

    @property
    def roots(self) -> NDArray[np.int64]:
        """int64, shape (leaves,): what a cell of each value costs as ``*``."""
        return np.full(len(self.leaves), self.dearest, np.int64)

    @property
    def nodes(self) -> int:
        """Number of intervals and ``*``."""
        return int((self.reach - np.arange(len(self.reach)) + 1).sum()) + 1

    @cached_property
    def above(self) -> NDArray[np.int64]:
        """int64, shape (leaves,): number of nodes above each value, itself and ``*`` included."""
        code = np.arange(len(self.leaves))
        # intervals that begin at c or before and hold it, by where they may end
        ends = [np.maximum(self.reach[: c + 1] - c + 1, 0).sum() for c in code]
        return np.array(ends, np.int64) + 1

    @property
    def straight(self) -> bool:
        """Whether the join of two intervals that share a value costs no more than both together.

        Not where intervals beyond some width become ``*``.
        """
        return self.rule["most"] is None

    @property
    def steps(self) -> NDArray[np.int64]:
        """int64, shape (leaves,): the least cost at which each value meets another; −1 for none."""
        code = np.arange(len(self.leaves))
        if len(code) < 2:
            return np.full(len(code), -1, np.int64)
        gaps = self.join_costs(code[:-1], code[1:])
        far = np.iinfo(np.int64).max
        return np.minimum(np.append(gaps, far), np.append(far, gaps))

    def join_costs(self, low: NDArray[np.integer], high: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return what the join of each pair of codes, ``low <= high``, costs."""
        cost = np.where(high > self.reach[low], self.dearest, self.up[high] - self.down[low])
        return np.where(low == high, 0, cost)

    def of_leaves(self, used: NDArray[np.integer]) -> "RangeFamily":
        """Return the same intervals over some of the leaves, given by rising code."""
        reach = np.searchsorted(used, self.reach[used], "right") - 1
        texts = (tuple(some[c] for c in used.tolist()) for some in (self.first, self.last))
        return replace(
            self, **dict(zip(("first", "last"), texts, strict=True)),
            leaves=tuple(self.leaves[c] for c in used.tolist()), down=self.down[used],
            up=self.up[used], reach=reach.astype(np.int64),
        )  # fmt: skip

    @property
    def several_texts(self) -> bool:
        """Whether a number is written in several ways: its interval reads like one of them."""
        pairs = zip(self.first, self.last[1:], strict=False)
        return any(first == last for first, last in pairs if first)

    def times(self, factor: int) -> "RangeFamily":
        """Return the family with all costs multiplied."""
        down, up = self.down * np.int64(factor), self.up * np.int64(factor)
        return replace(self, down=down, up=up, dearest=self.dearest * factor)

    def dearer(self, price: int) -> "RangeFamily":
        """Return the family with a price on top for each changed cell."""
        return replace(self, up=self.up + np.int64(price), dearest=self.dearest + price)

    def counting(self, counted: bool) -> "RangeFamily":
        """Return the family where a changed cell costs 1, or nothing where it does not count.

        Nothing too where a number is written in several ways: its interval reads like one of them.
        """
        one = int(counted and not self.several_texts)
        size = len(self.leaves)
        return replace(
            self, down=np.zeros(size, np.int64), up=np.full(size, one, np.int64), dearest=one
        )

    def label(self, low: int, high: int) -> str | None:
        """Return the text of the join of two codes, ``low <= high``."""
        if low == high:
            return self.leaves[low]
        if high > self.reach[low]:
            return self.star
        if self.first[low] == self.last[high]:
            return self.first[low]
        return self.shown.text(self.first[low], self.last[high])

    def like_ranges(self, texts: Iterable[str]) -> bool:
        """Whether some text is that of an interval with two ends of this column."""
        first, last = set(self.first), set(self.last)
        found = filter(None, map(self.shown.ends, texts))
        return any(low in first and high in last for low, high in found)
