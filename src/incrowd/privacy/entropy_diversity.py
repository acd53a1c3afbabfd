"""Entropy l-diversity: every class's sensitive values have Shannon entropy at least log l.

Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, floor, gcd, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.attribute import Counts, PerAttribute
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Histograms
from incrowd.privacy.law import ENTROPY
from incrowd.privacy.numbers import Exact, exact, log_sign, written
from incrowd.privacy.pricing import SIZES, SLACK, Part, capped_part, distinct_part, ranked_part


@dataclass(frozen=True, init=False)
class EntropyDiversity(PerAttribute):
    """The Shannon entropy of a class's sensitive values is at least log ``l``; l ≥ 1 is rational.

    Closed under union: entropy is concave, so a union's entropy is at least the mean of the
    parts', weighted by their rows.
    """

    l: Fraction  # noqa: E741
    attribute: int | None = None

    compares_with_table = False

    def __init__(self, l: Exact, attribute: int | None = None) -> None:  # noqa: E741
        object.__setattr__(self, "l", exact(l, "l", least=1))
        object.__setattr__(self, "attribute", attribute)
        self.check_attribute()

    @property
    def title(self) -> str:
        """Text form."""
        return f"entropy {written(self.l)}-diversity"

    @property
    def meaning(self) -> str:
        """In words."""
        return f"a class has at least the entropy of {written(self.l)} values of equal shares"

    def fits(self, counts: Counts, table: Counts) -> bool:
        """n^n ≥ l^n · Π x^x over the counts x, decided exactly; only proportions matter."""
        present = [int(x) for x in counts if x]
        shared = gcd(*present)
        n = sum(present) // shared
        terms = {}
        for base, power in [
            (n, n),
            *((x // shared, -x // shared) for x in present),
            (self.l.numerator, -n),
            (self.l.denominator, n),
        ]:
            terms[base] = terms.get(base, 0) + power
        return log_sign(terms) >= 0

    def value(self, counts: Counts, table: Counts) -> float:
        """The largest l: the exponential of the entropy."""
        share = counts[counts > 0] / counts.sum()
        return exp(float(-(share * np.log(share)).sum()))

    def least(self, table: Counts) -> int:
        """⌈l⌉ rows: fewer hold fewer than l values."""
        return ceil(self.l)

    def fewest(self, table: Counts) -> int:
        """⌈l⌉."""
        return ceil(self.l)

    def entropy(self, classes: Histograms) -> NDArray[np.float64]:
        """float64, shape (classes,): Shannon entropy in nats."""
        share = classes.count / classes.sizes[classes.owner]
        return -classes.total(share * np.log(share))

    def fits_each(self, classes: Histograms) -> NDArray[np.bool_]:
        """By doubles where they are sure, exactly where they are not."""
        surplus = self.entropy(classes) - np.log(float(self.l))
        fits = surplus > 0
        for i in np.flatnonzero(np.abs(surplus) < 1e-9):
            fits[i] = self.fits(classes.dense(int(i)), classes.table)
        return fits

    def worst(self, classes: Histograms) -> float:
        """The least l that a class attains."""
        return exp(float(self.entropy(classes).min()))

    def numbers(self, table: list[int]) -> tuple[int, list[int]]:
        """l as a fraction."""
        return ENTROPY, [self.l.numerator, self.l.denominator]

    def priced(self, a: int, k: int, table: Group, sizes: int) -> Sequence[Part]:
        """⌈l⌉ values, and how uneven classes of each size can be, or the largest share alone."""
        values = table.sizes[a]
        cap = largest_share(float(self.l), int((table.histograms[a] > 0).sum()))
        part = ranked_part(k, a, table, cap, self.fits)
        if part is None:
            caps = [(s, floor(cap * s + SLACK)) for s in range(k, k + SIZES)]
            part = capped_part(k, a, [cap] * values, [0.0] * values, caps)
        return [distinct_part(ceil(self.l), k, a, table), part]

    def entry(self, values: Sequence[str | None]) -> dict[str, Any]:
        """l alone."""
        return {"model": "entropy", "l": str(self.l)}


def largest_share(l: float, values: int) -> float:  # noqa: E741
    """The largest share that a value can have in a class of entropy ≥ log l, rounded up.

    With share p the entropy is at most that of p and of 1 − p spread evenly over the others.
    """
    if values < 2 or l <= 1:
        return 1.0

    def entropy(p: float) -> float:
        return -p * log(p) - (1 - p) * log((1 - p) / (values - 1))

    low, high = 1 / values, 1 - 1e-12
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if entropy(middle) >= log(l) else (low, middle)
    return min(1.0, high + 1e-6)
