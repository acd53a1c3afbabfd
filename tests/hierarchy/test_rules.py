"""Tests that rules (intervals, bands, prefixes, first characters, dates) label as they say."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incrowd as ic
from incrowd.errors import HierarchyError
from incrowd.hierarchy import (
    Bands,
    Dates,
    EndCodes,
    HierarchyFile,
    HierarchyRows,
    Intervals,
    Keep,
    Ladder,
    Prefix,
    Ranges,
    Rounding,
    Source,
    Suppression,
    build_trees,
    parse,
    parse_cost,
)
from incrowd.hierarchy.check import check


def paths(source: Source, values: list[str | None]) -> list[tuple[str | None, ...]]:
    found: Ladder = source.build("q", values)
    return [found.path(leaf) for leaf in range(len(found.leaves))]


def test_whole_numbers() -> None:
    """Tests closed labels, order by number, negative numbers, missing values."""
    assert paths(parse("interval:5,10"), ["39", None, "7", "-1", "035"]) == [
        ("-1", "-5--1", "-10--1", "*"),
        ("7", "5-9", "0-9", "*"),
        ("035", "35-39", "30-39", "*"),
        ("39", "35-39", "30-39", "*"),
        (None, None, None, "*"),
    ]


def test_decimal_numbers() -> None:
    """Tests half-open labels as soon as a value or a width is no whole number."""
    assert paths(parse("interval:5"), ["35", "39.99", "-0.5", "1e2"]) == [
        ("-0.5", "[-5.0,0.0)", "*"),
        ("35", "[35.0,40.0)", "*"),
        ("39.99", "[35.0,40.0)", "*"),
        ("1e2", "[100.0,105.0)", "*"),
    ]
    assert paths(parse("interval:0.25,0.5"), ["1"]) == [("1", "[1.00,1.25)", "[1.0,1.5)", "*")]


def test_an_interval_of_one_number_is_that_number() -> None:
    """Tests width 1 over whole numbers: the value repeats itself at no cost."""
    source = parse("interval:1,2")
    assert paths(source, ["4", "5"]) == [("4", "4", "4-5", "*"), ("5", "5", "4-5", "*")]
    with pytest.raises(HierarchyError, match="label at level 1 is also a value, of the form '9'"):
        paths(source, ["4", "04"])


numbers = st.decimals(-(10**6), 10**6, places=3) | st.integers(-(10**30), 10**30).map(Decimal)


@given(
    st.lists(numbers.map(str), unique=True, max_size=20),
    st.sampled_from(["0.1", "0.25", "3", "7", "1000"]),
    st.integers(2, 5),
)
def test_each_number_lies_in_its_interval(values: list[str], width: str, times: int) -> None:
    """Tests exactness: bounds are multiples of the width and hold the number."""
    widths = (Decimal(width), Decimal(width) * times)
    if any(not -(2**63) <= Fraction(v) // Fraction(width) < 2**63 for v in values):
        with pytest.raises(HierarchyError, match="too large or too long"):
            Intervals(widths).build("q", values)
        return
    whole = all(Fraction(x).denominator == 1 for x in (*values, *widths))
    for value, *labels, _ in paths(Intervals(widths), list(values)):
        for label, w in zip(labels, widths, strict=True):
            if whole:
                low = Fraction(str(value)) // Fraction(w) * Fraction(w)
                assert label == f"{low}-{low + Fraction(w) - 1}"
            else:
                low, high = (Fraction(bound) for bound in str(label)[1:-1].split(","))
                assert low <= Fraction(str(value)) < high
                assert high - low == Fraction(w)
                assert (low / Fraction(w)).denominator == 1


@pytest.mark.parametrize("value", ["abc", "", "nan", "inf", "1_000", "1,5"])
def test_values_that_are_no_numbers(value: str) -> None:
    """Tests that the message names column, rule, how many and the form of the first."""
    with pytest.raises(HierarchyError, match=r"column 'q', interval:5: 1 value is not a number"):
        paths(parse("interval:5"), ["3", value])
    with pytest.raises(
        HierarchyError, match="2 values are not numbers, the first of the form '9a-'"
    ):
        paths(parse("interval:5"), ["y", "3", "7Q-"])


def test_prefixes() -> None:
    """Tests masks from the end, at equal and unequal length."""
    assert paths(parse("prefix:1,2"), ["91326", "95953", None]) == [
        ("91326", "9132*", "913**", "*"),
        ("95953", "9595*", "959**", "*"),
        (None, None, None, "*"),
    ]
    assert paths(parse("prefix:1,2"), ["1234", "123", "12", "1", ""]) == [
        ("", "", "", "*"),
        ("1", "1", "1", "*"),
        ("12", "1*", "1*", "*"),
        ("123", "12*", "1**", "*"),
        ("1234", "123*", "12**", "*"),
    ]


def test_prefixes_that_cannot_be() -> None:
    """Tests a mask over everything and a value that looks like a mask."""
    with pytest.raises(HierarchyError, match=r"longest value has 2 characters.*at most 1"):
        paths(parse("prefix:2"), ["12", "34"])
    with pytest.raises(HierarchyError, match=r"1 character, of which a mask leaves nothing"):
        paths(parse("prefix:1"), ["f", "m"])
    with pytest.raises(HierarchyError, match=r"also a value, of the form '9\*'.*use a hier"):
        paths(parse("prefix:1"), ["1*", "12"])
    with pytest.raises(HierarchyError, match="stands for a suppressed cell"):
        paths(parse("prefix:1"), ["*", "12"])


def test_first_characters() -> None:
    """Tests codes of unequal length: a code is below its own group; too short ones stay."""
    assert paths(parse("keep:1,3"), ["E11.9", "E11", None, "E1", "E10.12", "B"]) == [
        ("B", "B", "B*", "*"),
        ("E1", "E1", "E*", "*"),
        ("E10.12", "E10*", "E*", "*"),
        ("E11", "E11*", "E*", "*"),
        ("E11.9", "E11*", "E*", "*"),
        (None, None, None, "*"),
    ]
    with pytest.raises(HierarchyError, match="longest value has 5 characters"):
        paths(parse("keep:2,6"), ["E11.9"])
    with pytest.raises(HierarchyError, match="also a value"):
        paths(parse("keep:3"), ["E11.9", "E11.8", "E11*"])


def test_rounding() -> None:
    """Tests multiples of two steps, halves away from zero, decimals, and numbers beyond doubles."""
    assert paths(parse("round:5,10"), ["32.5", "32", "-2.5", "0", "47", None]) == [
        ("-2.5", "-5±2.5", "-10±7.5", "*"),
        ("0", "0±2.5", "0±7.5", "*"),
        ("32", "30±2.5", "30±7.5", "*"),
        ("32.5", "35±2.5", "40±7.5", "*"),
        ("47", "45±2.5", "50±7.5", "*"),
        (None, None, None, "*"),
    ]
    big = str(2**63 + 1)
    assert [path[1] for path in paths(parse("round:2"), [big])] == [f"{2**63 + 2}±1"]
    with pytest.raises(HierarchyError, match="1 value is not a number"):
        paths(parse("round:5"), ["3", "x"])


def test_top_and_bottom_codes() -> None:
    """Tests both ends at once; what lies between stays."""
    assert paths(parse("codes:<18,90+"), ["17", "18", "89.5", "90", "101", None]) == [
        ("17", "<18", "*"),
        ("18", "18", "*"),
        ("89.5", "89.5", "*"),
        ("90", "90+", "*"),
        ("101", "90+", "*"),
        (None, None, "*"),
    ]
    assert [path[1] for path in paths(parse("codes:<0"), ["-1", "0"])] == ["<0", "0"]


def test_bands() -> None:
    """Tests unequal bands of two levels, open at one end; decimals; top and bottom codes."""
    assert paths(parse("bands:0,1,5,18,65+/0,18,65+"), ["0", "4", None, "17", "64", "90"]) == [
        ("0", "0", "0-17", "*"),
        ("4", "1-4", "0-17", "*"),
        ("17", "5-17", "0-17", "*"),
        ("64", "18-64", "18-64", "*"),
        ("90", "65+", "65+", "*"),
        (None, None, None, "*"),
    ]
    assert paths(parse("bands:<1.5,3"), ["1", "1.5", "2.25"]) == [
        ("1", "<1.5", "*"),
        ("1.5", "[1.5,3.0)", "*"),
        ("2.25", "[1.5,3.0)", "*"),
    ]
    assert paths(parse("bands:90+"), ["89", "90", "101"]) == [
        ("89", "89", "*"),
        ("90", "90+", "*"),
        ("101", "90+", "*"),
    ]
    assert [path[1] for path in paths(parse("bands:<18"), ["17", "18"])] == ["<18", "18"]


@pytest.mark.parametrize(
    ("text", "values", "words"),
    [
        ("bands:0,18,65", ["3", "65", "80"], "2 values lie outside all bands"),
        ("bands:18+,65", [], "borders that rise"),
        ("bands:5,3+", [], "borders must rise"),
        ("bands:5", [], "one border alone"),
        ("bands:", [], "borders that rise"),
        ("bands:0,5,9/0,6", [], "must be one of"),
        ("bands:0,5+", ["x"], "1 value is not a number"),
    ],
)
def test_bands_that_are_none(text: str, values: list[str | None], words: str) -> None:
    """Tests values outside, and borders that fall or do not fit; no value is quoted."""
    with pytest.raises(HierarchyError, match=words):
        paths(parse(text), values)


def test_numbers_outside_a_rule_name_their_row() -> None:
    """Tests that the first row with a number outside bands, or too long, is named; no number."""
    table = {"q": ["3", "70", "80", "1e65"]}
    for rule, words in (
        ("bands:0,18,65", "3 values lie outside all bands, the first in row 2;"),
        ("bands:0,18,99", "1 value lies outside all bands, in row 4;"),
        ("round:5", "1 value has more than 60 digits .*, in row 4;"),
    ):
        with pytest.raises(HierarchyError, match=words) as error:
            ic.anonymize(pl.DataFrame(table), 2, hierarchies={"q": rule})
        assert "e65" not in str(error.value)


def test_dates_as_they_are_written() -> None:
    """Tests formats, alone and together where each value is one date by them."""
    source = parse("date:format=%d/%m/%Y,year,20years,century")
    assert isinstance(source, Dates) and source.in_words == "year, then 20 years, then century"
    assert paths(source, ["31/12/1999", None, "01/02/2021"]) == [
        ("31/12/1999", "1999", "1980-1999", "1900-1999", "*"),
        ("01/02/2021", "2021", "2020-2039", "2000-2099", "*"),
        (None, None, None, None, "*"),
    ]
    both = parse("date:format=%d/%m/%Y|%m/%d/%Y,month")
    assert paths(both, ["13/02/2021", "02/28/2021", "03/03/2021"])[0][1] == "2021-02"
    with pytest.raises(HierarchyError, match="1 value is a different date by two"):
        paths(both, ["13/02/2021", "02/03/2021"])
    with pytest.raises(HierarchyError, match="does not tell day, month and year"):
        parse("date:format=%m/%d")
    with pytest.raises(HierarchyError, match=r"1 value is not a date.*%d/%m/%Y"):
        paths(source, ["1999-12-31"])


def test_months_without_a_day() -> None:
    """Tests that months go to quarters and years, are told from days, and are no birth dates."""
    assert paths(parse("date:format=%m/%Y"), ["12/1999", "03/2021"]) == [
        ("12/1999", "1999-Q4", "1999", "1990s", "*"),
        ("03/2021", "2021-Q1", "2021", "2020s", "*"),
    ]
    assert str(parse("date:format=%Y-%m,year")) == "date:format=%Y-%m,year"
    with pytest.raises(HierarchyError, match="tell no day; begin with month"):
        parse("date:format=%Y-%m,day,year")
    with pytest.raises(HierarchyError, match="all tell a day, or all none"):
        parse("date:format=%Y-%m|%Y-%m-%d,year")
    with pytest.raises(HierarchyError, match=r"2 values are not dates.*\(date:format=%Y-%m\)"):
        paths(parse("date"), ["2010-03", "2011-12"])
    with pytest.raises(ic.InputError, match=r"such as years\(birth, 2024-12-31\)"):
        ic.Policy(derive={"age": "years(born, 2024-12-31, format=%Y-%m)"})


def test_dates() -> None:
    """Tests months, quarters, years, decades; dates, datetimes and time zones."""
    assert paths(
        parse("date"), ["2021-03-15", None, "1999-12-31T23:59:59+02:00", "0007-10-01"]
    ) == [
        ("0007-10-01", "0007-10", "0007-Q4", "0007", "0000s", "*"),
        ("1999-12-31T23:59:59+02:00", "1999-12", "1999-Q4", "1999", "1990s", "*"),
        ("2021-03-15", "2021-03", "2021-Q1", "2021", "2020s", "*"),
        (None, None, None, None, None, "*"),
    ]
    assert paths(parse("date:day,year"), ["2021-03-15 10:00"]) == [
        ("2021-03-15 10:00", "2021-03-15", "2021", "*")
    ]
    assert paths(parse("date:day"), ["2021-03-15"]) == [("2021-03-15", "2021-03-15", "*")]
    with pytest.raises(HierarchyError, match=r"times at midnight.*begin with month"):
        paths(parse("date:day,year"), ["2021-03-15 10:00", "2021-03-15"])


@pytest.mark.parametrize("value", ["15.03.2021", "2021-02-30", "2021-03", "", "yesterday", "2021"])
def test_values_that_are_no_dates(value: str) -> None:
    """Tests that the message names column, value and the form wanted."""
    with pytest.raises(
        HierarchyError, match=r"column 'q', date: 1 value is not a date.*2021-03-15"
    ):
        paths(parse("date"), ["2021-03-15", value])


def test_suppression() -> None:
    """Tests the hierarchy of height 1, missing values last."""
    assert paths(parse("none"), ["b", None, "a"]) == [("a", "*"), ("b", "*"), (None, "*")]
    (tree,), scale = build_trees({"q": ["b", None, "a"]})
    assert (tree.labels, scale) == ((("a", "b", None), ("*",)), 1)
    assert tree.cost.tolist() == [[0, 0, 0], [1, 1, 1]]


def test_parse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests every form of the text."""
    assert parse("interval: 5, 10 ") == Intervals((Decimal(5), Decimal(10)))
    assert parse("prefix:1,2") == Prefix((1, 2))
    assert parse("date") == Dates()
    assert parse("keep:1,3") == Keep((1, 3))
    assert parse("bands:0,18,65+") == Bands.parse("0,18,65+")
    assert parse("date:year,decade") == Dates(("year", "decade"))
    assert parse("none") == Suppression()
    (tmp_path / "date").write_text("a;*\n")
    (tmp_path / "h.csv").write_text("a;*\n")
    monkeypatch.chdir(tmp_path)
    assert parse("h.csv") == HierarchyFile(Path("h.csv"))
    assert parse("./date") == HierarchyFile(Path("date"))
    rules = ("keep:1,3", "bands:<0,18,65+/18+", "bands:90+", "date:format=%d/%m/%Y|%d.%m.%Y,year")
    rules += ("round:5,10", "round:0.5", "codes:<18,90+", "codes:90+", "codes:<-1.5")
    for text in ("interval:5,10", "prefix:1,2", "date", "date:year", "none", *rules):
        assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("intervall:5", r"neither a rule nor a file; did you mean 'interval'\?.*allowed are"),
        ("dates", r"did you mean 'date'"),
        ("h.scv", r"did you mean 'h\.csv'"),
        ("", r"neither a rule nor a file \(allowed are interval:5,10,20, bands:0,18,65\+, range"),
        ("none:3", r"neither"),
        ("Ada" * 99, r"^a hierarchy of several lines, or longer than a name"),
        (
            "Ada;*\n" * 60,
            r"^a hierarchy of several lines, or longer than a name",
        ),
        (".", r"is a folder"),
        ("interval", r"the widths are missing"),
        ("interval:", r"'' is not a number; write widths like interval:5,10,20"),
        ("interval:5,x", r"'x' is not a number"),
        ("interval:0", r"positive"),
        ("interval:inf", r"positive"),
        ("interval:5,12", r"multiple of the one before, but 12 follows 5; try 10"),
        ("interval:10,5", r"multiple"),
        ("interval:5,5", r"multiple"),
        ("round", r"positive numbers: round:5,10"),
        ("round:5,12", r"multiple of the one before, but 12 follows 5; try 10"),
        ("round:x", r"'x' is not a number; write steps like round:5,10"),
        ("codes:90", r"write codes:<18, codes:90\+ or codes:<18,90\+"),
        ("codes:", r"write codes"),
        ("codes:<90,18+", r"rising"),
        ("prefix", r"rising numbers"),
        ("prefix:2,1", r"rising numbers"),
        ("prefix:0", r"rising numbers"),
        ("prefix:-1", r"'-1' is not a number of characters"),
        ("date:yaer", r"unknown step 'yaer'; did you mean 'year'\?"),
        ("date:year,month", r"from fine to coarse"),
        ("date:", r"unknown step ''"),
    ],
)
def test_texts_that_name_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    """Tests that the message says what is allowed and the nearest fix."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "h.csv").write_text("a;*\n")
    with pytest.raises(HierarchyError, match=message):
        parse(text)


def test_values_declared_missing_stay_or_become_stars(tmp_path: Path) -> None:
    """Tests that no rule takes ``missing 99 (refused)`` for a number, a date or a code."""
    lost = ["missing 99 (refused)", "missing .a"]
    file = tmp_path / "h.csv"
    file.write_text("12;teens;*\n31;others;*\n")
    for source, values in (
        (parse("interval:10"), ["12", "31"]),
        (parse("prefix:1"), ["12", "31"]),
        (parse("date:year"), ["2021-03-15", "2022-01-01"]),
        (parse(str(file)), ["12", "31"]),
    ):
        ladder = source.build("x", [*values, *lost, None])
        paths = {ladder.leaves[i]: ladder.path(i) for i in range(len(ladder.leaves))}
        assert len(set(paths[values[0]])) == 3
        for value in lost:
            assert set(paths[value]) == {value, "*"}
    assert check(parse(str(file)), "x", ["12", "31", *lost], parse_cost("level")).sound


@pytest.mark.parametrize(
    ("values", "rule", "named"),
    [
        (["03.02.2021", "2021-02-04"], "date", "(date:format=%Y-%m-%d|%d.%m.%Y)"),
        (["03.02.2021", "13/02/2021"], "date:format=%d.%m.%Y,month", "=%d.%m.%Y|%d/%m/%Y)"),
        (["02/13/2021", "02/03/2021"], "date", "(date:format=%m/%d/%Y)"),
        (["02/03/2021"], "date", "(date:format=%d/%m/%Y)"),
        (["02/03/21"], "date", "(date:format=%d/%m/%Y)"),  # no century is guessed
    ],
)
def test_the_message_names_formats_that_read_the_dates(values, rule, named):
    with pytest.raises(HierarchyError) as found:
        parse(rule).build("q", values)
    assert named in str(found.value)


@pytest.mark.parametrize("rule", ["round:5", "round:2,4,12", "round:3,9", "round:.5,1,3,6,60"])
def test_rounded_labels_are_true(rule):
    """Tests that each number lies within what each of its labels says, whatever the steps."""
    rows = paths(parse(rule), [str(Decimal(n) / 4) for n in range(-500, 501)])
    for number, *labels, _ in rows:
        for label in labels:
            middle, half = map(Decimal, label.split("±"))
            assert middle - half <= Decimal(number) <= middle + half, label
    assert ("4.25", "3±1.5", "0±4.5", "*") in rows or rule != "round:3,9"  # odd: no wider


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        (lambda: Intervals(5), "interval:5"),
        (lambda: Intervals([0.5, 1, "2"]), "interval:0.5,1,2"),
        (lambda: Rounding((5, 10)), "round:5,10"),
        (lambda: EndCodes(18, 90.5), "codes:<18,90.5+"),
        (lambda: Ranges(5, most=20), "range:round=5,most=20"),
        (lambda: Prefix(2), "prefix:2"),
    ],
)
def test_numbers_of_any_type_make_a_rule(made, rule):
    """Tests that a rule made in Python is the one that a text names."""
    assert str(made()) == rule and made() == parse(rule)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Intervals("5,10"), "no numbers; write interval:5,10,20"),
        (lambda: Intervals([True]), "no numbers"),
        (lambda: Rounding([None]), "no numbers"),
        (lambda: EndCodes("90+"), "no numbers"),
        (lambda: Ranges("x"), "no numbers"),
        (lambda: Prefix("1,2"), "takes rising numbers"),
        (lambda: HierarchyRows({"f": "x", "m": "x"}), r"\[\*d\.items\(\)\]"),
        (lambda: HierarchyRows(["fx", "mx"]), "a row is a value and its groups"),
        (lambda: HierarchyRows("f;x"), "a row is a value and its groups"),
    ],
)
def test_what_makes_no_rule_in_python(wrong, message):
    """Tests that it is refused when it is made, and says what to write."""
    with pytest.raises(HierarchyError, match=message):
        wrong()
