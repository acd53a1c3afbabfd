"""Tests of what the internal report says of people and households."""

import json
import re
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.report.metadata import write_metadata
from incrowd.solvers.base import Context, Outcome, Scope

pytest.importorskip("matplotlib")
ROWS = [
    ("A", "G", "x", "f"), ("A", "G", "x", "m"), ("B", "G", "x", "m"), ("C", "H", "y", "f"),
    ("D", "H", "z", "m"), ("E", "I", "y", "f"), ("E", "I", "x", "f"),
]  # fmt: skip


def frame() -> pl.DataFrame:
    return pl.DataFrame(ROWS, schema=["pid", "home", "x", "s"], orient="row")


def cells(page: str, name: str) -> list[str]:
    """The two cells behind a line's name."""
    found = re.search(rf"{name}</t[hd]><td[^>]*>([^<]*)</td><td[^>]*>([^<]*)</td>", page)
    assert found is not None, name
    return [*found.groups()]


@pytest.mark.usefixtures("undrawn")
def test_people_of_whom_no_row_is_left_are_not_counted(tmp_path: Path) -> None:
    """Tests that a person all of whose rows were deleted lowers no mean risk, nor a household."""
    rows = [("A", "G", "x"), ("B", "H", "x"), ("C", "I", "rare"), ("D", "J", "x"), ("E", "K", "y")]
    table = pl.DataFrame(rows, schema=["pid", "home", "x"], orient="row")
    asked = {"person": "pid", "id": "home", "delete_rows": "price=0.1,most=2"}
    release = ic.anonymize(table, 3, **asked)
    assert release.data["x"].to_list() == ["x"] * 3
    release.report(tmp_path / "r.html", True, group="home")
    page = (tmp_path / "r.html").read_text()
    assert cells(page, "people") == cells(page, "households") == ["3", "3"]
    assert cells(page, "mean risk of a person") == [f"{1 / 3:.2%}"] * 2
    assert cells(page, "mean risk of a household") == [f"{1 / 3:.2%}"] * 2


@pytest.mark.parametrize("order", ["keep", "shuffle"])
def test_people_and_households_before_and_after(order: str, tmp_path: Path) -> None:
    """Tests the figures against sets of people, on the released rows put back in order."""
    asked = {"k": 2, "person": "pid", "id": "home", "sensitive": "s"}
    kept = ic.anonymize(frame(), order="keep", **asked)
    release = ic.anonymize(frame(), order=order, **asked)
    release.report(tmp_path / "r.html", True, group="home")
    page = (tmp_path / "r.html").read_text()
    before = dict(zip(range(7), frame()["x"], strict=True))
    after = dict(zip(range(7), kept.data["x"], strict=True))
    people = [
        {c: {ROWS[i][0] for i in at if at[i] == c} for c in at.values()} for at in (before, after)
    ]
    fewest = [min(map(len, of.values())) for of in people]
    assert cells(page, "fewest people in a class") == [str(n) for n in fewest]
    riskiest = [{*chain(*(c for c in of.values() if len(c) == n))}
                for of, n in zip(people, fewest, strict=True)]  # fmt: skip
    assert cells(page, "people at that risk") == [str(len(each)) for each in riskiest]
    assert "before and after, a person once in each class" in page
    values = {*kept.data["x"]} - {"*"}  # a star is none: it has a column of its own
    line = page.split("values after", 1)[1].split("</tr>")[1]
    assert re.findall(r">([\d,]+)<", line)[3] == str(len(values))
    assert kept.summary(by="column")["values_after"].to_list() == [len(values)]
    assert cells(page, "highest risk of a household") == [f"{1 / n:.2%}" for n in fewest]
    homes = [
        min(len({ROWS[i][1] for i in at if at[i] == c}) for c in at.values())
        for at in (before, after)
    ]
    assert cells(page, "fewest households in a class") == [str(n) for n in homes]
    assert cells(page, "households") == ["3", "3"]
    assert fewest[0] == 1
    assert fewest[1] >= 2
    crowds = [sorted(map(len, of.values())) for of in people]
    assert cells(page, r"highest risk of a person \(prosecutor\)") == [
        f"{1 / min(c):.2%}" for c in crowds
    ]
    linked = cells(page, r"people an attacker links rightly \(marketer\)")
    assert linked == [f"{len(c)} of {sum(c)}" for c in crowds]
    assert "People by the size of their class" in page and "people before" in page
    assert "Sizes of classes below are in people." in page
    assert "Rows by the size" not in page


def test_what_everybody_sees_counts_people(tmp_path: Path) -> None:
    """Tests that an external report tells the people of classes as far as rows tell them."""
    release = ic.anonymize(frame(), k=2, person="pid", id="home", sensitive="s")
    release.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "below are in people: at least as many as were asked for, and at most" in page
    assert "Rows by the people of their class" in page
    assert "people alike" in page and "rows alike" not in page
    assert "agrees with rows of at least 1 other people" in page
    sizes = release.data.group_by("x").len()["len"].to_list()
    counts = release.people_of_class
    assert counts is not None
    pairs = zip(sorted(counts), sorted(sizes), strict=True)
    assert all(2 <= people <= rows for people, rows in pairs)


def test_it_does_not_tell_whose_rows_are(tmp_path: Path) -> None:
    """Tests that what everybody sees is the same, whoever the rows belong to."""
    pages = []
    for whose in ("ABCABCAB", "AAAAAAAB", "ABCDEFGH", "AABBAABB"):
        rows = pl.DataFrame({"x": list("abcdabcd"), "y": ["v"] * 8, "pid": list(whose)})
        release = ic.anonymize(rows, k=2, person="pid", order="keep", method=Together())
        release.report(tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text()
        pages.append(re.sub(r"[\d-]+ [\d:]+ UTC", "", page))
    assert len({*pages}) == 1


@dataclass(frozen=True)
class Together:
    """One class of all rows."""

    id: str = "together"
    guarantee: str = "none"
    scope: Scope = field(default_factory=Scope)
    source: str = "a test"

    def refuse(self, problem: Problem) -> None:
        """Serve all."""

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Solve."""
        instance = problem.instance
        return Outcome(Solution.of(instance, np.zeros(instance.rows, np.int64)))


def test_figures_and_cards_count_people() -> None:
    """Tests a notebook's card, the summary, and the bars."""
    release = ic.anonymize(frame(), k=2, person="pid", id="home", sensitive="s")
    assert "at least 2 in each class" in release._repr_html_()
    whole = release.summary()
    assert whole["people"].to_list() == [5]
    assert whole["fewest_people"].to_list() == [release.fewest_people]
    for figure in (release.plot_classes(), release.plot_risk()):
        assert "people" in figure.axes[0].get_xlabel() + figure.axes[0].get_ylabel()


def test_where_households_go(tmp_path: Path, monkeypatch) -> None:
    """Tests the command line, and that an external report has none."""
    monkeypatch.chdir(tmp_path)
    frame().write_csv("in.csv")
    words = "anonymize in.csv -o out.csv -k 2 --id pid,home --sensitive s -q --group"
    assert CliRunner().invoke(cli, [*words.split(), "home"]).exit_code == 2
    done = CliRunner().invoke(cli, [*words.split(), "nobody", "--report-internal", "r.html"])
    assert (done.exit_code, Path("out.csv").exists()) == (2, False)
    done = CliRunner().invoke(cli, [*words.split(), "home", "--report-internal", "r.html"])
    assert done.exit_code == 0, done.output
    assert "mean risk of a household" in Path("r.html").read_text()
    release = ic.anonymize(frame(), k=2, id=["pid", "home"], sensitive="s")
    for internal, group in ((False, "home"), (True, "nobody")):
        with pytest.raises(InputError):
            release.report("e.html", internal, group=group)


def pseudonymous() -> Any:
    """Six people with one or two visits each, under pseudonyms of person and visit."""
    rows = [(f"P{who}", f"V{who}{i}", "xy"[who % 2], f"S{who}") for who in range(6) for i in (0, 1)]
    table = pl.DataFrame([*rows[:-1], ("P6", "V60", "y", "S6")], orient="row",
                         schema=["pid", "visit", "x", "s"])  # fmt: skip
    return ic.anonymize(
        table, k=2, person="pid", pseudonym={"pid": "", "visit": ""}, sensitive="s", id=[],
        order="keep", seed=3,
    )  # fmt: skip


def test_reports_of_pseudonyms(tmp_path: Path) -> None:
    """Readers count the people of a class by pseudonyms, and no name is in any report."""
    release = pseudonymous()
    shown = release.data.group_by("x").agg(pl.col("pid").n_unique())["pid"].to_list()
    for internal in (False, True):
        release.report(tmp_path / "r.html", internal)
        page = (tmp_path / "r.html").read_text()
        assert f"<dd>{min(shown)}<small>people at least; asked for: 2" in page
        assert "at most as many as the class has rows" not in page
        assert "together read like those of at least 1 other" in page
        assert page.count("a keyed hash of its value") == 2
        assert not re.search(r"\bP\d\b|V\d\d|p[0-9a-f]{32}", page)
        assert not internal or "only with the same key file" in page
    stars = release.data["x"].eq("*").sum()
    assert sum(release.changed.values()) == stars
    assert f"{stars} of {release.rows} cells were changed" in page


def test_metadata_of_pseudonyms(tmp_path: Path) -> None:
    release = pseudonymous()
    release.write(tmp_path / "r.csv")
    write_metadata(release, tmp_path / "r.csv", tmp_path / "m.json")
    found = json.loads((tmp_path / "m.json").read_text())
    fields = {one["name"]: one for one in found["resources"][0]["schema"]["fields"]}
    assert {n: fields[n]["role"] for n in fields} == {
        "pid": "pseudonym", "visit": "pseudonym", "x": "quasi-identifier", "s": "sensitive",
    }  # fmt: skip
    assert "generalization" not in fields["pid"]
