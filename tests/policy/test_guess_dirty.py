"""Guesses about a hospital's table as it comes: German words, units, commas, mixed dates."""

import polars as pl
import pytest

import incrowd as ic
from incrowd.policy.forms import GROUPED, kind_of
from incrowd.policy.guess import decimal_of, guess
from incrowd.tables import from_native

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
        (["E11.9", "I10"], "codes of unequal length"),
    ],
)
def test_kinds(values, kind):
    assert kind_of(values) == kind


def test_commas_between_thousands_are_no_decimal_commas():
    """Tests that ``init`` and a run do not advise to read 1,200 as 1.2, and say what to do."""
    cells = [f"{n:,}" for n in range(150, 40_150, 1_000)]
    (told,) = guess(pl.DataFrame({"hours": cells}))
    assert (told.hierarchy, kind_of(cells)) == (None, GROUPED)
    assert "take them out first" in told.why
    weights = [f"{n},{n % 10}" for n in range(50, 90)]
    assert decimal_of(from_native(pl.DataFrame({"hours": cells}))) == "."
    assert decimal_of(from_native(pl.DataFrame({"hours": cells, "weight": weights}))) == ","
    for rule in ("range", "mean", "interval:1000"):
        with pytest.raises(ic.InputError, match=r"take the commas out \(--decimal , is for"):
            ic.anonymize(pl.DataFrame({"hours": cells}), k=3, hierarchies={"hours": rule})


@pytest.mark.parametrize("form", ["${:,}", "{:,} €", "{}%", "{} kg", "EUR", "{:_}"])
def test_numbers_with_signs_are_told_to_be_written_without(form):
    """Tests that the message of a run says what to take away, and for words nothing."""
    cells = [form.format(n).replace("_", "'") for n in range(1_500, 41_500, 1_000)]
    with pytest.raises(ic.InputError) as told:
        ic.anonymize(pl.DataFrame({"pay": cells}), k=3, hierarchies={"pay": "mean"})
    advised = "without currency, unit, % and marks between thousands" in str(told.value)
    assert advised == (form != "EUR")
