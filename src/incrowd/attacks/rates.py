"""Successes out of tries with their intervals, and the residual risk of two such rates.

References
----------
E. B. Wilson. Probable inference, the law of succession, and statistical inference. JASA 22, 1927.
A. Donner, G. Y. Zou. Closed-form confidence intervals for functions of the normal mean and
standard deviation. Statistical Methods in Medical Research 21(4), 2012 (ratios: MOVER-R).
M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi. A unified framework for quantifying privacy risk in
synthetic data. PoPETs 2023 (the residual risk).
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

Z = 1.959963984540054  # of a two-sided interval of 95 %


@dataclass(frozen=True, kw_only=True)
class Rate:
    """How often a guess is right.

    Attributes
    ----------
    tries: guesses made.  success: of them right; a sum of probabilities where chance decides.
    low, high: 95 % interval of the rate; 0 and 1 where nothing was tried.
    """

    tries: int
    success: float
    low: float
    high: float

    @property
    def rate(self) -> float:
        """Success per try; 0 without any."""
        return self.success / self.tries if self.tries else 0.0

    @classmethod
    def of(cls, score: ArrayLike, unit: ArrayLike | None = None) -> "Rate":
        """Count guesses, each right with a known probability (mostly 0 or 1).

        Guesses about people of one class hang together: their number counts less than that of as
        many guesses of different classes.  The interval is Wilson's for the number of independent
        guesses that have the variance of the means of ``unit``.

        Parameters
        ----------
        score: from 0 to 1, shape (tries,).
        unit: whole numbers, shape (tries,): guesses that hang together have the same one; None:
            each guess stands for itself.
        """
        scores = np.asarray(score, np.float64)
        if not len(scores):
            return cls(tries=0, success=0.0, low=0.0, high=1.0)
        units = np.arange(len(scores)) if unit is None else np.asarray(unit)
        low, high = wilson(float(scores.mean()), independent(scores, units))
        return cls(tries=len(scores), success=float(scores.sum()), low=low, high=high)

    @classmethod
    def exactly(cls, rate: float, tries: int) -> "Rate":
        """Return a rate that is known, such as that of a guess by lot."""
        return cls(tries=tries, success=rate * tries, low=rate, high=rate)


def independent(score: NDArray[np.float64], unit: NDArray[np.integer]) -> float:
    """Return how many independent guesses tell as much of the rate; at most as many as there are.

    Where all are right or all are wrong, one for each unit.
    """
    _, member = np.unique(unit, return_inverse=True)
    groups = int(member.max()) + 1
    rate, count = float(score.mean()), len(score)
    spread = np.bincount(member, score - rate)
    if groups == 1 or rate in (0.0, 1.0):
        return float(groups)
    variance = float((spread**2).sum()) / count**2 * groups / (groups - 1)
    return min(count, rate * (1 - rate) / variance) if variance > 0 else float(groups)


def wilson(rate: float, count: float) -> tuple[float, float]:
    """Return Wilson's interval of a rate seen among ``count`` independent guesses (1 or more)."""
    square = Z * Z
    centre = (rate + square / (2 * count)) / (1 + square / count)
    half = Z / (1 + square / count) * sqrt(rate * (1 - rate) / count + square / (4 * count**2))
    return max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half))


def residual(attack: Rate, control: Rate) -> tuple[float | None, float | None, float | None]:
    """Return (attack − control)/(1 − control) with its 95 % interval; not clipped.

    It is 1 − a/c for the rates a and c of failure, hence one less a ratio, whose interval follows
    from those of both rates (MOVER-R).  A limit is None where there is none, the risk where the
    control never fails.
    """
    a, c = 1 - attack.rate, 1 - control.rate
    lower, upper = ratio(
        a, (1 - attack.high, 1 - attack.low), c, (1 - control.high, 1 - control.low)
    )
    risk = 1 - a / c if c > 0 else None
    return risk, None if upper == inf else 1 - upper, 1 - lower


def ratio(
    a: float, ends_of_a: tuple[float, float], c: float, ends_of_c: tuple[float, float]
) -> tuple[float, float]:
    """Return the limits of a/c; infinite where c may be 0."""
    (la, ua), (lc, uc) = ends_of_a, ends_of_c
    under = uc * (2 * c - uc)
    if c <= 0:
        return 0.0, inf
    lower = 0.0
    if under > 0:
        lower = (a * c - sqrt(max(0.0, (a * c) ** 2 - la * (2 * a - la) * under))) / under
    elif a > 0:
        lower = la / uc  # so few guesses that the interval is wider than the rate
    over = lc * (2 * c - lc)
    if over <= 0:
        return max(0.0, lower), inf
    upper = (a * c + sqrt(max(0.0, (a * c) ** 2 - ua * (2 * a - ua) * over))) / over
    return max(0.0, lower), upper
