"""The classes at hand, as columns of the linear program."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.pricing import Penalties
from incrowd.bounds.odd_sets.separation import Fractional
from incrowd.kernels.jit import inner_kernel, lean_kernel

LEAST = 0.01  # share of a class that matters in a fractional release
CHEAPER = 1e-9  # cells by which a class costs less than it was thought to
GONE = 0  # the name of a class that stands again as a cheaper one


@lean_kernel
def count_entries(rows: Any, penalties: Any, start: Any) -> None:
    """Fill ``start[j + 1]`` with the entries of column j and those before."""
    for j in range(len(rows)):
        count = 0
        for z in range(rows.shape[1]):
            r = rows[j, z]
            if r < 0:
                break
            count += 1
            for i in range(penalties.first[r], penalties.first[r + 1]):
                s = penalties.sets[i]
                penalties.held[s] += 1
                count += penalties.held[s] % penalties.modulus[s] == 0
        forget(j, rows, penalties)
        start[j + 1] = start[j] + count


@lean_kernel
def fill_entries(
    rows: Any, penalties: Any, distinct: int, start: Any, middle: Any, index: Any
) -> None:
    """Fill the entries: each copy's row, and from ``middle[j]`` on each set, ⌊|C∩S|/q⌋ times."""
    for j in range(len(rows)):
        at = start[j]
        for z in range(rows.shape[1]):
            if rows[j, z] < 0:
                break
            index[at] = rows[j, z]
            at += 1
        middle[j] = at
        for z in range(at - start[j]):
            r = rows[j, z]
            for i in range(penalties.first[r], penalties.first[r + 1]):
                s = penalties.sets[i]
                penalties.held[s] += 1
                if penalties.held[s] % penalties.modulus[s] == 0:
                    index[at] = distinct + s
                    at += 1
        forget(j, rows, penalties)


@inner_kernel
def forget(j: int, rows: Any, penalties: Any) -> None:
    """Set to zero what class j has counted."""
    for z in range(rows.shape[1]):
        r = rows[j, z]
        if r < 0:
            break
        for i in range(penalties.first[r], penalties.first[r + 1]):
            penalties.held[penalties.sets[i]] = 0


class Pool:
    """Classes, each once, with their costs and how much of each is used.

    Attributes
    ----------
    rows: int32, shape (classes, 2k − 1): distinct row of each copy, ascending, then −1.
    cost: float64, shape (classes,): cells of the whole class.
    share: float64, shape (classes,).
    """

    def __init__(self, distinct: int, k: int) -> None:
        self.rows = np.zeros((0, 2 * k - 1), np.int32)
        self.cost, self.share = np.zeros(0), np.zeros(0)
        self.keys = np.zeros(0, np.int64)
        # sums of random names tell classes apart; two that share a sum would only be one less
        self.names = np.random.default_rng(distinct).integers(1, 2**62, distinct + 1, np.int64)
        self.names[-1] = 0  # absent

    def add(self, rows: NDArray[np.int64], cost: NDArray[np.float64]) -> int:
        """Add the classes that are new, or cheaper than before; return how many.

        A class that is met in a wide pattern may lie in a narrow one as well, which costs less.
        """
        order = np.argsort(cost, kind="stable")  # of equal classes the cheapest comes first
        rows, cost = rows[order], cost[order]
        keys = self.names[rows].sum(axis=1)
        _, first = np.unique(keys, return_index=True)
        _, here, there = np.intersect1d(keys[first], self.keys, return_indices=True)
        cheaper = cost[first[here]] < self.cost[there] - CHEAPER
        self.keys[there[cheaper]] = GONE
        first = np.delete(first, here[~cheaper])
        new = rows[first].astype(np.int32)
        last = np.iinfo(np.int32).max
        new = np.sort(np.where(new < 0, last, new), axis=1)
        self.rows = np.concatenate([self.rows, np.where(new == last, -1, new)])
        self.cost = np.concatenate([self.cost, cost[first]])
        self.share = np.concatenate([self.share, np.zeros(len(first))])
        self.keys = np.concatenate([self.keys, keys[first]])
        return len(first)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop the other classes."""
        for name in ("rows", "cost", "share", "keys"):
            setattr(self, name, getattr(self, name)[kept])

    def entries(
        self, penalties: Penalties, distinct: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """Return the columns: where each starts and turns to sets; rows of the table, then sets."""
        start, middle = np.zeros(len(self.rows) + 1, np.int64), np.zeros(len(self.rows), np.int64)
        count_entries(self.rows, penalties, start)
        index = np.zeros(start[-1], np.int32)
        fill_entries(self.rows, penalties, distinct, start, middle, index)
        return start, middle, index

    def fractional(self) -> Fractional:
        """Return the fractional release."""
        used = np.flatnonzero(self.share > LEAST)
        return Fractional.of(self.rows[used], self.share[used])
