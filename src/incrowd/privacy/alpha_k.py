"""(α, k)-anonymity: at least k rows, and no sensitive value fills more than α of a class.

Wong, Li, Fu, Wang 2006 (the simple model where values are named, the general one where not).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.attribute import Counts, PerAttribute
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Histograms, at_most, largest_ratio
from incrowd.privacy.law import ROWS, Law, shares
from incrowd.privacy.numbers import Exact, exact, whole, written
from incrowd.privacy.pricing import Part, frequency_part


@dataclass(frozen=True, init=False)
class AlphaK(PerAttribute):
    """At least ``k`` rows; each of ``values`` (None: all) fills at most ``alpha`` of a class.

    Closed under union: h(v) ≤ α·n adds up over the parts, value by value.
    """

    alpha: Fraction
    k: int
    attribute: int | None = None
    values: tuple[int, ...] | None = None

    compares_with_table = False

    def __init__(
        self,
        alpha: Exact,
        k: int = 1,
        attribute: int | None = None,
        values: tuple[int, ...] | None = None,
    ) -> None:
        object.__setattr__(self, "alpha", exact(alpha, "alpha", above=0, most=1))
        object.__setattr__(self, "k", whole(k, "k"))
        object.__setattr__(self, "attribute", attribute)
        object.__setattr__(self, "values", values)
        self.check_attribute()

    @property
    def title(self) -> str:
        """Text form."""
        return f"({written(self.alpha)}, {self.k})-anonymity"

    @property
    def meaning(self) -> str:
        """In words."""
        which = "sensitive value" if self.values is None else "guarded value"
        return f"no {which} has a larger share of a class than {written(self.alpha)}"

    def guarded(self, counts: Counts) -> Counts:
        """The counts of the values that must stay below alpha."""
        return (
            counts if self.values is None else counts[[v for v in self.values if v < len(counts)]]
        )

    def fits(self, counts: Counts, table: Counts) -> bool:
        """At least k rows, and no guarded value above alpha."""
        return int(counts.sum()) >= self.k and self.value(counts, table) <= self.alpha

    def value(self, counts: Counts, table: Counts) -> Fraction:
        """The least alpha: the largest share of a guarded value."""
        return Fraction(int(self.guarded(counts).max(initial=0)), int(counts.sum()))

    def least(self, table: Counts) -> int:
        """k rows; and 1/alpha when every value is guarded, as some value is there."""
        return self.k if self.values is not None else max(self.k, ceil(1 / self.alpha))

    def largest(self, classes: Histograms) -> NDArray[np.int64]:
        """int64, shape (classes,): rows of the most frequent guarded value."""
        if self.values is None:
            return classes.largest
        guarded = np.isin(classes.code, self.values)
        return np.maximum.reduceat(np.where(guarded, classes.count, 0), classes.start[:-1])

    def fits_each(self, classes: Histograms) -> NDArray[np.bool_]:
        """``fits``, class by class."""
        few = at_most(self.largest(classes), classes.sizes, self.alpha)
        return few & (classes.sizes >= self.k)

    def worst(self, classes: Histograms) -> Fraction:
        """The largest share that a guarded value has in a class."""
        return largest_ratio(self.largest(classes), classes.sizes)

    def law(self, table: Group) -> Sequence[Law] | None:
        """Besides the shares, k rows."""
        return [Law(ROWS, 0, (self.k,)), *(super().law(table) or ())]

    def rows_needed(self) -> int:
        """k."""
        return self.k

    def numbers(self, table: list[int]) -> tuple[int, list[int]]:
        """At most alpha of a class for guarded values, all of it for others."""
        free = [self.values is not None and v not in self.values for v in range(len(table))]
        high = [Fraction(1) if unguarded else self.alpha for unguarded in free]
        return shares(self.name, sum(table), self.alpha.denominator, high)

    def priced(self, a: int, k: int, table: Group, sizes: int) -> Sequence[Part]:
        """Where every value is guarded and 1/alpha is whole, this is frequency diversity."""
        if self.values is None and self.alpha.numerator == 1:
            return [frequency_part(self.alpha.denominator, k, a, table.sizes[a])]
        return super().priced(a, k, table, sizes)

    def entry(self, values: Sequence[str | None]) -> dict[str, Any]:
        """alpha and k, and the values that alone are guarded."""
        entry = {"model": "alpha-k", "alpha": str(self.alpha), "k": self.k}
        if self.values is None:
            return entry
        return entry | {"values": [values[v] for v in self.values if v < len(values)]}

    def heavy(self, counts: Counts) -> Counts:
        """Those of the guarded values."""
        if self.values is None:
            return counts
        return np.where(np.isin(np.arange(len(counts)), self.values), counts, 0)
