"""Published texts that are numbers again, where their column came as numbers.

One rule: a column stays a number if each text that it shows, missing ones apart, is exactly a
number of a type.  The types are tried in turn: its own; for whole numbers a wider one, then
fractions; for these doubles, and decimals where doubles fall short.  Doubles are read by their
shortest text, as everywhere here.  What is not shown has no say: the type would tell of it.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.tables.base import Edit, Table
from incrowd.tables.scalars import as_texts
from incrowd.text.numerals import POINT

LONGEST = 38  # digits of a decimal
DOUBLE = 15  # digits that every double holds
Words = Sequence[str | None]


def kind_of(table: Table, column: str) -> Any:
    """Return the polars type of a column of numbers, or None: it holds none, or text has no type.

    Of a statistics package's variables, which know no other numbers, that of doubles.
    """
    whole = getattr(table, "base", table)  # of several files
    numeric = getattr(whole, "numeric", None)
    if numeric is not None:
        return pl.Float64() if numeric(column) else None
    take = getattr(whole, "take", None)
    if take is None or column not in whole.columns:
        return None
    try:
        kind = take(column, slice(0, 0)).dtype
    except InputError:
        return None
    return kind if kind.is_numeric() else None


def require_decimal_texts(table: Table, columns: Iterable[str], decimal: str) -> None:
    """Raise InputError for a column of numbers, whose text has a point, where that is none.

    ``decimal``: what stands before the decimals of numbers that are texts.
    """
    for name in columns if decimal != POINT else ():
        if kind_of(table, name) is not None:
            require_no_point(name, table.encode(name).values, decimal)


def require_no_point(name: str, texts: Words, decimal: str) -> None:
    """Raise InputError where numbers that are no texts have a point, and ``decimal`` is none."""
    if decimal != POINT and any(POINT in text for text in texts if text is not None):
        raise InputError(
            f"column {name!r} holds numbers, not texts, so no decimal comma stands in it: leave "
            "--decimal out, and where other columns are texts with a decimal comma make them "
            "numbers first"
        )


def held_digits(table: Table, column: str, largest: float) -> int | None:
    """Return how many decimals doubles hold of numbers up to ``largest``; None for no doubles."""
    kind = kind_of(table, column)
    if kind is None or not kind.is_float():
        return None
    return DOUBLE - max(1, Decimal(largest).adjusted() + 1)


def numbers_of(
    table: Table, edit: Edit, name: str, texts: Words, index: NDArray[np.signedinteger[Any]]
) -> pl.Series | None:
    """Return the texts of an edited column as numbers, null where no row shows them.

    None where they stay text: none was asked for, the column has no type, or some text is none.

    Parameters
    ----------
    table: what is edited, whose column has a type.
    texts, index: all texts, and signed integers, shape (rows,): each original row's index there.
    """
    if name not in edit.numbers:
        return None
    shown = np.unique(index if edit.order is None else index[edit.order]).tolist()
    there: list[str | None] = [None] * len(texts)
    for place in shown:
        there[place] = texts[place]
    return as_numbers(there, kind_of(table, name))


def as_numbers(texts: Words, kind: Any) -> pl.Series | None:
    """Return texts as numbers of the first type that holds all of them exactly, or None."""
    known = [text for text in texts if text is not None]
    try:
        exact = [Decimal(text) for text in known]
    except InvalidOperation:
        return None
    for wanted in _kinds(kind, exact):
        one = int if wanted.is_integer() else float if wanted.is_float() else None
        try:
            values = [number if one is None else one(number) for number in exact]
            cells = pl.Series("value", values, dtype=wanted, strict=True)
        except (ArithmeticError, ValueError, TypeError, pl.exceptions.PolarsError):
            continue
        if all(map(_same, as_texts(cells.to_list(), "value"), known, exact)):
            rest = iter(values)
            return pl.Series("value", [None if t is None else next(rest) for t in texts], wanted)
    return None


def _same(found: str, text: str, exact: Decimal) -> bool:
    """Whether a cell reads as the text (as NaN does), or as the same number written otherwise."""
    return found == text or Decimal(found) == exact


def _kinds(kind: Any, exact: Sequence[Decimal]) -> Iterator[Any]:
    """Yield the types to try."""
    if kind is None or not kind.is_numeric():
        return
    yield kind
    if kind.is_integer():
        yield pl.Int64()
    if not kind.is_decimal():
        yield pl.Float64()
    places = [-int(number.as_tuple().exponent) for number in exact if number.is_finite()]
    scale = max([0, *places, getattr(kind, "scale", None) or 0])
    if not kind.is_float() and scale <= LONGEST:
        yield pl.Decimal(LONGEST, scale)
