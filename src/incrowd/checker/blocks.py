"""Compressed buffers of an Arrow file as they are.

The standard library knows neither LZ4 nor Zstandard, polars does: it is given each buffer as the
only column of a file of bytes.
"""

import io
import struct
from functools import cache
from typing import Literal

import numpy as np
import polars as pl

from incrowd.checker import arrow

AS_IT_IS = -1  # the size that says so, in front of a buffer
CODECS: tuple[Literal["lz4", "zstd"], ...] = ("lz4", "zstd")


def inflated(data: bytes, codec: int) -> bytes:
    """Return what a compressed buffer holds; ``codec``: its number in Arrow's format.

    Raises
    ------
    IndexError, struct.error, ValueError: it holds nothing that can be read.
    """
    if not data:
        return data
    (size,) = struct.unpack_from("<q", data)
    if size == AS_IT_IS:
        return data[8:]
    file, length, nodes, buffers, whole, body = _empty(codec)
    head = bytearray(file[:body])
    for at, number in (
        (length, size),
        (nodes, size),
        (nodes + 8, 0),
        (whole, -(-len(data) // 8) * 8),
    ):
        struct.pack_into("<q", head, at, number)
    struct.pack_into("<4q", head, buffers, 0, 0, 0, len(data))
    rest = bytes(-len(data) % 8)
    try:
        cells = pl.read_ipc_stream(io.BytesIO(bytes(head) + data + rest)).to_series()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise ValueError("damaged") from None
    return cells.to_numpy().tobytes()


@cache
def _empty(codec: int) -> tuple[bytes, int, int, int, int, int]:
    """Return a stream of a byte, the places where it says sizes, and that of its body."""
    out = io.BytesIO()
    cells = pl.DataFrame({"": pl.Series(np.zeros(1, np.uint8))})
    cells.write_ipc_stream(out, compression=CODECS[codec])
    data = out.getvalue()
    at = arrow.message(data, 0)[1]
    one, (_, batch, body) = arrow.root(data, at + 8), arrow.message(data, at)[0]
    places = batch.place(0), batch.vector(1, 16)[0], batch.vector(2, 16)[0], one.place(3)
    length, nodes, buffers, whole = (place or 0 for place in places)
    return data, length, nodes, buffers, whole, body
