"""Numeric intervals of growing width, aligned at 0."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation, localcontext
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import HierarchyError, LackingError, decimal_hint, missing_hint, not_finite
from incrowd.hierarchy.ladder import Ladder, apart, distinct
from incrowd.hierarchy.paths import rule_ladder
from incrowd.hierarchy.text import form
from incrowd.text.numerals import POINT, finite, with_mark

DIGITS = 60
"""Digits of exact decimal arithmetic; a double has at most 17 before its exponent."""


@dataclass(frozen=True)
class Intervals:
    """Intervals ``[i·w, (i+1)·w)`` for each width w, each width a multiple of the one before.

    Labels are ``35-39`` when all values and widths are whole numbers, else ``[35.0,40.0)``.
    An interval of one whole number is that number.  A missing value becomes ``*`` only.
    With ``decimal`` ``","`` numbers are read and written with a decimal comma: ``[35,0;40,0)``.
    """

    widths: tuple[Decimal, ...]
    decimal: str = POINT

    def __post_init__(self) -> None:
        object.__setattr__(self, "widths", widths := exact(self.widths, "interval:5,10,20"))
        if not widths:
            raise HierarchyError("interval: the widths are missing; write interval:5,10,20")
        if any(not w.is_finite() or w <= 0 for w in widths):
            raise HierarchyError(f"{self}: interval widths are positive numbers: interval:5,10,20")
        for narrow, wide in pairwise(widths):
            if wide <= narrow or not _is_multiple(wide, narrow):
                raise HierarchyError(
                    f"{self}: each width is a multiple of the one before, but {plain(wide)} "
                    f"follows {plain(narrow)}; try {plain(narrow * 2)}"
                )

    def __str__(self) -> str:
        return f"interval:{','.join(map(plain, self.widths))}"

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values, sorted by number.

        Raises
        ------
        UnreadError: a value is not a number.
        HierarchyError: one lies beyond 2^63 widths.
        """
        own = Numbered.of(column, values, str(self), self.decimal)
        index = _floor(column, own.numbers, self.widths[0], str(self))
        all_whole = all(map(whole, (*self.widths, *own.numbers)))
        columns = [own.texts]
        with localcontext() as context:
            context.prec = DIGITS
            for width in self.widths:
                cells, inverse = np.unique(
                    index // int(width / self.widths[0]), return_inverse=True
                )
                ends = [(i * width, (i + 1) * width) for i in cells.tolist()]
                labels = [interval_label(*both, all_whole, self.decimal) for both in ends]
                columns.append([labels[i] for i in inverse.tolist()])
        return rule_ladder(column, str(self), columns, own.missing, own.declared)


class Numbered(NamedTuple):
    """The values of a column of numbers, sorted by number; as a ladder by rule needs them.

    Attributes
    ----------
    texts, numbers: the values, and the number that each is.
    missing: whether some are missing; declared: values that a file of statistics declares missing.
    """

    texts: list[str]
    numbers: list[Decimal | int]
    missing: bool
    declared: list[str]

    @classmethod
    def of(
        cls, column: str, values: Sequence[str | None], rule: str, decimal: str = POINT
    ) -> "Numbered":
        """Read the values of a column; ``decimal``: what stands before decimals.

        Raises
        ------
        UnreadError: some are not numbers.
        """
        known, missing = distinct(values)
        known, declared = apart(known)
        numbers = read_numbers(column, known, rule, decimal)
        order = number_order(numbers, known)
        return cls([known[i] for i in order], [numbers[i] for i in order], missing, declared)


def number_order(numbers: Sequence[Decimal | int], texts: Sequence[str]) -> list[int]:
    """Return the order by number, then text."""
    try:
        array = np.array(numbers, np.int64) if all(map(_is_int, numbers)) else None
    except OverflowError:
        array = None
    if array is not None and len(np.unique(array)) == len(array):
        return np.argsort(array).tolist()
    return sorted(range(len(numbers)), key=lambda i: (numbers[i], texts[i]))


def interval_label(low: Decimal, high: Decimal, whole: bool, decimal: str = POINT) -> str:
    """Return the label of the numbers from ``low`` up to, but without, ``high``."""
    if whole:
        first, last = int(low), int(high) - 1
        return str(first) if first == last else f"{first}-{last}"
    # Exact, with at least one decimal, so that nobody takes it for a range of whole numbers.
    places = max(1, *(max(0, -_exponent(bound)) for bound in (low, high)))
    between = "," if decimal == POINT else ";"
    ends = (with_mark(f"{end:.{places}f}", decimal) for end in (low, high))
    return f"[{between.join(ends)})"


def read_numbers(
    column: str, values: Sequence[str], rule: str, decimal: str = POINT
) -> Sequence[Decimal | int]:
    """Return the values as exact numbers, as integers when all of them are written so.

    Raises
    ------
    UnreadError: some are not; says how many, and the first one's row or form.
    """
    if decimal == POINT and not any("_" in value for value in values):
        with suppress(ValueError):
            return list(map(int, values))
    numbers: list[Decimal] = []
    wrong: list[str] = []
    for value in values:
        number = finite(value, decimal)
        if number is None or "_" in value:
            wrong.append(value)
        else:
            numbers.append(number)
    if wrong:
        raise UnreadError(column, sorted(set(wrong)), rule)
    return numbers


class UnreadError(LackingError):
    """Values that a rule reads as numbers are none; ``origin`` is the rule."""

    def told(self, count: str, one: bool, first: str) -> str:
        """Say what is wrong, and what is allowed; NaN and infinity are said by name."""
        what, words = " is not a number" if one else "s are not numbers", not_finite(self.absent)
        where = first or f"the first of the form {form(self.absent[0])}"
        if len(words) == len(self.absent):
            kinds = sorted({"NaN" if "nan" in word.lower() else "inf" for word in words})
            way = f"{missing_hint(self.absent)} takes them as missing"
            where = f"{first}, " if first else ""
            where += f"but {' or '.join(kinds)}: {way}"
        return (
            f"column {self.column!r}, {self.origin}: {count}{what}, {where}; "
            "write numbers like 35, -4 or 12.50, leave missing ones empty or name what stands for "
            "them, or is to stay as it is, such as 90+ (--na), or use a hierarchy file"
            f"{decimal_hint(self.absent)}"
        )


def _floor(
    column: str, numbers: Sequence[Decimal | int], width: Decimal, rule: str
) -> NDArray[np.int64]:
    """Return ⌊number / width⌋, exactly."""
    if whole(width) and all(map(_is_int, numbers)):
        with suppress(OverflowError):
            return np.array(numbers, np.int64) // int(width)
    try:
        with localcontext() as context:
            context.prec = DIGITS
            # Decimal's // cuts towards zero.
            quotients = [int(n // width) - (n < 0 and n % width != 0) for n in numbers]
        return np.array(quotients, np.int64)
    except (InvalidOperation, OverflowError):
        raise HierarchyError(
            f"column {column!r}, {rule}: a value is too large or too long a number for intervals "
            "this narrow; use wider ones or a hierarchy file"
        ) from None


def _is_multiple(wide: Decimal, narrow: Decimal) -> bool:
    with localcontext() as context:
        context.prec = DIGITS
        return wide % narrow == 0


def _is_int(number: Decimal | int) -> bool:
    return isinstance(number, int)


def whole(number: Decimal | int) -> bool:
    """Whether a number has no fraction."""
    return isinstance(number, int) or number == number.to_integral_value()


def _exponent(number: Decimal) -> int:
    exponent = number.normalize().as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def exact(given: Any, example: str) -> tuple[Decimal, ...]:
    """Take one number or several, of any type, as exact ones; a float as Python writes it.

    Raises
    ------
    HierarchyError: they are no numbers; ``example``: what to write.
    """
    several = np.iterable(given) and not isinstance(given, str)
    try:
        return tuple(Decimal(str(number)) for number in (given if several else (given,)))
    except InvalidOperation:
        raise HierarchyError(f"{given!r} holds no numbers; write {example}") from None


def plain(number: Decimal) -> str:
    """Write a number without exponent and trailing zeros."""
    return f"{number.normalize():f}"
