"""The veil: with what probability each cell of a column is hidden before anything looks at it."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from incrowd.errors import InputError, no_column, quoted
from incrowd.text.exact import part_of
from incrowd.text.lists import parts_of
from incrowd.text.missing import EVERY


def veil_of(given: Any) -> Mapping[str, Fraction] | None:
    """Read a number for all columns, a mapping, or a text such as ``5%`` or ``age=0.5,sex=0.1``.

    Returns
    -------
    column → probability, ``EVERY`` for all columns; None where there is no veil.

    Raises
    ------
    InputError: a probability is not above 0 and at most 1; no such form.
    """
    if given is None:
        return None
    if isinstance(given, str):
        given = mapped([given])
    if not isinstance(given, Mapping):
        given = {EVERY: given}
    if not given:
        raise InputError("veil: no column is named; give a probability such as 0.05")
    return {str(name): _probability(str(name), value) for name, value in given.items()}


def mapped(texts: Sequence[str], columns: Sequence[str] = ()) -> dict[str, str]:
    """Return column → probability of texts such as ``0.05`` or ``age=0.5,sex=0.1``.

    Parameters
    ----------
    columns: of the table; one that stands in a text alone, as ``a,b=0.5``, needs no quotes, as the
        names with commas or ``=`` in lists do: ``"a,b"=0.5,sex=0.1``.

    Raises
    ------
    InputError: a column is named twice.
    """
    pairs: list[tuple[str, str]] = []
    for text in texts:
        name, _, value = text.rpartition("=")
        pairs += [(name, value.strip())] if not name or name in columns else _pairs(text)
    if len({name for name, _ in pairs}) < len(pairs):
        raise InputError("veil: a column, or all of them, is given two probabilities")
    return dict(pairs)


def _pairs(text: str) -> list[tuple[str, str]]:
    found = []
    for name, rest in parts_of(text):
        start, equals, value = rest.rpartition("=")
        if name is None or start.strip() or not equals:
            name = f"{name or ''}{start}".strip()
        found.append((name, value.strip()))
    return found


def _probability(name: str, value: Any) -> Fraction:
    where = f" of {name!r}" if name != EVERY else ""
    try:
        found = part_of("" if isinstance(value, bool) else str(value))
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
