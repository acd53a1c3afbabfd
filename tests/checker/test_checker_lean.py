"""Tests that tables read and counted in pieces are those read whole, and as strictly."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from proof_samples import judged

from dial import enough, few
from incrowd.checker import both, files
from incrowd.checker.delimited import Reading
from incrowd.checker.lean import blocks_of, codes_of, different_rows, once_each
from incrowd.checker.rejection import RejectedError


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of some bytes and rows, so that small tables have many."""
    for module in ("lean", "delimited", "packed"):
        monkeypatch.setattr(f"incrowd.checker.{module}.BLOCK", 40)
    monkeypatch.setattr("incrowd.checker.packed.ROWS", 20)
    monkeypatch.setattr("incrowd.checker.lean.MANY", 4)
    monkeypatch.setattr("incrowd.checker.lean.SLICE", 7)


def read(data: bytes, lean: bool, released: bool, reading: Reading | None = None) -> Any:
    """The cells as text with their names, or that the table is rejected."""
    try:
        table = files.read_table(data, {}, released, reading, lean)
    except RejectedError:
        return None
    return table.columns, [files.as_text(column).to_list() for column in table.get_columns()]


def text_of(rng: np.random.Generator) -> bytes:
    """A small file: mostly good, with what readers stumble over."""
    width = int(rng.integers(1, 4))
    words = ["", "a", "bc", "é", "x y", " "]
    rows = [list(rng.choice(words, width)) for _ in range(int(rng.integers(0, 60)))]
    lines = [",".join(row) for row in ([f"c{j}" if j else "" for j in range(width)], *rows)]
    for fault in rng.choice(["", "", "", "", "", "blank", "short", "quote", "cr", "nul"], 1):
        at = int(rng.integers(0, len(lines)))
        added = {"blank": "", "short": "a", "quote": 'a"b', "cr": "a\rb", "nul": "\0"}
        if fault:
            lines.insert(at, added[str(fault)])
    end = "\n" * int(rng.integers(0, 4))
    data = ("\n".join(lines) + end).encode()
    data = b"\xef\xbb\xbf" + data if rng.random() < 0.1 else data
    return data.replace(b"\xc3", b"\xff") if rng.random() < 0.1 else data


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("released", [False, True])
def test_text_in_blocks(released: bool) -> None:
    """Tests 600 files, good and bad: the same cells, or rejected in both ways."""
    rng, taken, refused = np.random.default_rng(released), 0, 0
    for _ in range(few(600)):
        data = text_of(rng)
        reading = Reading(odd_header=True) if rng.random() < 0.3 else None
        whole = read(data, False, released, reading)
        assert read(data, True, released, reading) == whole, data
        taken, refused = taken + (whole is not None), refused + (whole is None)
    assert taken > enough(80) and refused > enough(50)


@pytest.mark.usefixtures("small")
def test_blocks_are_whole_lines() -> None:
    """Tests that blocks are the file, and each but the last ends with its line and no blank one."""
    data = b"head\n" + b"".join(b"%d\n" % n for n in range(200)) + b"\n" * 90
    blocks = [*blocks_of(data, 5)]
    assert b"".join(blocks) == data[5:] and len(blocks) > 5
    assert all(block.endswith(b"\n") and not block.endswith(b"\n\n") for block in blocks[:-1])
    assert all(len(block) <= 41 for block in blocks[:-1])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("form", ["parquet", "ipc"])
def test_packed_by_column(form: str) -> None:
    """Tests types, missing cells and lists, column by column; names polars takes for patterns."""
    table = pl.DataFrame(
        {
            "*": ["a", None, "b", "a", "", "a", "a", "a"] * 5,
            "^n.*$": range(40),
            "": [1.5, None] * 20,
            "day": pl.Series([0, 1] * 20).cast(pl.Date),
        }
    )
    file = io.BytesIO()
    getattr(table, f"write_{form}")(file)
    for released in (False, True):
        whole = read(file.getvalue(), False, released)
        assert whole is not None and read(file.getvalue(), True, released) == whole
    found = files.read_table(file.getvalue(), {}, lean=True)
    assert isinstance(found["=*"].dtype, pl.Enum)


@pytest.mark.usefixtures("small")
def test_once_each() -> None:
    """Tests that texts are the same, and that many different ones stay as they are."""
    few = pl.Series("a", ["x", None, "", "x"] * 8)
    assert isinstance(once_each(few).dtype, pl.Enum)
    assert once_each(few).cast(pl.String).equals(few)
    many = pl.Series("a", [str(n) for n in range(30)])
    assert once_each(many).dtype == pl.String


@pytest.mark.usefixtures("small")
def test_counted_in_slices() -> None:
    """Tests copies and first rows against counting row by row."""
    rng = np.random.default_rng(0)
    for rows in (0, 1, 7, 50):
        table = pl.DataFrame({"a": rng.integers(0, 3, rows), "b": rng.integers(0, 2, rows)})
        seen: dict[Any, list[int]] = {}
        for at, row in enumerate(table.rows()):
            seen.setdefault(row, []).append(at)
        found = {(a, b): (n, first) for a, b, n, first in different_rows(table).rows()}
        assert found == {row: (len(places), places[0]) for row, places in seen.items()}
        assert different_rows(table).dtypes[2:] == [pl.Int64, pl.Int64]


def test_codes_of() -> None:
    """Tests places among leaves, missing among them, in one byte where that is enough."""
    leaves = pl.Series(["b", None, "a"])
    cells = pl.Series(["a", "b", None, "a"])
    for given in (cells, cells.cast(pl.Enum(["a", "b"]))):
        found = codes_of(given, leaves)
        assert found.tolist() == [2, 0, 1, 2] and found.itemsize == 1


def test_a_folder_is_its_files_in_order(tmp_path: Path) -> None:
    """Tests rows and hash of a folder, against what ``sha256sum`` prints."""
    (tmp_path / "b.csv").write_bytes(b"x\n1\n")
    (tmp_path / "a.csv").write_bytes(b"x\n2\n3\n")
    (tmp_path / ".hidden").write_bytes(b"?")
    names = [path.name for path in both.files_of(tmp_path)]
    assert names == ["a.csv", "b.csv"]
    lines = "".join(f"{both.hash_at(tmp_path / name)}  {name}\n" for name in names)
    assert both.hash_at(tmp_path) == files.sha256(lines.encode())
    assert both.hash_at(tmp_path / "a.csv") == files.sha256(b"x\n2\n3\n")
    read = both.read_both(tmp_path, tmp_path / "a.csv", {})
    assert read.other == ["original", "release"]
    assert [table["=x"].to_list() for table in read.whole()] == [["2", "3", "1"], ["2", "3"]]
    (tmp_path / "c.csv").write_bytes(b"y\n1\n")
    with pytest.raises(RejectedError, match=r"no part of its table.*'\.hidden'"):
        both.read_both(tmp_path / "a.csv", tmp_path, {})
    (tmp_path / ".hidden").unlink()
    (tmp_path / ".empty").mkdir()
    with pytest.raises(RejectedError, match=r"no part of its table.*'\.empty'"):
        both.read_both(tmp_path / "a.csv", tmp_path, {})
    with pytest.raises(RejectedError, match="other columns"):
        both.read_both(tmp_path, tmp_path / "a.csv", {})


def test_parts_in_two_forms(tmp_path: Path) -> None:
    """Tests that a zero and a negative zero of two files tell rows apart, and are rejected."""
    for name, cell in (("a", 0.0), ("b", -0.0)):
        pl.DataFrame({"x": [cell]}).write_parquet(tmp_path / f"{name}.parquet")
    _, table = both.read_both(tmp_path, tmp_path, {}).whole()
    with pytest.raises(RejectedError, match="two ways"):
        judged(table, table, "qi")
    judged(table, table, "keep")  # as in the original
