"""The ordered distance between sensitive values: how many steps they are apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.privacy.classes import LARGEST, Histograms, product
from incrowd.privacy.distance import LINE, ClosedForm, Counts, excess, scale
from incrowd.privacy.law import CUMULATED, limit

GIVEN_UP = Fraction(1, 50)  # share of a threshold that groups of values may take
NARROW = 4  # values in a group, below which groups save too little


@dataclass(frozen=True)
class Ordered(ClosedForm):
    """Values i-th and j-th of V in order are at distance |i − j|/(V − 1).

    ``order`` lists the codes from least to greatest; None is the order of the codes themselves.
    """

    order: tuple[int, ...] | None = None

    name = "ordered"

    def __post_init__(self) -> None:
        if self.order is not None and sorted(self.order) != list(range(len(self.order))):
            raise InputError("an order must list every code 0, 1, … once")

    def rank(self, values: int) -> NDArray[np.int64]:
        """int64, shape (values,): the place of each code in order."""
        if self.order is None:
            return np.arange(values)
        if len(self.order) != values:
            raise InputError(
                f"the order lists {len(self.order)} values, the sensitive attribute has {values}"
            )
        rank = np.empty(values, np.int64)
        rank[list(self.order)] = np.arange(values)
        return rank

    def work(self, counts: Counts, table: Counts) -> Fraction:
        """Σ |cumulated (q − p)| / (V − 1)."""
        values = len(table)
        surplus = np.array(excess(counts, table), object)
        total = np.abs(np.cumsum(surplus[np.argsort(self.rank(values))])).sum()
        return Fraction(int(total), scale(counts, table) * max(values - 1, 1))

    def works(self, classes: Histograms) -> tuple[NDArray, NDArray]:
        """See ``incrowd.privacy.distance``."""
        return ordered_work(classes, self.rank(len(classes.table)))

    def lower(self, n: int, table: Counts) -> Fraction:
        """Each cumulated count is an integer: at least the distance to the nearest one."""
        values, rows = len(table), int(table.sum())
        rest = n * np.cumsum(table[np.argsort(self.rank(values))]) % rows
        total = int(np.minimum(rest, rows - rest).sum())
        return Fraction(total, n * rows * max(values - 1, 1))

    def apart(self, values: int) -> tuple[NDArray[np.int64], int]:
        """|i − j|, in 1/(V − 1)."""
        rank = self.rank(values)
        return np.abs(np.subtract.outer(rank, rank)), max(values - 1, 1)

    def closest(self, values: int) -> Fraction:
        """Of neighbours."""
        return Fraction(1, max(values - 1, 1))

    def told(self, share: NDArray[np.float64]) -> tuple[int, NDArray[np.number]]:
        """Places: there may be too many values for a matrix."""
        rank = self.rank(len(share))
        placed = share[np.argsort(rank)]
        sums = np.cumsum([placed, placed * np.arange(len(share))], axis=1)
        return LINE, np.concatenate([rank, *np.insert(sums, 0, 0, axis=1)])

    def in_groups(
        self, values: int, t: Fraction
    ) -> tuple["Ordered", Fraction, NDArray[np.int64]] | None:
        """Groups of w neighbours each, where there are many values for the threshold.

        With D(i) the difference of the cumulated shares up to place i, and e the last place of i's
        group, |D(i)| ≤ |D(e)| + the larger of the two shares of the group.  So Σ |D(i)|, V − 1
        times this distance, is at most w times the groups' Σ |D(e)|, and 2·(w − 1) more.
        """
        wide = int(t * (values - 1) * GIVEN_UP / 2) + 1
        groups = -(-values // wide)
        left = t * (values - 1) - 2 * (wide - 1)
        if wide < NARROW or groups < 2 or left < 0:
            return None
        return Ordered(), min(left / (wide * (groups - 1)), Fraction(1)), self.rank(values) // wide

    def numbers(self, t: Fraction, table: list[int], name: str) -> tuple[int, list[int]]:
        """Then C(v) by value, then the values in order."""
        values, rows = len(table), sum(table)
        limit(t.denominator * rows * rows * values, name)
        order = np.argsort(self.rank(values)).tolist()
        paths = t.numerator * max(values - 1, 1)
        return CUMULATED, [paths, t.denominator, rows, *table, *order]

    def entry(self, values: Sequence[str | None]) -> dict[str, Any]:
        """The values in order."""
        order = range(len(values)) if self.order is None else self.order
        return {"distance": "ordered", "order": [values[code] for code in order]}


def ordered_work(classes: Histograms, rank: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
    """Return numerators and denominators of Σ |cumulated (q − p)| / (V − 1), class by class.

    Between two neighbouring values that a class holds, its cumulated count H stays, while the
    table's cumulated count T grows; |H·N − n·T(i)| changes sign once there, and prefix sums of T
    add up either side.  So a class costs its entries, not V.
    """
    values, rows = len(rank), classes.rows
    order = np.argsort(classes.owner * values + rank[classes.code])
    place = rank[classes.code[order]]
    count = classes.count[order]
    running = np.cumsum(count)
    held = running - (running[classes.start[:-1]] - count[classes.start[:-1]])[classes.owner]
    n = classes.sizes[classes.owner]
    inverse = np.argsort(rank)
    table = np.cumsum(classes.table[inverse])
    prefix = np.concatenate([[0], np.cumsum(table)])  # prefix[i] = Σ table[:i]
    end = np.append(place[1:], values)
    end[classes.start[1:] - 1] = values
    wide = int(n.max(initial=0)) * rows * values >= LARGEST
    if wide:
        held, n, prefix, table = (x.astype(object) for x in (held, n, prefix, table))
    # T(i) ≤ H·N/n for places before ``turn``: there H·N − n·T(i) ≥ 0.
    level = held * rows // n
    turn = np.searchsorted(table.astype(np.int64), level.astype(np.int64), side="right")
    turn = np.clip(turn, place, end)
    above = held * rows * (turn - place) - n * (prefix[turn] - prefix[place])
    below = n * (prefix[end] - prefix[turn]) - held * rows * (end - turn)
    first = place[classes.start[:-1]]
    total = classes.total(above + below) + n[classes.start[:-1]] * prefix[first]
    unit = product(classes.sizes, rows)
    return total, product(unit, max(values - 1, 1))
