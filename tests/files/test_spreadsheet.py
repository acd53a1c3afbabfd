"""Cells that a spreadsheet would run."""

import numpy as np
import pytest

from incrowd.tables import Edit, Replacement, texts
from incrowd.tables.csv_table import read_csv
from incrowd.tables.spreadsheet import made_safe, runs, undone


@pytest.mark.parametrize(
    "text", ["=1+2", "+A1", "-A1", "@SUM(A1)", "\tx", "\r=1", "=", "-", "--1", "-1+2", "+1-A1"]
)
def test_runs(text):
    """Tests that formulas are seen."""
    assert runs(text)


@pytest.mark.parametrize(
    "text", [None, "", "a", "1", "-1", "+1.5", "-1e5", "-.5", "-1,5", "*", "'="]
)
def test_does_not_run(text):
    """Tests that numbers and plain text are left alone."""
    assert not runs(text)


def test_made_safe_and_back():
    """Tests cells, labels and kept columns; the count; and the way back."""
    table = read_csv(b"a,b\n=1,-5\n-x,@y\nz,\n", "t.csv")
    edit = Edit(("a", "b"), {"a": Replacement(("*", "+g"), np.array([-1, 1, 0], np.int32))})
    safe, cells = made_safe(table, edit)
    assert cells == 3
    released = table.edited(safe)
    assert texts(released).rows() == [("'=1", "-5"), ("'+g", "'@y"), ("*", None)]
    back = undone(released.encode("a"))
    assert [back.values[code] for code in back.codes] == ["=1", "+g", "*"]
    assert b"".join(released.pieces()) == b"a,b\n'=1,-5\n'+g,'@y\n*,\n"


def test_different_cells_stay_different():
    """Tests that a cell with an apostrophe of its own is not taken for one that got it."""
    cells = ["=x", "'=x", "''=x", "'x", "'-1", "-1"]
    table = read_csv(b"a\n" + "".join(f"{cell}\n" for cell in cells).encode(), "t.csv")
    safe, marked = made_safe(table, Edit(("a",)))
    released = table.edited(safe)
    shown = texts(released)["a"].to_list()
    assert shown == ["'=x", "''=x", "'''=x", "'x", "'-1", "-1"]
    assert marked == 3
    back = undone(released.encode("a"))
    assert [back.values[code] for code in back.codes] == cells
