"""Tests that marks of missing values and derived columns go through every front door."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import incrowd as ic

BIRTHS = ["1980-01-02", "1981-01-02", "NA", "1980-03-02", "1990-05-05", "1991-01-01"]
FRAME = pl.DataFrame({"birth": BIRTHS, "ill": list("uvuvuv")})
ASKED = {
    "derive": {"age": "years(birth, 2024-12-31)"},
    "na": "NA",
    "qi": "age",
    "sensitive": "ill",
    "hierarchies": {"age": "interval:5,20"},
}
AGES = ["44", "43", None, "44", "34", "33"]  # counted by hand


def plain() -> pl.DataFrame:
    """The same table with the ages in it."""
    return FRAME.select(pl.Series("age", AGES, dtype=pl.String), "ill")


def same(one: ic.Release, other: ic.Release) -> None:
    """Tests that two releases are alike."""
    assert one.data.equals(other.data) and one.cost == other.cost


def test_anonymize_and_existing() -> None:
    """Tests a delivery whose ages are derived beside an earlier release that has them."""
    asked = {name: value for name, value in ASKED.items() if name not in ("derive", "na")}
    first = ic.anonymize(FRAME, 2, **ASKED)
    same(first, ic.anonymize(plain(), 2, **asked))
    both = ic.anonymize(FRAME, 2, existing=first.data, **ASKED)
    same(both, ic.anonymize(plain(), 2, existing=first.data, **asked))
    assert both.data.height == 12 and both.data.columns == ["age", "ill"]


def test_frontier() -> None:
    """Tests that the points are those of the table with the ages in it."""
    asked = {name: value for name, value in ASKED.items() if name not in ("derive", "na")}
    found, expected = ic.frontier(FRAME, [2, 3], **ASKED), ic.frontier(plain(), [2, 3], **asked)
    assert [point.cost for point in found.points] == [point.cost for point in expected.points]


def test_republish(tmp_path: Path) -> None:
    """Tests that a series derives from Python as it does on the command line."""
    people = pl.Series("who", list("abcdef"))
    data = FRAME.with_columns(people)
    found = ic.republish(data, tmp_path / "h", m=2, person="who", **ASKED)
    asked = {name: value for name, value in ASKED.items() if name not in ("derive", "na")}
    beside = plain().with_columns(people)
    expected = ic.republish(beside, tmp_path / "g", m=2, person="who", **asked)
    assert "age" in found.data.columns and "birth" not in found.data.columns
    assert sorted(map(str, found.data["age"])) == sorted(map(str, expected.data["age"]))


def test_the_transformer() -> None:
    """Tests marks in seen and new rows; what makes no sense there is refused with the reason."""
    pytest.importorskip("sklearn")
    from incrowd.sklearn import Anonymizer

    table = np.array([["34"], ["36"], ["-"], ["-"], ["51"], ["53"]], dtype=object)
    made = Anonymizer(k=2, hierarchies={"x0": "interval:5,20"}, na="-")
    out = made.fit_transform(table)
    assert out[2:4, 0].tolist() == ["-", "-"] and "-" not in out[[0, 1, 4, 5], 0]
    assert made.transform(np.array([["-"], ["52"]], dtype=object)).tolist() == [["-"], ["50-54"]]
    with pytest.raises(ValueError, match="not a number"):
        Anonymizer(k=2, hierarchies={"x0": "interval:5,20"}).fit(table)
    for name in ("derive", "protect"):
        with pytest.raises(TypeError, match=f"'{name}': a "):
            Anonymizer(**{name: {}})
