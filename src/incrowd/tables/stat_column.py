"""One variable of an SPSS, Stata or SAS file: raw values, labels, declared missing values.

How a raw value reads as text:

    34.0 → 34     35.5 → 35.5     a date → 1990-03-15     an empty string, a plain missing → none
    99, declared missing, labelled "refused" → missing 99 (refused)
    Stata's .a, labelled "refused"           → missing .a (refused)

A declared missing value is no number: ``interval:10`` must not make "90-99" of it.  Released cells
of a numeric variable stand as declared missing values labelled ``suppressed``, and read as ``*``;
or, where all its values have labels, as new codes labelled ``group: health``, which read as
``health``.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.hierarchy.tree import STAR
from incrowd.tables.base import Column, Replacement

SUPPRESSED = "suppressed"
GROUP = "group: "


@dataclass(frozen=True)
class Tag:
    """A missing value with a letter: Stata's and SAS's ``.a``."""

    letter: str


@dataclass(frozen=True)
class Label:
    """A released text in the place of a value."""

    text: str


Raw = int | float | str | None | Tag | Label


@dataclass(frozen=True)
class Epoch:
    """How a numeric date counts: units since a day, ``seconds`` each."""

    start: datetime.datetime
    seconds: float
    is_date: bool


@dataclass(frozen=True, eq=False)
class StatColumn:
    """A variable.

    Attributes
    ----------
    values: its distinct raw values; codes: int32, shape (rows,), index into them.
    text: whether it holds strings; epoch: set when its numbers are dates.
    title: the variable label; labels: value → its label; missing: the ranges (low, high) of
        declared missing values; format, measure, width: as the file has them, or None.
    storage: bytes of its longest text, as a file that was read says, at most one more; or None.
    hides: whether some of its cells are not released: others stand there, or their rows are gone.
    """

    name: str
    values: tuple[Raw, ...]
    codes: NDArray[np.int32]
    text: bool
    epoch: Epoch | None = None
    title: str | None = None
    labels: Mapping[Any, str] = field(default_factory=dict)
    missing: tuple[tuple[Any, Any], ...] = ()
    format: str | None = None
    measure: str | None = None
    width: int | None = None
    storage: int | None = None
    hides: bool = False

    def is_missing(self, raw: Raw) -> bool:
        """Whether a value is declared missing."""
        if isinstance(raw, Tag):
            return True
        if raw is None or isinstance(raw, Label) or (isinstance(raw, str) != self.text):
            return False
        return any(low <= raw <= high for low, high in self.missing)

    def labelled(self) -> bool:
        """Whether values have labels: some that are not missing, and all that are still there.

        What a released text stands for has no say: what becomes of the variable would tell of it.
        """
        valid = [v for v in self.values if not isinstance(v, Label) and not self.is_missing(v)]
        whole = all(v in self.labels for v in valid if v is not None)
        return not self.text and whole and not all(map(self.is_missing, self.labels))

    def as_text(self, raw: Raw) -> str | None:
        """Return what a value reads as; None = missing."""
        if raw is None or raw == "":
            return None
        if isinstance(raw, Label):
            return raw.text
        label = self.labels.get(raw)
        if self.is_missing(raw):
            if label == SUPPRESSED and not self.text:
                return STAR
            shown = f".{raw.letter}" if isinstance(raw, Tag) else plain(raw)
            return f"missing {shown} ({label})" if label else f"missing {shown}"
        if isinstance(raw, str):
            return raw
        if label is not None and label.startswith(GROUP):
            return label.removeprefix(GROUP)
        return plain(raw) if self.epoch is None else self.moment(raw)

    def moment(self, raw: Any) -> str:
        """Return a date or time in ISO form.

        Raises
        ------
        InputError: beyond the years 1 to 9999.
        """
        assert self.epoch is not None
        try:
            time = self.epoch.start + datetime.timedelta(seconds=raw * self.epoch.seconds)
        except OverflowError:
            raise InputError(f"column {self.name!r}: a date outside the years 1 to 9999") from None
        if self.epoch.is_date and time.time() == datetime.time():
            return time.date().isoformat()
        return time.isoformat(sep=" ")

    def texts(self) -> list[str | None]:
        """Return what each of ``values`` reads as.

        Raises
        ------
        InputError: two values read alike, so that the release could not tell them apart.
        """
        found = [self.as_text(raw) for raw in self.values]
        known = [text for text in found if text is not None]
        if len(set(known)) < len(known) and not any(isinstance(v, Label) for v in self.values):
            raise InputError(
                f"column {self.name!r}: two values read alike as text (look for equal labels that "
                f"begin with {GROUP!r}, or two missing values labelled {SUPPRESSED!r})"
            )
        return found

    def encode(self) -> Column:
        """Return the values as text, with codes."""
        return Column.of(self.texts(), self.codes).compact()

    def replaced(self, new: Replacement) -> "StatColumn":
        """Return the column with released texts in some cells."""
        labels = tuple(None if text is None else Label(text) for text in new.labels)
        index = np.where(new.ids >= 0, new.ids + np.int32(len(self.values)), self.codes)
        both: tuple[Raw, ...] = (*self.values, *labels)
        return replace(self, values=both, codes=index.astype(np.int32), hides=True).compact()

    def averaged(self, new: Replacement) -> "StatColumn | None":
        """Return the column with released numbers in some cells.

        None where one would be none: the variable holds text or times, or declares it missing.
        """
        if self.text or self.epoch is not None or None in new.labels:
            return None
        plainly = not any(isinstance(v, float) for v in self.values)
        exact = [Decimal(str(text)) for text in new.labels]
        whole = all(number == int(number) for number in exact)
        numbers = [int(n) if whole and plainly else float(n) for n in exact]
        pairs = zip(numbers, exact, strict=True)
        if any(self.is_missing(n) or Decimal(plain(n)) != x for n, x in pairs):
            return None
        both: list[Raw] = [*self.values, *numbers]
        first = {value: place for place, value in reversed([*enumerate(both)])}
        index = np.where(new.ids >= 0, new.ids + np.int32(len(self.values)), self.codes)
        codes = np.array([first[value] for value in both], np.int32)[index]
        kept = self.format if whole else None  # which may show no fractions
        return replace(self, values=tuple(both), codes=codes, format=kept, hides=True).compact()

    def compact(self) -> "StatColumn":
        """Return the column without values that no row has."""
        used, codes = np.unique(self.codes, return_inverse=True)
        values = tuple(self.values[i] for i in used.tolist())
        return replace(self, values=values, codes=codes.astype(np.int32))

    def bare(self) -> "StatColumn":
        """Return the column without labels, and single codes declared missing, of absent values.

        Only where cells are hidden: elsewhere all values are there that the original had.
        """
        if not self.hides:
            return self
        labels = {value: label for value, label in self.labels.items() if value in self.values}
        missing = tuple((a, b) for a, b in self.missing if a != b or a in self.values)
        return replace(self, labels=labels, missing=missing)

    def stars_alone(self) -> bool:
        """Whether stars are the only released texts in it."""
        return all(raw.text == STAR for raw in self.values if isinstance(raw, Label))


def plain(raw: Any) -> str:
    """Return a number as people write it: whole ones without a fraction."""
    if isinstance(raw, str):
        return raw
    return str(int(raw)) if float(raw).is_integer() else repr(float(raw))


def epoch_of(family: str, form: str | None) -> Epoch | None:
    """Return how a variable of a format such as ``DATE11`` or ``%td`` counts time, if it does."""
    name = (form or "").upper().lstrip("%-").rstrip("0123456789.")
    if family == "spss":
        start = datetime.datetime(1582, 10, 14)
        if name in ("DATE", "ADATE", "EDATE", "SDATE", "JDATE"):
            return Epoch(start, 1, True)
        return Epoch(start, 1, False) if name in ("DATETIME", "YMDHMS") else None
    start = datetime.datetime(1960, 1, 1)
    if family == "stata":
        if name.startswith("TC"):
            return Epoch(start, 0.001, False)
        return Epoch(start, 86400, True) if name in ("D", "TD") or name[:2] == "TD" else None
    if name.startswith(("DATETIME", "E8601DT", "DTDATE")):
        return Epoch(start, 1, False)
    dates = ("DATE", "DDMMYY", "MMDDYY", "YYMMDD", "E8601DA", "B8601DA", "JULIAN")
    return Epoch(start, 86400, True) if name.startswith(dates) else None
