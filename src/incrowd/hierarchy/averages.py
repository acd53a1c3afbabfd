"""The rule that publishes the average of each class: microaggregation.

Values, averages and roundings are exact here: numbers are fractions, however long they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from incrowd.errors import HierarchyError, UnnumberedError, did_you_mean
from incrowd.hierarchy.ladder import Ladder, apart, distinct
from incrowd.hierarchy.ranges import decimal_text, number_of
from incrowd.hierarchy.rounding import nearest
from incrowd.text.exact import decimals
from incrowd.text.numerals import POINT, with_mark

MEAN, MEDIAN, CENTROID = "mean", "median", "centroid"
KINDS = (MEAN, MEDIAN, CENTROID)
MOST_DIGITS = 18
EXAMPLE = "write mean, median or centroid, or mean:digits=1 for the decimals that are published"


@dataclass(frozen=True)
class Averages:
    """Each class shows the average of its values, rounded: ``mean``, ``median:digits=1``.

    Attributes
    ----------
    kind: ``"mean"``, ``"median"`` (of two middle values their mean), or ``"centroid"``: means of
        columns in one unit, such as coordinates, whose distances are added as they are.
    digits: decimals of the published value, halves away from zero; below 0 for tens, hundreds, …;
        None for as many as the column's own values have.
    decimal: what stands before the decimals of numbers, read and written: ``"."`` or ``","``.
    """

    kind: str = MEAN
    digits: int | None = None
    decimal: str = POINT

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise HierarchyError(f"{self.kind!r} is not an average{did_you_mean(self.kind, KINDS)}")
        if self.digits is not None and abs(self.digits) > MOST_DIGITS:
            raise HierarchyError(
                f"{self}: digits is a whole number from -{MOST_DIGITS} to {MOST_DIGITS}"
            )

    def __str__(self) -> str:
        return self.kind if self.digits is None else f"{self.kind}:digits={self.digits}"

    @classmethod
    def parse(cls, kind: str, text: str) -> "Averages":
        """Read ``digits=1``, what stands behind ``mean:``.

        Raises
        ------
        HierarchyError: it is written otherwise.
        """
        if not text.strip():
            return cls(kind)
        name, _, value = (part.strip() for part in text.partition("="))
        if name != "digits" or not value.removeprefix("-").isdecimal():
            hint = did_you_mean(name, ("digits",)) if name != "digits" else ""
            raise HierarchyError(f"'{kind}:{text}' is not an average{hint}; {EXAMPLE}")
        return cls(kind, int(value))

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Refuse: averages are no labels of single values.

        Raises
        ------
        HierarchyError: always.
        """
        raise HierarchyError(
            f"column {column!r}: {self} publishes the average of each class, which incrowd "
            "anonymize and incrowd verify --proof serve, and nothing else does: for this, make the "
            "release with a hierarchy with levels, like interval:5,10,20"
        )

    def numbers(self, column: str, values: Sequence[str | None]) -> list[Fraction | None]:
        """Return the number that each distinct value is; None for one that is missing.

        Raises
        ------
        UnnumberedError: some value is not a number.
        """
        known, _ = distinct(values)
        known, _ = apart(known)
        found = {value: number_of(value, self.decimal) for value in known}
        absent = sorted(value for value, number in found.items() if number is None)
        if absent:
            raise UnnumberedError(column, absent, str(self))
        return [None if value is None else found.get(value) for value in values]

    def rounding(self, numbers: Sequence[Fraction | None]) -> int:
        """Return how many decimals are published of a column with these values."""
        if self.digits is not None:
            return self.digits
        return decimals(numbers)

    def stated(self, digits: int) -> dict[str, Any]:
        """Return what a proof says of the rule: all that it takes to apply it."""
        mark = {} if self.decimal == POINT else {"decimal": self.decimal}
        return {"kind": self.kind, "digits": digits, **mark}

    def text(self, number: Fraction, digits: int) -> str:
        """Return how an average is written; see ``average_text``."""
        return with_mark(average_text(number, digits), self.decimal)


def rounded(number: Fraction, digits: int) -> Fraction:
    """Return a number rounded to so many decimals, halves away from zero."""
    return nearest(number, Fraction(10) ** -digits)


def average_text(number: Fraction, digits: int) -> str:
    """Return how an average is written: rounded, without trailing zeros, zero without a sign."""
    return decimal_text(rounded(number, digits))
