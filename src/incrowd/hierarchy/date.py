"""Dates to month, quarter, year, decade and more."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime

from incrowd.errors import HierarchyError, did_you_mean
from incrowd.hierarchy.ladder import Ladder, apart, distinct
from incrowd.hierarchy.paths import rule_ladder
from incrowd.hierarchy.text import form

LABELS: dict[str, Callable[[date], str]] = {
    "day": lambda d: d.isoformat(),
    "month": lambda d: f"{d.year:04}-{d.month:02}",
    "quarter": lambda d: f"{d.year:04}-Q{(d.month + 2) // 3}",
    "year": lambda d: f"{d.year:04}",
    "decade": lambda d: f"{d.year // 10:03}0s",
    "20years": lambda d: f"{d.year // 20 * 20:04}-{d.year // 20 * 20 + 19:04}",
    "century": lambda d: f"{d.year // 100 * 100:04}-{d.year // 100 * 100 + 99:04}",
}
SPOKEN = {"20years": "20 years"}
STEPS = ("month", "quarter", "year", "decade")
FORMAT = "format="
MONTHS = ("%Y-%m", "%m/%Y", "%m.%Y")
DAYS = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d")
TRIED = 500
"""Values that are not dates by a rule, looked at for the formats that would read them."""


@dataclass(frozen=True)
class Dates:
    """Dates become ``2021-03``, ``2021-Q1``, ``2021``, ``2020s``, also ``2020-2039``.

    They are written in ISO 8601, or in one of ``formats`` (those of Python's ``strptime``); the
    date is the one written: a time zone is not converted.  Months without a day are served by
    formats that tell none.  A missing value becomes ``*`` only.

    Attributes
    ----------
    steps: of day, month, quarter, year, decade, 20years, century; from fine to coarse.
    formats: several are served as long as no value is a different date by two of them.
    """

    steps: tuple[str, ...] = STEPS
    formats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for step in self.steps:
            if step not in LABELS:
                raise HierarchyError(f"{self}: unknown step {step!r}{did_you_mean(step, LABELS)}")
        ranks = [list(LABELS).index(step) for step in self.steps]
        if not ranks or ranks != sorted(set(ranks)):
            raise HierarchyError(
                f"{self}: steps go from fine to coarse, each once: {', '.join(LABELS)}"
            )
        for written in self.formats:
            if not _tells(written, A_DAY) and not _tells(written, A_MONTH):
                raise HierarchyError(
                    f"{self}: {written!r} does not tell day, month and year, nor month and year; "
                    "write date:format=%d/%m/%Y, or date:format=%m/%Y"
                )
        if self.of_months and "day" in self.steps:
            raise HierarchyError(f"{self}: the dates tell no day; begin with month or quarter")
        if self.of_months and any(_tells(written, A_DAY) for written in self.formats):
            raise HierarchyError(f"{self}: give formats that all tell a day, or all none")

    @property
    def of_months(self) -> bool:
        """Whether dates are months and years, without a day."""
        return tells_no_day(self.formats)

    @property
    def in_words(self) -> str:
        """The steps as a sentence has them."""
        return ", then ".join(SPOKEN.get(step, step) for step in self.steps)

    def __str__(self) -> str:
        formats = [f"{FORMAT}{'|'.join(self.formats)}"] if self.formats else []
        steps = [] if self.steps == STEPS else self.steps
        return ":".join(part for part in ("date", ",".join([*formats, *steps])) if part)

    @classmethod
    def parse(cls, parts: Sequence[str]) -> "Dates":
        """Read what stands behind ``date:``, split at commas: ``format=%d/%m/%Y``, then steps."""
        formats = tuple(
            written
            for part in parts
            if part.startswith(FORMAT)
            for written in part.removeprefix(FORMAT).split("|")
        )
        steps = tuple(part for part in parts if not part.startswith(FORMAT))
        return cls(steps or (STEPS[1:] if tells_no_day(formats) else STEPS), formats)

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values, sorted by date.

        Raises
        ------
        HierarchyError: a value is not a date as asked for, or is a different one by two formats.
        """
        known, missing = distinct(values)
        known, declared = apart(known)
        days = read_days(column, known, str(self), self.formats)
        order = sorted(range(len(known)), key=lambda i: (days[i], known[i]))
        columns = [[known[i] for i in order]]
        for step in self.steps:
            label = {day: LABELS[step](day) for day in set(days)}
            if step == "day" and {known[i] != label[days[i]] for i in order} == {True, False}:
                raise HierarchyError(
                    f"column {column!r}, {self}: some values are days, as times at midnight read, "
                    "and some have a time of day, so that a day would stand for both; begin with "
                    "month, or make the column one of days, or one of texts that all have a time"
                )
            columns.append([label[days[i]] for i in order])
        return rule_ladder(column, str(self), columns, missing, declared)


def read_days(
    column: str, values: Sequence[str], rule: str, formats: Sequence[str] = ()
) -> list[date]:
    """Return the values as dates.

    Raises
    ------
    HierarchyError: some are none, or are different ones by two formats; says how many.
    """
    found = [days_of(value, formats) for value in values]
    wrong = [value for value, days in zip(values, found, strict=True) if not days]
    if wrong:
        count = "1 value is not a date" if len(wrong) == 1 else f"{len(wrong)} values are not dates"
        right = [value for value, days in zip(values, found, strict=True) if days]
        of_a_rule = rule.startswith("date")
        read = reading(wrong, right, formats)
        read = read or (reading(wrong, right, formats, MONTHS)[:1] if of_a_rule else [])
        named = "|".join(read) or "%d/%m/%Y"
        where, other = ("date:", ", or use a hierarchy file") if of_a_rule else ("", "")
        raise HierarchyError(
            f"column {column!r}, {rule}: {count}, the first of the form {form(min(wrong))}; "
            "write dates like 2021-03-15 or 2021-03-15T10:30, leave missing ones empty or name "
            "what stands for them (--na), say how dates are written "
            f"({where}format={named}){other}"
        )
    twice = sum(len(days) > 1 for days in found)
    if twice:
        one = "1 value is" if twice == 1 else f"{twice} values are"
        raise HierarchyError(
            f"column {column!r}, {rule}: {one} a different date by two of the formats; give one"
        )
    return [next(iter(days)) for days in found]


def reading(
    wrong: Sequence[str],
    right: Sequence[str],
    formats: Sequence[str],
    tried: Sequence[str] = ("%Y-%m-%d", *DAYS),
) -> list[str]:
    """Return formats that read what is not a date so far, beside those that are asked for.

    The one that reads most comes first, then the one that reads most of the rest; day before month
    where both are possible.  None has two digits for the year, which leave the century open.
    Empty where none reads anything.
    """
    step = -(-len(wrong) // TRIED)
    rest, found = list(wrong)[::step], list(formats or (["%Y-%m-%d"] if right else []))
    asked = len(found)
    while rest and len(found) < asked + 4:
        read = {f: sum(bool(days_of(v, [f])) for v in rest) for f in tried}
        best = max(read, key=lambda written: read[written])
        if not read[best]:
            break
        found.append(best)
        rest = [value for value in rest if not days_of(value, [best])]
    return found if len(found) > asked else []


def days_of(value: str, formats: Sequence[str]) -> set[date]:
    """Return the dates that a text may stand for; in ISO 8601 where no format is given."""
    days: set[date] = set()
    for written in formats:
        with suppress(ValueError):
            days.add(datetime.strptime(value, written).date())
    if not formats:
        with suppress(ValueError):
            whole = date.fromisoformat(value) if len(value) == 10 else None
            days.add(whole or datetime.fromisoformat(value).date())
    return days


A_DAY = (date(1971, 2, 3), date(2020, 12, 31))
A_MONTH = (date(1971, 2, 1), date(2020, 12, 1))


def tells_no_day(formats: Sequence[str]) -> bool:
    """Whether one of the formats tells month and year alone."""
    return any(_tells(written, A_MONTH) and not _tells(written, A_DAY) for written in formats)


def _tells(written: str, days: Sequence[date]) -> bool:
    """Whether a format brings different days back as they were."""
    if not any(year in written for year in ("%Y", "%y", "%G", "%c", "%x")):
        return False  # Python 3.13 warns of days without a year
    try:
        return all(datetime.strptime(day.strftime(written), written).date() == day for day in days)
    except ValueError:
        return False
