"""Columns that are made of others before anything else looks at the table: age from birth.

The column that one is made of is left out.  For all that follows, the proof included, the table
with the new column is the original.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from incrowd.errors import HierarchyError, InputError, no_column
from incrowd.hierarchy.date import Dates, read_days
from incrowd.tables.base import Source
from incrowd.tables.derived import in_place
from incrowd.text.missing import Marks, marks_for
from incrowd.text.units import counted

RULE = re.compile(r"\s*years\s*\(\s*(.+?)\s*,\s*(\d{4}-\d\d-\d\d)\s*(?:,\s*format=(.+?)\s*)?\)\s*")


@dataclass(frozen=True)
class Years:
    """Completed years from a date to a reference date: ``years(birth, 2024-12-31)``.

    Whoever was born on 29 February completes a year on 1 March where there is no such day.

    Attributes
    ----------
    column: of the dates, which is left out; reference: the day at which the years are counted.
    formats: how the dates are written, as for ``date:format=``; none: ISO 8601.
    """

    column: str
    reference: date
    formats: tuple[str, ...] = ()

    @classmethod
    def parse(cls, name: str, text: Any) -> "Years":
        """Read ``years(COLUMN, YYYY-MM-DD)`` or ``years(COLUMN, YYYY-MM-DD, format=%d/%m/%Y)``.

        Raises
        ------
        InputError: no such form, or no such day.
        """
        found = RULE.fullmatch(text) if isinstance(text, str) else None
        try:
            if found is None:
                raise ValueError
            day, written = date.fromisoformat(found[2]), found[3]
            formats = tuple(written.split("|")) if written else ()
            if (dates := Dates(formats=formats)).of_months:
                raise ValueError  # nobody can count years from a month
            return cls(found[1], day, dates.formats)
        except ValueError:
            raise InputError(
                f"derive: {name!r} is made by a rule such as years(birth, 2024-12-31), its dates "
                "written otherwise by years(birth, 2024-12-31, format=%d/%m/%Y)"
            ) from None

    def of(self, day: date) -> int:
        """Return the years of one date."""
        before = (self.reference.month, self.reference.day) < (day.month, day.day)
        return self.reference.year - day.year - before


def rules_of(given: Any) -> dict[str, str]:
    """Check what is to be derived: column → rule.

    Raises
    ------
    InputError: no such form, or two columns are made of one.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError("derive maps new columns to rules such as years(birth, 2024-12-31)")
    made = list(columns_of(given).values())
    twice = next((name for name in made if made.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"derive: two columns are made of {twice!r}, which is left out; make one")
    return {str(name): text for name, text in given.items()}


def columns_of(rules: Mapping[str, str]) -> dict[str, str]:
    """Return the column that each derived one is made of, by new name."""
    return {name: Years.parse(str(name), text).column for name, text in rules.items()}


def derived(source: Source, rules: Mapping[str, str], marks: Marks = ()) -> Source:
    """Return the table with derived columns, each where the column stood that it is made of.

    A table that has the derived column, and not the one that it is made of, is so already.

    Raises
    ------
    InputError: no such column, a column of the new name, a cell that is no date or lies behind the
        reference date; names no cell.
    """
    for name, text in rules.items():
        rule = Years.parse(name, text)
        there = name in source.columns and name != rule.column
        if rule.column not in source.columns:
            if there:
                continue
            raise no_column("derive", rule.column, source.columns)
        if there:
            raise InputError(f"derive: the table has a column {name!r} already; name it otherwise")
        source = _with(source, name, rule, marks_for(marks, rule.column))
    return source


def _with(source: Source, name: str, rule: Years, marks: tuple[str, ...]) -> Source:
    """Return the table with one column derived."""
    column = source.encode(rule.column)
    known = [value for value in column.values if value is not None and value not in marks]
    try:
        days = read_days(rule.column, known, "derive", rule.formats)
    except HierarchyError as error:
        raise InputError(str(error)) from None
    ages = dict(zip(known, map(rule.of, days), strict=True))
    late = sum(age < 0 for age in ages.values())
    if late:
        raise InputError(
            f"derive: {counted(late, 'date')} of column {rule.column!r} "
            f"{'lie' if late > 1 else 'lies'} behind the reference date {rule.reference}"
        )
    cells = [None if value is None else ages.get(value) for value in column.values]
    found = in_place(source, rule.column, name, cells, column.codes)
    found.path = source.path
    return found
