"""Tests texts in the buffers of an Arrow release that no cell points to."""

import io
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from incrowd.checker.beside import notes_of
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


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("column", HIDING.values(), ids=HIDING)
def test_texts_that_no_cell_points_to_are_found(column: Any, stream: bool):
    assert notes_of(in_file(column, stream)) == "texts that no cell points to"


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
