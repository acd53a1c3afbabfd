"""Distinct l-diversity: every class holds at least l different sensitive values.

Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006; Liang and Yuan 2012, §1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.attribute import Counts, PerAttribute
from incrowd.privacy.classes import Histograms
from incrowd.privacy.numbers import take_whole


@dataclass(frozen=True)
class DistinctDiversity(PerAttribute):
    """Every class holds at least ``l`` different sensitive values.

    Closed under union: a union holds every value that a part holds.
    """

    l: int  # noqa: E741  (the field's own letter)
    attribute: int | None = None

    compares_with_table = False

    def __post_init__(self) -> None:
        take_whole(self, "l")
        self.check_attribute()

    @property
    def title(self) -> str:
        """Text form."""
        return f"distinct {self.l}-diversity"

    def fits(self, counts: Counts, table: Counts) -> bool:
        """At least l values."""
        return self.value(counts, table) >= self.l

    def value(self, counts: Counts, table: Counts) -> int:
        """The number of different values."""
        return int((counts > 0).sum())

    def least(self, table: Counts) -> int:
        """l rows."""
        return self.l

    def fits_each(self, classes: Histograms) -> NDArray[np.bool_]:
        """At least l values, class by class."""
        return classes.distinct >= self.l

    def worst(self, classes: Histograms) -> int:
        """The fewest values that a class holds."""
        return int(classes.distinct.min())
