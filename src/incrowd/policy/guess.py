"""Guessing each column's role and hierarchy from its name, its values' form and their number.

A guess is a proposal to a person, with its reason; reasons never quote a cell.  Where in doubt a
column is a quasi-identifier: that protects most.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np

from incrowd.errors import HierarchyError, InputError
from incrowd.hierarchy.date import days_of, tells_no_day
from incrowd.hierarchy.ladder import apart
from incrowd.hierarchy.spec import source_of
from incrowd.policy.forms import (
    COMMAS,
    LOST,
    MIXED,
    formats_of,
    is_date,
    kind_of,
    lost_zeros,
    short_years,
)
from incrowd.tables import open_table
from incrowd.tables.base import Column
from incrowd.tables.totals import totals as totals
from incrowd.text.missing import likely, marks_for, marks_of, require_known
from incrowd.text.numerals import POINT, pointed, require_decimal
from incrowd.text.units import counted

IDENTIFYING = (
    *("name", "names", "surname", "forename", "firstname", "lastname", "fullname", "middlename"),
    *("ssn", "nin", "nino", "email", "mail", "phone", "telephone", "tel", "mobile", "fax", "id"),
    *("ids", "uid", "uuid", "guid", "identifier", "passport", "iban", "mrn", "license", "licence"),
    *("username", "login", "url", "website", "address", "street", "ip", "account", "card", "nhs"),
    *("pid", "patid", "patientid", "personid", "subjectid", "studentid", "employeeid", "custid"),
    *("nachname", "vorname", "familienname", "anschrift", "adresse", "strasse", "straße"),
    "telefon",
    *("nom", "prenom", "prénom", "apellido", "apellidos", "nombre", "kvnr", "fallnr", "fallnummer"),
)
PERSONAL = (  # of these one that stands in several rows names one person, unlike a surname
    *("id", "pid", "patid", "patientid", "personid", "subjectid", "studentid", "employeeid"),
    *("custid", "ssn", "nin", "nino", "mrn", "nhs", "passport", "identifier", "uid", "uuid"),
)
PEOPLE = (  # of these a column that bears the word alone, with many values, says who
    *("patient", "person", "subject", "participant", "respondent", "pupil", "student", "employee"),
    *("member", "customer", "client", "pat", "patnr", "patienten", "pseudonym", "versicherte"),
)
HOUSEHOLDS = ("household", "households", "haushalt", "hh", "hhid", "family", "familie", "famille")
MANY_PEOPLE = 0.05  # of the rows: fewer different values than these are kinds of people
QUANTITIES = (
    "alter",
    "gewicht",
    "größe",
    "age",
    "ages",
    "year",
    "years",
    "born",
    "birth",
    "weight",
    "height",
    "bmi",
    "size",
)
WHEN = (  # beside a word such as diagnosis these tell when it was, which others may know
    *("age", "ages", "date", "day", "month", "year", "years", "time", "start", "end", "since"),
    *("datum", "jahr", "alter", "beginn", "ende"),
)
BIRTH = (
    *("birth", "born", "birthdate", "birthday", "dob", "birthdates"),
    *("geburt", "geburtsdatum", "geburtstag", "gebdat", "gebdatum"),
)
SENSITIVE = (
    *("diagnosis", "diagnoses", "disease", "illness", "disorder", "condition", "symptom", "icd"),
    *("hiv", "cancer", "treatment", "medication", "drug", "prescription", "procedure", "test"),
    *("income", "salary", "wage", "wages", "pay", "earnings", "debt", "loan", "balance", "credit"),
    *("religion", "faith", "politics", "party", "vote", "union", "orientation", "conviction"),
    *("crime", "offence", "offense", "score", "grade", "result", "outcome", "asthma", "diabetes"),
    *("diagnose", "diagnosen", "krankheit", "befund", "therapie", "medikament", "gehalt"),
    *("einkommen", "diagnostic", "diagnóstico", "maladie"),
)
TEXT = (
    "note",
    "notes",
    "comment",
    "comments",
    "remark",
    "remarks",
    "description",
    "text",
    "memo",
    "bemerkung",
    "bemerkungen",
    "kommentar",
    "notiz",
    "anmerkung",
    "freitext",
    "remarque",
)
CODES = ("zip", "zipcode", "postcode", "postal", "plz", "postalcode")
CODINGS = (  # of illnesses, medicines, procedures, trades, occupations, places
    *("icd", "icdcode", "atc", "ndc", "ops", "drg", "cpt", "hcpcs", "loinc", "snomed"),
    *("nace", "sic", "naics", "isic", "isco", "soc", "nuts", "fips", "code", "codes"),
)
FREE_TEXT = 30  # mean characters from which different texts count as free text
NEARLY_ALL = 0.9  # share of different values from which a column of words points to one person
FEW_ROWS = 20  # a table of fewer rows says nothing by how many of its values differ
MANY_NUMBERS = 12  # different numbers from which a number is worth intervals
MANY_CODES = 8  # different codes from which they are worth prefixes
STEPS = (1, 2, 5)
LIFETIME = 40  # years between dates from which they want steps wider than a decade
ROW_LABELS = re.compile(r"__index_level_\d+__")
NAMELESS = re.compile(r"(Unnamed: \d+)?")  # the latter where pandas read what it had written
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.\w+")


@dataclass(frozen=True)
class Guess:
    """What a column may be.

    Attributes
    ----------
    role: ``"qi"``, ``"sensitive"``, ``"id"`` or ``"person"``, an identifier of several rows each.
    why: the reason, in words, without any cell.
    hierarchy: a rule that suits the column, or None.
    derive: of a birth date the rule that makes an age of it, but for the day at which ages are
        counted (``YYYY-MM-DD``); None elsewhere.
    na: texts of the column that seem to stand for missing values; known marks such as ``NA`` alone.
    """

    column: str
    role: str
    why: str
    hierarchy: str | None = None
    na: tuple[str, ...] = ()
    derive: str | None = None


def guess(data: Any, na: Any = None, decimal: str = POINT) -> list[Guess]:
    """Return a guess for each column, in the table's order, with its reason.

    Parameters
    ----------
    data: as for ``anonymize``.
    na: texts that stand for missing values, beside those that look so; as for ``anonymize``.
    decimal: what stands before the decimals of numbers that are texts; as for ``anonymize``.

    A column that cannot be read as text is guessed to be left out.  Each rule that is proposed as a
    hierarchy fits the column.  A guess is a proposal to a person: check each.
    """
    source, marks = open_table(data), marks_of(na)
    require_decimal(decimal)
    require_known(marks, source.columns)
    guesses = []
    for name in source.columns:
        try:
            column = source.encode(name)
        except InputError:
            guesses.append(Guess(name, "id", "its values have no text form, or one of several"))
        else:
            told = guess_column(name, column, source.rows, marks_for(marks, name), decimal)
            guesses.append(fitting(told, column, decimal))
    return guesses


def fitting(guess: Guess, column: Column, decimal: str) -> Guess:
    """Drop a hierarchy that does not fit the column after all."""
    if guess.hierarchy is None:
        return guess
    try:
        source_of(guess.hierarchy, guess.na, decimal).build(guess.column, column.values)
    except HierarchyError:
        return replace(guess, hierarchy=None, why=guess.why.partition("; numbers become")[0])
    return guess


def free_star(data: Any, guesses: Sequence[Guess]) -> str:
    """Return a mark of a suppressed cell that no quasi-identifier has."""
    source = open_table(data)
    taken = {
        value
        for each in guesses
        if each.role == "qi"
        for value in source.encode(each.column).values
    }
    return next(mark for mark in ("*", "**", "⁎", "<suppressed>", "<*>") if mark not in taken)


def guess_column(
    name: str, column: Column, rows: int, marks: Sequence[str] = (), decimal: str = POINT
) -> Guess:
    """Return the guess for one column; ``marks`` stand for missing values."""
    declared = apart([value for value in column.values if value is not None])[1]
    column = without(column, declared)
    na = {*marks, *likely(column.values, _is_numeric)} & {*column.values}
    column = without(column, na)
    values = [pointed(value, decimal) or value for value in column.values if value is not None]
    role, why = role_of(name, column, values, rows)
    if declared:
        why += f"; {counted(len(declared), 'value')} declared missing"
    if na:
        why += f"; {counted(len(na), 'text')} for missing values, see na"
    hierarchy, said = hierarchy_of(name, values) if role == "qi" else (None, "")
    found = tuple(sorted(map(str, na)))
    age = age_of(name, values) if role == "qi" else None
    return Guess(name, role, f"{why}; {said}" if said else why, hierarchy, found, age)


def age_of(name: str, values: Sequence[str]) -> str | None:
    """Return the rule that makes an age of a birth date, but for the day it is counted at."""
    if not any(word in BIRTH for word in words_of(name)) or kind_of(values) != "dates":
        return None
    formats = [] if all(map(is_date, values)) else formats_of(values)
    if tells_no_day(formats):
        return None
    written = f", format={formats[0]}" if len(formats) == 1 else ""
    return f"years({name}, YYYY-MM-DD{written})" if len(formats) < 2 else None


def without(column: Column, marks: Collection[str | None]) -> Column:
    """Return a column in which marks of missing values are missing."""
    if not marks:
        return column
    return Column.of([None if v in marks else v for v in column.values], column.codes)


def _is_numeric(values: Sequence[str]) -> bool:
    """Whether texts are numbers or dates, or codes with digits."""
    return kind_of(values) != "text"


def role_of(name: str, column: Column, values: Sequence[str], rows: int) -> tuple[str, str]:
    """Return the role and the reason."""
    if ROW_LABELS.fullmatch(name):
        return "id", "by its name it holds the row labels of a data frame of pandas"
    if NAMELESS.fullmatch(name) and len(values) == rows > 1:
        return "id", "it has no name, and another value in each row, as row labels of pandas and R"
    words = words_of(name)
    present = int((column.codes >= len(column.values) - len(values)).sum())
    named = [word for word in words if word in IDENTIFYING]
    people = [word for word in words if word in PEOPLE and says_who_by(words, values, present)]
    named += people
    if named and len(values) < present and any(word in (*PERSONAL, *PEOPLE) for word in named):
        return "person", (
            f"its name has the word {named[0]!r}, and its {len(values):,} values stand in "
            f"{present:,} rows: people are counted, not rows"
        )
    if named:
        return "id", f"its name has the word {named[0]!r}: a direct identifier by the look of it"
    if any(word in TEXT for word in words):
        return "id", "by its name it holds free text, which may say anything about a person"
    if len(values) == 0:
        return "qi", "it has no values at all"
    kind = kind_of(values)
    secret = [word for word in words if word in SENSITIVE]
    if secret and kind != "dates" and not any(word in WHEN for word in words):
        return "sensitive", f"its name has the word {secret[0]!r}: what the table is about"
    of = f"{len(values):,} different values in {present:,} rows"
    homes = [word for word in words if word in HOUSEHOLDS and says_who_by(words, values, present)]
    if homes:
        return "id", (
            f"its name has the word {homes[0]!r}, and it has {of}: it tells who belongs "
            "together. As the person column it makes k count such groups"
        )
    own = says_who(kind, values, present, rows)
    if own is not None and not any(word in (*CODES, *QUANTITIES) for word in words):
        return "id", own.format(of)
    return "qi", f"others may know it; {kind}, {of}"


NUMBERED = (*PEOPLE, *HOUSEHOLDS, "no", "nr", "number", "code", "key")


def says_who_by(words: Sequence[str], values: Sequence[str], present: int) -> bool:
    """Whether a column called after people, such as ``patient`` or ``patient_no``, numbers them."""
    rest = [word for word in words if word not in NUMBERED]
    return not rest and len(values) > max(2, MANY_PEOPLE * present)


def says_who(kind: str, values: Sequence[str], present: int, rows: int) -> str | None:
    """Return why values point to one person each, or None when they do not."""
    if sum(EMAIL.fullmatch(value) is not None for value in values) > len(values) / 2:
        return "its values look like e-mail addresses"
    if kind == "text" and len(values) > 1:
        length = sum(map(len, values)) / len(values)
        spaced = sum(" " in value for value in values) > len(values) / 2
        if length >= FREE_TEXT and spaced and len(values) > present / 2:
            return f"free text, {length:.0f} characters on average"
    if rows < FEW_ROWS:
        return None
    if kind in ("text", "codes") and len(values) >= NEARLY_ALL * present:
        return "nearly every row has its own value ({})"
    if kind == "whole numbers" and len(values) == rows:
        return "every row has its own number, as identifiers do"
    return None


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
    if longest > 1 and (kind == "long codes" or uneven):
        kept = (1, 3, 5) if longest > 5 else (1, 3) if longest > 3 else (1,)
        if all(re.fullmatch(r"\d\d?(\.\d+)?", value) for value in values):
            kept = (2, 4) if longest > 4 else (1, 2) if longest > 2 else (1,)  # 62.01, 62.0*, 62*
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
