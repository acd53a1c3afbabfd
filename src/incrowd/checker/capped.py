"""Prices that charge a pattern once, where a model bounds each value's share of a class.

As ``charges.py``, for the rule ``shares``: how much one lawful class of a pattern's rows may be
worth.  In a class of n rows value v has between ⌈n·y⌉ and ⌊n·x⌋ rows, y and x its least and largest
share, and at least one where y > 0.

    one size n     the dearest rows of each value as far as it must have them, then the dearest that
                   are left within the limits: exact; call the last of these e
    other sizes    n·e, and of each value the most that n's limits let it have above e a row: sizes
                   are asked in the order of what is not yet excluded, until none is above the best

Proofs: docs/explanation/proof.md, "Charges".
"""

from collections.abc import Sequence
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from incrowd.checker.inequality import Ints
from incrowd.checker.limits import require_within
from incrowd.checker.shares import Share

CELLS, FEW, STEP = 1 << 17, 1 << 9, 1 << 12  # looked at in all for each row, for so many rows more
MOST_CELLS = 1 << 24  # sizes of class times values, at once
NONE = -(2**61)


class Heap(NamedTuple):
    """A pattern's rows by value, e falling, and what 0, 1, … of them sum to.

    ``sums``: those of value v from ``start[v] + v`` on.  ``sizes``: of the classes that are
    possible; ``low``, ``high``: their limits, both of shape (sizes, values).
    """

    e: Ints
    start: Ints
    sums: Ints
    sizes: Ints
    low: Ints
    high: Ints


class CappedCharges:
    """The classes of at least k rows with the shares allowed.

    ``terms``: no sum of excesses has more terms.
    """

    def __init__(self, shares: Sequence[Share], k: int, table: Ints) -> None:
        self.k, self.values = k, len(shares)
        rows = int(table.sum())
        self.terms = 4 * rows
        self.left = CELLS * (FEW + rows)
        self.shift = 61 - rows.bit_length()  # shares as parts of a power of 2, rounded outwards
        self.low = np.array([floor(y * 2**self.shift) for y, _ in shares], np.int64)
        self.high = np.array([ceil(x * 2**self.shift) for _, x in shares], np.int64)
        self.must = np.array([y > 0 for y, _ in shares], np.int64)

    def spend(self, cells: int) -> None:
        """Count what is looked at: a proof may take only so much."""
        self.left -= STEP + cells
        require_within(self.left >= 0, "the charges leave too much to try")

    def worth(self, e: Ints, copies: Ints, value: Ints) -> int:
        """Return the largest sum of e over a lawful class of these entries (e falling), or 0."""
        heap = self.heaped(np.repeat(e, copies), np.repeat(value, copies))
        if not len(heap.sizes):
            return 0
        most, best = self.proven(heap, 0), 0
        while most.max() > best:
            at = int(most.argmax())
            found, last = dearest(heap, at)
            best = max(best, found)
            most = np.minimum(most, self.proven(heap, last))
            most[at] = min(int(most[at]), best)
        return best

    def heaped(self, e: Ints, value: Ints) -> Heap:
        """Sort rows by value, and say which sizes are possible within which limits."""
        order = np.argsort(value, kind="stable")
        held = np.bincount(value, minlength=self.values)
        start = np.append(0, np.cumsum(held))
        sums = np.zeros(len(e) + self.values, np.int64)
        sums[np.arange(len(e)) + value[order] + 1] = e[order]
        sums = np.cumsum(sums)
        sums -= np.repeat(sums[start[:-1] + np.arange(self.values)], held + 1)
        sizes = np.arange(self.k, len(e) + 1)
        require_within(len(sizes) * self.values <= MOST_CELLS, "the charges leave too much to try")
        self.spend(len(sizes) * self.values)
        low = -(-sizes[:, None] * self.low >> self.shift)
        low = np.maximum(low, self.must)
        high = np.minimum(sizes[:, None] * self.high >> self.shift, held)
        fine = (low <= high).all(axis=1) & (low.sum(axis=1) <= sizes) & (sizes <= high.sum(axis=1))
        return Heap(e[order], start, sums, sizes[fine], low[fine], high[fine])

    def proven(self, heap: Heap, last: int) -> Ints:
        """Return what the excess of a last row proves of the classes of all sizes."""
        self.spend(heap.low.size)
        above = np.add.reduceat(np.append(heap.e > last, False), heap.start[:-1], dtype=np.int64)
        above[np.diff(heap.start) == 0] = 0
        x = np.clip(above, heap.low, heap.high)
        first = heap.start[:-1] + np.arange(self.values)
        return heap.sizes * last + (heap.sums[first + x] - last * x).sum(axis=1)


def dearest(heap: Heap, at: int) -> tuple[int, int]:
    """Return the worth of the dearest class of one size, and the excess of its last free row."""
    low, high, n = heap.low[at], heap.high[at], int(heap.sizes[at])
    value = np.repeat(np.arange(len(low)), np.diff(heap.start))
    rank = np.arange(len(heap.e)) - heap.start[value]
    forced = int(heap.sums[heap.start[:-1] + np.arange(len(low)) + low].sum())
    free = -np.sort(-heap.e[(rank >= low[value]) & (rank < high[value])])
    taken = free[: n - int(low.sum())]
    last = int(taken[-1]) if len(taken) else max(int(free.max(initial=NONE)), 0)
    return forced + int(taken.sum()), last
