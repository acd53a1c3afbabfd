"""Byte kernels for delimited text: find the fields, number the values, write the release.

The bytes of a cell that does not change are copied from the input, quotes and all, so that a
release differs from its original in the changed cells alone (but see ``spelling.py``).
"""

from typing import Any

import numpy as np

from incrowd.kernels.arrays import longer
from incrowd.kernels.jit import kernel

QUOTE = np.uint8(ord('"'))
CR = np.uint8(ord("\r"))
LF = np.uint8(ord("\n"))

FINE, RAGGED, UNCLOSED, AFTER_QUOTE, BLANK, WIDE = range(6)
PLAIN, ODD, NEEDLESS = 1, 2, 4  # ways to write a field


@kernel
def count_bytes(data: Any, a: int, b: int) -> tuple[int, int]:
    """Count two byte values in ``data`` (uint8)."""
    first = 0
    second = 0
    for byte in data:
        if byte == a:
            first += 1
        elif byte == b:
            second += 1
    return first, second


@kernel
def field_end(data: Any, i: int, delimiter: int, newline: int) -> tuple[int, int, int]:
    """Scan one field from ``i``.

    Returns the position of the byte that ends it (or ``len(data)``), the number of line breaks
    inside it, and a verdict.  A quoted field ends behind its closing quote.
    """
    n = len(data)
    lines = 0
    if data[i] != QUOTE:
        while i < n and data[i] != delimiter and data[i] != newline:
            i += 1
        return i, lines, FINE
    i += 1
    while i < n:
        if data[i] == QUOTE:
            if i + 1 < n and data[i + 1] == QUOTE:
                i += 1
            else:
                i += 1
                if i == n or data[i] == delimiter or data[i] == newline:
                    return i, lines, FINE
                if data[i] == CR and i + 1 < n and data[i + 1] == newline:
                    return i, lines, FINE
                return i, lines, AFTER_QUOTE
        else:
            if data[i] == newline:
                lines += 1
            i += 1
            continue
        i += 1
    return i, lines, UNCLOSED


@kernel
def scan(
    data: Any, begin: int, delimiter: int, newline: int, widest: int, starts: Any, ends: Any
) -> tuple[int, int, int, int, int]:
    """Find all fields.

    Parameters
    ----------
    data: uint8; ``begin``: first byte behind a byte order mark.
    widest: what an element of ``ends`` can hold; a longer record is the verdict WIDE.
    starts: int64, filled: where each record starts.
    ends: unsigned, filled, field by field: where it ends, counted from the record's start.  A
        field that is not the first of its record starts one byte behind the end of the one before.

    Returns
    -------
    records, fields per record (of the first one), verdict, line of the trouble, fields found there
    """
    n = len(data)
    i = begin
    records = 0
    width = 0
    out = 0
    line = 1
    blank = 0
    end = begin
    while i < n:
        starts[records] = i
        first_line = line
        found = 0
        more = True
        while more:
            if i == n:  # a delimiter was the last byte: one more, empty field
                end = n
                verdict = FINE
            else:
                end, lines, verdict = field_end(data, i, delimiter, newline)
                if verdict != FINE:
                    return records, width, verdict, line if verdict == UNCLOSED else line + lines, 0
                line += lines
            begins = i
            i = end
            more = False
            if i < n:
                if data[i] == delimiter:
                    more = True
                elif data[i] == CR and newline == LF:  # behind a closing quote
                    i += 1
                elif newline == LF and i > begins and data[i - 1] == CR:
                    end -= 1
                i += 1
            if end - starts[records] > widest:
                return records, width, WIDE, line, 0
            if out < len(ends):
                ends[out] = end - starts[records]
            out += 1
            found += 1
        line += 1
        if found == 1 and end <= starts[records] and width != 1:
            if width == 0:
                return records, width, BLANK, first_line, 0
            out -= 1
            if blank == 0:
                blank = first_line
            continue
        if blank > 0:
            return records, width, BLANK, blank, 0
        if width == 0:
            width = found
        if found != width:
            return records, width, RAGGED, first_line, found
        records += 1
    return records, width, FINE, 0, 0


@kernel
def hash_bytes(data: Any, start: int, end: int) -> Any:
    """FNV-1a, 64 bits, with a final mix (the table uses the low bits)."""
    h = np.uint64(14695981039346656037)
    for i in range(start, end):
        h = (h ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return h ^ (h >> np.uint64(29))


@kernel
def same_bytes(data: Any, a: int, a_end: int, other: Any, b: int, b_end: int) -> bool:
    """Whether slices of two files hold the same bytes."""
    if a_end - a != b_end - b:
        return False
    for i in range(a_end - a):
        if data[a + i] != other[b + i]:
            return False
    return True


@kernel
def field(starts: Any, ends: Any, record: Any, column: int) -> tuple[int, int]:
    """Where a field starts and ends."""
    start = starts[record]
    begin = start if column == 0 else start + np.int64(ends[record, column - 1]) + 1
    return begin, start + np.int64(ends[record, column])


@kernel
def ways(data: Any, starts: Any, ends: Any, column: int, delimiter: int, newline: int) -> int:
    """Return in which ways the fields of a column are written, as a sum of flags.

    PLAIN: some have no quotes around, ODD: though they hold a quote or a line break inside,
    NEEDLESS: some have quotes around though they might do without.
    """
    found = 0
    for r in range(len(starts)):
        begin, end = field(starts, ends, r, column)
        if begin == end:  # missing, which is written in one way
            continue
        if data[begin] != QUOTE:
            found |= PLAIN
            for i in range(begin, end):
                if data[i] == QUOTE or data[i] == CR or data[i] == LF:
                    found |= ODD
        elif end - begin > 2 and data[begin + 1] != QUOTE:
            needed = False
            for i in range(begin + 1, end - 1):
                needed |= data[i] == delimiter or data[i] == newline
            if not needed:
                found |= NEEDLESS
        if found == PLAIN | ODD | NEEDLESS:
            break
    return found


@kernel
def same_fields(
    data: Any,
    starts: Any,
    ends: Any,
    column: int,
    order: Any,
    other: Any,
    other_starts: Any,
    other_ends: Any,
    other_column: int,
) -> bool:
    """Whether fields of the records ``order`` (int64) are those of another file, byte for byte."""
    for r in range(len(order)):
        a, a_end = field(starts, ends, order[r], column)
        b, b_end = field(other_starts, other_ends, r, other_column)
        if not same_bytes(data, a, a_end, other, b, b_end):
            return False
    return True


@kernel
def number_values(data: Any, starts: Any, ends: Any, column: int, codes: Any) -> Any:
    """Number the distinct fields of a column by first appearance.

    Fills ``codes`` (int32, shape (rows,)); returns int64, shape (values,): a row of each code.
    """
    size = 1024
    slot = np.full(size, -1, np.int32)
    hashes = np.empty(size // 2, np.uint64)
    first = np.empty(size // 2, np.int64)
    distinct = 0
    for r in range(len(starts)):
        if 2 * distinct >= size:
            size *= 4
            slot = np.full(size, -1, np.int32)
            hashes = longer(hashes, size // 2)
            first = longer(first, size // 2)
            for code in range(distinct):
                at = np.int64(hashes[code] & np.uint64(size - 1))
                while slot[at] >= 0:
                    at = (at + 1) & (size - 1)
                slot[at] = code
        begin, end = field(starts, ends, r, column)
        h = hash_bytes(data, begin, end)
        at = np.int64(h & np.uint64(size - 1))
        while True:
            code = slot[at]
            if code < 0:
                slot[at] = distinct
                hashes[distinct] = h
                first[distinct] = r
                codes[r] = distinct
                distinct += 1
                break
            if hashes[code] == h:
                a, a_end = field(starts, ends, first[code], column)
                if same_bytes(data, begin, end, data, a, a_end):
                    codes[r] = code
                    break
            at = (at + 1) & (size - 1)
    return first[:distinct].copy()


@kernel
def assemble(
    data: Any,
    starts: Any,
    ends: Any,
    columns: Any,
    order: Any,
    ids: Any,
    pool: Any,
    offsets: Any,
    delimiter: int,
    newline: Any,
    out: Any,
) -> int:
    """Write released records into ``out`` (uint8); return their size in bytes.

    With an ``out`` too small nothing is written beyond it, so a first call with an empty array
    only measures.

    Parameters
    ----------
    starts, ends: as ``scan`` fills them, ``ends`` of shape (records, fields).
    columns: int64: fields to write, in order.
    order: int64: records to write, in order.
    ids: int32, shape (columns, len(order)): text in ``pool`` that replaces a field, −1 for none;
        text t is ``pool[offsets[t]:offsets[t + 1]]``.
    newline: uint8: the bytes that end a record.
    """
    room = len(out)
    size = 0
    for place in range(len(order)):
        record = order[place]
        for c in range(len(columns)):
            column = columns[c]
            text = ids[c, place]
            if text >= 0:
                source = pool
                begin = offsets[text]
                length = offsets[text + 1] - begin
            else:
                source = data
                begin, end = field(starts, ends, record, column)
                length = end - begin
            if size + length <= room:
                for i in range(length):
                    out[size + i] = source[begin + i]
            size += length
            if c + 1 < len(columns):
                if size < room:
                    out[size] = delimiter
                size += 1
        for byte in newline:
            if size < room:
                out[size] = byte
            size += 1
    return size
