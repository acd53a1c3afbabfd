"""Sets of rows, built from the dearest row on by falling price: for ``crowds`` and ``spans``.

Entries stand set by set, prices falling; the cuts are those of ``incrowd.checker.crowds``.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from incrowd.checker.inequality import Ints, Rows
from incrowd.checker.limits import allowed, require_within


class Chosen(Protocol):
    """Sets of chosen rows, and the rows that may follow.

    Per entry its set (0, 1, …) and its row; per set the sum of the prices, and how many rows are
    still to come.
    """

    @property
    def of(self) -> Ints: ...
    @property
    def row(self) -> Ints: ...
    @property
    def total(self) -> Ints: ...
    @property
    def need(self) -> Ints: ...


S = TypeVar("S", bound=Chosen)


class Step(NamedTuple):
    """Some entries that are chosen next, each a set now, and all entries that may follow them.

    Per set the entry chosen, the set that it was in, sum and need as in ``Chosen``, and the most
    that all rows to come but one may add.  Per entry that may follow its new set, and the entry.
    """

    one: Ints
    before: Ints
    total: Ints
    need: Ints
    rest: Ints
    of: Ints
    entry: Ints


class Work:
    """What may still be looked at: at first ``most``, or a share of it (``limits.allowed``)."""

    def __init__(self, most: int) -> None:
        self.left = allowed(most)

    def done(self, pairs: int) -> None:
        """Count pairs, and refuse the proof where they are too many."""
        self.left -= pairs
        require_within(self.left >= 0, "the prices leave too many sets of rows to look at")


def broken(
    rows: Rows,
    k: int,
    first: S,
    cost_of: Callable[[S], tuple[Ints, Ints]],
    chosen: Callable[[S, Ints, Ints], Iterator[S]],
    work: Work,
) -> Iterator[tuple[Ints, int]]:
    """Yield the last row of sets that break the inequality, and their cost times quantum.

    Parameters
    ----------
    cost_of: what each entry costs with its set, and each set.
    chosen: the sets that come of choosing some entries next, where the lists of these end.
    """
    stack = [iter([first])]
    while stack:
        sets = next(stack[-1], None)
        if sets is None:
            stack.pop()
            continue
        at = np.arange(len(sets.row))
        end = np.searchsorted(sets.of, sets.of, "right")
        need = sets.need[sets.of]
        reach, enough = highest(rows, sets.row, at, end, need)
        cost, before = cost_of(sets)
        alive = enough & (sets.total[sets.of] + reach > k * cost)
        free = np.flatnonzero(cost == before[sets.of])  # rows that cost their set nothing
        last = np.full(len(before), len(at))
        np.minimum.at(last, sets.of[free], free)  # the first such of each set
        alive &= at <= last[sets.of]
        full = rows.copies[sets.row] >= need
        for entry in np.flatnonzero(alive & full):
            yield sets.row[entry : entry + 1], int(cost[entry])
        at = np.flatnonzero(alive & ~full)
        work.done(int((end[at] - at).sum()))
        stack.append(chosen(sets, at, end[at]))


def steps(rows: Rows, sets: Chosen, at: Ints, end: Ints, many: int) -> Iterator[Step]:
    """Yield entries to choose next, as many as some ``many`` entries may follow at a time."""
    length = end - at - 1
    cuts = np.searchsorted(np.cumsum(length), np.arange(0, length.sum() + many, many), "right")
    for low, top in pairwise(np.unique(np.append(cuts, [0, len(at)]))):
        one, size = at[low:top], length[low:top]
        before, taken = sets.of[one], rows.copies[sets.row[one]]
        total = sets.total[before] + taken * rows.price[sets.row[one]]
        need = sets.need[before] - taken
        rest, _ = highest(rows, sets.row, one + 1, end[low:top], need - 1)
        of = np.repeat(np.arange(len(one)), size)
        entry = np.arange(len(of)) + (one + 1 - np.cumsum(size) + size)[of]
        yield Step(one, before, total, need, rest, of, entry)


def highest(rows: Rows, row: Ints, begin: Ints, end: Ints, wanted: Ints) -> tuple[Ints, Any]:
    """Return the sum of the first prices of stretches of a list, and whether there are enough.

    ``row``: the list.  Sums may wrap around, their differences do not: ``verify`` has the limits.
    """
    copies = np.append(0, np.cumsum(rows.copies[row]))
    prices = np.append(0, np.cumsum(rows.copies[row] * rows.price[row]))
    last = copies[begin] + wanted
    at = np.minimum(np.searchsorted(copies, last), end)
    beyond = copies[at] - last
    return prices[at] - prices[begin] - rows.price[row[at - 1]] * beyond, beyond >= 0
