"""How far each row's price may go at a step: farther for values that classes hold little of.

Where a law caps a value at the share c of a class, a row of that value weighs at most c in the mean
price of any lawful class, so its best price may lie 1/c times as high as others: under enhanced
1-likeness a class of 1,676 rows can hold one of nine soldiers among 30,162 people, whose price then
pays for the whole class.  Steps of the same length for all rows would take for ever to get there.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WEIGHT = 0.2  # what a step of a rare value's rows may add to a mean, against a step of all rows


def with_rounding(amount: float) -> float:
    """Return a little more than an amount, at least 0."""
    return max(amount, 0.0) * (1 + 1e-9) + 1e-9


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
        """Return longer strides for values of small caps."""
        return cls(np.maximum(1.0, WEIGHT / np.maximum(caps, 1e-12))[value], value, caps)

    def lift(self) -> float:
        """By how much one step of every row may raise the mean price of a lawful class."""
        return self.mean_of(self.of_row)

    def rise(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
        """By how much the mean price of a lawful class can have risen, with some for rounding."""
        return with_rounding(self.mean_of(after - before))

    def mean_of(self, amount: NDArray[np.float64]) -> float:
        """Bound the mean of an amount (float64, distinct) over any lawful class."""
        if self.value is None or self.caps is None:
            return float(amount.max())
        most = np.full(len(self.caps), -np.inf)
        np.maximum.at(most, self.value, amount)
        there = np.isfinite(most)
        order = np.argsort(-most[there], kind="stable")
        caps = self.caps[there][order]
        before = np.cumsum(caps) - caps
        share = np.clip(1.0 - before, 0.0, caps)
        return float(share @ most[there][order])
