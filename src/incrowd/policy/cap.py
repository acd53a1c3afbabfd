"""A cap: at most this share of a column's cells, or of a subgroup's, may change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from incrowd.errors import InputError, did_you_mean, quoted
from incrowd.privacy.numbers import exact

NAMES = ("column", "share", "value")


@dataclass(frozen=True)
class Cap:
    """At most ``share`` of the cells change: those of a column, or of a subgroup's rows.

    Attributes
    ----------
    column: a quasi-identifier; with ``value``, any column.
    share: from 0 to 1, as written: ``0.1``, ``"1/10"`` and ``"10%"`` are the same.
    value: the subgroup is the rows whose cell of ``column`` in the original is this; its cells are
        those of all quasi-identifiers in its rows.
    """

    column: str
    share: Any
    value: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise InputError(f"caps: column must be a column's name, not {quoted(self.column)}")
        whose = f"caps: the share of {self.column!r}"
        if isinstance(self.share, str) and self.share.strip().endswith("%"):
            part = exact(self.share.strip()[:-1], f"{whose} in percent", least=0, most=100)
            object.__setattr__(self, "share", str(part / 100))
        exact(self.share, whose, least=0, most=1)
        if self.value is not None and not isinstance(self.value, str):
            object.__setattr__(self, "value", str(self.value))

    @property
    def place(self) -> tuple[str, str | None]:
        """What is capped."""
        return self.column, self.value

    @property
    def name(self) -> str:
        """What is capped, in words."""
        if self.value is None:
            return f"column {self.column!r}"
        return f"the rows with {self.column!r} = {self.value!r}"

    @property
    def exact_share(self) -> Fraction:
        """The share as a fraction."""
        return exact(self.share, "share", least=0, most=1)

    def limit(self, cells: int) -> int:
        """Number of cells, out of so many, that may change."""
        return floor(self.exact_share * cells)


def caps_of(given: Any) -> tuple[Cap, ...]:
    """Return caps given as column → share, or as a list of caps or of mappings.

    Raises
    ------
    InputError: something else, an unknown name, or two caps on the same cells.
    """
    if given is None:
        return ()
    if isinstance(given, Mapping):
        given = [Cap(column, share) for column, share in given.items()]
    if isinstance(given, Cap):
        given = [given]
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError(f"caps takes column → share or a list of caps, not {quoted(given)}")
    caps = tuple(_cap(each) for each in given)
    places = [cap.place for cap in caps]
    for cap in caps:
        if places.count(cap.place) > 1:
            raise InputError(f"caps: {cap.name} is capped twice")
    return caps


def _cap(given: Any) -> Cap:
    if isinstance(given, Cap):
        return given
    if not isinstance(given, Mapping):
        raise InputError(
            f"caps: a cap has a column, a share and maybe a value; found {quoted(given)}"
        )
    for name in given:
        if name not in NAMES:
            raise InputError(f"caps: no parameter is called {name!r}{did_you_mean(name, NAMES)}")
    for name in NAMES[:2]:
        if name not in given:
            raise InputError(f"caps: a cap lacks its {name}")
    return Cap(**given)


def parse_cap(column: str, text: str) -> Cap:
    """Return the cap of ``SHARE`` or ``VALUE:SHARE`` on a column.

    Raises
    ------
    InputError: the share is no number from 0 to 1.
    """
    value, colon, share = text.rpartition(":")
    return Cap(column, share.strip(), value if colon else None)
