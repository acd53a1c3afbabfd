"""Tests what a Parquet file says of cells that it does not show, with a proof and without."""

import base64
import io
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parquet_forger import BINARY, I32, I64, LIST, STRUCT, Fields, with_footer

import incrowd as ic
from incrowd.checker.beside import notes_of
from incrowd.checker.files import read_table
from incrowd.checker.parquet import footer, pages
from incrowd.checker.rejection import RejectedError
from incrowd.checker.unchanged import has_one_form

SHOWN = pl.DataFrame({"age": [34, 34, 36, 36], "job": ["baker", "baker", "*", "*"]})
ORIGINAL = SHOWN.with_columns(job=pl.Series(["baker", "baker", "cook", "dean"]))


def written(table: pl.DataFrame, **how: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table.to_arrow(compat_level=pl.CompatLevel.oldest()), out, **how)
    return out.getvalue()


def chunk(facts: Fields, column: int) -> Any:
    return facts[4][1][1][0][1][1][1][column]


def said(column: int, number: int, value: tuple[int, Any]) -> Callable[[Fields], None]:
    def change(facts: Fields) -> None:
        chunk(facts, column)[3][1][12][1][number] = value

    return change


def filtered(facts: Fields) -> None:
    chunk(facts, 1)[3][1][14] = (I64, 4)


LIES = {
    "a greatest text": said(1, 5, (BINARY, b"dean")),
    "a least text": said(1, 2, (BINARY, b"a")),
    "a greatest number": said(0, 5, (BINARY, (57).to_bytes(8, "little"))),
    "missing cells": said(0, 3, (I64, 1)),
    "different cells": said(0, 4, (I64, 3)),
    "a filter": filtered,
}


def schema(value: bytes) -> Callable[[Fields], None]:
    def change(facts: Fields) -> None:
        pair = {1: (BINARY, b"ARROW:schema"), 2: (BINARY, value)}
        facts[5] = LIST, (STRUCT, [pair])

    return change


def sized(number: int, value: tuple[int, Any]) -> Callable[[Fields], None]:
    def change(facts: Fields) -> None:
        chunk(facts, 1)[3][1][16][1][number] = value

    return change


TYPES = pa.schema([("age", pa.int64()), ("job", pa.large_string())]).serialize().to_pybytes()
LIES["words behind a schema"] = schema(base64.b64encode(TYPES + b"dean"))
LIES |= {
    "bytes of texts": sized(1, (I64, 17)),
    "missing ones by depth": sized(3, (LIST, (I64, [1, 3]))),
    "an index that is none": lambda facts: chunk(facts, 1).update({6: (I64, 5), 7: (I32, 3)}),
}
NOTES = {
    "pandas": json.dumps({"columns": [], "attributes": {"third": "dean"}}),
    "org.apache.spark.version": "the third one is dean",
}


@pytest.mark.parametrize("name", NOTES)
def test_notes_that_say_more_than_their_names(name: str) -> None:
    """Tests pandas' own attributes of a frame, and words in the place of a version."""
    table, out = pa.table({"job": ["baker", "*"]}), io.BytesIO()
    noted = table.replace_schema_metadata({name: NOTES[name]})
    with pa.ipc.new_file(out, noted.schema) as writer:
        writer.write_table(noted)
    plain = io.BytesIO()
    pq.write_table(noted, plain)
    for data in (out.getvalue(), plain.getvalue()):
        assert notes_of(data) == name
    field = pa.field("job", pa.string(), metadata={"_PL_ENUM_VALUES2": "4;dean"})
    assert notes_of(written_as(table.cast(pa.schema([field])))) == "_PL_ENUM_VALUES2"
    frame = pl.DataFrame({"job": pl.Series(["a"], dtype=pl.Enum(["a"]))}).with_row_index()
    assert notes_of(written(frame.with_columns(c=pl.col("job").cast(pl.Categorical)))) is None


def test_a_file_by_duckdb(tmp_path: Path) -> None:
    """Tests that one passes without filters, but not with the words that its column could hold."""
    duckdb = pytest.importorskip("duckdb")
    con, place = duckdb.connect(), tmp_path / "release.parquet"
    con.execute("create table t as select i % 7 as age, 'job ' || i % 5 as job from range(99) r(i)")
    con.execute("alter table t add column kind enum('shown', 'hidden') default 'shown'")
    for columns, how, note in (
        ("age, job", "write_bloom_filter false", None),
        ("age, job", "compression snappy", "filter"),
        ("kind", "write_bloom_filter false", "more values"),
    ):
        con.execute(f"copy (select {columns} from t) to '{place}' (format parquet, {how})")
        try:
            read_table(place.read_bytes(), {}, released=True)
            assert note is None
        except RejectedError as no:
            assert note and note in str(no)


def test_dates_of_64_bits_and_maps(tmp_path: Path) -> None:
    """Tests columns that polars reads as another type than that of the file's statistics."""
    days = pa.array([date(2020, 1, n + 1) for n in range(4)], pa.date64())
    for zero, fine in ((0.0, True), (-0.0, False)):
        cells = [[("of a doctor", 0.0)], None, [("of a nurse", zero)], [("of a nurse", 1.5)]]
        maps = pa.array(cells, pa.map_(pa.string(), pa.float64()))
        table = pa.table({"age": [34] * 4, "day": days, "visits": maps})
        files = [tmp_path / "release.parquet", tmp_path / "release.arrow"]
        files[0].write_bytes(written_as(table))
        with pa.ipc.new_file(files[1], table.schema) as writer:
            writer.write_table(table)
        for file in files:
            assert has_one_form(read_table(file.read_bytes(), {}, released=True)["=visits"]) == fine
            other = tmp_path / f"original{file.suffix}"
            other.write_bytes(file.read_bytes())
            asked: dict[str, Any] = {"k": 2, "qi": ["age"], "keep": ["day", "visits"]}
            assert ic.verify(file, other, **asked)


def written_as(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def judged(data: bytes, folder: Path) -> list[str]:
    """Return why a file is refused: by the checker, and without a proof."""
    found = []
    try:
        read_table(data, {}, released=True)
    except RejectedError as no:
        found.append(str(no))
    release, original = folder / "release.parquet", folder / "original.parquet"
    release.write_bytes(data)
    ORIGINAL.write_parquet(original)
    asked: dict[str, Any] = {"k": 2, "qi": ["age", "job"]}
    return found + list(ic.verify(release, original, **asked).reasons)


@pytest.mark.parametrize("name", LIES)
def test_what_no_cell_shows(name: str, tmp_path: Path) -> None:
    """Tests values, counts and filters that a program left as they were."""
    plain = written(SHOWN)
    assert judged(plain, tmp_path) == []
    reasons = judged(with_footer(plain, LIES[name]), tmp_path)
    assert len(reasons) == 2 and all("more" in reason for reason in reasons)
    assert not any("dean" in reason for reason in reasons)


def test_indexes_and_headers_of_pages(tmp_path: Path) -> None:
    """Tests the least and greatest values of pages: a hidden one of as many letters as a star."""
    for how in ({"write_page_index": True}, {"data_page_version": "2.0", "write_page_index": True}):
        data = written(SHOWN, use_dictionary=False, compression="none", **how)
        assert judged(data, tmp_path) == []
        length = int.from_bytes(data[-8:-4], "little")
        facts: list[Any] = []
        with_footer(data, facts.append)
        begin = chunk(facts[0], 1)[6][1]
        index = data[begin : len(data) - 8 - length]
        assert b"baker" in index
        lie = data[:begin] + index.replace(b"baker", b"cooks") + data[len(data) - 8 - length :]
        assert len(judged(lie, tmp_path)) == 2
        begin = chunk(facts[0], 0)[6][1]
        counts = bytes([5 << 4 | 9, 1 << 4 | 6, 0])  # one page, of which no cell is missing
        at = data.index(counts[1:], begin)
        lie = data[: at + 1] + b"\2" + data[at + 2 :]
        assert len(judged(lie, tmp_path)) == 2


def test_bytes_of_no_page(tmp_path: Path) -> None:
    """Tests bytes before the footer that nothing speaks of; zeros there say nothing."""
    data = written(SHOWN)
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    assert len(judged(data[:end] + b"row 4: dean" + data[end:], tmp_path)) == 2
    assert judged(data[:end] + bytes(16) + data[end:], tmp_path) == []


def test_levels_of_cells() -> None:
    """Tests cells that are all there by their page's header, and missing by what it holds of each.

    Polars shows them, and pyarrow shows none.
    """
    how: dict[str, Any] = {"data_page_version": "2.0", "write_statistics": False}
    some = [pl.Series(["*", None, None] * 40), pl.Series(["*"] * 30 + [None] * 30 + ["*", None])]
    for column in some:
        data = written(pl.DataFrame({"x": column}), **how)
        assert read_table(data, {}, released=True)["=x"].equals(column)
    data = written(pl.DataFrame({"x": ["*", "*", "*"]}), **how)
    *_, (_, _, head, place) = pages(data, footer(data)[4][0][1][0][3])
    assert (head[2], head[5], head[6]) == (0, 2, 0)
    lie = data[: place.start + 1] + b"\0" + data[place.start + 2 :]
    assert pl.read_parquet(io.BytesIO(lie))["x"].to_list() == ["*"] * 3
    assert pq.read_table(io.BytesIO(lie))["x"].to_pylist() == [None] * 3
    with pytest.raises(RejectedError, match="more values"):
        read_table(lie, {}, released=True)


KINDS: dict[str, pl.Series] = {
    "long texts": pl.Series(["b" * 99, "zz" * 50, None, "ü" * 70, "\U0010ffff" * 30]),
    "bytes": pl.Series([b"\xff\xff" * 40, b"\0a", b""]),
    "zeros": pl.Series([0.0, 1.5, float("nan"), None]),
    "small floats": pl.Series([0.0, -1.5, None], dtype=pl.Float32),
    "wide": pl.Series([2**63, 2**64 - 1], dtype=pl.UInt64),
    "narrow": pl.Series([-3, 3, None], dtype=pl.Int8),
    "truth": pl.Series([True, False, None]),
    "times": pl.Series([-5_000_000, 7_000_000]).cast(pl.Datetime("us")),
    "time of day": pl.Series([5_000_000_000, 0]).cast(pl.Time),
    "decimals": pl.Series(["-9.99", "3.00"]).cast(pl.Decimal(9, 2)),
    "categories": pl.Series(["b", "a"]).cast(pl.Categorical),
    "lists": pl.Series([[1, 2], [], None, [3]]),
    "structs": pl.Series([{"a": 1, "b": "x"}, {"a": 2, "b": None}]),
    "nothing": pl.Series([None, None]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_true_ones_are_fine(kind: str) -> None:
    """Tests what polars and pyarrow write, of a table, of groups of rows, and of none."""
    for table in (pl.DataFrame({"x": KINDS[kind]}), pl.DataFrame({"x": KINDS[kind][:0]})):
        files = []
        for statistics in (True, "full"):
            out = io.BytesIO()
            table.write_parquet(out, statistics=statistics, row_group_size=2)  # type: ignore[arg-type]
            files.append(out.getvalue())
        for version in ("1.0", "2.0"):
            how = {"data_page_version": version, "row_group_size": 2, "write_page_index": True}
            try:
                files.append(written(table, **how))
            except pa.ArrowNotImplementedError:
                continue
        for data in files:
            assert read_table(data, {}, released=True).height == table.height
