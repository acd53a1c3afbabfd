"""Tests of damaged Arrow files: an error in place of the end of the process."""

import io
import itertools
import random
import struct
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from incrowd.checker.arrow import DICTIONARY, messages
from incrowd.errors import InputError
from incrowd.tables.arrow_file import require_whole
from incrowd.tables.files import read

pa = pytest.importorskip("pyarrow")

ROWS = 210
TABLES = {
    "plain": pa.table(
        {
            "text": pa.array([f"v{i % 7}" for i in range(ROWS)]),
            "named": pa.array([f"v{i % 7}" for i in range(ROWS)]).dictionary_encode(),
            "holes": pa.array([i if i % 5 else None for i in range(ROWS)]),
            "view": pa.array([f"a text that is long {i}" for i in range(ROWS)], pa.string_view()),
            "list": pa.array([[{"x": i}] for i in range(ROWS)]),
        }
    ),
    "alike": pa.table({"a": pa.array([0] * 300_000), "b": pa.nulls(300_000)}),
    "rows": pa.table({"a": pa.array([], pa.string())}),
    "columns": pa.table({}),
}


def written(table: Any, form: str, packed: str | None, batch: int = 100) -> bytes:
    """A file or stream of a table."""
    data = io.BytesIO()
    make = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
    options = pa.ipc.IpcWriteOptions(compression=packed)
    with make(data, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=batch)
    return data.getvalue()


def numbers_in(data: bytes, packed: bool) -> list[int]:
    """Where the places and sizes of buffers stand."""
    places = []
    for kind, batch, body in messages(data):
        held = batch.table(1) if kind == DICTIONARY else batch
        for at in held.vector(2, 16):
            offset, width = struct.unpack_from("<qq", data, at)
            places += [at, at + 8, *([body + offset] if width and packed else [])]
    return places


@pytest.mark.parametrize("name", TABLES)
def test_files_that_are_whole(name: str) -> None:
    """Tests that what pyarrow and polars write is taken, however it is packed."""
    table = TABLES[name]
    ways = itertools.product(("file", "stream"), (None, "lz4", "zstd"), (100, 1 << 20))
    for form, packed, batch in ways:
        require_whole(written(table, form, packed, batch))
    if not table.num_columns:
        return
    frame = pl.DataFrame(pl.from_arrow(table))
    for level in (pl.CompatLevel.oldest(), pl.CompatLevel.newest()):
        for packed in ("uncompressed", "lz4", "zstd"):
            file, stream = io.BytesIO(), io.BytesIO()
            frame.write_ipc(file, compression=packed, compat_level=level)
            frame.write_ipc_stream(stream, compression=packed, compat_level=level)
            require_whole(file.getvalue())
            require_whole(stream.getvalue())


def test_old_files_are_read(tmp_path: Path) -> None:
    """Tests files of the years before 2019, whose messages begin in another way."""
    options = pa.ipc.IpcWriteOptions(use_legacy_format=True)
    table = TABLES["plain"].select(["text", "named", "holes"])
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema, options=options) as writer:
        writer.write_table(table)
    assert read(tmp_path / "t.arrow").rows == ROWS


@pytest.mark.parametrize("packed", [None, "lz4", "zstd"])
@pytest.mark.parametrize("form", ["file", "stream"])
def test_sizes_beyond_the_file(tmp_path: Path, form: str, packed: str | None) -> None:
    """Tests that a size which the file cannot have is refused: polars would end the process."""
    data = written(TABLES["plain"], form, packed)
    rng = random.Random(0)
    for at in rng.sample(numbers_in(data, packed is not None), 40):
        broken = bytearray(data)
        struct.pack_into("<q", broken, at, rng.choice([2**61, 2**40, -(2**60)]))
        (tmp_path / "t").write_bytes(broken)
        with pytest.raises(InputError, match="it is broken"):
            read(tmp_path / "t")
