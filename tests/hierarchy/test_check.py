"""Tests that a check finds all that is wrong, and nothing where nothing is."""

from pathlib import Path

from incrowd.hierarchy import Explicit, HierarchyFile, HierarchyRows, Level, Ncp, Stars, parse
from incrowd.hierarchy.check import MOST, Findings, check

ROWS = (("a", "A", "*"), ("b", "A", "*"), ("c", "C", "*"))


def test_a_sound_hierarchy() -> None:
    """Tests the notes: height, labels per level, unused leaves, missing values."""
    found = check(HierarchyRows(ROWS), "q", ["a", None], Level())
    assert found.sound
    assert found.notes == [
        "2 of 3 values of the file do not occur in the table",
        "the column has missing values; they can only stay or become '*'",
        "height 2; labels per level, from the values to the root: 2 > 2 > 1",
    ]
    assert check(HierarchyRows(ROWS), "q", None, Level()).notes == [
        "height 2; labels per level, from the values to the root: 3 > 2 > 1"
    ]


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    """Tests that broken lines, lacking values and repeats are all named."""
    path = tmp_path / "h.csv"
    path.write_text("a;A;*\nb;;*\na;A;*\na;B;*\n*;A;*\nc;C;*\n")
    found = check(HierarchyFile(path), "q", ["x", "a", "y", None], Stars())
    assert [fault.split("h.csv", 1)[1][:8] for fault in found.faults[:3]] == [
        ", line 2",
        ", line 5",
        ", line 4",
    ]
    assert [("'x'" in fault, "'y'" in fault) for fault in found.faults[3:]] == [
        (True, False),
        (False, True),
    ]
    assert "lines that repeat an earlier line, ignored: 1" in found.notes


def test_shape_faults_are_all_named() -> None:
    """Tests two labels with two parents each."""
    rows = (("a", "A", "X", "*"), ("b", "A", "Y", "*"), ("c", "C", "X", "*"), ("d", "C", "Y", "*"))
    found = check(HierarchyRows(rows), "q", None, Ncp())
    assert len(found.faults) == 2
    assert all("two parents" in fault for fault in found.faults)


def test_many_lacking_values_are_counted() -> None:
    """Tests that the list of values ends."""
    found = check(HierarchyRows(ROWS), "q", [f"v{i}" for i in range(100)], Level())
    assert len(found.faults) == MOST + 1
    assert "80 more values" in found.faults[-1]


def test_unequal_depth_is_wrong_only_for_levels() -> None:
    """Tests a ragged hierarchy under both costs."""
    ragged = HierarchyRows((*ROWS, ("d", "*")))
    assert "unequal depth" in check(ragged, "q", None, Level()).faults[0]
    found: Findings = check(ragged, "q", None, Ncp())
    assert found.sound
    assert any("unequal depth" in note for note in found.notes)


def test_costs() -> None:
    """Tests a cost that falls, and one that nobody uses."""
    wrong = Explicit({"A": 1, "C": 1, "*": 0.5})
    assert "falls towards the root" in check(HierarchyRows(ROWS), "q", None, wrong).faults[0]
    spare = Explicit({"A": 1, "C": 1, "*": 1, "Z": 1})
    assert check(HierarchyRows(ROWS), "q", None, spare).notes[-1] == (
        "costs never used: 1, the first for 'Z'"
    )


def test_rules() -> None:
    """Tests a rule against a column."""
    assert check(parse("interval:5"), "q", ["1", "7"], Level()).sound
    assert "not a number" in check(parse("interval:5"), "q", ["1", "x"], Level()).faults[0]
