"""Files and pipes: formats, whole or not at all, never over the input."""

import io
import os
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given

from incrowd.errors import InputError
from incrowd.tables import Edit, Replacement, files, read, texts, write
from incrowd.tables.atomic import require_place, same_file, whole
from incrowd.tables.csv_table import read_csv
from incrowd.tables.formats import CSV, Form
from tables import csv_bytes, tables

FRAME = pl.DataFrame({"a": ["1", "2", None], "n": [1, 2, 3]})
STAR = Replacement(("*",), np.array([-1, 0, -1], np.int32))


def listed(folder):
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def stored(tmp_path):
    """The same table in all formats."""
    FRAME.write_parquet(tmp_path / "t.parquet")
    FRAME.write_ipc(tmp_path / "t.arrow")
    FRAME.write_ipc(tmp_path / "t.feather")
    FRAME.write_ipc_stream(tmp_path / "stream.bin")
    FRAME.write_csv(tmp_path / "t.csv")
    return tmp_path


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather", "stream.bin", "t.csv"])
@pytest.mark.parametrize("out", ["o.parquet", "o.arrow", "o.feather", "o.csv", "o.txt", "o"])
def test_every_format_into_every_format(stored, name, out):
    """Tests that the text of a table survives, whatever it is read from and written to."""
    table = read(stored / name)
    released = table.edited(Edit(table.columns, {"a": STAR}))
    write(released, stored / out)
    again = read(stored / out)
    assert texts(again).rows() == [("1", "1"), ("*", "2"), (None, "3")]
    assert not [name for name in listed(stored) if name.endswith(".part")]


def test_types_stay_in_parquet(stored):
    """Tests that a number column without changes stays one."""
    table = read(stored / "t.parquet")
    write(table.edited(Edit(table.columns, {"a": STAR})), stored / "o.parquet")
    assert pl.read_parquet(stored / "o.parquet").schema == FRAME.schema


def test_pipes(stored, monkeypatch, capfdbinary):
    """Tests that - reads and writes, Parquet told from CSV by its first bytes."""
    for name in ("t.csv", "t.parquet"):
        data = (stored / name).read_bytes()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        table = read("-")
        write(table.edited(Edit(table.columns)), "-")
        out = capfdbinary.readouterr().out
        assert out == data if name == "t.csv" else out.startswith(b"PAR1")


@pytest.mark.parametrize("data", [b"PAR1 SECRET", b"ARROW1 SECRET", b"\xff\xff\xff\xffSECRET"])
def test_refuses_broken_files(tmp_path, data):
    """Tests that a file that only starts like a format is refused without quoting it."""
    (tmp_path / "t").write_bytes(data)
    with pytest.raises(InputError, match="cannot be read as such") as caught:
        read(tmp_path / "t")
    assert "SECRET" not in str(caught.value)


def test_refuses_types_at_which_the_library_panics(tmp_path):
    """Tests a number of 256 bits, at which polars raises what is not an Exception."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather

    wide = pa.array([Decimal(1)], pa.decimal256(60, 2))
    feather.write_feather(
        pa.table({"a": wide}), str(tmp_path / "t.arrow"), compression="uncompressed"
    )
    with pytest.raises(InputError, match="a type that polars does not read"):
        read(tmp_path / "t.arrow")


def test_refuses_what_cannot_be_read(tmp_path):
    """Tests missing files (with the nearest name), folders and packed files."""
    (tmp_path / "people.csv").write_bytes(b"a\n1\n")
    with pytest.raises(InputError, match=r"no such file; did you mean .*people\.csv"):
        read(tmp_path / "poeple.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file there"):
        read(tmp_path / "empty")
    (tmp_path / "t.csv.gz").write_bytes(b"\x1f\x8b\x08rest")
    with pytest.raises(InputError, match="packed with gzip; unpack it first"):
        read(tmp_path / "t.csv.gz")


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("t.json", b'[{"a": 1}]', "is JSON, which is not read; save the table as CSV"),
        ("t.csv", b'\xef\xbb\xbf{"a": 1}\n{"a": 2}\n', "is JSON"),
        ("t.JSONL", b"[1, 2]\n[1, 2]\n", "is JSON"),
        ("t.rds", b"\x1f\x8b\x08rest", "is R's own format"),
        ("t.pkl", b"\x80\x05rest", "is a pickle"),
        ("t.xlsb", b"PK\x03\x04rest", r"workbooks are read as \.xlsx"),
    ],
)
def test_refuses_to_read_other_formats(tmp_path, name, data, told):
    """Tests that files of other programs are refused by what they are, and not read as CSV."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=told):
        read(tmp_path / name)


def test_headers_in_brackets_are_no_json(tmp_path):
    """Tests names of columns as SQL Server writes them."""
    (tmp_path / "t.csv").write_bytes(b"[a],[b]\n1,2\n")
    assert read(tmp_path / "t.csv").columns == ("[a]", "[b]")


@pytest.mark.parametrize("name", ["o.xls", "o.JSON", "o.csv.gz", "o.pdf", "o.parqet"])
def test_refuses_to_write_other_formats(tmp_path, name):
    """Tests that no CSV file comes to lie under the name of another format."""
    (tmp_path / "t.csv").write_bytes(b"a\n1\n")
    with pytest.raises(InputError, match=r"files are (not )?written") as refused:
        table = read(tmp_path / "t.csv")
        write(table.edited(Edit(table.columns)), tmp_path / name)
    assert ("write .xlsx" in str(refused.value)) == (name == "o.xls")
    assert listed(tmp_path) == ["t.csv"]


def test_whole_or_not_at_all(tmp_path):
    """Tests that an exception leaves the old file, and nothing else."""
    target = tmp_path / "o.csv"
    for old in (None, b"old"):
        if old:
            target.write_bytes(old)
        for error in (ValueError, KeyboardInterrupt, SystemExit):
            with pytest.raises(error), whole(target) as file:
                file.write(b"half of")
                raise error
        assert listed(tmp_path) == (["o.csv"] if old else [])
        assert not old or target.read_bytes() == old


def test_permissions(tmp_path):
    """Tests that a new file obeys the umask and a replaced one keeps its mode."""
    target = tmp_path / "o.csv"
    before = os.umask(0o027)
    try:
        with whole(target) as file:
            file.write(b"1")
        assert target.stat().st_mode & 0o777 == 0o640
        target.chmod(0o600)
        with whole(target) as file:
            file.write(b"2")
        assert target.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_a_link_stays_a_link(tmp_path):
    """Tests that writing through a symbolic link replaces what it points to."""
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with whole(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_places(tmp_path):
    """Tests that a place that cannot be written is refused, at once as well as at the end."""
    for place, part in ((tmp_path, "is a folder"), (tmp_path / "no" / "o.csv", "does not exist")):
        with pytest.raises(InputError, match=part):
            require_place(place)
        with pytest.raises(InputError, match=part), whole(place):
            pass
    require_place(tmp_path / "o.csv")
    require_place("-")
    assert listed(tmp_path) == []


def test_same_file(tmp_path):
    """Tests that links and detours are seen through, pipes and missing files are no files."""
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert same_file(tmp_path / "a", tmp_path / "b")
    assert not same_file("-", "-")
    assert not same_file(tmp_path / "a", tmp_path / "new")


def test_a_failed_check_keeps_the_file_away(stored):
    """Tests that what is read back decides."""
    table = read(stored / "t.csv")

    def refuse(written):
        raise ValueError(texts(written).height)

    with pytest.raises(ValueError, match="3"):
        write(table.edited(Edit(table.columns)), stored / "o.csv", refuse)
    assert not (stored / "o.csv").exists()


@given(tables())
def test_foreign_frames_as_csv(table):
    """Tests that a frame written as CSV reads back alike."""
    header, rows = table
    source = read_csv(csv_bytes(header, rows), "t.csv", ",")
    frame = files.from_native(source.native())
    spool = io.BytesIO()
    CSV.write(frame, spool, Form(","))
    again = read_csv(spool.getvalue(), "t.csv", ",")
    assert texts(again).equals(texts(source))


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("t.db", b"SQLite format 3\0" + bytes(90), "a database; name it by its address, sqlite:"),
        ("t.duckdb", bytes(8) + b"DUCK" + bytes(90), "a database; .* duckdb:///.*t.duckdb"),
        ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(90), "read as .xlsx or .ods"),
        ("t.xls", b"PK\x03\x04" + bytes(90), "read as .xlsx or .ods; save it"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16-le"), "without its mark; say --encoding utf-16-le"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16-be"), "without its mark; say --encoding utf-16-be"),
    ],
)
def test_files_that_are_read_in_another_way(
    tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    """Tests that the message says which."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=words):
        read(tmp_path / name)


def test_zeros_of_a_table_are_not_those_of_an_encoding(tmp_path: Path) -> None:
    """Tests that an encoding which is given counts, and that a NUL here and there is a cell's."""
    (tmp_path / "t.csv").write_bytes("a\nx\n".encode("utf-16-le"))
    assert read(tmp_path / "t.csv", encoding="utf-16-le").columns == ("a",)
    (tmp_path / "n.csv").write_bytes(b"a\n\0\n\0\n")
    assert read(tmp_path / "n.csv").rows == 2


def test_refuses_times_of_a_fixed_offset(tmp_path: Path) -> None:
    """Tests that the message says what to do of times that polars has no type for."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    table = pa.table({"a": pa.array([0], pa.timestamp("us", "+05:30"))})
    feather.write_feather(table, str(tmp_path / "t.arrow"), compression="uncompressed")
    parquet.write_table(table, tmp_path / "t.parquet")
    for name in ("t.arrow", "t.parquet"):
        with pytest.raises(InputError, match=r"a fixed offset, such as \+02:00; convert them"):
            read(tmp_path / name)
