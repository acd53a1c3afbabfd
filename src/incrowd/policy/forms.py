"""What the values of a column look like: dates, numbers, codes or text."""

import re
from collections.abc import Sequence
from datetime import date

from incrowd.errors import between_thousands
from incrowd.hierarchy.date import DAYS, MONTHS, days_of
from incrowd.text.numerals import POINT, WITH_COMMA, finite

IN_WORDS = ("%d-%b-%Y", "%d %b %Y", "%d %B %Y")  # 3-Feb-2021, 3 February 2021
OF_MONTHS = MONTHS[:2]  # no %m.%Y: 1.2021 may be a number
TIMES = ("", " %H:%M", " %H:%M:%S")
SHORT = tuple(f"{a}{mark}{b}{mark}%y" for mark in "/.-" for a, b in (("%d", "%m"), ("%m", "%d")))
TOGETHER = "%Y%m%d"  # 20210203
FORMATS = (*(f"{day}{time}" for time in TIMES for day in DAYS), *IN_WORDS, TOGETHER, *OF_MONTHS)
PLAUSIBLE = range(1850, 2101)  # years of dates that are written like numbers
CODED = re.compile(r"[A-Za-z]{0,3}\d[\w.\-/]*[†*+!#]?")  # E11.9, G63.2*, 62.01, SW1A
MOSTLY = 0.9  # share of the values from which the others are taken for codes as well
MIXED = "dates, though not all are written in one way"
LOST = (
    "some have a digit less than the others, so zeros in front may be gone, as in a spreadsheet: "
    "where they are, write them first"
)
COMMAS = ("numbers with a decimal comma", "numbers with their unit")
GROUPED = "numbers with a comma before each three digits"
UNIT = re.compile(r"[+-]?\d+([.,]\d+)? ?([a-zA-Zµ%°][\w./%°²³]{0,9})")  # 72,5 kg, 38.2 °C
DATED = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{2,4}([ T].*)?")  # 3.2.21, 2021-02-03


def kind_of(values: Sequence[str]) -> str:
    """Return ``"dates"``, ``"whole numbers"``, ``"numbers"``, ``"codes"`` or ``"text"``.

    Codes of unequal length are ``"codes of unequal length"``.
    """
    if all(map(is_date, values)) or formats_of(values):
        return "dates"
    if all(re.fullmatch(r"\d+", value) for value in values):
        lengths = {len(value) for value in values}
        leading = any(len(value) > 1 and value[0] == "0" for value in values)
        if leading and len(lengths) == 1:
            return "codes"
    numbers = [finite(value, POINT) for value in values]
    if all(n is not None for n in numbers) and not numbered(values):
        whole = all(n is not None and n == n.to_integral_value() for n in numbers)
        return "whole numbers" if whole else "numbers"
    written = as_written(values)
    if written is not None:
        return written
    digits = sum(any(c.isdigit() for c in value) for value in values)
    same = len({len(value) for value in values}) == 1
    if digits == len(values) and same and len(values[0]) >= 3:
        return "codes"
    return "codes of unequal length" if values and coded(values) else "text"


def as_written(values: Sequence[str]) -> str | None:
    """Return the kind of numbers and dates that no rule reads as they are; None of other values."""
    dated = sum(DATED.fullmatch(value) is not None for value in values)
    if values and dated >= MOSTLY * len(values) and not short_years(values):
        return MIXED
    if any("," in value for value in values) and all(map(WITH_COMMA.fullmatch, values)):
        return GROUPED if between_thousands(values) else COMMAS[0]
    if between_thousands(values) and all(
        finite(v.replace(",", ""), POINT) is not None for v in values
    ):
        return GROUPED
    units = [UNIT.fullmatch(value) for value in values]
    met = {unit[2] for unit in units if unit is not None}
    if len(values) > 2 and len(met) == 1 and sum(map(bool, units)) >= MOSTLY * len(values):
        return COMMAS[1]
    return None


def coded(values: Sequence[str]) -> bool:
    """Whether nearly all values are codes, and the others single words, such as ``other``."""
    codes = sum(CODED.fullmatch(value) is not None for value in values)
    words = all(" " not in value for value in values)
    return codes == len(values) or (codes >= MOSTLY * len(values) and words)


def numbered(values: Sequence[str]) -> bool:
    """Whether values that read like numbers are codes: those of trades, such as ``01.11``."""
    return any(re.match(r"0\d+\.", value) for value in values)


def formats_of(values: Sequence[str]) -> list[str]:
    """Return the formats, other than ISO 8601, by which all values are dates.

    Of several by which each value is the same date, the first.
    """
    formats: list[str] = list(FORMATS)
    for value in values:
        formats = [f for f in formats if joined(value, f) and days_of(value, [f])]
        if not formats:
            return []
    same = all(len(days_of(value, formats)) == 1 for value in values) if values else False
    return formats[:1] if same else formats if values else []


def joined(value: str, written: str) -> bool:
    """Whether a text that may be a code, such as 20210203 or 2021-02, is a date by this format."""
    if written in OF_MONTHS:
        year = re.search(r"\d{4}", value)
        return year is not None and int(year[0]) in PLAUSIBLE
    if written != TOGETHER:
        return True
    return len(value) == 8 and value.isdigit() and int(value[:4]) in PLAUSIBLE


def short_years(values: Sequence[str]) -> bool:
    """Whether values are dates whose years have two digits, so that nobody knows the century."""
    return bool(values) and any(all(days_of(v, [form]) for v in values) for form in SHORT)


def is_date(text: str) -> bool:
    """Whether a text is an ISO date, with or without a time."""
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return len(text) == 10 or text[10:11] in (" ", "T")


def lost_zeros(values: Sequence[str]) -> bool:
    """Whether numbers have two lengths, one apart, as codes of which some lost a zero in front."""
    lengths = {len(value.partition(".")[0]) for value in values}
    plain = all(re.fullmatch(r"[1-9]\d{2,}(\.0+)?", value) for value in values)
    return plain and len(lengths) == 2 and max(lengths) - min(lengths) == 1
