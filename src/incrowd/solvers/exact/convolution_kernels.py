"""Kernels of the subset convolution: sums over subsets, and inclusion and exclusion."""

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel


@kernel
def add_up(worth: NDArray[np.int64], total: NDArray[np.int64]) -> None:
    """Fill ``total[s]`` with the sum of ``worth`` over the rows (bits) of every set s."""
    total[0] = 0
    for r in range(len(worth)):
        half = 1 << r
        for s in range(half):
            total[half + s] = total[s] + worth[r]


@kernel
def least_slack(
    price: NDArray[np.int64],
    total: NDArray[np.int64],
    units: int,
    rows: int,
    slack: NDArray[np.int64],
    least: NDArray[np.int64],
) -> None:
    """Fill ``slack[s]`` = units·price − total, −1 where s is no class; ``least`` for each row.

    ``least[r]`` is the least slack (of either sign) of a class with row r, ``least[rows]`` of any.
    """
    least[:] = np.int64(1) << 60
    for s in range(1, len(price)):
        slack[s] = -1
        if price[s] < 0:
            continue
        left = units * price[s] - total[s]
        slack[s] = max(left, 0)
        if left < least[rows]:
            least[rows] = left
        for r in range(rows):
            if s >> r & 1 and left < least[r]:
                least[r] = left


@kernel
def count_block(
    top: int,
    low: int,
    rows: int,
    smallest: int,
    part: NDArray[np.int64],
    size: NDArray[np.int64],
    slack: NDArray[np.int64],
    found: NDArray[np.uint64],
) -> None:
    """Add to ``found`` what the sets X with leading bits ``top`` say of ordered partitions.

    ``part``: classes as bits, with their ``size`` and ``slack``, which is at most
    len(found) − 1.  ``found[g]``, summed over all ``top``, is the number of sequences of classes
    that partition the rows with slack g in all, modulo 2^64: Σ_X (−1)^|rows∖X| [z^rows w^g]
    1/(1 − A_X), where A_X sums z^size·w^slack over the classes inside X.
    """
    inside = 1 << low
    kept = len(found)
    longest = 0
    for i in range(len(size)):
        longest = max(longest, size[i])
    table = np.zeros((inside, longest + 1, kept), np.uint64)
    one = np.uint64(1)
    for i in range(len(part)):
        if (part[i] >> low) & ~top == 0:
            table[part[i] & (inside - 1), size[i], slack[i]] += one
    for r in range(low):
        half = 1 << r
        for x in range(inside):
            if x & half:
                for j in range(smallest, longest + 1):
                    for g in range(kept):
                        table[x, j, g] += table[x ^ half, j, g]
    series = np.zeros((rows + 1, kept), np.uint64)
    series[0, 0] = one
    for x in range(inside):
        for j in range(smallest, rows + 1):
            series[j, :] = np.uint64(0)
            for i in range(smallest, min(longest, j) + 1):
                for g in range(kept):
                    here = table[x, i, g]
                    if here != 0:
                        for h in range(kept - g):
                            series[j, g + h] += here * series[j - i, h]
        bits = rows
        y = x | (top << low)
        while y:
            y &= y - 1
            bits -= 1
        for g in range(kept):
            if bits & 1:
                found[g] -= series[rows, g]
            else:
                found[g] += series[rows, g]
