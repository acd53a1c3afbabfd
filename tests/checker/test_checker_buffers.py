"""Tests what an Arrow release holds beside the cells that it shows."""

import io
import struct
from collections.abc import Callable
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from incrowd.checker import arrow
from incrowd.checker.beside import OTHER, TWICE, notes_of
from incrowd.checker.buffers import COUNT, GAP
from incrowd.tables.released import fresh

LONG = "a carpenter who is old"
JOBS = ["baker", None, "*", "a baker of small breads"] * 3


def in_file(column: Any, stream: bool = False, **how: Any) -> bytes:
    table, out = pa.table({"n": pa.array(range(len(column))), "job": column}), io.BytesIO()
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(out, table.schema, options=pa.ipc.IpcWriteOptions(**how)) as writer:
        writer.write_table(table)
    return out.getvalue()


def behind(kind: Any) -> pa.Array:
    """Return two cells with a text behind them."""
    plain = pa.array(["*", "*"], kind).buffers()
    text = pa.py_buffer(b"**" + LONG.encode())
    return pa.Array.from_buffers(kind, 2, [None, plain[1], text])


def in_views(views: bytes, *texts: bytes) -> pa.Array:
    buffers = [None, pa.py_buffer(views), *map(pa.py_buffer, texts)]
    return pa.Array.from_buffers(pa.string_view(), 1, buffers)


STAR = b"\1\0\0\0*"
HIDING = {
    "texts": behind(pa.string()),
    "long texts": behind(pa.large_string()),
    "a buffer of views": in_views(STAR + bytes(11), LONG.encode()),
    "the rest of a view": in_views(STAR + b"carpenter\0\0"),
    "a struct": pa.StructArray.from_arrays([behind(pa.string())], ["job"]),
    "a list": pa.ListArray.from_arrays([0, 1, 2], behind(pa.string())),
    "a dictionary": pa.DictionaryArray.from_arrays(
        pa.array([0, 1]), pa.concat_arrays([in_views(STAR + b"carpenter\0\0")] * 2)
    ),
}


CODECS = [None, "lz4", "zstd"]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("column", HIDING.values(), ids=HIDING)
def test_texts_that_no_cell_points_to_are_found(column: Any, stream: bool, codec: str | None):
    data = in_file(column, stream, compression=codec)
    assert notes_of(data) == "texts that no cell points to"


def masked(cells: pa.Array) -> pa.Array:
    """Return cells of which a mask hides every second one."""
    rest = cells.buffers()[1:]
    return pa.Array.from_buffers(cells.type, len(cells), [pa.py_buffer(b"\x55" * 2), *rest])


AGES = pa.array([34, 35, 36, 37])
UNDER = {
    "numbers": masked(AGES),
    "one number": masked(AGES[:2]),
    "of half precision": masked(pa.array([1.5, 2.5, 3.5, 4.5], pa.float16())),
    "dates": masked(AGES.cast(pa.int32()).cast(pa.date32())),
    "spans": masked(AGES.cast(pa.duration("us"))),
    "decimals": masked(AGES.cast(pa.decimal128(21, 0))),
    "truth values": masked(pa.array([False, True, False, True])),
    "bytes": masked(pa.array([b"ab", b"cd", b"ef", b"gh"], pa.binary(2))),
    "texts": masked(pa.array(["a", "b", "c", "d"])),
    "views": masked(pa.array(["a", "b", "c", "d"], pa.string_view())),
    "a list": pa.ListArray.from_arrays([0, 2, 4], masked(AGES)),
    "a struct": pa.StructArray.from_arrays([masked(AGES)], ["age"]),
    "a missing struct": pa.StructArray.from_arrays([AGES[:2]], ["a"], mask=pa.array([False, True])),
}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("column", UNDER.values(), ids=UNDER)
def test_values_under_missing_cells_are_found(column: Any, codec: str | None):
    assert notes_of(in_file(column, compression=codec)) == "values under missing cells"
    plain = pa.array(column.to_pylist(), column.type)
    assert notes_of(in_file(plain, compression=codec)) is None


def test_rows_that_a_slice_leaves_out_are_found():
    """Pyarrow writes truth values of all rows; of several messages they are the next one's."""
    column = pa.array([True, False, True] * 9)
    assert notes_of(in_file(column[:5])) == "buffers that are longer than its columns"
    for cells in (column, pa.array([None, 1] * 20), pa.array([LONG, "*"] * 20)):
        table, out = pa.table({"n": cells}), io.BytesIO()
        with pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table, max_chunksize=5)
        assert notes_of(out.getvalue()) is None


def test_notes_and_bytes_beside_messages_are_found():
    table, outs = pa.table({"job": JOBS}), [io.BytesIO() for _ in range(3)]
    with pa.ipc.new_file(outs[0], table.schema, metadata={"of a file": "x"}) as writer:
        writer.write_table(table)
    for out, make in zip(outs[1:], (pa.ipc.new_file, pa.ipc.new_stream), strict=True):
        with make(out, table.schema) as writer:
            writer.write_batch(table.to_batches()[0], custom_metadata={"of rows": "x"})
    assert [notes_of(out.getvalue()) for out in outs] == ["of a file", "of rows", "of rows"]
    stream, file = in_file(pa.array(JOBS), True), in_file(pa.array(JOBS))
    end = len(file) - 10 - int.from_bytes(file[-10:-6], "little")
    for data in (stream + b"baker", file[:end] + b"baker\0\0\0" + file[end:]):
        assert pl.read_ipc_stream(data).height if data[:1] == b"\xff" else pl.read_ipc(data).height
        assert notes_of(data) == "bytes between its messages"
    legacy = in_file(pa.array(JOBS), use_legacy_format=True)
    assert notes_of(legacy) == "parts of a form that is not looked into"


KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_what_pyarrow_writes_holds_no_more(kind: Any, stream: bool):
    plain = pa.array(JOBS).cast(kind)
    nested = pa.array([[job] for job in JOBS], pa.list_(pa.string()))
    for column in (plain, plain[:0], nested, pa.StructArray.from_arrays([plain], ["job"])):
        assert notes_of(in_file(column, stream)) is None


def test_what_is_released_holds_no_more():
    for kind in (pl.String, pl.Categorical, pl.Enum([str(job) for job in set(JOBS)])):
        jobs = pl.Series("job", JOBS).cast(kind)
        nested = [jobs.to_frame().to_struct("job"), jobs.reshape((-1, 2)), jobs.implode()]
        for series in (jobs, jobs[2:7], jobs.gather([0, 3, 3]), jobs.clear(), *nested):
            for write in ("write_ipc", "write_ipc_stream"):
                out = io.BytesIO()
                getattr(fresh(series).to_frame(), write)(out)
                assert notes_of(out.getvalue()) is None
    long = pl.Series("job", [f"{LONG} {n % 7}" for n in range(3_000)])
    out = io.BytesIO()
    fresh(long[5:2_999]).to_frame().write_ipc(out)
    assert notes_of(out.getvalue()) is None


@pytest.mark.parametrize("oldest", [False, True])
@pytest.mark.parametrize(
    "kind", [pl.Int64, pl.String, pl.Boolean, pl.Date, pl.List(pl.String)], ids=str
)
def test_what_polars_makes_of_parquet_holds_no_more(kind: Any, oldest: bool):
    """Tests that it may leave the next cell's value under a missing one, and nothing else."""
    numbers = [5, None, 9, 5, None, 7, None]
    if kind == pl.List(pl.String):
        cells = pl.Series("a", [[None if n is None else f"town{n}", "b"] for n in numbers])
    else:
        cells = pl.Series("a", numbers).cast(kind)
    parquet, out = io.BytesIO(), io.BytesIO()
    cells.to_frame().write_parquet(parquet)
    parquet.seek(0)
    level = pl.CompatLevel.oldest() if oldest else pl.CompatLevel.newest()
    pl.read_parquet(parquet).write_ipc(out, compat_level=level)
    assert notes_of(out.getvalue()) is None


@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.string_view()], ids=str)
@pytest.mark.parametrize(
    ("under", "fine"), [((9, 7), True), ((9, 9), False), ((5, 7), False), ((9, 8), False)]
)
def test_the_next_value_under_a_missing_cell(kind: Any, under: tuple[int, int], fine: bool):
    """Tests values of cells that are shown, of which one is that of a later row, or an earlier."""
    numbers = [5, under[0], 9, under[1], 7]
    whole = pa.array(numbers) if kind == pa.int64() else pa.array([*map(str, numbers)]).cast(kind)
    held = pa.py_buffer(bytes([0b10101]))
    cells = pa.Array.from_buffers(kind, 5, [held, *whole.buffers()[1:]])
    assert (notes_of(in_file(cells)) is None) == fine


def batch_of(data: bytes) -> arrow.Table:
    return next(batch for kind, batch, _ in arrow.messages(data) if kind == arrow.RECORDS)


def miscounted(data: bytearray) -> None:
    """Say that one cell more is missing: pyarrow hands that on, and a reader of it shows others."""
    at = batch_of(bytes(data)).vector(1, 16)[1] + 8
    struct.pack_into("<q", data, at, struct.unpack_from("<q", data, at)[0] + 1)


def shorter(data: bytearray) -> None:
    """Say that a message has a row less than its columns: some readers show none of the last."""
    batch = batch_of(bytes(data))
    struct.pack_into("<q", data, batch.place(0) or 0, batch.number(0, "<q") - 1)


def renamed(data: bytearray) -> None:
    """Name another column at the beginning: who reads a file as a stream shows that."""
    at = data.index(b"job\0")
    data[at : at + 3] = b"age"


def unnamed(data: bytearray) -> None:
    """Name the second message at the end in place of the first, whose rows no reader shows."""
    places = arrow.footer(bytes(data)).vector(3, 24)
    data[places[0] : places[1]] = data[places[1] : places[1] + 24]


FORGED = [(miscounted, COUNT), (shorter, OTHER), (renamed, TWICE), (unnamed, GAP)]


@pytest.mark.parametrize(("forge", "note"), FORGED, ids=[f.__name__ for f, _ in FORGED])
def test_what_readers_take_for_several_tables(forge: Callable[[bytearray], None], note: str):
    table, out = pa.table({"n": range(4), "job": [None, "*", "*", None]}), io.BytesIO()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    data = bytearray(out.getvalue())
    assert notes_of(bytes(data)) is None
    forge(data)
    assert pl.read_ipc(io.BytesIO(bytes(data))).width == 2
    assert notes_of(bytes(data)) == note


def test_buffers_that_are_damaged():
    """Tests that what polars says of an LZ4 frame by an OSError is no end of the run."""
    column = pa.array(JOBS).dictionary_encode()
    data = bytearray(in_file(column, compression="lz4"))
    at = data.index(b"\x04\x22\x4d\x18")
    data[at + 5] = 0
    assert notes_of(bytes(data)) == OTHER
