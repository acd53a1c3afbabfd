"""Recursive (c, l)-diversity: the most frequent value is outweighed by the rare ones.

Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.attribute import Counts, Figure, PerAttribute
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Histograms, at_most, largest_ratio
from incrowd.privacy.law import RECURSIVE, limit
from incrowd.privacy.linear import Linear, Recursive, attainable
from incrowd.privacy.numbers import Exact, exact, whole, written
from incrowd.privacy.pricing import SIZES, Part, capped_part, distinct_part, ranked_part


@dataclass(frozen=True, init=False)
class RecursiveDiversity(PerAttribute):
    """With counts r₁ ≥ r₂ ≥ … a class obeys r₁ < c·(r_l + r_{l+1} + …).

    Closed under union: the law reads r₁ + c·(r₁ + … + r_{l−1}) < c·n, and the sum of the j
    largest counts of a union is at most the sum of the parts' own.
    """

    c: Fraction
    l: int  # noqa: E741
    attribute: int | None = None

    compares_with_table = False

    def __init__(self, c: Exact, l: int, attribute: int | None = None) -> None:  # noqa: E741
        object.__setattr__(self, "c", exact(c, "c", above=0))
        object.__setattr__(self, "l", whole(l, "l"))
        object.__setattr__(self, "attribute", attribute)
        self.check_attribute()

    @property
    def title(self) -> str:
        """Text form."""
        return f"recursive ({written(self.c)}, {self.l})-diversity"

    @property
    def meaning(self) -> str:
        """In words."""
        return (
            "the most frequent sensitive value of a class has fewer rows than "
            f"{written(self.c)} times all those that are not among its {self.l - 1:,} most frequent"
        )

    def fits(self, counts: Counts, table: Counts) -> bool:
        """r₁ < c·(r_l + r_{l+1} + …)."""
        ordered = sorted((int(x) for x in counts), reverse=True)
        return ordered[0] < self.c * sum(ordered[self.l - 1 :])

    def value(self, counts: Counts, table: Counts) -> Figure:
        """r₁/(r_l + r_{l+1} + …), which c must exceed; infinite with fewer than l values."""
        ordered = sorted((int(x) for x in counts), reverse=True)
        tail = sum(ordered[self.l - 1 :])
        return Fraction(ordered[0], tail) if tail else inf

    def least(self, table: Counts) -> int:
        """The l−1 largest counts are ≥ 1 and r₁ ≥ 1, so n > l − 1 + 1/c."""
        return self.l - 1 + floor(1 / self.c) + 1

    def fewest(self, table: Counts) -> int:
        """l."""
        return self.l

    def tails(self, classes: Histograms) -> NDArray[np.int64]:
        """int64, shape (classes,): r_l + r_{l+1} + …."""
        order = np.lexsort((-classes.count, classes.owner))
        rank = np.arange(len(order)) - classes.start[classes.owner]
        return classes.total(np.where(rank >= self.l - 1, classes.count[order], 0))

    def fits_each(self, classes: Histograms) -> NDArray[np.bool_]:
        """r₁ < c·(r_l + r_{l+1} + …), class by class."""
        tails = self.tails(classes)
        fits = at_most(classes.largest, np.maximum(tails, 1), self.c, strictly=True)
        return fits & (tails > 0)

    def worst(self, classes: Histograms) -> Figure:
        """The largest r₁/(r_l + r_{l+1} + …), which c must exceed."""
        tails = self.tails(classes)
        return largest_ratio(classes.largest, tails) if tails.all() else inf

    def numbers(self, table: list[int]) -> tuple[int, list[int]]:
        """c as a fraction, and l."""
        limit(max(self.c.numerator, self.c.denominator) * sum(table), self.name)
        return RECURSIVE, [self.c.numerator, self.c.denominator, self.l]

    def priced(self, a: int, k: int, table: Group, sizes: int) -> Sequence[Part]:
        """l values, and how uneven classes of each size can be, or the largest count alone."""
        values = table.sizes[a]
        cap = min(1.0, float(self.c / (1 + self.c) if self.l > 1 else self.c))
        part = ranked_part(k, a, table, cap, self.fits)
        if part is None:
            caps = [(size, self.most(size)) for size in range(k, k + SIZES)]
            part = capped_part(k, a, [cap] * values, [0.0] * values, caps)
        return [distinct_part(self.l, k, a, table), part]

    def most(self, size: int) -> int:
        """The largest count in a class of this size: r₁ + c·(r₁ + l − 2) < c·size for l ≥ 2."""
        c = self.c
        most = c * size if self.l == 1 else c * (size - self.l + 2) / (1 + c)
        return max(0, ceil(most) - 1)

    def linear(self, table: Group) -> Linear:
        """c and l of each attribute."""
        c = attainable(self.c, table.rows)
        laws = (Recursive(c, self.l, a) for a in self.attributes(table))
        return Linear(recursive=tuple(laws))

    def entry(self, values: Sequence[str | None]) -> dict[str, Any]:
        """c and l."""
        return {"model": "recursive", "c": str(self.c), "l": self.l}
