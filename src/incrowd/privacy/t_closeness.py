"""t-closeness: every class's sensitive values are distributed nearly as the table's.

Li, Li, Venkatasubramanian 2007; Liang and Yuan 2012, §2.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import OutOfScopeError
from incrowd.privacy.attribute import Counts, PerAttribute
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Histograms
from incrowd.privacy.close_counts import uneven_sizes
from incrowd.privacy.distance import Equal, GroundDistance
from incrowd.privacy.linear import Closeness, Linear
from incrowd.privacy.model import Model
from incrowd.privacy.numbers import Exact, exact, written
from incrowd.privacy.pricing import POTENTIAL, SLACK, Part, variation_part

MOST_SIZES = 16  # sizes of class that may be priced one by one


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

    @property
    def meaning(self) -> str:
        """In words."""
        return (
            "the shares of sensitive values in a class are at a distance of at most "
            f"{written(self.t)} from those in the whole table (0 is none, 1 the largest)"
        )

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

    def fewest(self, table: Counts) -> int:
        """The values of a class lack at most t over the least distance of the table's shares."""
        nearest = self.distance.closest(len(table))
        if nearest == 0:
            return 1
        lacking = (1 - self.t / nearest) * int(table.sum())
        held = np.cumsum(sorted(table.tolist(), reverse=True)).tolist()
        return 1 + sum(x < lacking for x in held[:-1])

    def fits_each(self, classes: Histograms) -> NDArray[np.bool_]:
        """At most t, class by class, in integers."""
        return self.distance.within(classes, self.t)

    def worst(self, classes: Histograms) -> Fraction:
        """The largest distance of a class."""
        return self.distance.farthest(classes)

    def numbers(self, table: list[int]) -> tuple[int, list[int]] | None:
        """The distance's."""
        return self.distance.numbers(self.t, table, self.name)

    def stand_in(self, table: Group) -> Model:
        """Equal distances where the numbers are too large: moving mass costs at most 1."""
        try:
            self.law(table)
        except OutOfScopeError:
            return TCloseness(self.t, Equal(), self.attribute)
        return self

    def in_groups(self, table: Group) -> tuple[Model, int, NDArray[np.int64]] | None:
        """The distance's groups, of the only attribute."""
        attributes = self.attributes(table)
        if len(attributes) != 1:
            return None
        a = attributes[0]
        found = self.distance.in_groups(table.sizes[a], self.t)
        return None if found is None else (TCloseness(found[1], found[0], a), a, found[2])

    def priced(self, a: int, k: int, table: Group, sizes: int) -> Sequence[Part]:
        """By total variation, by a potential, or both."""
        counts = table.histograms[a].tolist()
        rows, values, t, found = sum(counts), len(counts), float(self.t), []
        share = np.divide(counts, rows)
        nearest, told = float(self.distance.closest(values)), self.distance.told(share)
        if nearest > 0 and t / nearest < 1:
            listed = None if nearest < 1 else self.t
            found.append(variation_part(t / nearest + SLACK, listed, k, a, counts, sizes))
        if told is not None:
            form, shape = told
            data = np.concatenate([[k, t + SLACK, form], share, shape], dtype=np.float64)
            found.append(Part(POTENTIAL, a, data, [1] * values))
        return found

    def uneven_sizes(self, table: Group, k: int) -> int:
        """Sizes of which whole rows alone use up a third of what t allows, by equal distance."""
        each = [0]
        for a in self.attributes(table):
            counts = table.histograms[a].tolist()
            if self.distance.all_alike:
                each.append(uneven_sizes(counts, self.t, k, Fraction(1, 3), MOST_SIZES))
        return max(each)

    def linear(self, table: Group) -> Linear:
        """The distance of each attribute."""
        laws = (Closeness(self.t, a, self.distance) for a in self.attributes(table))
        return Linear(closeness=tuple(laws))

    def entry(self, values: Sequence[str | None]) -> dict[str, Any] | None:
        """t and the distance, its values spelled out: codes mean nothing to the checker."""
        distance = self.distance.entry(values)
        return None if distance is None else {"model": "t-closeness", "t": str(self.t), **distance}

    def closeness(self, attribute: int) -> tuple[Fraction, GroundDistance] | None:
        """t and the distance, where the attribute is looked at."""
        return (self.t, self.distance) if self.attribute in (None, attribute) else None
