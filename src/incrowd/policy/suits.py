"""The hierarchy that suits a column, by its name and its values."""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

import numpy as np

from incrowd.hierarchy.date import days_of, tells_no_day
from incrowd.policy.forms import (
    COMMAS,
    GROUPED,
    LOST,
    MIXED,
    formats_of,
    is_date,
    kind_of,
    lost_zeros,
    short_years,
)

CODES = ("zip", "zipcode", "postcode", "postal", "plz", "postalcode")
CODINGS = (  # of illnesses, medicines, procedures, trades, occupations, places
    *("icd", "icdcode", "atc", "ndc", "ops", "drg", "cpt", "hcpcs", "loinc", "snomed"),
    *("nace", "sic", "naics", "isic", "isco", "soc", "nuts", "fips", "code", "codes"),
)
MANY_NUMBERS = 12  # different numbers from which a number is worth intervals
MANY_CODES = 8  # different codes from which they are worth prefixes
STEPS = (1, 2, 5)
LIFETIME = 40  # years between dates from which they want steps wider than a decade


def words_of(name: str) -> list[str]:
    """Split a column's name into lower-case words: ``PatientID`` and ``patient_id`` alike."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W\d_]+", spaced.lower())


def words_and_pairs(name: str) -> list[str]:
    """Return the words of a name, and each two in a row as one: ``post_code``."""
    words = words_of(name)
    return words + [a + b for a, b in pairwise(words)]


def names_codes(name: str) -> bool:
    """Whether a column's name says that its numbers are codes, such as zip codes."""
    return not {*CODES, *CODINGS}.isdisjoint(words_and_pairs(name))


def hierarchy_of(name: str, values: Sequence[str]) -> tuple[str | None, str]:
    """Return the rule that suits a quasi-identifier and the reason, or None."""
    if not values:
        return None, ""
    kind = kind_of(values)
    if kind == "dates" and len(values) > 1:
        return dates(values)
    if kind == COMMAS[0]:
        return None, 'read by decimal = "," (--decimal ,) they can become intervals'
    if kind == GROUPED:
        return None, (
            "if these commas stand between thousands, take them out first, so that the numbers can "
            'become intervals; if they stand before decimals, say decimal = ","'
        )
    if kind in COMMAS:
        return None, "write them without it first, so that they can become intervals"
    if kind == MIXED:
        return None, "write all dates in one way first, such as 2021-03-15"
    if short_years(values):
        return None, "dates with two digits for the year, which leave the century open: write four"
    if len(values) >= MANY_CODES:
        found = codes(name, kind, values)
        if found is not None:
            return found
    if kind in ("whole numbers", "numbers") and len(values) >= MANY_NUMBERS:
        return interval(values)
    return None, ""


def codes(name: str, kind: str, values: Sequence[str]) -> tuple[str | None, str] | None:
    """Return the rule that suits codes, and the reason; None where the values are none."""
    words, length = words_and_pairs(name), [len(value) for value in values]
    shortest, longest = min(length), max(length)
    if any(word in CODES for word in words) and lost_zeros(values):
        if "." in values[0]:
            return None, f"write them without decimals first; {LOST}"
        masks = ",".join(map(str, range(1, min(longest - 2, 4) + 1)))
        return f"prefix:{masks}", f"codes lose their last characters, one by one; {LOST}"
    names = CODES if kind == "text" else (*CODES, *CODINGS)
    coding = any(word in names for word in words)
    uneven = coding and (kind == "numbers" or (kind != "dates" and shortest < longest))
    if longest > 1 and (kind == "codes of unequal length" or uneven):
        kept = (1, 3, 5) if longest > 5 else (1, 3) if longest > 3 else (1,)
        if all(re.fullmatch(r"\d\d?(\.\d+)?", value) for value in values):
            kept = (2, 4) if longest > 4 else (1, 2) if longest > 2 else (1,)  # 62.01, 62.0*, 62*
        kept = [n for n in kept if len({value[:n] for value in values}) > 1]
        if not kept:
            return None
        return f"keep:{','.join(map(str, kept))}", "codes keep their first characters"
    coded = kind == "whole numbers" and coding
    if (kind == "codes" or coded) and shortest > 1:
        masks = ",".join(map(str, range(1, min(shortest - 1, 4) + 1)))
        return f"prefix:{masks}", "codes lose their last characters, one by one"
    return None


def dates(values: Sequence[str]) -> tuple[str | None, str]:
    """Return steps for dates, wider ones where the dates span a lifetime."""
    formats = [] if all(map(is_date, values)) else formats_of(values)
    if len(formats) > 1:
        return None, "dates, of which nobody can tell day from month: say date:format=%d/%m/%Y"
    years = [day.year for value in values for day in days_of(value, formats)]
    wide = max(years, default=0) - min(years, default=0) >= LIFETIME
    months = tells_no_day(formats)
    steps = ",".join(("month", "year", "decade", "20years", "century")[months:]) if wide else ""
    rule = ",".join(part for part in (*(f"format={f}" for f in formats), steps) if part)
    said = "years, decades, 20 years, centuries" if wide else "quarters, years, decades"
    said = f"months become {said}" if months else f"dates become months, {said}"
    return f"date:{rule}" if rule else "date", said


def interval(values: Sequence[str]) -> tuple[str | None, str]:
    """Return intervals of round widths: about 24, 12 and 6 over the bulk of the values."""
    numbers = np.array([float(Decimal(value)) for value in values])
    low, high = np.quantile(numbers, [0.05, 0.95])
    if not np.isfinite(high - low) or high <= low:
        return None, ""
    width = rounded((high - low) / 24)
    if all(number == int(number) for number in numbers) and width < 2:
        width = Decimal(2) if high - low < 24 else Decimal(5)
    widths = [width, width * 2, width * 4]
    written = ",".join(f"{w.normalize():f}" for w in widths)
    return f"interval:{written}", "numbers become intervals, each twice as wide as the one before"


def rounded(width: float) -> Decimal:
    """Return the least of 1, 2, 5, 10, 20, … (times a power of ten) that is at least ``width``."""
    exponent = int(np.floor(np.log10(width)))
    for power in (exponent, exponent + 1):
        for step in STEPS:
            found = Decimal(step).scaleb(power)
            if float(found) >= width * (1 - 1e-9):
                return found
    return Decimal(10).scaleb(exponent + 1)
