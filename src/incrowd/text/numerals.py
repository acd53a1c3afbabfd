"""Numbers as people write them: with a decimal point, or with a decimal comma."""

import re
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any

from incrowd.errors import InputError, quoted

POINT, COMMA = ".", ","
DECIMALS = (POINT, COMMA)
"""What may stand before the decimals of a number."""
WITH_COMMA = re.compile(
    r"[+-]?([0-9]+|[1-9][0-9]{0,2}([.'\u2019 \u00a0\u202f])[0-9]{3}(\2[0-9]{3})*)(,[0-9]+)?"
)
"""``1,5``, ``1.234,5`` and ``1 234,5``: thousands may stand apart, all by one mark."""


def require_decimal(given: Any) -> None:
    """Raise InputError for what stands before no decimals."""
    if given not in DECIMALS:
        known = " or ".join(map(repr, DECIMALS))
        raise InputError(f"decimal, what stands before decimals, is {known}, not {quoted(given)}")


def pointed(text: str, decimal: str) -> str | None:
    """Return a number with a decimal point, without what stands between thousands.

    With a decimal point it is any text, as it is: whether it is a number others say.  With a
    decimal comma it is None for what is no number: ``1.5`` is none, and ``1.234`` is 1234.
    """
    if decimal == POINT:
        return text
    found = WITH_COMMA.fullmatch(text.strip())
    if found is None:
        return None
    between = found[2]
    return (found[0] if between is None else found[0].replace(between, "")).replace(COMMA, POINT)


def finite(text: str, decimal: str) -> Decimal | None:
    """Return the finite number that a text writes, exactly; None where it writes none.

    Python reads ``1_000`` too, which others may not take for a number.
    """
    with suppress(InvalidOperation):
        number = Decimal(pointed(text, decimal) or "NaN")
        return number if number.is_finite() else None
    return None


def thousands_marks(texts: Iterable[str]) -> set[str]:
    """Return what stands between thousands of numbers with a decimal comma."""
    found = (WITH_COMMA.fullmatch(text.strip()) for text in texts)
    return {one[2] for one in found if one is not None and one[2] is not None}


def with_mark(text: str, decimal: str) -> str:
    """Return a number that was written with a decimal point as others write it."""
    return text if decimal == POINT else text.replace(POINT, decimal)
