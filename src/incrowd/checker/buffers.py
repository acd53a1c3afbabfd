"""Texts in the buffers of an Arrow file that no cell points to.

Readers show cells alone, and a program that hides cells may leave the bytes of the hidden ones.
Compressed buffers are not looked at, nor values under missing cells.
"""

import struct
from collections.abc import Iterator

import numpy as np

from incrowd.checker import arrow

# what type a field has: https://github.com/apache/arrow/blob/main/format/Schema.fbs
BYTES, WIDE, VIEWS = {4, 5}, {19, 20}, {23, 24}
NULL, LIST, STRUCT, UNION, FIXED_LIST, MAP, LONG_LIST = 1, 12, 13, 14, 16, 17, 21
PARTS = {NULL: 0, LIST: 2, STRUCT: 1, FIXED_LIST: 1, MAP: 2, LONG_LIST: 2}  # buffers of each
OTHER = {UNION, 22, 25, 26}  # which are not walked: run ends and views of lists
IN_PLACE = 12  # bytes of the longest text that stands in a view itself


def hidden(data: bytes, fields: list[arrow.Table]) -> bool:
    """Whether some text stands in a file of such columns beside those that cells point to.

    Raises
    ------
    IndexError, struct.error, ValueError: the file is none that can be read.
    """
    words = {each.table(4).number(0, "<q"): each for one in fields for each in _named(one)}
    for kind, batch, body in arrow.messages(data):
        some = fields
        if kind == arrow.DICTIONARY:
            some, batch = [words[batch.number(0, "<q")]], batch.table(1)
        if batch.has(3):
            continue
        nodes = iter([struct.unpack_from("<qq", data, at)[0] for at in batch.vector(1, 16)])
        spans = [struct.unpack_from("<qq", data, at) for at in batch.vector(2, 16)]
        buffers = iter([data[body + at : body + at + size] for at, size in spans])
        counts = iter([struct.unpack_from("<q", data, at)[0] for at in batch.vector(4, 8)])
        for field in some:
            try:
                if any([*_texts(field, nodes, buffers, counts, kind == arrow.DICTIONARY)]):
                    return True
            except RuntimeError:  # there are too few of them
                raise ValueError("buffers are missing") from None
    return False


def _named(field: arrow.Table) -> Iterator[arrow.Table]:
    """Yield the columns of dictionaries within one."""
    if field.has(4):
        yield field
    for at in field.vector(5, 4):
        yield from _named(arrow.root(field.data, at))


def _texts(
    field: arrow.Table,
    nodes: Iterator[int],
    buffers: Iterator[bytes],
    counts: Iterator[int],
    words: bool,
) -> Iterator[bool]:
    """Yield of each text column within one whether it holds more; ``words``: of its dictionary."""
    kind, rows = field.number(2, "<B"), next(nodes)
    if kind in OTHER:
        raise ValueError("a type that is not walked")
    if field.has(4) and not words:
        _, _ = next(buffers), next(buffers)
        return
    if kind in BYTES | WIDE:
        _, ends, text = next(buffers), next(buffers), next(buffers)
        yield _beside_ends(np.frombuffer(ends, "<i8" if kind in WIDE else "<i4"), rows, text)
    elif kind in VIEWS:
        _, views = next(buffers), next(buffers)
        yield _beside_views(views, rows, [next(buffers) for _ in range(next(counts))])
    else:
        for _ in range(PARTS.get(kind, 2)):
            next(buffers)
        for at in field.vector(5, 4):
            yield from _texts(arrow.root(field.data, at), nodes, buffers, counts, False)


def _beside_ends(ends: np.ndarray, rows: int, text: bytes) -> bool:
    """Whether bytes stand before the first text or behind the last one."""
    first, last = (int(ends[0]), int(ends[rows])) if len(ends) else (0, 0)
    return any(text[:first]) or any(text[last:])


def _beside_views(data: bytes, rows: int, texts: list[bytes]) -> bool:
    """Whether bytes stand where no view points to, or behind a short text in its view."""
    views = np.frombuffer(data, "<i4")[: 4 * rows].reshape(-1, 4)
    short = views[views[:, 0] <= IN_PLACE]
    letters = short[:, 1:].copy().view(np.uint8).reshape(-1, IN_PLACE)
    if letters[np.arange(IN_PLACE) >= short[:, :1]].any():
        return True
    long = views[views[:, 0] > IN_PLACE].astype(np.int64)
    for number, text in enumerate(texts):
        own = long[long[:, 2] == number]
        steps = np.zeros(len(text) + 1, np.int64)
        np.add.at(steps, own[:, 3], 1)
        np.add.at(steps, own[:, 3] + own[:, 0], -1)
        bare = np.cumsum(steps)[:-1] == 0
        rest = np.frombuffer(text, np.uint8)[bare]
        if rest.any() and not _of_texts(rest.tobytes(), set(_cut(short[:, 0], letters))):
            return True
    return False


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
