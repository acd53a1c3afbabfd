"""Entropy l-diversity: every class's sensitive values have Shannon entropy at least log l.

Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam 2006.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, gcd

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.attribute import Counts, PerAttribute
from incrowd.privacy.classes import Histograms
from incrowd.privacy.numbers import Exact, exact, log_sign, written


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
