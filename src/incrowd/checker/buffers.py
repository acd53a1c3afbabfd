"""What stands in an Arrow file beside the cells that it shows.

Texts that no cell points to, values under missing cells, rests of buffers, bytes between messages.
Readers show cells alone, and a program that hides cells may leave the bytes of the hidden ones.
Not looked at is what stands in the tables of a message's header (FlatBuffers) that none points to.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.checker import arrow, blocks

# what type a field has: https://github.com/apache/arrow/blob/main/format/Schema.fbs
NULL, INT, FLOAT, BYTES, BOOL, DECIMAL, DATE, TIME = 1, 2, 3, (4, 5), 6, 7, 8, 9
LIST, STRUCT, FIXED_BYTES, FIXED_LIST, MAP = 12, 13, 15, 16, 17
WIDE, LONG_LIST, VIEWS = (19, 20), 21, (23, 24)
EIGHT = (10, 18)  # points and spans of time: each cell takes so many bytes
IN_PLACE = 12  # bytes of the longest text that stands in a view itself
TEXTS = "texts that no cell points to"
MISSING = "values under missing cells"
REST = "buffers that are longer than its columns"
GAP = "bytes between its messages"
COUNT = "numbers of missing cells that are not those of its columns"
END = b"\xff" * 4  # of a stream, and before what a file says at its end; zeros follow

MORE = 1 << 8  # bytes of a message's header, and around it

Seen = NDArray[np.bool_]


@dataclass
class Parts:
    """The nodes, buffers and numbers of text buffers of a message that are not taken yet.

    Attributes
    ----------
    nodes: how many rows a column has, and how many of its cells are missing.
    tails: by buffer, of each message so far what is shown of it and what stands behind.
    texts: by buffer of texts that views point to, how often each byte is, and all short texts.
    """

    nodes: list[tuple[int, int]]
    buffers: list[bytes]
    counts: list[int]
    tails: dict[tuple[Any, int, str], list[tuple[bytes, bytes]]]
    texts: dict[tuple[Any, int, bytes], tuple[NDArray[np.int64], set[bytes]]]
    source: Any

    def take(self) -> bytes:
        """Take the next buffer."""
        return self.buffers.pop(0)

    def tail(self, shown: bytes, rest: bytes, note: str) -> None:
        """Keep what a buffer holds behind what is shown: that may be rows of the next message."""
        where = self.source, len(self.buffers), note
        known = self.tails.setdefault(where, [])
        known.append((shown if known else b"", rest))  # of the first message nobody asks

    def bits(self, rows: int) -> Seen | None:
        """Take a buffer of bits: those of the rows; None for no buffer."""
        data = np.frombuffer(self.take(), np.uint8)
        found = np.unpackbits(data, bitorder="little")
        if len(found) < rows and len(data):
            raise ValueError("a buffer is too short")
        shown = found[:rows] if len(data) else np.ones(rows, np.uint8)
        idle = -rows % 8  # programs leave the bits of the last byte as they are
        self.tail(shown.tobytes(), bytes(idle) + found[rows + idle :].tobytes(), REST)
        return shown.astype(bool) if len(data) else None


def hidden(data: bytes, fields: list[arrow.Table]) -> str | None:
    """Return what stands in a file of such columns beside the cells that it shows; None: nothing.

    Raises
    ------
    IndexError, struct.error, ValueError: the file is none that can be read.
    """
    words = {each.table(4).number(0, "<q"): each for one in fields for each in _named(one)}
    tails: dict[Any, Any] = {}
    texts: dict[Any, Any] = {}
    for kind, batch, body in arrow.messages(data):
        some, source = fields, None
        if kind == arrow.DICTIONARY:
            source = batch.number(0, "<q")
            some, batch = [words[source]], batch.table(1)
        parts = Parts(*_parts(data, batch, body), tails, texts, source)
        if any(rows > 8 * max(map(len, parts.buffers), default=0) for rows, _ in parts.nodes):
            if any(map(len, parts.buffers)):
                raise ValueError("a column has more rows than it has bits")
            continue  # columns of missing cells alone
        for one in some:
            seen = np.ones(batch.number(0, "<q"), bool)
            if note := next(_beside(one, parts, seen, words=kind == arrow.DICTIONARY), None):
                return note
        if any(map(any, parts.buffers)):
            return REST
    for (*_, note), held in tails.items():
        if _left_over(held):
            return str(note)
    if any(_bare(text, *known) for (*_, text), known in texts.items()):
        return TEXTS
    return GAP if _has_gaps(data) else None


def _left_over(messages: list[tuple[bytes, bytes]]) -> bool:
    """Whether more stands behind what is shown of a buffer than what later messages show of it."""
    if not any(any(rest) for _, rest in messages):
        return False
    after = b""
    for shown, rest in reversed(messages):
        known = np.frombuffer(after[: len(rest)].ljust(len(rest), b"\0"), np.uint8)
        more = np.frombuffer(rest, np.uint8)
        if (more[more != known] != 0).any():
            return True
        after = shown + after
    return False


def _parts(
    data: bytes, batch: arrow.Table, body: int
) -> tuple[list[tuple[int, int]], list[bytes], list[int]]:
    """Return nodes, buffers (as they are, none compressed) and numbers of text buffers."""
    buffers = [data[begin:end] for begin, end in _spans(data, batch, body)]
    if batch.has(3):
        codec = batch.table(3).number(0, "<b")
        buffers = [blocks.inflated(each, codec) for each in buffers]
    nodes = [struct.unpack_from("<qq", data, at) for at in batch.vector(1, 16)]
    return nodes, buffers, [struct.unpack_from("<q", data, at)[0] for at in batch.vector(4, 8)]


def _spans(data: bytes, batch: arrow.Table, body: int) -> Iterator[tuple[int, int]]:
    """Yield where each buffer of a message begins and ends."""
    for place in batch.vector(2, 16):
        at, size = struct.unpack_from("<qq", data, place)
        yield body + at, body + at + size


def _named(one: arrow.Table) -> Iterator[arrow.Table]:
    """Yield the columns of dictionaries within one."""
    if one.has(4):
        yield one
    for at in one.vector(5, 4):
        yield from _named(arrow.root(one.data, at))


def _beside(
    one: arrow.Table, parts: Parts, seen: Seen, words: bool = False, inner: bool = False
) -> Iterator[str]:
    """Yield what a column holds beside its cells, and those within it.

    Parameters
    ----------
    seen: which rows are not within a missing cell.
    words: whether it is the column's dictionary; inner: whether it is within another column.
    """
    kind, (rows, missing) = one.number(2, "<B"), parts.nodes.pop(0)
    if rows != len(seen):
        raise ValueError("a column has other rows")
    if kind == NULL and (words or not one.has(4)):
        return
    valid = parts.bits(rows)
    if missing != (0 if valid is None else rows - int(valid.sum())):
        yield COUNT  # readers believe either, and show other cells
    seen = seen if valid is None else seen & valid
    if one.has(4) and not words:
        index = one.table(4)
        width = index.table(1).number(0, "<i") // 8 if index.has(1) else 4
        yield from _of_width(parts, width, seen, inner)
    elif kind == BOOL:
        cells = parts.bits(rows)
        if cells is not None and cells[~seen & ~like_next(cells, seen)].any() and not inner:
            yield MISSING
    elif kind in (*BYTES, *WIDE):
        yield from _beside_ends(_ends(parts, rows, kind in WIDE), parts, seen)
    elif kind in VIEWS:
        yield from _beside_views(parts, seen)
    elif kind in (LIST, LONG_LIST, MAP, STRUCT, FIXED_LIST):
        yield from _within(one, kind, parts, seen)
    else:
        yield from _of_width(parts, _width(kind, one), seen, inner)


def _within(one: arrow.Table, kind: int, parts: Parts, seen: Seen) -> Iterator[str]:
    """Yield what the columns within one hold beside its cells."""
    if kind == FIXED_LIST:
        width = one.table(3).number(0, "<i")
        if parts.nodes[0][0] != width * len(seen):
            raise ValueError("a column has other rows")
        seen = np.repeat(seen, width)
    elif kind != STRUCT:
        ends = _ends(parts, len(seen), kind == LONG_LIST)
        steps = np.zeros(parts.nodes[0][0] + 1, np.int64)
        np.add.at(steps, ends[:-1][seen], 1)
        np.add.at(steps, ends[1:][seen], -1)
        seen = np.cumsum(steps)[:-1] > 0
    for at in one.vector(5, 4):
        yield from _beside(arrow.root(one.data, at), parts, seen, inner=True)


def _width(kind: int, one: arrow.Table) -> int:
    """Return how many bytes a cell takes; the format says what a size is that is left out."""
    if kind in EIGHT:
        return 8
    how = one.table(3)
    if kind == INT:
        return int(how.number(0, "<i")) // 8
    if kind == FLOAT:
        return (2, 4, 8)[how.number(0, "<h")]
    if kind == DECIMAL:
        return (how.number(2, "<i") if how.has(2) else 128) // 8
    if kind == DATE:
        return 4 if how.has(0) and how.number(0, "<h") == 0 else 8
    if kind == TIME:
        return (how.number(1, "<i") if how.has(1) else 32) // 8
    if kind == FIXED_BYTES:
        return int(how.number(0, "<i"))
    raise ValueError("a type that is not walked")


def _of_width(parts: Parts, width: int, seen: Seen, inner: bool) -> Iterator[str]:
    """Yield what a buffer of cells of so many bytes holds beside those that are seen.

    Within a column, none of which is hidden by a release, polars has other cells under missing ones
    once it has read them from Parquet.
    """
    data, size = parts.take(), width * len(seen)
    if len(data) < size:
        raise ValueError("a buffer is too short")
    parts.tail(data[:size], data[size:], REST)
    cells = np.frombuffer(data[:size], f"V{width}")
    under = np.unique(cells[~seen & ~like_next(cells, seen)])
    if inner:
        under = np.setdiff1d(under, cells[seen])
    if len(under) > 1 or not all(_says_nothing(cell.tobytes()) for cell in under):
        yield MISSING


def like_next(cells: NDArray[Any], seen: Seen) -> Seen:
    """Return which cells that are not seen hold what the next one holds that is.

    Polars leaves that there where it reads Parquet, and it is shown.
    """
    after = next_seen(seen)
    return ~seen & (after != np.arange(len(seen))) & (cells == cells[after])


def next_seen(seen: Seen) -> NDArray[np.int64]:
    """Return for each cell the place of the next one that is seen; its own where none is."""
    shown, places = np.flatnonzero(seen), np.arange(len(seen))
    after = np.searchsorted(shown, places)
    there = after < len(shown)
    places[there] = shown[after[there]]
    return places


def _says_nothing(cell: bytes) -> bool:
    """Whether it is what programs put where cells are missing: 0, 1, -1, the least number, NaN.

    Pandas has 1 under missing whole numbers, and R the least number.
    """
    most, number = 1 << 8 * len(cell), int.from_bytes(cell, "little")
    nan = len(cell) in (2, 4, 8) and bool(np.isnan(np.frombuffer(cell, f"<f{len(cell)}")).any())
    return nan or number in (0, 1, most - 1, most >> 1)


def _ends(parts: Parts, rows: int, wide: bool) -> NDArray[np.int64]:
    """Take a buffer of places: where each row begins, and the last one ends."""
    ends = np.frombuffer(parts.take(), "<i8" if wide else "<i4").astype(np.int64)
    ends = np.zeros(1, np.int64) if not rows and not len(ends) else ends
    if len(ends) <= rows or (np.diff(ends[: rows + 1]) < 0).any() or ends[0] < 0:
        raise ValueError("a buffer is too short")
    return ends[: rows + 1]


def _beside_ends(ends: NDArray[np.int64], parts: Parts, seen: Seen) -> Iterator[str]:
    """Yield whether bytes stand before the first text or under missing ones."""
    text = parts.take()
    if any(text[: ends[0]]):
        yield TEXTS
    parts.tail(text[ends[0] : ends[-1]], text[ends[-1] :], TEXTS)
    after = next_seen(seen)
    for at in np.flatnonzero(~seen & (np.diff(ends) > 0)).tolist():
        under, shown = (text[ends[n] : ends[n + 1]] for n in (at, after[at]))
        if any(under) and (after[at] == at or under != shown):
            yield MISSING


def _beside_views(parts: Parts, seen: Seen) -> Iterator[str]:
    """Yield whether bytes stand behind a short text in its view; keep what the views point to."""
    views = np.frombuffer(parts.take(), "<i4")[: 4 * len(seen)].reshape(len(seen), 4)
    if views[~seen & ~like_next(views.view("V16").ravel(), seen)].any():
        yield MISSING
    views = views[seen]
    short = views[views[:, 0] <= IN_PLACE]
    letters = short[:, 1:].copy().view(np.uint8).reshape(-1, IN_PLACE)
    if letters[np.arange(IN_PLACE) >= short[:, :1]].any():
        yield TEXTS
    long = views[views[:, 0] > IN_PLACE].astype(np.int64)
    place = parts.source, len(parts.nodes)
    for number in range(parts.counts.pop(0)):
        text, own = parts.take(), long[long[:, 2] == number]
        steps, known = parts.texts.setdefault((*place, text), (np.zeros(len(text) + 1, int), set()))
        np.add.at(steps, own[:, 3], 1)
        np.add.at(steps, own[:, 3] + own[:, 0], -1)
        known.update(_cut(short[:, 0], letters))


def _bare(text: bytes, steps: NDArray[np.int64], short: set[bytes]) -> bool:
    """Whether bytes of a buffer of texts stand where no view points to."""
    rest = np.frombuffer(text, np.uint8)[np.cumsum(steps)[:-1] == 0]
    return bool(rest.any()) and not _of_texts(rest.tobytes(), short)


def _cut(sizes: np.ndarray, letters: np.ndarray) -> Iterator[bytes]:
    """Yield short texts."""
    for size, text in zip(sizes.tolist(), letters, strict=True):
        yield text[:size].tobytes()


def _of_texts(rest: bytes, short: set[bytes]) -> bool:
    """Whether bytes are texts that cells show, one behind another: polars leaves them there."""
    whole = [True]  # up to each place
    for end in range(1, len(rest) + 1):
        begins = range(max(0, end - IN_PLACE), end)
        whole.append(any(whole[at] and rest[at:end] in short for at in begins))
    return whole[-1]


def _has_gaps(data: bytes) -> bool:
    """Whether bytes stand beside the messages, or in their bodies beside the buffers."""
    held, places, last = [], [*arrow.places(data)], len(data)
    if data.startswith(b"ARROW1"):
        size = int.from_bytes(data[-10:-6], "little")
        last -= 10 + size
        begin = min([last, *places])
        if begin > size + MORE:  # what columns there are stands twice, at the end with more
            return True
        # a message that the end does not name; polars writes no mark before the columns
        words = (data[at : at + 8] for at in range(16, begin, 8))
        if any(word[:4] == END and any(word[4:]) for word in words):
            return True
        held = [(0, begin), (last, len(data))]
    for begin in places:
        (kind, batch, body), _ = arrow.message(data, begin)
        held.append((begin, body))
        if kind in (arrow.DICTIONARY, arrow.RECORDS):
            batch = batch.table(1) if kind == arrow.DICTIONARY else batch
            held += _spans(data, batch, body)
    at = 0
    for begin, end in sorted(held):
        between = data[at:begin].strip(b"\0")
        if between and (begin != last or between != END):
            return True
        at = max(at, end)
    return data[at:].strip(b"\0") not in (b"", END)
