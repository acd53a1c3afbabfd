"""Deleting rows: what each costs, and how many may go, as a policy says it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from incrowd.errors import InputError, quoted
from incrowd.text.exact import fraction_of

FORM = "expected price=X,most=N or price=X,most=N% (one of them will do)"


@dataclass(frozen=True)
class DeleteRows:
    """What is asked.

    Attributes
    ----------
    price: of a deleted row; None for that of a row of stars.
    most: how many rows may be deleted; share: that part of all rows at most.  None: any number.
    """

    price: Fraction | None = None
    most: int | None = None
    share: Fraction | None = None

    def limit(self, rows: int) -> int | None:
        """Return how many of so many rows may be deleted; None for any number."""
        return self.most if self.share is None else int(self.share * rows)


def delete_rows_of(given: Any) -> str | None:
    """Return what is asked as text, ``price=9,most=2%``; a mapping of the two keys will do.

    Raises
    ------
    InputError: a key is neither, or stands twice; a value is no number that it can be.
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        given = ",".join(f"{name}={value}" for name, value in given.items())
    if not isinstance(given, str):
        raise InputError(f"delete_rows: {FORM}, not {quoted(given)}")
    read(given)
    return given


def read(text: str) -> DeleteRows:
    """Read the text of ``delete_rows``."""
    pairs = [part.partition("=") for part in text.split(",")]
    found = {name.strip(): value.strip() for name, _, value in pairs}
    if len(found) < len(pairs) or not found or set(found) - {"price", "most"}:
        raise InputError(f"delete_rows: {FORM}, not {quoted(text)}")
    price, most = found.get("price"), found.get("most")
    asked = None if price is None else _number("price", price, lambda x: x > 0, "a number above 0")
    if most is None:
        return DeleteRows(asked)
    if most.endswith("%"):
        share = _number("most", most[:-1], lambda x: 0 <= x <= 100, "a number from 0 to 100")
        return DeleteRows(asked, share=share / 100)
    whole = "a whole number of 0 or more"
    count = _number("most", most, lambda x: x >= 0 and x.denominator == 1, whole)
    return DeleteRows(asked, most=int(count))


def _number(name: str, text: str, fits: Any, allowed: str) -> Fraction:
    try:
        found = fraction_of(text)
    except (ValueError, ZeroDivisionError):
        found = Fraction(-1)
    if not fits(found):
        raise InputError(f"delete_rows: {name} must be {allowed}, not {quoted(text)}; {FORM}")
    return found
