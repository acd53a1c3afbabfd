"""Whether linked columns stand at one level in each row, counted down from the star."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_

import numpy as np
from numpy.typing import NDArray

from incrowd.tables.base import Column

Labels = Iterable[str | None]


def torn_rows(ladders: Sequence[Sequence[Labels]], columns: Sequence[Column]) -> NDArray[np.int64]:
    """Return the rows whose linked cells stand at no common level, rising.

    A column with fewer levels than others stays as it is below its own; see ``reduce.linked``.

    Parameters
    ----------
    ladders: of each column its labels, level by level, from its values to the star.
    columns: their released cells.
    """
    highest = max(map(len, ladders))
    known = [_levels_of(levels, highest) for levels in ladders]
    texts = [[bits.get(text, 0) for text in column.values]
             for bits, column in zip(known, columns, strict=True)]  # fmt: skip
    codes = np.column_stack([column.codes for column in columns])
    kinds, kind = np.unique(codes, axis=0, return_inverse=True)
    torn = [
        not reduce(and_, (bits[code] for bits, code in zip(texts, row, strict=True)))
        for row in kinds.tolist()
    ]
    return np.flatnonzero(np.array(torn, bool)[kind.ravel()])


def _levels_of(levels: Sequence[Labels], highest: int) -> dict[str | None, int]:
    """Return label → a bit for each level of the link at which the column may show it."""
    found: dict[str | None, int] = {}
    for t in range(highest):
        for label in levels[max(0, t - highest + len(levels))]:
            found[label] = found.get(label, 0) | 1 << t
    return found
