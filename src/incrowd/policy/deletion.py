"""Deleting rows: what each costs, and how many may go, as a policy says it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from incrowd.errors import InputError, quoted
from incrowd.privacy.numbers import whole
from incrowd.text.exact import fraction_of

FORM = "expected price=X,most=N or price=X,most=N% (one of them will do)"


@dataclass(frozen=True)
class DeleteRows:
    """What is asked.

    Attributes
    ----------
    price: of a deleted row; None for that of a row of stars.
    most: how many rows may be deleted, as ``limit_of`` reads it; None: any number.
    """

    price: Fraction | None = None
    most: str | None = None

    def limit(self, rows: int) -> int | None:
        """Return how many of so many rows may be deleted; None for any number."""
        return None if self.most is None else limit_of(self.most, rows)


def most_rows(given: Any) -> int | str:
    """Return how many rows may be left out: a number, or a part of all rows as a text, ``2%``.

    Raises
    ------
    InputError: it is neither, or not from 0 to all rows.
    """
    if not isinstance(given, str):
        return whole(given, "suppress_rows", 0)
    found = _number_or_part(given)
    if found is None:
        raise InputError(
            "suppress_rows must be a whole number of at least 0, or a part of the rows from 0% to "
            f"100%, not {quoted(given)}"
        )
    return given.strip() if found and isinstance(found, Fraction) else int(found)


def limit_of(most: int | str, rows: int) -> int:
    """Return how many of so many rows are a number of them, or a part such as ``2%``."""
    found = _number_or_part(str(most)) or 0
    return int(found * rows) if isinstance(found, Fraction) else found


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
    asked = None if price is None else _positive_or_0(price)
    if price is not None and not asked:
        raise _wrong("price", "a number above 0", price)
    if most is not None and _number_or_part(most) is None:
        part = most.endswith("%")
        allowed = "a number from 0 to 100" if part else "a whole number of 0 or more"
        raise _wrong("most", allowed, most.removesuffix("%"))
    return DeleteRows(asked, most)


def _wrong(name: str, allowed: str, text: str) -> InputError:
    return InputError(f"delete_rows: {name} must be {allowed}, not {quoted(text)}; {FORM}")


def _number_or_part(text: str) -> int | Fraction | None:
    """Return a number of rows, or with ``%`` what part of all rows it is; None: it is neither."""
    number = text.strip().removesuffix("%")
    part, found = number != text.strip(), _positive_or_0(number)
    if found is None or (found > 100 if part else found.denominator > 1):
        return None
    return found / 100 if part else int(found)


def _positive_or_0(text: str) -> Fraction | None:
    try:
        found = fraction_of(text)
    except (ValueError, ZeroDivisionError):
        return None
    return found if found >= 0 else None
