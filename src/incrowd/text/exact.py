"""Numbers as people write them, exactly: but none that takes all memory to be written out."""

import re
from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import Any

MOST = 400  # places that a power of ten moves the point; doubles end at 308
POWER = re.compile(r"[eE]([+-]?[\d_]+)\s*\Z")


def fraction_of(value: Any) -> Fraction:
    """Return a number or a text as a fraction: ``0.2``, ``1/5`` and ``2e-1`` are one.

    Raises
    ------
    ValueError: it is no number, or has a power of ten beyond ``MOST``: a short ``1e999999999``
        has a thousand million digits.
    TypeError, OverflowError, ZeroDivisionError: it is none of another kind.
    """
    power = POWER.search(value if isinstance(value, str) else str(value))
    if power is not None and abs(int(power[1])) > MOST:
        raise ValueError("a power of ten too large to be written out")
    return Fraction(value)


def part_of(value: Any) -> Fraction:
    """Return a part of a whole as a fraction: ``0.1``, ``1/10`` and ``10%`` are one.

    Raises
    ------
    as ``fraction_of`` does.
    """
    text = value.strip() if isinstance(value, str) else ""
    return fraction_of(text[:-1]) / 100 if text.endswith("%") else fraction_of(value)


def unit_of(numbers: Iterable[Fraction]) -> int:
    """Return the least common denominator: of what all these numbers are multiples, inverted."""
    return lcm(*{number.denominator for number in numbers})


def decimals(numbers: Iterable[Fraction | None]) -> int:
    """Return how many decimals are enough for all these numbers, which were written as decimals."""
    unit = unit_of(number for number in numbers if number is not None)
    places = 0
    while 10**places % unit:
        places += 1
    return places
