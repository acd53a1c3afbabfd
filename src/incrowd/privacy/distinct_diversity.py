"""Distinct l-diversity: every class holds at least l different sensitive values.

Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006; Liang and Yuan 2012, §1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.attribute import Counts, WholeDiversity
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Histograms
from incrowd.privacy.law import DISTINCT
from incrowd.privacy.linear import Linear
from incrowd.privacy.model import Model
from incrowd.privacy.pricing import Part, distinct_part


@dataclass(frozen=True)
class DistinctDiversity(WholeDiversity):
    """Every class holds at least ``l`` different sensitive values.

    Closed under union: a union holds every value that a part holds.
    """

    kind = "distinct"
    closed_under_supersets = True

    @property
    def meaning(self) -> str:
        """In words."""
        return f"a class has at least {self.l:,} different sensitive values"

    def fits(self, counts: Counts, table: Counts) -> bool:
        """At least l values."""
        return self.value(counts, table) >= self.l

    def value(self, counts: Counts, table: Counts) -> int:
        """The number of different values."""
        return int((counts > 0).sum())

    def fits_each(self, classes: Histograms) -> NDArray[np.bool_]:
        """At least l values, class by class."""
        return classes.distinct >= self.l

    def worst(self, classes: Histograms) -> int:
        """The fewest values that a class holds."""
        return int(classes.distinct.min())

    def numbers(self, table: list[int]) -> tuple[int, list[int]]:
        """l values."""
        return DISTINCT, [self.l]

    def priced(self, a: int, k: int, table: Group, sizes: int) -> Sequence[Part]:
        """l values, exactly."""
        return [distinct_part(self.l, k, a, table)]

    def linear(self, table: Group) -> Linear:
        """l values of each attribute."""
        return Linear(distinct=tuple((self.l, a) for a in self.attributes(table)))

    def of_people(self, attributes: int) -> Sequence[Model]:
        """Values are counted, not rows: l of each attribute."""
        each = range(attributes) if self.attribute is None else [self.attribute]
        return [DistinctDiversity(self.l, attribute) for attribute in each]
