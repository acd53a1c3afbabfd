"""Tests of tables held as codes: every type comes back as it was, whole or in pieces."""

import datetime
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.tables import Edit, Replacement, from_native, read, texts, write
from incrowd.tables.base import MOST_LABELS, Column, agree, labelled, narrow
from incrowd.tables.packed import Packed, Plain, packed, packed_table, read_packed

SERIES = {
    "text": pl.Series(["b", None, "a", "b", ""]),
    "full": pl.Series(["b", "c", "a", "b", ""]),
    "none": pl.Series([None, None], dtype=pl.String),
    "nulls": pl.Series([None, None]),
    "whole": pl.Series([3, None, -1, 3], dtype=pl.Int16),
    "truth": pl.Series([True, None, False]),
    "day": pl.Series([datetime.date(2020, 1, 2), None, datetime.date(2020, 1, 1)]),
    "time": pl.Series([datetime.datetime(2020, 1, 2, 3), None]).dt.replace_time_zone("UTC"),
    "span": pl.Series([datetime.timedelta(1), None, datetime.timedelta(1)]),
    "category": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
    "enum": pl.Series(["b", None, "a", "b"], dtype=pl.Enum(["unused", "b", "a"])),
    "fraction": pl.Series([0.0, 0.25, float("nan"), None]),
    "list": pl.Series([[1], None, [1, 2]]),
    "empty": pl.Series([], dtype=pl.String),
}


@pytest.mark.parametrize("name", SERIES)
def test_a_column_comes_back(name):
    """Tests values, null and type of a column that was packed, all rows or some."""
    series = SERIES[name]
    column = packed(series)
    whole = column.take(slice(None))
    assert whole.dtype == series.dtype
    assert repr(whole.to_list()) == repr(series.to_list())
    back = np.arange(len(series))[::-1]
    assert repr(column.take(back).to_list()) == repr(series.to_list()[::-1])


@pytest.mark.parametrize("name", [name for name in SERIES if name != "list"])
def test_the_text_is_that_of_a_frame(name):
    """Tests that packing does not change how values read."""
    series = SERIES[name].alias("a")
    table = packed_table(["a"], lambda _: series)
    assert texts(table).equals(texts(from_native(series.to_frame())))


def test_what_is_packed():
    """Tests that few different values become narrow codes, and nearly all different ones stay."""
    few = packed(pl.Series(["x", "y"] * 500))
    assert isinstance(few, Packed)
    assert few.codes.dtype == np.int8
    many = packed(pl.Series(range(300)).cast(pl.String))
    assert isinstance(many, Packed)
    assert many.codes.dtype == np.int16
    numbers = pl.Series(range(3 * MOST_LABELS))
    assert isinstance(packed(numbers), Plain)
    late = pl.concat([pl.Series([0] * (2 * MOST_LABELS)), numbers])
    assert isinstance(packed(late), Plain), "different only behind the sample"


@pytest.mark.parametrize(("largest", "kind"), [(127, np.int8), (128, np.int16), (40_000, np.int32)])
def test_narrow(largest, kind):
    """Tests that the kind holds the largest code and −1, and no narrower one does."""
    assert narrow(largest) is kind


@given(st.lists(st.sampled_from([None, "", "a", "b", "*"]), max_size=8), st.data())
def test_labels_are_texts(cells, data):
    """Tests that columns of labels say the same as columns of text."""
    table = packed_table(["a"], lambda _: pl.Series(cells, dtype=pl.String))
    ids = data.draw(st.lists(st.integers(-1, 1), min_size=len(cells), max_size=len(cells)))
    edit = Edit(("a",), {"a": Replacement(("*", "c"), np.array(ids, np.int8))})
    released = table.edited(edit)
    found = labelled(released, ["a"])
    assert found.select(pl.col("a").cast(pl.String)).equals(texts(released))
    assert released.native()["a"].to_list() == texts(released)["a"].to_list()


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_written_in_pieces(form, monkeypatch):
    """Tests that a release longer than a piece is written whole, in order, types kept."""
    monkeypatch.setattr("incrowd.tables.packed.PIECE", 1000)
    rows = 2007
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"a": rng.integers(0, 5, rows), "*": rng.random(rows), "b": rng.integers(0, 3, rows)}
    ).with_columns(pl.col("b").cast(pl.String))
    table = packed_table(frame.columns, frame.get_column)
    star = Replacement(("*",), np.where(np.arange(rows) % 3, -1, 0).astype(np.int8))
    order = rng.permutation(rows)
    released = table.edited(Edit(("b", "*", "a"), {"a": star}, order))
    file = io.BytesIO()
    released.write(form, file)
    written = read_packed(form, file.getvalue())
    assert written.native().equals(released.native())
    assert written.native().schema == {"b": pl.String, "*": pl.Float64, "a": pl.String}
    changed = np.where(np.arange(rows) % 3, frame["a"].cast(pl.String).to_numpy(), "*")
    assert written.native()["a"].to_list() == changed[order].tolist()
    assert all(written.encode(name).equals(released.encode(name)) for name in released.columns)


def test_columns_that_differ_are_told_apart():
    """Tests the comparison that a written file has to pass."""
    column = Column((None, "a", "b"), np.array([1, 2, 1], np.int32))
    assert column.equals(Column(("a", "b"), np.array([0, 1, 0], np.int32)))
    assert not column.equals(Column((None, "a", "b"), np.array([1, 2, 0], np.int32)))
    assert not column.equals(Column(("a", "c"), np.array([0, 1, 0], np.int32)))
    assert not column.equals(Column(("a", "b"), np.array([0, 1], np.int32)))


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_what_is_read_back_agrees(form, tmp_path):
    """Tests that each column is compared with the file, cell by cell, and a change is seen."""
    frame = pl.DataFrame(
        {"a": ["x", "y", None], "n": [1.5, float("nan"), None], "q": ['"', "", ","]}
    )
    if form == "csv":
        frame.write_csv(tmp_path / "t.csv")
    else:
        frame.write_parquet(tmp_path / "t.parquet")
    table = read(next(tmp_path.iterdir()))
    star = Replacement(("*",), np.array([-1, 0, -1], np.int8))
    released = table.edited(Edit(("n", "q", "a"), {"a": star}, np.array([2, 0, 1])))
    write(released, tmp_path / f"o.{form}")
    again = read(tmp_path / f"o.{form}")
    assert all(agree(released, again, name) for name in ("n", "q", "a"))
    other = table.edited(Edit(("n", "q", "a"), {"a": star}, np.array([2, 1, 0])))
    assert not any(agree(other, again, name) for name in ("n", "q", "a"))


def test_a_table_as_it_is(tmp_path: Path) -> None:
    """Tests that a file that is only read shows its numbers to the bit, -0.0 too."""
    pl.DataFrame({"a": [-0.0, 0.0]}).write_parquet(tmp_path / "t.parquet")
    cells = read(tmp_path / "t.parquet").native()["a"]
    assert np.signbit(cells.to_numpy()).tolist() == [True, False]
