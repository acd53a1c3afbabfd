"""Tests of figures that count people and households, against definitions over sets."""

import json
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.cli import cli
from incrowd.errors import InputError

Row = tuple[str, str, str, str]
rows_of = st.lists(
    st.tuples(*map(st.sampled_from, ("ABCD", "GH", "xy", "uvw"))), min_size=1, max_size=9
)


def frame_of(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["pid", "home", "x", "s"], orient="row")


def measured(rows: list[Row], **asked: Any) -> Any:
    return ic.measure(frame_of(rows), qi="x", sensitive="s", person="pid", group="home", **asked)


@settings(max_examples=few(150), deadline=None)
@given(rows=rows_of)
def test_people_and_households_are_counted(rows: list[Row]) -> None:
    found = measured(rows, subsets=1)
    people = {x: {p for p, _, y, _ in rows if y == x} for _, _, x, _ in rows}
    sizes = sorted(map(len, people.values()))
    assert (found.k, found.largest_class, found.classes) == (sizes[0], sizes[-1], len(sizes))
    assert found.people == len({p for p, *_ in rows})
    assert found.unique_rows == sum(len(people[x]) == 1 for _, _, x, _ in rows)
    assert found.histogram == {n: sizes.count(n) for n in sizes}
    (subset,) = found.subsets
    known = subset.smallest_class, subset.classes, subset.unique_rows
    assert known == (found.k, found.classes, found.unique_rows)
    risk = {p: max(Fraction(1, len(people[x])) for q, _, x, _ in rows if q == p) for p, *_ in rows}
    assert found.risk.prosecutor_highest == max(risk.values())
    assert found.risk.rows_at_highest == sum(len(people[x]) == sizes[0] for _, _, x, _ in rows)
    assert found.risk.prosecutor_average == pytest.approx(float(sum(risk.values()) / len(risk)))
    of_home = {
        h: max(Fraction(1, len(people[x])) for _, g, x, _ in rows if g == h) for _, h, *_ in rows
    }
    homes = found.groups
    assert (homes.groups, homes.highest) == (len(of_home), max(of_home.values()))
    assert homes.average == pytest.approx(float(sum(of_home.values()) / len(of_home)))
    assert homes.groups_at_highest == list(of_home.values()).count(homes.highest)
    assert homes.fewest == min(len({h for _, h, y, _ in rows if y == x}) for x in people)
    shares = []
    for x in people:
        pairs = {(p, s) for p, _, y, s in rows if y == x}
        values = [s for _, s in pairs]
        shares.append(max(Fraction(values.count(v), len(values)) for v in values))
    assert found.sensitive[0].alpha == max(shares)


@settings(max_examples=few(50), deadline=None)
@given(rows=rows_of, again=st.lists(st.integers(0, 8), max_size=5))
def test_copies_of_rows_change_nothing(rows: list[Row], again: list[int]) -> None:
    """Tests risks, and what is said of sensitive values: t, δ and β see the table, too."""
    more = rows + [rows[i] for i in again if i < len(rows)]
    one, two = measured(rows), measured(more)
    assert (one.k, one.histogram, one.people, one.groups) == (
        two.k, two.histogram, two.people, two.groups,
    )  # fmt: skip
    assert one.sensitive == two.sensitive
    assert one.risk.prosecutor_average == two.risk.prosecutor_average


def test_command_line(tmp_path, monkeypatch) -> None:
    """Tests both options, a row without a person or household, and --require-k."""
    monkeypatch.chdir(tmp_path)
    rows = [("A", "G", "x", "u"), ("A", "G", "x", "v"), ("", "", "x", "u"), ("", "", "y", "u")]
    frame_of(rows).write_csv("in.csv")
    words = "measure in.csv --person pid --group home --sensitive s"
    found = json.loads(CliRunner().invoke(cli, [*words.split(), "--json"]).stdout)
    assert (found["qi"], found["k"], found["people"]) == (["x"], 1, 3)
    assert found["groups"]["groups"] == 3
    told = "2 of 4 rows have no value in '{}': each counts as a {} of its own"
    assert told.format("pid", "person") in found["warnings"]
    assert told.format("home", "household") in found["warnings"]
    assert not any("no value" in words for words in ic.measure(frame_of(rows[:2]), qi="x").warnings)
    whole = ic.measure(frame_of(rows[:2]), qi="x", person="pid", group="home")
    assert not any("no value" in words for words in whole.warnings)
    text = CliRunner().invoke(cli, words.split()).stdout
    assert "k, people of the smallest class" in text
    assert "as their riskiest member" in text
    done = CliRunner().invoke(cli, [*words.split(), "--require-k", "2"])
    assert (done.exit_code, "has 1 pe" in done.stderr) == (1, True)
    assert CliRunner().invoke(cli, [*words.split(), "--qi", "pid"]).exit_code == 2
    with pytest.raises(InputError, match="names people"):
        ic.measure("in.csv", qi=["x", "pid"], person="pid")
    with pytest.raises(InputError):
        ic.measure("in.csv", person="pid", group="nobody")


@settings(max_examples=few(60), deadline=None)
@given(rows=rows_of, everyone=rows_of)
def test_a_population_is_counted_in_people(rows: list[Row], everyone: list[Row]) -> None:
    """Tests that several rows of one person of the population hide nobody among them."""
    found = measured(rows, population=frame_of(everyone)).risk
    crowds = []
    for x in {x for _, _, x, _ in rows}:
        inside, outside = ({p for p, _, y, _ in of if y == x} for of in (rows, everyone))
        crowds.append(max(len(inside), len(outside)))
    assert found.journalist_highest == Fraction(1, min(crowds))
    nameless = measured(rows, population=frame_of(everyone).drop("pid", "home"))
    assert "each of its rows counts as a person" in "".join(nameless.warnings)
    alone = nameless.risk
    each = [
        max(len({p for p, _, y, _ in rows if y == x}), sum(y == x for _, _, y, _ in everyone))
        for x in {x for _, _, x, _ in rows}
    ]
    assert alone.journalist_highest == Fraction(1, min(each))
