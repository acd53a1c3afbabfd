"""Guessing each column's role and hierarchy from its name, its values' form and their number.

A guess is a proposal to a person, with its reason; reasons never quote a cell.  Where in doubt a
column is a quasi-identifier: that protects most.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from incrowd.errors import HierarchyError, InputError, between_thousands
from incrowd.hierarchy.date import tells_no_day
from incrowd.hierarchy.ladder import apart
from incrowd.hierarchy.spec import source_of
from incrowd.policy.forms import formats_of, is_date, kind_of
from incrowd.policy.suits import hierarchy_of, names_codes, words_and_pairs, words_of
from incrowd.tables import open_table
from incrowd.tables.base import Column, Source
from incrowd.tables.totals import totals as totals
from incrowd.text.missing import likely, marks_for, marks_of, require_known
from incrowd.text.numerals import COMMA, POINT, finite, pointed, require_decimal
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
    *("card", "account", "iban", "login", "username"),
)
PEOPLE = (  # of these a column that bears the word alone, with many values, says who
    *("patient", "person", "subject", "participant", "respondent", "pupil", "student", "employee"),
    *("member", "customer", "client", "pat", "patnr", "patienten", "pseudonym", "versicherte"),
    *("insured", "policyholder", "subscriber", "beneficiary", "claimant", "versicherter"),
)
HOUSEHOLDS = (
    *("household", "households", "haushalt", "hh", "hhid", "hid", "family", "familie", "famille"),
)
THINGS = (  # a number or name of these is none of a person
    *("school", "class", "course", "hospital", "clinic", "ward", "station", "stop", "route"),
    *("product", "item", "shop", "store", "branch", "department", "dept", "company", "firm"),
    *("city", "town", "municipality", "district", "county", "country", "region", "state"),
    *("building", "room", "site", "centre", "center", "schule", "klinik", "abteilung"),
    *("filiale", "firma", "gemeinde", "kanton", "land"),
)
NUMBERS = ("id", "ids", "identifier", "uid", "name", "names", "iban", "card")  # of things as well
MANY_PEOPLE = 0.05  # of the rows: fewer different values than these are kinds of people
QUANTITIES = (
    *("alter", "gewicht", "größe", "age", "ages", "year", "years", "born", "birth", "weight"),
    *("height", "bmi", "size"),
)
STAGES = ("level", "stage", "year")  # a grade of these is a class at school, which others know
WHEN = (  # beside a word such as diagnosis these tell when it was, which others may know
    *("age", "ages", "date", "day", "month", "year", "years", "time", "start", "end", "since"),
    *("datum", "jahr", "alter", "beginn", "ende"),
)
HEAVY = ("weight", "weights", "gewicht", "poids", "peso")  # of a body, or of a survey
SURVEYED = ("survey", "sample", "sampling", "design", "final", "calibrated", "expansion", "panel")
WEIGHTS = (  # of a survey only
    *("wgt", "wgts", "wt", "wts", "pond", "pondera", "ponderacion", "ponderation", "pondération"),
    *("perwt", "hhwt", "finalwt", "pweight", "fweight", "dweight", "pspwght", "expansionfactor"),
    *("hochrechnung", "hochrechnungsfaktor", "gewichtung", "gewichtungsfaktor"),
    *(f"{of}{weight}" for of in SURVEYED for weight in HEAVY),
)
PLACES = 2  # decimals of a body's weight at most
NEAR_ONE = 0.05
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
    *("convictions", "verdict", "sentence", "bonus"),
    *("health", "disability", "disabled", "needs", "marks", "gesundheit", "behinderung"),
    *("diagnose", "diagnosen", "krankheit", "befund", "therapie", "medikament", "gehalt"),
    *("einkommen", "diagnostic", "diagnóstico", "maladie"),
)
TEXT = (
    *("note", "notes", "comment", "comments", "remark", "remarks", "description", "text", "memo"),
    *("bemerkung", "bemerkungen", "kommentar", "notiz", "anmerkung", "freitext", "remarque"),
)
FREE_TEXT = 30  # mean characters from which different texts count as free text
NEARLY_ALL = 0.9  # share of different values from which a column of words points to one person
LONG = 9  # digits of a number that counts or measures nothing: a date written as one has eight
FEW_ROWS = 20  # a table of fewer rows says nothing by how many of its values differ
ROW_LABELS = re.compile(r"__index_level_\d+__")
NAMELESS = re.compile(r"(Unnamed: \d+)?")  # the latter where pandas read what it had written
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.\w+")


@dataclass(frozen=True)
class Guess:
    """What a column may be.

    Attributes
    ----------
    role: ``"qi"``, ``"sensitive"``, ``"id"``, ``"person"``, an identifier of several rows each, or
        ``"keep"``, published as it is: a survey weight.
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


def decimal_of(source: Source) -> str:
    """Return what stands before decimals: a comma where some columns have one, and none a point."""
    found = set()
    for name in source.columns:
        try:
            column = source.encode(name)
        except InputError:  # it has no text form
            continue
        known = without(column, likely(column.values, _is_numeric))
        values = [value for value in known.values if value is not None]
        if between_thousands(values):  # 1,200 may be either
            continue
        for decimal in (COMMA, POINT):
            if values and all(finite(value, decimal) is not None for value in values):
                found |= {decimal} if any(decimal in value for value in values) else set()
                break
    return COMMA if found == {COMMA} else POINT


def rule_for(name: str, column: Column, marks: Sequence[str], decimal: str) -> str | None:
    """Return the hierarchy that suits a column that others may know; None where none does."""
    known = without(column, {*marks})
    values = [pointed(value, decimal) or value for value in known.values if value is not None]
    told = Guess(name, "qi", "", hierarchy_of(name, values)[0], tuple(marks))
    return fitting(told, column, decimal).hierarchy


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
    if not {*words}.isdisjoint(THINGS) and len(values) <= MANY_PEOPLE * present:
        named = [word for word in named if word not in NUMBERS]
    people = [word for word in words if word in PEOPLE and says_who_by(words, values, present)]
    named += people
    if named and len(values) < present and any(word in (*PERSONAL, *PEOPLE) for word in named):
        return "person", (
            f"its name has the word {named[0]!r}, and its {len(values):,} values stand in "
            f"{present:,} rows: people are counted, not rows"
        )
    if named:
        return "id", f"its name has the word {named[0]!r}: a direct identifier by the look of it"
    kind = kind_of(values) if values else "text"
    if any(word in TEXT for word in words) and kind not in ("whole numbers", "numbers", "dates"):
        return "id", "by its name it holds free text, which may say anything about a person"
    if len(values) == 0:
        return "qi", "it has no values at all"
    if weighs(name, kind, values):
        return "keep", WEIGHS
    staged = not {*words}.isdisjoint(STAGES)
    secret = [w for w in words if w in SENSITIVE and not (staged and w == "grade")]
    if secret and kind != "dates" and not any(word in WHEN for word in words):
        return "sensitive", f"its name has the word {secret[0]!r}: what the table is about"
    of = f"{counted(len(values), 'different value')} in {counted(present, 'row')}"
    homes = [word for word in words if word in HOUSEHOLDS and says_who_by(words, values, present)]
    if homes:
        return "id", (
            f"its name has the word {homes[0]!r}, and it has {of}: it tells who belongs "
            "together. As the person column it makes k count such groups"
        )
    own = says_who(kind, values, present, rows)
    if own is not None and not names_codes(name) and not any(word in QUANTITIES for word in words):
        return "id", own.format(of)
    return "qi", f"others may know it; {kind}, {of}"


WEIGHS = (
    "by its name and its numbers a survey weight, which analysts need as it is. It may tell the "
    "stratum or the household of a row, and weights that differ from row to row tell who a row is "
    "to those who know them: round it, or take it for a quasi-identifier"
)


def weighs(name: str, kind: str, values: Sequence[str]) -> bool:
    """Whether numbers above 0 say how many people a row stands for, not how heavy somebody is.

    Weights that stand for people are scaled to a mean of 1, or have more digits than scales have.
    """
    if kind not in ("whole numbers", "numbers") or not all(float(value) > 0 for value in values):
        return False
    if not {*words_and_pairs(name)}.isdisjoint(WEIGHTS):
        return True
    if not {*words_of(name)} <= {*HEAVY} or not words_of(name):
        return False
    fine = sum(len(value.partition(".")[2]) > PLACES for value in values) > len(values) / 2
    mean = sum(map(float, values)) / len(values)
    return fine or abs(mean - 1) < NEAR_ONE


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
    own = kind in ("text", "codes") or (kind.startswith("codes") and running(values))
    if own and len(values) >= NEARLY_ALL * present:
        return "nearly every row has its own value ({})"
    if kind == "whole numbers" and len(values) == rows:
        return "every row has its own number, as identifiers do"
    if kind == "whole numbers" and numbering(values, present):
        return (
            f"numbers of {len(values[0])} digits, {{}}: they may number people. As the person "
            "column it makes k count these"
        )
    return None


def running(values: Sequence[str]) -> bool:
    """Whether codes are numbers behind a few different beginnings, such as C17 or 2021/17."""
    begins = {value.rstrip("0123456789") for value in values}
    return len(begins) <= MANY_PEOPLE * len(values) and not begins & {*values}


def numbering(values: Sequence[str], present: int) -> bool:
    """Whether whole numbers tell who or what a row is of: many long ones, all of one length."""
    return (
        min(map(len, values)) == max(map(len, values)) >= LONG
        and len(values) > MANY_PEOPLE * present
    )
