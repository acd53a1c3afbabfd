"""Values of typed columns as text: what a quasi-identifier looks like in a release."""

import datetime
import decimal
import math
import numbers
import re
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from incrowd.errors import InputError
from incrowd.text.marks import require_characters

MIDNIGHT = datetime.time()


def kind(value: Any) -> str:
    """Name the kind of a value, so that columns of several kinds can be told."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "true/false"
    if isinstance(value, numbers.Integral):
        return "whole numbers"
    if isinstance(value, float):
        return "decimal numbers"
    if isinstance(value, numbers.Real | decimal.Decimal):
        return "decimal numbers"
    if isinstance(value, datetime.datetime):
        return "times"
    if isinstance(value, datetime.date):
        return "dates"
    if isinstance(value, datetime.time | datetime.timedelta):
        return "times of day or spans of time"
    return "identifiers" if isinstance(value, uuid.UUID) else f"{type(value).__name__} values"


NUMBERS = ("whole numbers", "decimal numbers")
TIMES = ("times", "dates", "times of day or spans of time")
KINDS = frozenset(["text", "true/false", "identifiers", *NUMBERS, *TIMES])


def require_one_kind(values: Iterable[Any], column: str) -> None:
    """Raise unless all values (none missing) are of one kind that has a text form."""
    kinds = sorted({kind(value) for value in values})
    if len(kinds) > 1:
        raise InputError(
            f"column {column!r} mixes {' and '.join(kinds)}; make it one type, for example text"
        )
    if kinds and kinds[0] not in KINDS:
        raise InputError(
            f"column {column!r} holds {kinds[0]}, which have no text form; make it text, or leave "
            "it out"
        )


def as_texts(values: Sequence[Any], column: str, nanoseconds: Sequence[int] = ()) -> list[str]:
    """Return the text of distinct values of one column, none missing.

    Whole numbers stored as decimals are written without a fraction (a data frame may turn a
    column of whole numbers into decimals because some are missing), midnights as dates.  Each
    value by itself: a form that looked at all of them would tell of those that a release hides.
    ``nanoseconds``: what Python's own times lack, of each value.
    """
    require_one_kind(values, column)
    if not values:
        return []
    first = kind(values[0])
    if first == "text":
        require_characters("".join(values), f"a cell of column {column!r}")
    if first == "decimal numbers":
        return list(map(_number, values))
    finer = nanoseconds or [0] * len(values)
    if first == "times":
        texts = [
            v.date().isoformat() if not more and _is_day(v) else v.isoformat(sep=" ")
            for v, more in zip(values, finer, strict=True)
        ]
    else:
        texts = [str(value) for value in values]
    return list(map(_finer, texts, finer)) if any(nanoseconds) else texts


def _number(value: Any) -> str:
    """Return the text of a decimal number; -0.0 is 0."""
    if math.isfinite(value) and value == int(value):
        return str(int(value))
    return str(value) if isinstance(value, decimal.Decimal) else repr(float(value))


def _is_day(time: Any) -> bool:
    """Whether a time is a midnight of no time zone; only pandas' own times know nanoseconds."""
    return time.time() == MIDNIGHT and time.tzinfo is None and not getattr(time, "nanosecond", 0)


def _finer(text: str, nanoseconds: int) -> str:
    """Write nanoseconds behind the microseconds of a time's text."""
    if not nanoseconds:
        return text
    clock = re.compile(r"(:\d\d:\d\d)(\.\d{6})?")
    return clock.sub(lambda m: f"{m[1]}{m[2] or '.000000'}{nanoseconds:03}", text, count=1)
