"""From the slack of an optimum to its classes: a search for a tiling, and a sure way behind it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.solvers.base import Context

TRIES = 50_000  # steps of the search before the sure way is taken


@dataclass(frozen=True, eq=False)
class Candidates:
    """Classes that an optimum may have.

    Attributes
    ----------
    part: int64, shape (classes,): rows as bits.
    size, slack: int64, shape (classes,).
    rows: of the table; smallest: size of a class.
    """

    part: NDArray[np.int64]
    size: NDArray[np.int64]
    slack: NDArray[np.int64]
    rows: int
    smallest: int

    def where(self, kept: NDArray[np.bool_]) -> "Candidates":
        """Return some of them."""
        arrays = self.part[kept], self.size[kept], self.slack[kept]
        return Candidates(*arrays, self.rows, self.smallest)

    def within(self, most: int) -> "Candidates":
        """Return those of a slack up to ``most``."""
        return self.where(self.slack <= most)


Count = Callable[[Candidates, int, Context], NDArray[np.uint64] | None]


def tile(found: Candidates, slack: int, context: Context, count: Count) -> list[int] | None:
    """Return classes that partition the rows with this slack in all; None when stopped.

    There are such classes.  If a search among them takes too long, each two rows are asked whether
    they may be together: at most n(n − 1)/2 counts, after which the classes are known.
    """
    chosen = _searched(found, slack)
    if chosen is not None:
        return chosen
    bits = range(found.rows)
    for a in bits:
        for b in bits[a + 1 :]:
            together = (found.part >> a & 1) == (found.part >> b & 1)
            rest = found.where(together)
            counts = count(rest, slack, context)
            if counts is None:
                return None
            apart = (found.part >> a & 1) + (found.part >> b & 1) < 2
            found = rest if counts[slack] else found.where(apart)
    return sorted({int(part) for part in _blocks(found)})


def _blocks(found: Candidates) -> NDArray[np.int64]:
    """For each row the class that it is in, once every two rows are decided."""
    return np.array([found.part[(found.part >> r & 1) == 1][0] for r in range(found.rows)])


def _searched(found: Candidates, slack: int) -> list[int] | None:
    """Depth first by the row with the fewest classes left; None when it takes too long."""
    bits = np.arange(found.rows)
    holds = (found.part[:, None] >> bits & 1).astype(bool)
    failed: set[tuple[int, int]] = set()
    left = TRIES

    def descend(at: NDArray[np.int64], free: int, rest: int) -> list[int] | None:
        nonlocal left
        if not free:
            return [] if rest == 0 else None
        number = np.where(free >> bits & 1, holds[at].sum(axis=0), len(at) + 1)
        row = int(np.argmin(number))
        here = at[holds[at, row]]
        for i in here[np.argsort(found.slack[here], kind="stable")].tolist():
            left -= 1
            if left < 0:
                return None
            part, less = int(found.part[i]), rest - int(found.slack[i])
            if (free ^ part, less) in failed:
                continue
            fits = (found.part[at] & part == 0) & (found.slack[at] <= less)
            chosen = descend(at[fits], free ^ part, less)
            if chosen is not None:
                return [part, *chosen]
        failed.add((free, rest))
        return None

    return descend(np.flatnonzero(found.slack <= slack), (1 << found.rows) - 1, slack)
