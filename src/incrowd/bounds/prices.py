"""Price certificates: integers whose sum no lawful release undercuts.

Every class e of k to 2k − 1 rows obeys

    Σ prices of e + Σ w(U)·(|e ∩ U| mod q(U))  ≤  |e| · cost(join of e) · quantum

for sets U of copies with integer weights w ≥ 0 and moduli q ≥ 2, where there are any.  A larger
class splits into such classes at no extra cost, and over the classes of a partition the rests of
|e ∩ U| sum to at least that of |U|; so no release costs less than
(Σ prices + Σ w(U)·(|U| mod q(U))) / quantum.  With modulus 2 these are the odd sets of matchings.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class WeightedSet(NamedTuple):
    """A term on top of prices.

    copies: integer array, not a multiple of ``modulus`` of them.
    weight: ≥ 0, in units of the prices; a class pays it per copy beyond multiples of the modulus.
    """

    copies: NDArray[np.integer]
    weight: int
    modulus: int = 2

    def worth(self) -> int:
        """What every release pays."""
        return int(self.weight) * (len(self.copies) % self.modulus)


@dataclass(frozen=True, eq=False)
class ColumnGroup:
    """Prices of the table of some columns alone.

    columns: of the instance.  price: int64, shape (distinct,), in the units of ``Prices``.
    k: the size of class that these prices are made for, where groups differ in it; else 0.
    """

    columns: tuple[int, ...]
    price: NDArray[np.int64]
    k: int = 0


@dataclass(frozen=True, eq=False)
class Prices:
    """A price certificate: integer prices per distinct row, in units of 1/(scale·quantum).

    Without sets: for every pattern with at least k matching rows, the k highest prices among those
    rows sum to at most k·cost(pattern)·quantum.

    Attributes
    ----------
    odd_sets: terms on top of the prices.
    groups: where ``price`` is a sum of prices that groups of columns have each alone
        (``incrowd.bounds.column_groups``), these; none overlap.  They are easily checked.
    charge: what all patterns together may be worth more than they cost, which is taken off that
        sum (``incrowd.bounds.charges``); 0 where the prices obey the inequality.
    by_rows: whether a search over sets of rows checks them, where patterns are too many.
    """

    price: NDArray[np.int64]
    quantum: int
    odd_sets: tuple[WeightedSet, ...] = field(default=(), kw_only=True)
    groups: tuple[ColumnGroup, ...] = field(default=(), kw_only=True)
    charge: int = field(default=0, kw_only=True)
    by_rows: bool = field(default=False, kw_only=True)

    @property
    def wide(self) -> bool:
        """Whether they are those of a table too wide for patterns: none are listed by them."""
        return self.by_rows or bool(self.groups)

    def by_patterns(self) -> "Prices":
        """Return these prices to be checked pattern by pattern: the inequalities are the same.

        For prices that were found over sets of rows, of tables with patterns few enough for that.
        """
        return replace(self, by_rows=False)

    def total(self, counts: NDArray[np.int64]) -> int:
        """Return Σ counts·price, what the sets are worth, less the charge."""
        prices = int(np.sum(self.price.astype(object) * counts))
        return prices + sum(one.worth() for one in self.odd_sets) - self.charge

    def bound(self, counts: NDArray[np.int64]) -> int:
        """Return ⌈total / quantum⌉, in units of 1/scale.

        ``counts``: int64, shape (distinct,): copies of each row.
        """
        return -(-self.total(counts) // self.quantum)


def better(known: Prices | None, other: Prices, counts: NDArray[np.int64]) -> Prices:
    """Return the certificate with the higher bound, the known one where they are equal."""
    if known is None or other.bound(counts) > known.bound(counts):
        return other
    return known
