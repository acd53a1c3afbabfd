"""Kernels over all sub-multisets of a small table; see ``submultisets`` for the numbering."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, kernel
from incrowd.problem.instance import NodeTables
from incrowd.problem.join import span_cost


@kernel
def price_all(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    place: NDArray[np.int64],
    tables: NodeTables,
    size: NDArray[np.int32],
    ends: NDArray[np.uint8],
    price: NDArray[np.int64],
) -> None:
    """Fill ``size``, ``ends`` and ``price`` = size × cost of the join.

    ``ends``, shape (2, sets, columns): the rows of the least and of the greatest code.
    A set is its lowest row and the rest, which has a smaller number and is already known.
    """
    columns = codes.shape[1]
    for s in range(1, len(size)):
        r = 0
        while s // place[r] % (counts[r] + 1) == 0:
            r += 1
        digit = s // place[r] % (counts[r] + 1)
        rest = s - digit * place[r]
        size[s] = size[rest] + digit
        total = 0
        for j in range(columns):
            low = r
            high = r
            if rest > 0:
                other = ends[0, rest, j]
                low = other if codes[other, j] < codes[r, j] else r
                other = ends[1, rest, j]
                high = other if codes[other, j] > codes[r, j] else r
            ends[0, s, j] = low
            ends[1, s, j] = high
            total += span_cost(j, codes[low, j], codes[high, j], tables)
        price[s] = size[s] * total


@kernel
def weigh_all(
    counts: NDArray[np.int64],
    place: NDArray[np.int64],
    weight: NDArray[np.int64],
    key: NDArray[np.int64],
) -> None:
    """Fill ``key`` with the sum over rows of copies taken × weight."""
    for s in range(1, len(key)):
        r = 0
        while s // place[r] % (counts[r] + 1) == 0:
            r += 1
        key[s] = key[s - place[r]] + weight[r]


@inner_kernel
def take_apart(s: int, counts: Any, place: Any, whole: Any, part: Any) -> int:
    """Write the copies of each row in set ``s`` to ``whole``, 0 to ``part``; return the lowest."""
    low = -1
    for r in range(counts.size):
        whole[r] = s // place[r] % (counts[r] + 1)
        part[r] = 0
        if low < 0 and whole[r] > 0:
            low = r
    return low


@inner_kernel
def next_part(low: int, place: Any, whole: Any, part: Any) -> int:
    """Go on to the next part of a set; return how much its number grows, 0 after the last."""
    more = 0
    for r in range(low, whole.size):
        if part[r] < whole[r]:
            part[r] += 1
            return more + place[r]
        more -= part[r] * place[r]
        part[r] = 0
    return 0


@kernel
def lowest_row_dp(
    counts: NDArray[np.int64],
    place: NDArray[np.int64],
    price: NDArray[np.int64],
    best: NDArray[np.int64],
    choice: NDArray[np.int64],
    first: int,
    end: int,
) -> None:
    """Fill ``best[first:end]``: try every class that takes a copy of the lowest row left.

    ``best`` is −1 where no lawful partition exists; ``choice`` is the class to split off.
    """
    distinct = len(counts)
    whole = np.zeros(distinct, np.int64)
    part = np.zeros(distinct, np.int64)
    for s in range(max(first, 1), end):
        low = take_apart(s, counts, place, whole, part)
        whole[low] -= 1  # every class has the first of them
        t = place[low]
        least = np.int64(-1)
        chosen = np.int64(0)
        while True:
            if price[t] >= 0 and best[s - t] >= 0:
                total = price[t] + best[s - t]
                if least < 0 or total < least:
                    least = total
                    chosen = t
            more = next_part(low, place, whole, part)
            if more == 0:
                break
            t += more
        best[s] = least
        choice[s] = chosen


@kernel
def balanced_split_dp(
    counts: NDArray[np.int64],
    place: NDArray[np.int64],
    size: NDArray[np.int32],
    price: NDArray[np.int64],
    best: NDArray[np.int64],
    choice: NDArray[np.int64],
    first: int,
    end: int,
) -> None:
    """Fill ``best[first:end]`` by Liang and Yuan's Theorem 8, each set once.

    Either some class has more than half the rows (``choice`` = that class, as −class), or the
    classes fall into two bunches with a quarter to three quarters of the rows (``choice`` = one).
    """
    distinct = len(counts)
    whole = np.zeros(distinct, np.int64)
    part = np.zeros(distinct, np.int64)
    for s in range(max(first, 1), end):
        low = take_apart(s, counts, place, whole, part)
        n = np.int64(size[s])
        t = np.int64(0)
        least = np.int64(-1)
        chosen = np.int64(0)
        while True:
            more = next_part(low, place, whole, part)
            if more == 0:
                break
            t += more
            rest = s - t
            rows = np.int64(size[t])
            if best[rest] < 0 and rest > 0:
                continue
            if 2 * rows > n and price[t] >= 0:
                total = price[t] + best[rest]
                if least < 0 or total < least:
                    least = total
                    chosen = -t
            if 4 * rows >= n and 4 * rows <= 3 * n and rest > 0 and best[t] >= 0 and part[low] > 0:
                total = best[t] + best[rest]
                if least < 0 or total < least:
                    least = total
                    chosen = t
        best[s] = least
        choice[s] = chosen
