"""Sizes of classes before and after, and what follows from them for the risk."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.measures.people import agreement, counting
from incrowd.tables.base import Table

EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def class_sizes(
    table: Table, names: Sequence[str], whose: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """int64, shape (classes,): rows of each class of rows that agree on these columns, or people.

    ``whose``: int64, shape (rows,): whose each row is, where people are counted.
    """
    columns = [table.encode(name) for name in names]
    codes = [(column.codes, len(column.values)) for column in columns]
    return counting(agreement(codes, table.rows), whose).sizes


@dataclass(frozen=True)
class Bucket:
    """Classes of ``low`` to ``high`` rows, or people (None: and more); ``rows``: all of them."""

    low: int
    high: int | None
    classes: int
    rows: int

    @property
    def name(self) -> str:
        """The sizes in words."""
        if self.high is None:
            return f"{self.low:,}+"
        return f"{self.low:,}" if self.high == self.low else f"{self.low:,}–{self.high:,}"


def buckets(sizes: NDArray[np.int64], largest: int) -> list[Bucket]:
    """Count classes and their rows by size, up to the bucket that holds ``largest``."""
    found = []
    for i, low in enumerate(EDGES):
        if low > max(largest, 1):
            break
        high = EDGES[i + 1] - 1 if i + 1 < len(EDGES) else None
        inside = (sizes >= low) & (sizes <= (high or np.iinfo(np.int64).max))
        found.append(Bucket(low, high, int(inside.sum()), int(sizes[inside].sum())))
    return found


def of_people(found: Sequence[Bucket], least: int) -> list[Bucket]:
    """Return buckets of rows by people: of a class of n rows at least ``least`` and at most n.

    That is all that rows tell, where each class is known to have rows of so many people.
    """
    held = [one for one in found if one.high is None or one.high >= least]
    return [replace(one, low=least) for one in held]


def share_up_to(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the sizes that occur, ascending, and the share of rows in classes up to each."""
    distinct, number = np.unique(sizes, return_counts=True)
    rows = np.cumsum(distinct * number)
    return distinct, rows / max(int(rows[-1]) if len(rows) else 1, 1)


def share_at(sizes: NDArray[np.int64], size: int) -> float:
    """Return the share of rows in classes of at most ``size`` rows."""
    return float(sizes[sizes <= size].sum() / max(int(sizes.sum()), 1))
