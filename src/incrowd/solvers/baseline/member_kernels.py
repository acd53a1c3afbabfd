"""The scan of k-member clustering: what a row would cost a growing class."""

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel


@kernel
def cheapest_member(
    codes: NDArray[np.int32],
    left: NDArray[np.int64],
    node: NDArray[np.int32],
    cost: NDArray[np.int64],
    start: NDArray[np.int64],
    width: NDArray[np.int64],
    seed: int,
    level: NDArray[np.int64],
    farthest: bool,
) -> int:
    """Return the row with copies left whose join with a class costs least (or most).

    The class's join is the ancestor of row ``seed`` at ``level``, shape (columns,).  Ties go to
    the first row; −1 when no row is left.
    """
    distinct, columns = codes.shape
    best = np.int64(-1)
    chosen = -1
    for v in range(distinct):
        if left[v] == 0:
            continue
        total = np.int64(0)
        for j in range(columns):
            a = codes[seed, j]
            b = codes[v, j]
            at = start[j] + level[j] * width[j]
            while node[at + a] != node[at + b]:
                at += width[j]
            total += cost[at + a]
            if not farthest and chosen >= 0 and total >= best:
                break
        if chosen < 0 or (total > best if farthest else total < best):
            best = total
            chosen = v
    return chosen


@kernel
def raise_levels(
    codes: NDArray[np.int32],
    node: NDArray[np.int32],
    start: NDArray[np.int64],
    width: NDArray[np.int64],
    seed: int,
    row: int,
    level: NDArray[np.int64],
) -> None:
    """Raise ``level`` to the join of the class of ``seed`` with ``row``."""
    for j in range(codes.shape[1]):
        at = start[j] + level[j] * width[j]
        while node[at + codes[seed, j]] != node[at + codes[row, j]]:
            at += width[j]
            level[j] += 1


@kernel
def cheapest_class(
    codes: NDArray[np.int32],
    node: NDArray[np.int32],
    cost: NDArray[np.int64],
    start: NDArray[np.int64],
    width: NDArray[np.int64],
    seeds: NDArray[np.int64],
    levels: NDArray[np.int64],
    sizes: NDArray[np.int64],
    row: int,
) -> int:
    """Return the class whose total cost grows least when a copy of ``row`` joins."""
    best = np.int64(-1)
    chosen = -1
    for c in range(len(seeds)):
        before = np.int64(0)
        after = np.int64(0)
        for j in range(codes.shape[1]):
            a = codes[seeds[c], j]
            at = start[j] + levels[c, j] * width[j]
            before += cost[at + a]
            while node[at + a] != node[at + codes[row, j]]:
                at += width[j]
            after += cost[at + a]
        grows = (sizes[c] + 1) * after - sizes[c] * before
        if chosen < 0 or grows < best:
            best = grows
            chosen = c
    return chosen
