"""What an Arrow file says of its own size, read before any of it is inflated.

Buffers may be compressed, and a column of nothing takes no byte however long it is.  Walked here
are the messages of a file or stream: tables of FlatBuffers (https://arrow.apache.org/docs/format).
"""

import struct
from collections.abc import Iterator
from typing import Any

from incrowd.checker.parquet import CELL, FOLD, INFLATED, SMALL
from incrowd.checker.rejection import require

DICTIONARY, RECORDS = 2, 3  # kinds of messages


def require_moderate(data: bytes, rows: int | None, name: str) -> None:
    """Reject a file that says it holds more than ``rows`` rows, or much more than they need.

    And one of which readers make different tables: a count of missing cells that is none.

    Raises
    ------
    IndexError, struct.error, ValueError: it is no Arrow file.
    """
    size = cells = held = 0
    for kind, batch, body in messages(data):
        if kind == DICTIONARY:
            batch = batch.table(1)
        length = batch.number(0, "<q")
        nodes = [struct.unpack_from("<qq", data, at) for at in batch.vector(1, 16)]
        fine = length >= 0 and all(0 <= missing <= cells for cells, missing in nodes)
        require(fine, f"{name} says a number of missing cells that is none")
        held += length if kind == RECORDS else 0
        cells += length + sum(length for length, _ in nodes)
        for at in batch.vector(2, 16):
            offset, width = struct.unpack_from("<qq", data, at)
            if not 0 <= offset <= offset + width <= len(data) - body:
                raise ValueError("a buffer is nowhere")
            whole = -1
            if width and batch.has(3):  # compressed: its size stands in front, -1 for as it is
                whole = struct.unpack_from("<q", data, body + offset)[0]
            size += max(whole, width)
    require(rows is None or held <= rows, f"{name} has more rows than the original")
    most = max(SMALL + CELL * held, FOLD * len(data))
    require(size <= most and cells <= most, f"{name} {INFLATED}")


def messages(data: bytes) -> Iterator[tuple[int, "Table", int]]:
    """Yield kind, header and the body's place of each message that holds cells."""
    for at in places(data):
        found = message(data, at)[0]
        if found[0] in (DICTIONARY, RECORDS):
            yield found


def places(data: bytes) -> Iterator[int]:
    """Yield where each message begins; of a file those that its end names, dictionaries first."""
    if data.startswith(b"ARROW1"):
        for field in (2, 3):
            for at in footer(data).vector(field, 24):
                yield struct.unpack_from("<q", data, at)[0]
        return
    at = 0
    while at + 8 <= len(data):
        if data[at : at + 8] == b"\xff" * 4 + bytes(4):
            return
        yield at
        at = message(data, at)[1]


def footer(data: bytes) -> "Table":
    """Return what a file says at its end: its columns, and where messages begin."""
    return root(data, len(data) - 10 - int.from_bytes(data[-10:-6], "little"))


def first(data: bytes) -> "Table":
    """Return the message of columns at the beginning; polars leaves out its size in files."""
    at = 8 * data.startswith(b"ARROW1")
    return root(data, at + 8 * (data[at : at + 4] == b"\xff" * 4))


def message(data: bytes, at: int) -> tuple[tuple[int, "Table", int], int]:
    """Return the message at a place, and where the next one begins."""
    if at < 0 or data[at : at + 4] != b"\xff" * 4:
        raise ValueError("no message")
    body = at + 8 + int.from_bytes(data[at + 4 : at + 8], "little")
    one = root(data, at + 8)
    end = body + one.number(3, "<q")
    if not at < body <= end <= len(data):
        raise ValueError("a message ends nowhere")
    return (one.number(1, "<B"), one.table(2), body), end


def root(data: bytes, at: int) -> "Table":
    """Return the table that begins at a place."""
    return Table(data, at + struct.unpack_from("<I", data, at)[0])


class Table:
    """A table of FlatBuffers: fields by number, each at an offset or left out."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]
        if at < 4 or self.fields < 0:
            raise ValueError("a table is nowhere")

    def place(self, field: int) -> int | None:
        """Return where a field stands; None where it is left out."""
        size = struct.unpack_from("<H", self.data, self.fields)[0]
        if 4 + 2 * field >= size:
            return None
        offset = struct.unpack_from("<H", self.data, self.fields + 4 + 2 * field)[0]
        return self.at + offset if offset else None

    def has(self, field: int) -> bool:
        """Whether a field is there."""
        return self.place(field) is not None

    def number(self, field: int, form: str) -> Any:
        """Return a number; 0 where it is left out."""
        at = self.place(field)
        return 0 if at is None else struct.unpack_from(form, self.data, at)[0]

    def table(self, field: int) -> "Table":
        """Return a table within this one."""
        at = self.place(field)
        if at is None:
            raise ValueError("a table is missing")
        return root(self.data, at)

    def vector(self, field: int, width: int) -> range:
        """Return the places of a vector's members."""
        at = self.place(field)
        if at is None:
            return range(0)
        start = at + struct.unpack_from("<I", self.data, at)[0]
        count = struct.unpack_from("<I", self.data, start)[0]
        if start + 4 + count * width > len(self.data):
            raise ValueError("a vector ends nowhere")
        return range(start + 4, start + 4 + count * width, width)
