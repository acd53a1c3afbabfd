"""The option that says what stands before decimals, held against what it may be."""

from typing import Any

from incrowd.errors import InputError
from incrowd.text.numerals import DECIMALS


def require_decimal(given: Any) -> None:
    """Raise InputError for what stands before no decimals."""
    if given not in DECIMALS:
        known = " or ".join(map(repr, DECIMALS))
        raise InputError(f"decimal, what stands before decimals, is {known}, not {given!r}")
