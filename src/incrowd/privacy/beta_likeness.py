"""β-likeness: no sensitive value is much more frequent in a class than in the table.

Cao and Karras 2012.  With p(v) the value's share of the table and q(v) its share of the class,
the relative gain is (q(v) − p(v))/p(v).
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.attribute import Counts, Figure, PerAttribute
from incrowd.privacy.classes import Histograms, largest_ratio, product
from incrowd.privacy.law import below, shares
from incrowd.privacy.numbers import Exact, exact, log_sign, written


def gains(classes: Histograms) -> tuple[NDArray, NDArray]:
    """q/p of every entry as a fraction h·N / (n·C): numerators and denominators."""
    numerator = product(classes.count, classes.rows)
    sizes, table = classes.sizes[classes.owner], classes.table[classes.code]
    return numerator, product(sizes, table)


def least_capped(table: Counts, cap: Fraction | None) -> int:
    """Return the least n with Σ over values of ⌊most(v, n)⌋ ≥ n, a lower bound on a class's rows.

    ``most`` is ``cap``·n·p(v); without a cap the enhanced one, (1 − ln p(v))·n·p(v), rounded
    upwards, which keeps the bound valid.
    """
    alike = Counter(int(x) for x in table if x)  # values of one count have one room: few terms
    rows = sum(alike.elements())
    if cap == 1:
        return rows // gcd(*alike) if alike else 1
    for n in range(1, rows + 1):
        total = 0
        for count, values in alike.items():
            if cap is None:
                room = (1 - log(count / rows)) * n * count / rows
                most = int(room * (1 + 1e-9) + 1e-9)
            else:
                most = cap.numerator * n * count // (cap.denominator * rows)
            total += values * min(count, most)
        if total >= n:
            return n
    return max(rows, 1)


@dataclass(frozen=True, init=False)
class BetaLikeness(PerAttribute):
    """What the two share: every class attains at most ``beta`` ≥ 0."""

    beta: Fraction
    attribute: int | None = None

    stays_lawful = True

    def __init__(self, beta: Exact, attribute: int | None = None) -> None:
        object.__setattr__(self, "beta", exact(beta, "beta", least=0))
        object.__setattr__(self, "attribute", attribute)
        self.check_attribute()

    def fits(self, counts: Counts, table: Counts) -> bool:
        """Whether the class's gains, compared exactly, allow for beta."""
        return self.value(counts, table) <= self.beta

    @abstractmethod
    def most(self, share: Fraction) -> Fraction:
        """The largest share of a class for a value with this share of the table."""

    def numbers(self, table: list[int]) -> tuple[int, list[int]]:
        """Each value's largest share of a class."""
        rows = sum(table)
        most = {c: self.most(Fraction(c, rows)) for c in set(table)}  # logarithms are dear
        high = [most[c] for c in table]
        return shares(self.name, rows, rows * self.beta.denominator, high)


@dataclass(frozen=True, init=False)
class BasicBetaLikeness(BetaLikeness):
    """No sensitive value's relative gain over the table exceeds ``beta`` ≥ 0.

    Closed under union: h(v)·N ≤ (1 + β)·n·C(v) adds up over the parts, value by value.
    """

    @property
    def title(self) -> str:
        """Text form."""
        return f"basic {written(self.beta)}-likeness"

    @property
    def meaning(self) -> str:
        """In words."""
        return (
            "a sensitive value's share of a class exceeds its share of the whole table by at most "
            f"{written(self.beta)} times the latter"
        )

    def value(self, counts: Counts, table: Counts) -> Fraction:
        """The largest relative gain; 0 exactly when the class is distributed as the table."""
        n, rows = int(counts.sum()), int(table.sum())
        return max(
            Fraction(int(h) * rows, n * int(c)) - 1 for h, c in zip(counts, table, strict=True) if h
        )

    def least(self, table: Counts) -> int:
        """The least n at which the values' caps leave room for n rows."""
        return least_capped(table, 1 + self.beta)

    def fits_each(self, classes: Histograms) -> NDArray[np.bool_]:
        """No gain above beta, class by class, in integers."""
        numerator, denominator = gains(classes)
        cap = 1 + self.beta
        over = product(numerator, cap.denominator) > product(denominator, cap.numerator)
        return classes.total(over.astype(np.int64)) == 0

    def worst(self, classes: Histograms) -> Fraction:
        """The largest relative gain in a class."""
        return largest_ratio(*gains(classes)) - 1

    def most(self, share: Fraction) -> Fraction:
        """(1 + β)·p, at most 1."""
        return min(Fraction(1), (1 + self.beta) * share)

    def entry(self, values: Sequence[str | None]) -> dict[str, Any]:
        """β alone."""
        return {"model": "basic-beta", "beta": str(self.beta)}


@dataclass(frozen=True, init=False)
class EnhancedBetaLikeness(BetaLikeness):
    """No sensitive value's relative gain exceeds min(``beta``, −ln p(v)), p its share of the table.

    Closed under union: h(v) ≤ (1 + min(β, −ln p(v)))·p(v)·n adds up over the parts.
    """

    @property
    def title(self) -> str:
        """Text form."""
        return f"enhanced {written(self.beta)}-likeness"

    @property
    def meaning(self) -> str:
        """In words."""
        return (
            "a sensitive value's share of a class exceeds its share p of the whole table by at "
            f"most {written(self.beta)} times p, or −ln p times p if that is less"
        )

    def value(self, counts: Counts, table: Counts) -> Figure:
        """The least beta that the class obeys: its largest gain; infinite above a value's −ln p."""
        n, rows = int(counts.sum()), int(table.sum())
        most = Fraction(0)
        for h, c in zip(counts, table, strict=True):
            if h:
                gain = Fraction(int(h) * rows, n * int(c)) - 1
                if gain > 0 and log_sign({rows: 1, int(c): -1}, gain) < 0:
                    return inf
                most = max(most, gain)
        return most

    def least(self, table: Counts) -> int:
        """As for the basic model, and as the caps −ln p alone ask."""
        return max(least_capped(table, 1 + self.beta), least_capped(table, None))

    def too_rare(self, classes: Histograms) -> NDArray[np.bool_]:
        """bool, shape (classes,): whether some gain exceeds its value's −ln p.

        By doubles where they are sure, exactly where they are not.
        """
        numerator, denominator = gains(classes)
        gain = numerator.astype(float) / denominator.astype(float) - 1
        room = -np.log(classes.table[classes.code] / classes.rows) - gain
        grown = np.asarray(numerator > denominator, bool)
        over = (room < 0) & grown
        unsure = np.flatnonzero((np.abs(room) < 1e-9) & grown)
        for i in np.unique(classes.owner[unsure]):
            part = slice(classes.start[i], classes.start[i + 1])
            over[part] = self.value(classes.dense(int(i)), classes.table) == inf
        return classes.total(over.astype(np.int64)) > 0

    def fits_each(self, classes: Histograms) -> NDArray[np.bool_]:
        """``fits``, class by class."""
        return BasicBetaLikeness(self.beta).fits_each(classes) & ~self.too_rare(classes)

    def worst(self, classes: Histograms) -> Figure:
        """The least beta that every class obeys."""
        return inf if self.too_rare(classes).any() else largest_ratio(*gains(classes)) - 1

    def most(self, share: Fraction) -> Fraction:
        """p·(1 + min(β, −ln p)), the logarithm rounded down."""
        if share in (0, 1):
            return share
        rest = {share.denominator: 1, share.numerator: -1}
        gain = below(lambda x: log_sign(rest, x) > 0, -log(share))
        return min(Fraction(1), share * (1 + min(self.beta, gain)))

    def entry(self, values: Sequence[str | None]) -> dict[str, Any]:
        """β alone."""
        return {"model": "enhanced-beta", "beta": str(self.beta)}
