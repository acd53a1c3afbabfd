"""Who is unique on a few columns: every subset of the quasi-identifiers up to a size."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from incrowd.measures.figures import SubsetFigures
from incrowd.measures.people import Agreement, Codes, agreement, representatives

TABLE = 2**24
"""Counting into a table of that many places beats sorting."""


def subset_figures(
    names: Sequence[str], columns: Sequence[Codes], agreed: Agreement, most: int
) -> tuple[SubsetFigures, ...]:
    """Count, for each subset of at most ``most`` columns, the rows that are unique on it.

    Works on distinct rows with their copies, not on the rows.
    """
    rows = int(agreed.sizes.sum())
    first = representatives(agreed)
    short = [(codes[first], values) for codes, values in columns]
    found = []
    for size in range(1, min(most, len(names)) + 1):
        level = []
        for chosen in combinations(range(len(names)), size):
            counts = class_sizes([short[j] for j in chosen], agreed.sizes)
            unique = int((counts == 1).sum())
            level.append(
                SubsetFigures(
                    columns=tuple(names[j] for j in chosen),
                    unique_rows=unique,
                    unique_fraction=unique / rows if rows else 0.0,
                    smallest_class=int(counts.min()) if rows else 0,
                    classes=len(counts),
                )
            )
        found += sorted(level, key=lambda s: (-s.unique_rows, s.smallest_class))
    return tuple(found)


def class_sizes(columns: Sequence[Codes], weight: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64: sizes of the classes of rows that agree on ``columns``; each row counts ``weight``."""
    width = 1
    for _, values in columns:
        width *= max(values, 1)
    if width <= TABLE:
        key = np.zeros(len(weight), np.int64)
        for codes, values in columns:
            key = key * values + codes
        counts = np.bincount(key, weight, width)
        return counts[counts > 0].round().astype(np.int64)
    agreed = agreement(columns, len(weight))
    return np.bincount(agreed.member, weight).round().astype(np.int64)
