"""Tests of reports and metadata beside combinations: figures counted anew, nothing hidden told."""

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from pages import require_harmless

import incrowd as ic
from incrowd.errors import InputError, OutOfScopeError
from incrowd.report.make import external_report, internal_report
from incrowd.report.metadata import descriptor

HIDDEN = [f"zq{i}w" for i in range(9)]  # rare, part of no other text
FRAME = pl.DataFrame({
    "age": [str(30 + i % 3) for i in range(27)],
    "job": ["nurse"] * 10 + ["pilot"] * 8 + HIDDEN,
    "home,town": ["north", "south", "west"] * 9,
    "ill": ["flu", "gout"] * 13 + ["flu"],
})  # fmt: skip
ASKED = [{"columns": ["age", "job"], "k": 3}, {"columns": ["home,town"], "k": 9}]
WHOLE = {"columns": ["age", "job", "home,town"], "k": 2}


@pytest.fixture(scope="module")
def release() -> ic.Release:
    """A release in which all rare jobs are hidden, with a whole k beside the combinations."""
    return ic.anonymize(FRAME, 2, sensitive="ill", protect=ASKED)


@pytest.fixture(scope="module")
def reports(release: ic.Release) -> tuple[str, str]:
    """The pages for the data's users and for the publisher."""
    return external_report(release), internal_report(release)


def text_of(page: str) -> str:
    """Return what a page shows, words by single blanks."""
    return " ".join(" ".join(require_harmless(page).text).split())


def sizes(frame: pl.DataFrame, names: list[str]) -> list[int]:
    """Return the rows of each group of rows alike."""
    return [*Counter(frame.select(names).rows()).values()]


def test_groups_are_those_of_the_tables(release: ic.Release, reports: tuple[str, str]) -> None:
    """Tests sizes and risks of each combination against the cells, before and after."""
    assert not {*HIDDEN} & {*release.data["job"]}
    public, private = map(text_of, reports)
    for one in (*ASKED, WHOLE):
        names = one["columns"]
        before, after = sizes(FRAME, names), sizes(release.data, names)
        called = " , ".join(names)
        line = f"{called} {one['k']} {min(after)} {len(after)} {max(after)}"
        assert line in public and line in private
        highest = " ".join(f"{1 / min(s):.2%}" for s in (before, after))
        mean = " ".join(f"{len(s) / 27:.2%}" for s in (before, after))
        alone = " ".join(f"{s.count(1) / 27:.2%}" for s in (before, after))
        assert f"{called} {highest} {mean} {alone}" in private
        assert f"the farthest groups of {called}" in private
    assert "classes before" not in private and "Risk" not in public


def test_nothing_hidden_is_told(
    release: ic.Release, reports: tuple[str, str], tmp_path: Path
) -> None:
    """Tests that the public report and metadata have no hidden cell, and metadata the law."""
    release.write(tmp_path / "out.csv")
    told = descriptor(release, tmp_path / "out.csv", tmp_path)
    assert told["incrowd"]["combinations"] == [*ASKED, WHOLE]
    text = reports[0] + json.dumps(told)
    assert not [word for word in HIDDEN if word in text] and HIDDEN[0] in reports[1]


def test_other_releases_name_no_combinations(tmp_path: Path) -> None:
    """Tests that metadata say nothing of combinations where none have a k of their own."""
    release = ic.anonymize(FRAME, 3, sensitive="ill")
    release.write(tmp_path / "out.csv")
    assert "combinations" not in descriptor(release, tmp_path / "out.csv", tmp_path)["incrowd"]


def test_no_rows(tmp_path: Path) -> None:
    """Tests a table without rows."""
    release = ic.anonymize(FRAME.clear(), sensitive="ill", protect=ASKED)
    for internal in (False, True):
        release.report(tmp_path / "r.html", internal)
        assert "Groups" in (tmp_path / "r.html").read_text("utf-8")


def test_households_are_refused(release: ic.Release, tmp_path: Path) -> None:
    """Tests that households, whose risk is that of a class, are refused by name."""
    with pytest.raises(OutOfScopeError, match="protect"):
        release.report(tmp_path / "r.html", True, group="ill")
    with pytest.raises(InputError, match="protect"):
        ic.frontier(FRAME, [2], sensitive="ill", protect=ASKED)


def test_card_tells_the_groups(release: ic.Release) -> None:
    """Tests that a notebook's card tells the smallest groups, not the smallest class."""
    fewest = ", ".join(str(min(sizes(release.data, one["columns"]))) for one in ASKED)
    assert f">{fewest} (" in release._repr_html_()
    assert "smallest class" not in release._repr_html_()
