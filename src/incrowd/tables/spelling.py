"""One spelling for each value of a delimited column: quotes must not tell rows apart.

``1`` and ``"1"`` are one value.  Where a value is written in several ways in its column, the most
frequent one is published for all; of equally frequent ones the first in the order of bytes.  Only
cells that are released as they are count: the choice would tell of hidden ones.  A value in which
a line end stands without quotes gets some.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.tables.base import narrow


@dataclass(frozen=True, eq=False)
class Spelling:
    """How values are to be written.

    Attributes
    ----------
    chosen: value → its field; a value that is not there is written as the dialect writes it.
    words: fields that replace others; ids: signed integers, as narrow as ``words`` allow, shape
        (rows,): index into ``words``, −1 where a row's field stays; None where all do.
    """

    chosen: Mapping[str | None, bytes]
    words: Sequence[bytes] = ()
    ids: NDArray[np.signedinteger[Any]] | None = None


AS_IT_IS = Spelling({})


def spelling(
    fields: Sequence[bytes],
    values: Sequence[str | None],
    codes: NDArray[np.int32],
    shown: NDArray[np.bool_] | None = None,
) -> Spelling:
    """Choose a spelling for each value.

    Parameters
    ----------
    fields: the different fields of a column; values: what they say.
    codes: int32, shape (rows,): index into ``fields``.
    shown: bool, shape (rows,): whether a row's cell is released as it is; None for all.
    """
    rows = np.bincount(codes if shown is None else codes[shown], minlength=len(fields)).tolist()
    chosen: dict[str | None, bytes] = {}
    for i in sorted(range(len(fields)), key=lambda i: (-rows[i], fields[i])):
        if rows[i]:
            chosen.setdefault(values[i], closed(fields[i], values[i]))
    better = [chosen.get(value, field) for value, field in zip(values, fields, strict=True)]
    words = sorted({new for old, new in zip(fields, better, strict=True) if old != new})
    if not words:
        return Spelling(chosen)
    place = {word: i for i, word in enumerate(words)}
    pairs = zip(fields, better, strict=True)
    ids = [-1 if old == new else place[new] for old, new in pairs]
    return Spelling(chosen, words, np.array(ids, narrow(len(words)))[codes])


def closed(field: bytes, value: str | None) -> bytes:
    """Return a field in quotes where a line end stands in it: most readers would end a line."""
    bare = field[:1] != b'"' and (b"\r" in field or b"\n" in field)
    return b'"' + (value or "").replace('"', '""').encode() + b'"' if bare else field
