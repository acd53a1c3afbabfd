"""The dearest copies of each sensitive value among the rows of a pattern."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel

LOOKS = 1  # where ``Pad.state`` counts the copies looked at, which is what pricing takes time for
DEEP = 16  # copies kept of a value, above which a heap collects them


class Pad(NamedTuple):
    """Scratch of the pricing kernels; one caller at a time.

    top, top_row: prices and rows of each value's dearest copies, falling.  filled: how many there
    are, per value.  present: the values met; ``state[0]`` of them.
    ``state[LOOKS]`` counts copies looked at, for callers that must end some time.  price, amount,
    row: pieces to choose from.  low_price, low_amount, low_row: a second list of pieces.
    out_row, out_weight: the maximising weights, which sum to 1.  used: copies taken, per
    distinct row, zero between calls.  mass, plan: per value, for metrics, and for merging lists.
    sum: sums of the dearest copies of each value.
    """

    top: NDArray[np.float64]
    top_row: NDArray[np.int64]
    filled: NDArray[np.int64]
    present: NDArray[np.int64]
    state: NDArray[np.int64]
    price: NDArray[np.float64]
    amount: NDArray[np.float64]
    row: NDArray[np.int64]
    low_price: NDArray[np.float64]
    low_amount: NDArray[np.float64]
    low_row: NDArray[np.int64]
    out_row: NDArray[np.int64]
    out_weight: NDArray[np.float64]
    used: NDArray[np.int64]
    mass: NDArray[np.float64]
    plan: NDArray[np.int64]
    sum: NDArray[np.float64]


def new_pad(distinct: int, values: int, depth: int, least: int) -> Pad:
    """Allocate for a table with so many distinct rows, values and copies kept over all values."""
    pieces = 2 * depth + 2 * values + least + 8
    out = max(distinct + 2 * least, 4 * pieces) + 8

    def floats(n: int) -> NDArray[np.float64]:
        return np.zeros(n, np.float64)

    def ints(n: int) -> NDArray[np.int64]:
        return np.zeros(n, np.int64)

    return Pad(
        floats(depth + 1),
        ints(depth + 1),
        ints(values + 1),
        ints(values + 1),
        ints(4),
        floats(pieces),
        floats(pieces),
        ints(pieces),
        floats(pieces),
        floats(pieces),
        ints(pieces),
        ints(out),
        floats(out),
        ints(distinct + 1),
        floats(4 * values + 4),
        ints(4 * values + 4),
        floats(depth + values + 1),
    )


def beside(pad: Pad) -> Pad:
    """Return scratch of the same size, for another thread."""
    fresh: Any = map(np.zeros_like, pad)
    return Pad(*fresh)


@inner_kernel
def fill_top_copies(
    rows: Any, begin: int, end: int, u: Any, counts: Any, value: Any, start: Any, pad: Any
) -> None:
    """Collect the dearest copies of every value, at most ``start[v + 1] − start[v]`` of v."""
    for x in range(pad.state[0]):
        pad.filled[pad.present[x]] = 0
    met = 0
    for i in range(begin, end):
        r = rows[i]
        v = value[r]
        at = start[v]
        depth = start[v + 1] - at
        held = pad.filled[v]
        p = u[r]
        if depth > DEEP:
            if held == 0:
                pad.present[met] = v
                met += 1
            pad.filled[v] = push(at, depth, held, p, r, counts[r], pad)
            continue
        if held >= depth and (depth == 0 or p <= pad.top[at + held - 1]):
            continue
        if held == 0:
            pad.present[met] = v
            met += 1
        pad.filled[v] = insert(at, depth, held, p, r, min(counts[r], depth), pad)
    pad.state[0] = met
    pad.state[LOOKS] += end - begin
    for x in range(met):
        v = pad.present[x]
        if start[v + 1] - start[v] > DEEP:
            sort_heap(start[v], pad.filled[v], pad)


@inner_kernel
def insert(at: int, depth: int, held: int, p: float, r: int, copies: int, pad: Any) -> int:
    """Insert copies into a falling list of at most ``depth``; return the list's length."""
    j = held
    while j > 0 and pad.top[at + j - 1] < p:
        j -= 1
    size = min(depth, held + copies)
    for x in range(size - 1, j + copies - 1, -1):
        pad.top[at + x] = pad.top[at + x - copies]
        pad.top_row[at + x] = pad.top_row[at + x - copies]
    for x in range(j, min(depth, j + copies)):
        pad.top[at + x] = p
        pad.top_row[at + x] = r
    pad.state[LOOKS] += size - j
    return size


@inner_kernel
def push(at: int, depth: int, held: int, p: float, r: int, copies: int, pad: Any) -> int:
    """Add copies to a heap of at most ``depth``, the cheapest on top; return the heap's size.

    A list in order would move half of what it holds for every copy.
    """
    for _ in range(copies):
        if held >= depth:
            if p <= pad.top[at]:
                break
            sift_down(at, held, p, r, pad)
            continue
        j = held
        while j > 0 and pad.top[at + (j - 1) // 2] > p:
            pad.top[at + j] = pad.top[at + (j - 1) // 2]
            pad.top_row[at + j] = pad.top_row[at + (j - 1) // 2]
            j = (j - 1) // 2
            pad.state[LOOKS] += 1
        pad.top[at + j] = p
        pad.top_row[at + j] = r
        held += 1
    return held


@inner_kernel
def sift_down(at: int, held: int, p: float, r: int, pad: Any) -> None:
    """Put a copy in place of the one on top of a heap."""
    j = 0
    while 2 * j + 1 < held:
        child = 2 * j + 1
        if child + 1 < held and pad.top[at + child + 1] < pad.top[at + child]:
            child += 1
        pad.state[LOOKS] += 1
        if pad.top[at + child] >= p:
            break
        pad.top[at + j] = pad.top[at + child]
        pad.top_row[at + j] = pad.top_row[at + child]
        j = child
    pad.top[at + j] = p
    pad.top_row[at + j] = r


@inner_kernel
def sort_heap(at: int, held: int, pad: Any) -> None:
    """Turn a heap into a falling list."""
    for last in range(held - 1, 0, -1):
        p, r = pad.top[at + last], pad.top_row[at + last]
        pad.top[at + last] = pad.top[at]
        pad.top_row[at + last] = pad.top_row[at]
        sift_down(at, last, p, r, pad)


@inner_kernel
def sort_pieces(price: Any, amount: Any, row: Any, n: int, rising: bool) -> None:
    """Sort ``n`` pieces by price, falling unless ``rising``."""
    sign = 1.0 if rising else -1.0
    gap = 1
    while 3 * gap + 1 < n:  # Shell's sort with Knuth's gaps: in place
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            p, a, r = price[i], amount[i], row[i]
            j = i - gap
            while j >= 0 and sign * price[j] > sign * p:
                price[j + gap] = price[j]
                amount[j + gap] = amount[j]
                row[j + gap] = row[j]
                j -= gap
            price[j + gap] = p
            amount[j + gap] = a
            row[j + gap] = r
        gap //= 3
