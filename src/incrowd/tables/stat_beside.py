"""What a file of SPSS, Stata or SAS holds beside its table, and the library does not show.

SPSS: attributes of the file and its variables, records of unknown kinds.  Stata: characteristics.
All: bytes behind rows and texts.
Programs keep there what they like, and leave it as it is where cells are hidden.
Formats: https://www.gnu.org/software/pspp/pspp-dev/html_node/System-File-Format.html and Stata's
manual, *File formats .dta*.

And whether such a file holds more than its rows, and its texts more than their cells.

A program that hides cells may write fewer rows, or a shorter text, over what was there.  The
library reads as many rows as the file says, and each text up to its first zero byte.
"""

import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

VARIABLE, LABELS, LABELLED, MORE, END = 2, 3, 4, 7, 999
HEADER = 176
KNOWN = {3, 4, 6, 8, 10, 11, 12, 13, 14, 16, 20, 21, 22, 24}
"""Further records: of how numbers, texts and variables are written and look."""
OF_FILE, OF_VARIABLES = 17, 18
# SPSS's own attributes, such as the role that a variable has in its dialogs
OWN = rb"\$[\w@.$]+(?:\[\d+\])?\((?:'[\w-]{0,40}'\n)+\)"
ATTRIBUTES = {
    OF_FILE: re.compile(rb"(?:%b)*" % OWN),
    OF_VARIABLES: re.compile(rb"(?:[^:/()\n]+:(?:%b)+/?)*" % OWN),
}
OLD = {113: 12, 114: 49, 115: 49}
"""Versions of Stata's files before 2013, and how long a format is there."""
BROKEN = (IndexError, struct.error, ValueError, zlib.error)


PADDING, ENDED, PLAIN = 0, 252, 253
"""Codes of packed rows of SPSS: for nothing, the end, a cell that stands behind its block."""
BLOCK = 8  # codes; also bytes of a cell
LONG, LONGEST = 32768, 2045
NUMBERS = {65526: 8, 65527: 4, 65528: 4, 65529: 2, 65530: 1, LONG: 8}
OLD_NUMBERS = {255: 8, 254: 4, 253: 4, 252: 2, 251: 1}
LONG_TEXT = b"GSO"
LINE, DESCRIBED = 80, 140  # bytes of a line of a SAS transport file, and of a variable's entry
VARIABLES = re.compile(rb"HEADER RECORD\*{7}(?:NAMESTR|NAMSTV8) HEADER RECORD!{7}0{6}(\d{4})")
ROWS = re.compile(rb"HEADER RECORD\*{7}(?:OBS  |OBSV8)")
Bytes = NDArray[np.uint8]


def more_than_spss(data: bytes, at: int, order: str, cells: int) -> bool:
    """Whether bytes stand behind so many cells of eight bytes, which begin at a place.

    Raises
    ------
    IndexError, struct.error, ValueError, zlib.error: the file is damaged.
    """
    packing = struct.unpack_from(f"{order}i", data, 72)[0]
    if packing == 0:
        return len(data) != at + BLOCK * cells
    if packing == 1:
        return _behind_codes(data, at, cells)
    return _behind_codes(b"".join(_blocks(data, at, order)), 0, cells)


def _behind_codes(data: bytes, at: int, cells: int) -> bool:
    while cells > 0:
        codes = data[at : at + BLOCK]
        if len(codes) < BLOCK:
            raise ValueError("there are fewer cells")
        if cells < BLOCK or PADDING in codes:
            shown = codes.replace(bytes([PADDING]), b"")
            if shown[cells:].strip(bytes([ENDED])):
                return True
            codes = shown[:cells]
        at += BLOCK + BLOCK * codes.count(PLAIN)
        cells -= len(codes)
    return bool(data[at:].strip(bytes([PADDING, ENDED])))


def _blocks(data: bytes, at: int, order: str) -> Iterator[bytes]:
    """Yield the blocks of rows that are packed twice; all bytes must be of one."""
    end, size = struct.unpack_from(f"{order}2q", data, at + 8)
    count = struct.unpack_from(f"{order}i", data, end + 20)[0]
    at += 24
    for number in range(count):
        place, whole, packed = struct.unpack_from(f"{order}q2i", data, end + 32 + 24 * number)
        stream = zlib.decompressobj()
        block = stream.decompress(data[place : place + packed], whole + 1)
        if place != at or not stream.eof or stream.unused_data or len(block) != whole:
            raise ValueError("a block of rows is nowhere")
        at += packed
        yield block
    if at != end or size != 24 * (1 + count) or end + size != len(data):
        raise ValueError("bytes that are of no block")


def more_than_stata(data: bytes, rows: int) -> bool:
    """Whether more stands in the rows and names of a file of Stata 13 and later than they show.

    Raises
    ------
    IndexError, struct.error, ValueError: the file is damaged.
    """
    order = "<" if b"<byteorder>LSF" in data[:200] else ">"
    places = struct.unpack_from(f"{order}14Q", data, data.index(b"<map>") + 5)
    parts = [_within(data, *pair) for pair in pairwise(places[2:13])]
    kinds: list[int] = [*struct.unpack(f"{order}{len(parts[0]) // 2}H", parts[0])]
    names = [np.frombuffer(parts[n], np.uint8).reshape(len(kinds), -1) for n in (1, 3, 4, 5)]
    if any(map(_rests, names)):
        return True
    widths = [NUMBERS.get(kind) or kind for kind in kinds]
    columns = _columns(np.frombuffer(parts[7], np.uint8).reshape(rows, sum(widths)), widths)
    if any(_rests(c) for c, kind in zip(columns, kinds, strict=True) if kind <= LONGEST):
        return True
    long = [column for column, kind in zip(columns, kinds, strict=True) if kind == LONG]
    named = {cell.tobytes() for column in long for cell in column} - {bytes(8)}
    return _long_texts(parts[8], order, 8 if data[28:31] == b"117" else 12) != len(named)


def _within(data: bytes, begin: int, end: int) -> bytes:
    """Return what stands between the marks of a part."""
    part = data[begin:end]
    name, _, rest = part[1:].partition(b">")
    if not part.startswith(b"<") or not rest.endswith(b"</%b>" % name):
        raise ValueError("a part is nowhere")
    return rest[: -len(name) - 3]


def _long_texts(part: bytes, order: str, place: int) -> int:
    """Return how many long texts a file holds; each stands behind where it is, and its size."""
    at = count = 0
    while at < len(part):
        if part[at : at + 3] != LONG_TEXT:
            raise ValueError("a long text is nowhere")
        at += 3 + place + 5
        at += struct.unpack_from(f"{order}I", part, at - 4)[0]
        count += 1
    if at > len(part):
        raise ValueError("a long text ends nowhere")
    return count


def more_than_old_stata(data: bytes, at: int, rows: int, order: str) -> bool:
    """Whether texts of an older file, whose rows begin at a place, stand before more bytes."""
    count = struct.unpack_from(f"{order}H", data, 4)[0]
    kinds = [*data[109 : 109 + count]]
    widths = [OLD_NUMBERS.get(kind) or kind for kind in kinds]
    cells = np.frombuffer(data, np.uint8, rows * sum(widths), at).reshape(rows, sum(widths))
    columns = zip(_columns(cells, widths), kinds, strict=True)
    return any(_rests(column) for column, kind in columns if kind not in OLD_NUMBERS)


def more_than_sas(data: bytes, rows: int) -> bool:
    """Whether more stands in and behind the rows of a transport file than spaces.

    Raises
    ------
    ValueError, struct.error: the file is damaged.
    """
    head, begin = VARIABLES.search(data), ROWS.search(data)
    if head is None or begin is None:
        raise ValueError("there are no rows")
    first = head.start() + LINE
    said = [struct.unpack_from(">3h", data, first + DESCRIBED * n) for n in range(int(head[1]))]
    widths = [width for _, _, width in said]
    at, size = begin.start() + LINE, sum(widths)
    cells = np.frombuffer(data, np.uint8, rows * size, at).reshape(rows, size)
    columns = zip(_columns(cells, widths), said, strict=True)
    if any(_rests(column, b" ") for column, (kind, *_) in columns if kind != 1):
        return True
    rest = data[at + rows * size :]
    return len(rest) >= LINE or bool(rest.strip(b" "))


def _columns(cells: Bytes, widths: Sequence[int]) -> list[Bytes]:
    """Part rows of bytes into the columns that they are made of, shape (rows, width) each."""
    return np.split(cells, np.cumsum(widths)[:-1], axis=1)


def _rests(texts: Bytes, padding: bytes = b"") -> bool:
    """Whether something other than zeros (or ``padding``) stands behind the end of some text."""
    if not texts.size or texts.min() > 0:
        return False
    behind = np.logical_or.accumulate(texts == 0, axis=1)
    return bool((behind & ~np.isin(texts, [0, *padding])).any())


def holds_more(form: str, data: bytes, rows: int) -> bool:
    """Whether a file of so many rows holds more; so where it cannot be walked.

    Of other forms than ``sav``, ``dta`` and ``xpt`` nobody knows, and the answer is no.
    """
    try:
        return form in WALKED and WALKED[form](data, rows)
    except BROKEN:
        return True


def _spss(data: bytes, rows: int) -> bool:
    order = "<" if struct.unpack_from("<i", data, 64)[0] in (2, 3) else ">"
    at, width = HEADER, 0

    def number(place: int) -> int:
        return int(struct.unpack_from(f"{order}i", data, place)[0])

    while (kind := number(at)) != END:
        if kind == VARIABLE:
            labelled, missing = number(at + 8), number(at + 12)
            at += 32
            at += 4 + -(-number(at) // 4) * 4 if labelled else 0
            at, width = at + 8 * abs(missing), width + 1
        elif kind == LABELS:
            count, at = number(at + 4), at + 8
            for _ in range(count):
                at += 8 + (data[at + 8] // 8 + 1) * 8
            if number(at) != LABELLED or not number(at + 4):
                return True
            at += 8 + 4 * number(at + 4)
        elif kind == MORE:
            of, size = number(at + 4), number(at + 8) * number(at + 12)
            body, at = data[at + 16 : at + 16 + size], at + 16 + size
            if of not in KNOWN and not (of in ATTRIBUTES and ATTRIBUTES[of].fullmatch(body)):
                return True
        else:
            return True
    return more_than_spss(data, at + 8, order, rows * width)


def _stata(data: bytes, rows: int) -> bool:
    if data.startswith(b"<"):
        none = b"</variable_labels><characteristics></characteristics><data>"
        fine = none in data and data.endswith(b"</stata_dta>")
        return not fine or more_than_stata(data, rows)
    if data[0] not in OLD:
        return False
    order = ">" if data[1] == 1 else "<"
    count = int(struct.unpack_from(f"{order}H", data, 4)[0])
    at = 109 + (1 + 33 + 2 + OLD[data[0]] + 33 + 81) * count + 2
    return data[at : at + 5] != bytes(5) or more_than_old_stata(data, at + 5, rows, order)


WALKED = {"sav": _spss, "dta": _stata, "xpt": more_than_sas}
"""What looks into which form."""
