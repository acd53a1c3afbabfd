"""How a column's values are ordered or how far apart they are: as they show, or as given."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, time
from fractions import Fraction
from typing import Any

from incrowd.errors import InputError
from incrowd.hierarchy.ladder import is_missing
from incrowd.privacy.metric import DetourError, Metric
from incrowd.text.numerals import POINT, finite

DATE = re.compile(
    r"(\d{4}-\d{2})(-\d{2})?(?:[ T](\d{2}(?::\d{2}){0,2})(\.\d+)?(Z|[+-]\d{2}:?\d{2})?)?", re.ASCII
)
"""An ISO date: month, day, time of day, what follows its seconds, time zone."""


def natural_order(values: Sequence[str | None], decimal: str = POINT) -> tuple[int, ...] | None:
    """Return the codes from least to greatest: numbers by size, ISO dates by time.

    None where a value is missing, or said to stand for a missing one, or is neither: words have no
    order that the table knows.  None too where two texts are one number or one time, or only some
    times have a zone.  ``decimal``: what stands before the decimals of numbers.
    """
    present = [value for value in values if value is not None and not is_missing(value)]
    if len(present) < len(values) or not present:
        return None
    places = _places(present, decimal)
    if places is None or len(set(places)) < len(places):
        return None
    return tuple(sorted(range(len(places)), key=lambda code: places[code]))


def ordered(values: Sequence[str], decimal: str = POINT) -> bool:
    """Whether all are numbers, or all are dates."""
    return _places(values, decimal) is not None


def _places(texts: Sequence[str], decimal: str) -> list[Any] | None:
    """Return what texts are compared by: all are times, with a zone or without, or all numbers."""
    times = [_moment(text) for text in texts]
    found = [moment for moment in times if moment is not None]
    if len(found) == len(texts):
        zoned = {zone for zone, _ in found}
        return [seconds for _, seconds in found] if len(zoned) < 2 else None
    numbers = [finite(text, decimal) for text in texts]
    return None if None in numbers else numbers


def _moment(text: str) -> tuple[bool, Fraction] | None:
    """Return whether a time has a zone, and its seconds since the year 1; None for other text."""
    found = DATE.fullmatch(text)
    if found is None:
        return None
    month, day, clock, parts, zone = found.groups()
    try:
        days = date.fromisoformat(f"{month}{day or '-01'}").toordinal()
        at, ahead = (_seconds(text) for text in (clock or "00", (zone or "Z")[1:] or "00"))
    except ValueError:
        return None
    seconds = 86_400 * days + at - (-ahead if zone and zone[0] == "-" else ahead)
    return zone is not None, seconds + Fraction(f"0{parts or '.0'}")


def _seconds(text: str) -> int:
    """Return the seconds from midnight to a time of day, or as far as a zone is off."""
    at = time.fromisoformat(text)
    return 3_600 * at.hour + 60 * at.minute + at.second


def given_order(
    name: str, values: Sequence[str | None], order: Sequence[str | None]
) -> tuple[int, ...]:
    """Return the codes in the order given; values that the column lacks are passed over.

    Raises
    ------
    InputError: a value of the column is not listed, or one is listed twice.
    """
    listed = [None if value is None or value == "" else str(value) for value in order]
    if len(set(listed)) < len(listed):
        raise InputError(f"the order of {name!r} lists a value twice")
    code = {value: i for i, value in enumerate(values)}
    # An empty entry stands for the missing value, or for an empty text.
    if None in listed and None not in code and "" in code:
        code[None] = code.pop("")
    lacking = len(set(code) - set(listed))
    if lacking:
        raise InputError(
            f"the order of {name!r} lacks {lacking} of the column's {len(code)} values; list "
            "every value from least to greatest, an empty line for missing ones"
        )
    return tuple(code[value] for value in listed if value in code)


def given_metric(
    name: str, values: Sequence[str | None], given: Metric | Mapping[tuple[str, str], Any]
) -> Metric:
    """Return a metric over the codes; pairs stand either way round, ``""`` for the missing value.

    Raises
    ------
    InputError: a pair of values has no distance, or it is no metric; names no value.
    """
    if not isinstance(given, Mapping):
        return given
    lacking = 0
    matrix = []
    for v in values:
        row = []
        for w in values:
            pair = given.get((v or "", w or ""), given.get((w or "", v or "")))
            lacking += v != w and pair is None
            row.append(0 if v == w or pair is None else pair)
        matrix.append(row)
    if lacking:
        raise InputError(
            f"the metric of {name!r} lacks the distance of {lacking // 2} pairs of values; give "
            "every pair once"
        )
    if not matrix:  # of a table without rows
        return Metric(())
    try:
        return Metric.of(matrix)
    except DetourError as error:
        ends = [values[place] or "" for place in error.places]
        raise InputError(f"the metric of {name!r} {detour(ends, given)}") from None
    except InputError as error:
        raise InputError(f"the metric of {name!r}: {error}") from None


def detour(ends: Sequence[str], given: Mapping[tuple[str, str], Any]) -> str:
    """Say that one value is farther from another than by way of a third: by a file's lines."""
    lines: Mapping[tuple[str, str], int] = getattr(given, "lines", {})
    one, other, via = ends
    pairs = (one, other), (one, via), (via, other)
    at = [lines.get(pair, lines.get((pair[1], pair[0]), 0)) for pair in pairs]
    if not all(at):
        return "breaks the triangle inequality: two values are farther apart than by way of a third"
    return (
        f"breaks the triangle inequality: the distance on line {at[0]} is more than those on lines "
        f"{at[1]} and {at[2]} together"
    )
