"""Exact numbers: thresholds as people write them, and comparisons that rounding cannot tip."""

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from math import fsum, gcd, log
from numbers import Integral
from operator import index
from typing import Any

from incrowd.errors import InputError, quoted
from incrowd.text.exact import fraction_of

Exact = int | str | float | Decimal | Fraction
"""A number as people write it; ``0.2`` means 1/5, not the nearest binary fraction."""


def exact(
    value: Exact,
    what: str,
    least: int | None = None,
    most: int | None = None,
    above: int | None = None,
) -> Fraction:
    """Return ``value`` as written: ``0.2``, ``"0.2"`` and ``"1/5"`` are all 1/5.

    ``least`` and ``most`` are allowed values themselves, ``above`` is not.

    Raises
    ------
    InputError: not a finite number, or out of range; names ``what`` and the range.
    """
    try:
        if isinstance(value, bool):
            raise ValueError
        if isinstance(value, Integral):
            value = int(value)  # numpy's would overflow
        number = Fraction(repr(float(value))) if isinstance(value, float) else fraction_of(value)
        float(number)  # it is written, and compared with logarithms, as one
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        raise InputError(
            f"{what} must be a number such as 2, 0.2 or 1/5, not {quoted(value)}"
        ) from None
    limits = [
        (f"at least {least}", least is not None and number < least),
        (f"above {above}", above is not None and number <= above),
        (f"at most {most}", most is not None and number > most),
    ]
    for text, broken in limits:
        if broken:
            raise InputError(f"{what} must be {text}, not {quoted(value)}")
    return number


def whole(value: Any, what: str, least: int = 1) -> int:
    """Return ``value`` as an ``int``, if it is a whole number (numpy's too) of at least ``least``.

    Raises
    ------
    InputError: it is none, or smaller; a fraction that happens to be whole, ``2.0``, is none.
    """
    try:
        # numpy's truth values were indices once; numpy itself need not be there
        number = None if type(value).__name__ in ("bool", "bool_") else index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise InputError(f"{what} must be a whole number of at least {least}, not {quoted(value)}")
    return number


def take_whole(record: object, name: str, least: int = 1) -> None:
    """Store a frozen value's whole number, numpy's too, as Python's own; see ``whole``."""
    object.__setattr__(record, name, whole(getattr(record, name), name, least))


def written(number: Fraction) -> str:
    """Return ``number`` as people write it: ``0.2``, or ``1/3`` where no short decimal is equal."""
    text = repr(float(number))
    if text.endswith(".0"):
        text = text[:-2]
    return text if Fraction(text) == number and len(text) <= 12 else str(number)


def log_sign(terms: Mapping[int, int], constant: Fraction = Fraction(0)) -> int:
    """Return the sign (−1, 0, 1) of Σ a·ln(b) − constant over ``terms`` {b: a}, exactly.

    Doubles decide where they can.  Near zero the sum is first tested for equality: with
    ``constant`` 0 it vanishes exactly when Π b^a = 1; with another rational constant never, as
    e^c is transcendental (Lindemann 1882).  A sum that is not zero shows its sign at some finite
    precision.
    """
    size = fsum(abs(a) * log(b) for b, a in terms.items()) + abs(float(constant))
    total = fsum(a * log(b) for b, a in terms.items()) - float(constant)
    if abs(total) > 1e-13 * size:
        return 1 if total > 0 else -1
    if is_one(terms):
        return (constant < 0) - (constant > 0)
    digits = 50
    while True:
        with localcontext() as context:
            context.prec = digits
            exact_total = sum((a * Decimal(b).ln() for b, a in terms.items()), Decimal(0))
            exact_total -= Decimal(constant.numerator) / Decimal(constant.denominator)
            if abs(exact_total) > Decimal(size + 1).scaleb(3 - digits) * (len(terms) + 1):
                return 1 if exact_total > 0 else -1
        digits *= 2


def is_one(terms: Mapping[int, int]) -> bool:
    """Whether Π b^a = 1 over ``terms`` {b: a}, bases ≥ 1.

    The bases are refined by common divisors until they are pairwise coprime; then the product is
    1 exactly when every exponent is 0.  (Bach, Driscoll, Shallit 1993: no factoring needed.)
    """
    coprime: dict[int, int] = {}
    left = list(terms.items())
    while left:
        base, power = left.pop()
        if base == 1:
            continue
        for other in coprime:
            shared = gcd(base, other)
            if shared > 1:
                exponent = coprime.pop(other)
                left += [
                    (other // shared, exponent),
                    (shared, exponent + power),
                    (base // shared, power),
                ]
                break
        else:
            coprime[base] = power
    return not any(coprime.values())
