"""Whether a class has an entropy of at least log l, exactly, in moderate time."""

from collections import Counter
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import gcd, log

DIGITS = 300  # an l of 100 digits comes no nearer to another number than that shows


def entropy_reaches(counts: Sequence[int], l: Fraction) -> bool:  # noqa: E741
    """Whether n log(n/l) ≥ Σ x log x for the counts x of a class of n rows.

    By doubles where they are sure, then by decimals, and by whole numbers where both sides are one:
    n^n ≥ l^n · Π x^x.  All counts by their common divisor say the same.
    """
    n = sum(counts)
    near = n * log(n / l) - sum(x * log(x) for x in counts)
    if abs(near) > 1e-9 * n * log(n + 1):
        return near > 0
    part = gcd(*counts)
    n, kinds = n // part, Counter(x // part for x in counts)
    with localcontext(Context(prec=DIGITS)):
        surplus = n * (Decimal(n) * l.denominator / l.numerator).ln()
        surplus -= sum(Decimal(x).ln() * (x * times) for x, times in kinds.items())
        if abs(surplus) > Decimal(10) ** (50 - DIGITS):
            return surplus > 0
    power = l.numerator**n
    for x, times in kinds.items():
        power *= x ** (x * times)
    return power <= n**n * l.denominator**n
