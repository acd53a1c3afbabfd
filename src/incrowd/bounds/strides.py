"""How far each row's price may go at a step: farther for values that classes hold little of.

Where a law caps a value at the share c of a class, a row of that value weighs at most c in the mean
price of any lawful class, so its best price may lie 1/c times as high as others: under enhanced
1-likeness a class of 1,676 rows can hold one of nine soldiers among 30,162 people, whose price then
pays for the whole class.  Steps of the same length for all rows would take for ever to get there.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import lean_kernel

WEIGHT = 0.2  # what a step of a rare value's rows may add to a mean, against a step of all rows
# see ``Reach``: of the way to the border is there; times as wide; strides at most
EDGE, WIDER, MOST = 0.9, 2.0, 16.0
AHEAD = 1.5  # times the way that a price last went: so far it may go in the next round at least


Law = tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]


@lean_kernel
def mean_rise(before: Any, after: Any, law: Any) -> float:
    """Bound by how much the mean price of a lawful class rises from ``before`` to ``after``.

    ``law``: the rows' values, their caps and scratch for each; empty where any row may be all of a
    class.
    """
    value, caps, highest = law
    if caps.size == 0:
        most = -np.inf
        for r in range(before.size):
            most = max(most, after[r] - before[r])
        return most
    highest.fill(-np.inf)
    for r in range(before.size):
        highest[value[r]] = max(highest[value[r]], after[r] - before[r])
    left, mean = 1.0, 0.0
    for _ in range(caps.size):
        v = np.argmax(highest)
        if left <= 0.0 or highest[v] == -np.inf:
            break
        mean += min(left, caps[v]) * highest[v]
        left -= caps[v]
        highest[v] = -np.inf
    return mean


@lean_kernel
def rise_at_most(before: Any, after: Any, law: Any) -> float:
    """Return ``mean_rise``, at least 0, with some for rounding."""
    return max(mean_rise(before, after, law), 0.0) * (1 + 1e-9) + 1e-9


@dataclass(frozen=True, eq=False)
class Strides:
    """How far prices go.

    Attributes
    ----------
    of_row: float64, shape (distinct,), ≥ 1: each row's part of a step, 1 for most.
    value: int32, shape (distinct,): the rows' sensitive values; caps: float64, shape (values,), the
        largest share of a lawful class that each can have.  Without them any row may be all of it.
    """

    of_row: NDArray[np.float64]
    value: NDArray[np.int32] | None = None
    caps: NDArray[np.float64] | None = None

    @classmethod
    def even(cls, distinct: int) -> "Strides":
        """Return the same strides for all."""
        return cls(np.ones(distinct))

    @classmethod
    def by_caps(cls, value: NDArray[np.int32], caps: NDArray[np.float64]) -> "Strides":
        """Return longer strides for values of small caps, where others have larger ones."""
        longer = np.maximum(1.0, WEIGHT / np.maximum(caps, 1e-12))
        return cls((longer / longer.min())[value], value, caps)

    def law(self) -> Law:
        """Return what kernels go by, with scratch of its own."""
        if self.value is None or self.caps is None:
            return np.zeros(0, np.int32), np.zeros(0), np.zeros(0)
        return self.value, self.caps, np.zeros(len(self.caps))

    def lift(self) -> float:
        """By how much one step of every row may raise the mean price of a lawful class."""
        return self.mean_of(self.of_row)

    def rise(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
        """By how much the mean price of a lawful class can have risen, with some for rounding."""
        return rise_at_most(before, after, self.law())

    def mean_of(self, amount: NDArray[np.float64]) -> float:
        """Bound the mean of an amount (float64, distinct) over any lawful class."""
        return mean_rise(np.zeros(len(amount)), amount, self.law())


class Reach:
    """How many strides from where a round begins each price may go: farther where prices run on.

    Boxes shrink by plan, and the price of a row with few near rows may have a long way to go then.
    Where a price stands at the same border of its box after two rounds, the box of this row alone
    is twice as wide on that side; where it has stopped on the way, the box is not much longer than
    the way.  Only higher prices break sets and patterns, so that a side costs what it has to.

    Attributes
    ----------
    up, down: float64, shape (distinct,), from 1 to ``most``; up from ``least``, which is less than
        1 where prices that have come to rest shall cost few patterns.
    """

    def __init__(self, distinct: int, least: float = 1.0, most: float = MOST) -> None:
        self.up, self.down = np.ones(distinct), np.ones(distinct)
        self.least, self.most = least, most
        self.side = np.zeros(distinct, np.int64)  # +1 and −1: at the upper and lower border

    def moved(self, way: NDArray[np.float64]) -> None:
        """Note how far prices went in a round, in the strides that these are counted in."""
        above, below = way > EDGE * self.up, -way > EDGE * self.down
        up, down = (above, above & (self.side > 0)), (below, below & (self.side < 0))
        self.up = _next(self.up, up, way, self.least, self.most)
        self.down = _next(self.down, down, -way, 1.0, self.most)
        self.side = above * 1 - below * 1


def _next(
    reach: NDArray[np.float64],
    stands: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    way: NDArray[np.float64],
    least: float,
    most: float,
) -> NDArray[np.float64]:
    """Return how far prices may go next on one side, the ``way`` that they went there known.

    ``stands``: whether each stands at the border there, and whether it did after two rounds.
    """
    border, again = stands
    shorter = np.clip(AHEAD * way, least, reach)
    return np.where(again, np.minimum(WIDER * reach, most), np.where(border, reach, shorter))
