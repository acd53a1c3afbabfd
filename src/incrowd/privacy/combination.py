"""Combinations of quasi-identifiers, each with a k of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.errors import InputError, did_you_mean, quoted
from incrowd.privacy.numbers import take_whole
from incrowd.text.lists import names_of

NAMES = ("columns", "k")
FORM = "expected COL,COL,…:K, such as age,sex,zip:5"


@dataclass(frozen=True)
class Combination:
    """Quasi-identifiers that others may know together, and among how many rows each hides then.

    Attributes
    ----------
    columns: each value of these together stands in at least ``k`` rows of the release.
    """

    columns: tuple[str, ...]
    k: int

    def __post_init__(self) -> None:
        given = self.columns
        columns = (given,) if isinstance(given, str) else tuple(given)
        if not columns or any(not isinstance(name, str) for name in columns):
            raise InputError(f"protect: columns must be names of columns, not {quoted(given)}")
        if len(set(columns)) < len(columns):
            raise InputError(f"protect: a combination names a column twice; {FORM}")
        object.__setattr__(self, "columns", columns)
        take_whole(self, "k")

    @property
    def name(self) -> str:
        """Text form, e.g. ``5-anonymity of age, sex``."""
        return f"{self.k}-anonymity of {', '.join(self.columns)}"

    def within(self, other: "Combination") -> bool:
        """Whether a release that obeys ``other`` obeys this one, too."""
        return self.k <= other.k and set(self.columns) <= set(other.columns)


def protect_of(given: Any) -> tuple[Combination, ...]:
    """Return combinations given as texts, mappings or values.

    Raises
    ------
    InputError: something else, no whole k of 1 or more, or the same columns twice.
    """
    if given is None:
        return ()
    if isinstance(given, str | Mapping | Combination):
        given = [given]
    if not isinstance(given, Sequence):
        raise InputError(f"protect takes a list of combinations, not {quoted(given)}; {FORM}")
    found = tuple(map(_combination, given))
    if len({frozenset(one.columns) for one in found}) < len(found):
        raise InputError("protect: two combinations name the same columns; keep the larger k")
    return found


def _combination(given: Any) -> Combination:
    if isinstance(given, Combination):
        return given
    if isinstance(given, str):
        return parse(given)
    if not isinstance(given, Mapping):
        raise InputError(f"protect: a combination has columns and a k; found {quoted(given)}")
    for name in given:
        if name not in NAMES:
            hint = did_you_mean(name, NAMES)
            raise InputError(f"protect: no parameter is called {name!r}{hint}; {FORM}")
    for name in NAMES:
        if name not in given:
            raise InputError(f"protect: a combination lacks its {name}")
    return Combination(**given)


def parse(text: str) -> Combination:
    """Read ``age,sex,zip:5``; a name with a comma stands in double quotes."""
    names, colon, k = text.rpartition(":")
    number = k.strip()
    if not colon or not names or not (number.isascii() and number.isdigit()):
        raise InputError(f"protect {text!r}: {FORM}")
    return Combination(names_of(names), int(number))
