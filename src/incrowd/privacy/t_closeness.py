"""t-closeness: every class's sensitive values are distributed nearly as the table's.

Li, Li, Venkatasubramanian 2007; Liang and Yuan 2012, §2.1.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.attribute import Counts, PerAttribute
from incrowd.privacy.classes import Histograms
from incrowd.privacy.distance import Equal, GroundDistance
from incrowd.privacy.numbers import Exact, exact, written


@dataclass(frozen=True, init=False)
class TCloseness(PerAttribute):
    """The Earth Mover's Distance between a class's distribution and the table's is at most ``t``.

    Closed under union: the distance to a fixed distribution is convex (transport plans of the
    parts, weighted by their rows, make a plan of the union), so a union is no farther than the
    farthest part.
    """

    t: Fraction
    distance: GroundDistance = field(default_factory=Equal)
    attribute: int | None = None

    def __init__(
        self, t: Exact, distance: GroundDistance | None = None, attribute: int | None = None
    ) -> None:
        object.__setattr__(self, "t", exact(t, "t", least=0, most=1))
        object.__setattr__(self, "distance", distance or Equal())
        object.__setattr__(self, "attribute", attribute)
        self.check_attribute()

    @property
    def title(self) -> str:
        """Text form."""
        return f"{written(self.t)}-closeness ({self.distance.name} distance)"

    def fits(self, counts: Counts, table: Counts) -> bool:
        """At most t, compared as fractions: exactly t passes."""
        return self.value(counts, table) <= self.t

    def value(self, counts: Counts, table: Counts) -> Fraction:
        """The Earth Mover's Distance."""
        return self.distance.work(counts, table)

    def least(self, table: Counts) -> int:
        """The least size at which the distance's lower bound is within t."""
        rows = int(table.sum())
        if self.t == 0 and rows and self.distance.separates:
            return rows // gcd(*(int(c) for c in table))  # the table's own proportions
        return next(
            (n for n in range(1, rows) if self.distance.lower(n, table) <= self.t), max(rows, 1)
        )

    def fits_each(self, classes: Histograms) -> NDArray[np.bool_]:
        """At most t, class by class, in integers."""
        return self.distance.within(classes, self.t)

    def worst(self, classes: Histograms) -> Fraction:
        """The largest distance of a class."""
        return self.distance.farthest(classes)
