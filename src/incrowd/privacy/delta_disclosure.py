"""δ-disclosure privacy: every sensitive value is nearly as frequent in a class as in the table.

Brickell and Shmatikov 2008; natural logarithms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.attribute import Counts, PerAttribute
from incrowd.privacy.classes import Histograms
from incrowd.privacy.law import below, shares
from incrowd.privacy.numbers import Exact, exact, log_sign, written


@dataclass(frozen=True, init=False)
class DeltaDisclosure(PerAttribute):
    """|ln(q(v)/p(v))| < ``delta`` for every value v of the table.

    q(v) is the value's share of the class, p(v) its share of the table.

    A value that the class lacks has q = 0 and breaks the law: every class holds every value.
    Closed under union: e^−δ·p(v)·n < h(v) < e^δ·p(v)·n adds up over the parts, value by value.
    """

    delta: Fraction
    attribute: int | None = None

    stays_lawful = True

    def __init__(self, delta: Exact, attribute: int | None = None) -> None:
        object.__setattr__(self, "delta", exact(delta, "delta", above=0))
        object.__setattr__(self, "attribute", attribute)
        self.check_attribute()

    @property
    def title(self) -> str:
        """Text form."""
        return f"{written(self.delta)}-disclosure"

    @property
    def meaning(self) -> str:
        """In words."""
        return (
            "each sensitive value's share of a class and its share of the whole table differ by a "
            f"factor below e^{written(self.delta)}"
        )

    def fits(self, counts: Counts, table: Counts) -> bool:
        """Every log-ratio strictly within ±delta, decided exactly."""
        n, rows = int(counts.sum()), int(table.sum())
        for h, c in zip(counts, table, strict=True):
            if not c:
                continue
            above, below = int(h) * rows, n * int(c)
            if above == below:
                continue
            if not h or log_sign({max(above, below): 1, min(above, below): -1}, self.delta) >= 0:
                return False
        return True

    def value(self, counts: Counts, table: Counts) -> float:
        """The largest |ln(q/p)|, which delta must exceed; infinite where a value is lacking."""
        n, rows = int(counts.sum()), int(table.sum())
        pairs = [(int(h), int(c)) for h, c in zip(counts, table, strict=True) if c]
        if any(h == 0 for h, _ in pairs):
            return inf
        return max(abs(log(Fraction(h * rows, n * c))) for h, c in pairs)

    def least(self, table: Counts) -> int:
        """Every value has a row; and the rarest is not too frequent: 1 < e^δ·p(v)·n."""
        present = table[table > 0]
        if not len(present):
            return 1
        rarest = int(present.min()) / int(table.sum())
        return max(len(present), int(exp(-min(float(self.delta), 700)) / rarest * (1 - 1e-9)))

    def ratios(self, classes: Histograms) -> NDArray[np.float64]:
        """float64, shape (classes,): the largest |ln(q/p)|, infinite where a value is lacking."""
        share = classes.count / classes.sizes[classes.owner]
        ratio = np.abs(np.log(share * classes.rows / classes.table[classes.code]))
        largest = np.maximum.reduceat(ratio, classes.start[:-1])
        whole = classes.distinct == int((classes.table > 0).sum())
        return np.where(whole, largest, inf)

    def fits_each(self, classes: Histograms) -> NDArray[np.bool_]:
        """By doubles where they are sure, exactly where they are not."""
        ratios, delta = self.ratios(classes), float(self.delta)
        fits = ratios < delta
        for i in np.flatnonzero(np.abs(ratios - delta) <= 1e-9 * (1 + delta)):
            fits[i] = self.fits(classes.dense(int(i)), classes.table)
        return fits

    def worst(self, classes: Histograms) -> float:
        """The largest |ln(q/p)| in a class, which delta must exceed."""
        return float(self.ratios(classes).max())

    def numbers(self, table: list[int]) -> tuple[int, list[int]]:
        """Each value's largest and least share of a class."""
        rows = sum(table)
        factor = self.factor()  # one number for all values: each step of its search is exact
        share = [Fraction(c, rows) for c in table]
        high = [min(Fraction(1), factor * p) for p in share]
        low = [p / factor for p in share]
        return shares(self.name, rows, rows, high, low)

    def factor(self) -> Fraction:
        """A fraction just below e^δ, or e^40: no table has rows enough to tell that from more."""
        return below(lambda x: grows_less(x, self.delta), exp(min(float(self.delta), 40.0)))

    def entry(self, values: Sequence[str | None]) -> dict[str, Any]:
        """δ alone."""
        return {"model": "delta-disclosure", "delta": str(self.delta)}


def grows_less(ratio: Fraction, delta: Fraction) -> bool:
    """Whether ln(ratio) < δ."""
    if ratio <= 1:
        return True
    return log_sign({ratio.numerator: 1, ratio.denominator: -1}, delta) < 0
