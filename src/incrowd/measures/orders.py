"""How a column's values are ordered or how far apart they are: as they show, or as given."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from incrowd.errors import InputError
from incrowd.hierarchy.ladder import is_missing
from incrowd.privacy.metric import DetourError, Metric
from incrowd.text.numerals import POINT, finite

DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?([ T].*)?")


def natural_order(values: Sequence[str | None], decimal: str = POINT) -> tuple[int, ...] | None:
    """Return the codes from least to greatest: numbers by size, ISO dates by time.

    None where a value is missing, or said to stand for a missing one, or is neither: words have no
    order that the table knows.  ``decimal``: what stands before the decimals of numbers.
    """
    present = [value for value in values if value is not None and not is_missing(value)]
    if len(present) < len(values) or not present:
        return None
    if all(DATE.fullmatch(value) for value in present):
        return tuple(sorted(range(len(present)), key=lambda code: present[code]))
    numbers = [finite(value, decimal) for value in present]
    found = [number for number in numbers if number is not None]
    if len(found) < len(present) or len(set(found)) < len(found):
        return None
    return tuple(sorted(range(len(found)), key=lambda code: found[code]))


def ordered(values: Sequence[str], decimal: str = POINT) -> bool:
    """Whether all are numbers, or all are dates."""
    dates = all(map(DATE.fullmatch, values))
    return dates or all(finite(value, decimal) is not None for value in values)


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
