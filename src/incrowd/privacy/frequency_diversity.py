"""Frequency l-diversity: no sensitive value fills more than 1/l of a class.

Liang and Yuan 2012, §1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.attribute import Counts, WholeDiversity
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Histograms, at_most, largest_ratio
from incrowd.privacy.law import shares
from incrowd.privacy.linear import Linear
from incrowd.privacy.pricing import Part, frequency_part


@dataclass(frozen=True)
class FrequencyDiversity(WholeDiversity):
    """No sensitive value fills more than 1/``l`` of a class.

    Closed under union: l·h(v) ≤ n adds up over the parts, value by value.
    """

    kind = "frequency"

    @property
    def meaning(self) -> str:
        """In words."""
        return f"no sensitive value has a larger share of a class than 1/{self.l}"

    def fits(self, counts: Counts, table: Counts) -> bool:
        """The most frequent value fills at most 1/l of the class."""
        return self.l * int(counts.max()) <= int(counts.sum())

    def value(self, counts: Counts, table: Counts) -> Fraction:
        """The largest real l: rows over rows of the most frequent value."""
        return Fraction(int(counts.sum()), int(counts.max()))

    def fits_each(self, classes: Histograms) -> NDArray[np.bool_]:
        """The most frequent value fills at most 1/l, class by class."""
        return at_most(classes.largest, classes.sizes, Fraction(1, self.l))

    def worst(self, classes: Histograms) -> Fraction:
        """The least real l that a class attains."""
        return 1 / largest_ratio(classes.largest, classes.sizes)

    def numbers(self, table: list[int]) -> tuple[int, list[int]]:
        """At most 1/l of a class for every value."""
        return shares(self.name, sum(table), self.l, [Fraction(1, self.l)] * len(table))

    def priced(self, a: int, k: int, table: Group, sizes: int) -> Sequence[Part]:
        """1/l of a class, exactly."""
        return [frequency_part(self.l, k, a, table.sizes[a])]

    def linear(self, table: Group) -> Linear:
        """1/l of each attribute."""
        return Linear(frequency=tuple((self.l, a) for a in self.attributes(table)))
