"""The veil: with what probability each cell of a column is hidden before anything looks at it."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from incrowd.errors import InputError, no_column, quoted
from incrowd.text.exact import fraction_of

EVERY = ""  # in place of a column's name: all quasi-identifiers


def veil_of(given: Any) -> Mapping[str, Fraction] | None:
    """Read a number for all columns, a mapping, or a text such as ``0.05`` or ``age=0.5,sex=0.1``.

    Returns
    -------
    column → probability, ``EVERY`` for all columns; None where there is no veil.

    Raises
    ------
    InputError: a probability is not above 0 and at most 1; no such form.
    """
    if given is None:
        return None
    if isinstance(given, str) and "=" in given:
        pairs = [part.partition("=") for part in given.split(",")]
        names = [name.strip() for name, *_ in pairs]
        if len(set(names)) < len(names):
            raise InputError("veil: a column is named twice")
        given = {name.strip(): value.strip() for name, _, value in pairs}
    if not isinstance(given, Mapping):
        given = {EVERY: given}
    if not given:
        raise InputError("veil: no column is named; give a probability such as 0.05")
    return {str(name): _probability(str(name), value) for name, value in given.items()}


def _probability(name: str, value: Any) -> Fraction:
    where = f" of {name!r}" if name != EVERY else ""
    try:
        found = fraction_of("" if isinstance(value, bool) else str(value))
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found <= 1:
        raise InputError(
            f"veil{where}: expected a probability above 0 and at most 1, such as 0.05, or "
            f"COL=PROBABILITY,…, not {quoted(value)}"
        )
    return found


def by_column(veil: Mapping[str, Fraction], qi: Sequence[str]) -> dict[str, Fraction]:
    """Return the probability of each quasi-identifier, 0 of those that are not named.

    Raises
    ------
    InputError: a column is not a quasi-identifier.
    """
    for name in veil:
        if name not in (EVERY, *qi):
            raise no_column("veil", name, qi)
    every = veil.get(EVERY, Fraction(0))
    return {name: veil.get(name, every) for name in qi}
