"""Guesses about a hospital's table as it comes: German words, units, commas, mixed dates."""

import polars as pl
import pytest

from incrowd.policy.forms import kind_of
from incrowd.policy.guess import guess

ROWS = 60
COLUMNS = {
    # column: (values, role, hierarchy, part of the reason, marks)
    "PatNr": ([f"{i // 2:06}" for i in range(ROWS)], "person", None, "people are counted", ()),
    "Fallnr": ([f"F{i}" for i in range(ROWS)], "id", None, "'fallnr'", ()),
    "Nachname": ([f"N{i % 9}" for i in range(ROWS)], "id", None, "'nachname'", ()),
    "Bemerkung": (["o.B."] * ROWS, "id", None, "free text", ()),
    "Note": ([str(1 + i % 6) for i in range(ROWS)], "qi", None, "whole numbers", ()),
    "Diagnose": ([f"D{i % 5}" for i in range(ROWS)], "sensitive", None, "'diagnose'", ()),
    "Alter": (
        [*map(str, range(20, 77)), "unbekannt", "-9", "."], "qi", "interval:5,10,20",
        "3 texts for missing values", ("-9", ".", "unbekannt"),
    ),
    "Gewicht": (
        [*(f"{60 + i},5 kg" for i in range(59)), "k.A."], "qi", None, "numbers with their unit",
        ("k.A.",),
    ),
    "Größe": ([f"{150 + i % 40},{i % 3}" for i in range(ROWS)], "qi", None, "--decimal ,", ()),
    "Aufnahme": (
        [*(f"{1 + i % 28:02}.{1 + i % 12:02}.2024" for i in range(50)), *["2024-02-03"] * 10],
        "qi", None, "write all dates in one way first", (),
    ),
    "Geburtsdatum": ([f"0{1 + i % 9}.11.{1940 + i}" for i in range(ROWS)], "qi",
                     "date:format=%d.%m.%Y,month,year,decade,20years,century", "dates become", ()),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_dirty_columns(name):
    values, role, hierarchy, why, na = COLUMNS[name]
    (told,) = guess(pl.DataFrame({name: values}))
    assert (told.role, told.hierarchy, told.na) == (role, hierarchy, na)
    assert why in told.why
    assert not any(value in told.why for value in values if len(value) > 3)


def test_a_birth_date_in_german_becomes_an_age():
    (told,) = guess(pl.DataFrame({"Geburtsdatum": COLUMNS["Geburtsdatum"][0]}))
    assert told.derive == "years(Geburtsdatum, YYYY-MM-DD, format=%d.%m.%Y)"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1,5", "2"], "numbers with a decimal comma"),
        (["1,5", "x"], "text"),
        (["70 kg", "71kg", "72,5 kg"], "numbers with their unit"),
        (["70 kg", "71 kg", "150 lb"], "text"),
        (["3.2.2021", "2021-02-03"], "dates, though not all are written in one way"),
        (["03.02.2021", "04.02.2021"], "dates"),
        (["62.01", "62.02"], "numbers"),
        (["E11.9", "I10"], "long codes"),
    ],
)
def test_kinds(values, kind):
    assert kind_of(values) == kind
