"""ISO dates to month, quarter, year and decade."""

from collections.abc import Callable, Sequence
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
}
STEPS = ("month", "quarter", "year", "decade")


@dataclass(frozen=True)
class Dates:
    """ISO 8601 dates or datetimes become ``2021-03``, ``2021-Q1``, ``2021``, ``2020s``.

    The date is the one written: a time zone is not converted.  A missing value becomes ``*`` only.
    """

    steps: tuple[str, ...] = STEPS

    def __post_init__(self) -> None:
        for step in self.steps:
            if step not in LABELS:
                raise HierarchyError(f"{self}: unknown step {step!r}{did_you_mean(step, LABELS)}")
        ranks = [list(LABELS).index(step) for step in self.steps]
        if not ranks or ranks != sorted(set(ranks)):
            raise HierarchyError(
                f"{self}: steps go from fine to coarse, each once: {', '.join(LABELS)}"
            )

    def __str__(self) -> str:
        return "date" if self.steps == STEPS else f"date:{','.join(self.steps)}"

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values, sorted by date.

        Raises
        ------
        HierarchyError: a value is not an ISO date.
        """
        known, missing = distinct(values)
        known, declared = apart(known)
        days = _read_days(column, known, str(self))
        order = sorted(range(len(known)), key=lambda i: (days[i], known[i]))
        columns = [[known[i] for i in order]]
        for step in self.steps:
            label = {day: LABELS[step](day) for day in set(days)}
            columns.append([label[days[i]] for i in order])
        return rule_ladder(column, str(self), columns, missing, declared)


def _read_days(column: str, values: Sequence[str], rule: str) -> list[date]:
    days: list[date] = []
    wrong: list[str] = []
    for value in values:
        try:
            days.append(_read_day(value))
        except ValueError:
            wrong.append(value)
    if wrong:
        count = "1 value is not a date" if len(wrong) == 1 else f"{len(wrong)} values are not dates"
        raise HierarchyError(
            f"column {column!r}, {rule}: {count}, the first of the form {form(min(wrong))}; "
            "write dates like "
            "2021-03-15 or 2021-03-15T10:30, leave missing ones empty, or use a hierarchy file"
        )
    return days


def _read_day(value: str) -> date:
    if len(value) == 10:
        return date.fromisoformat(value)
    return datetime.fromisoformat(value).date()
