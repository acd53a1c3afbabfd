"""The scan of k-member clustering: what a row would cost a growing class."""

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel
from incrowd.problem.instance import NodeTables
from incrowd.problem.join import meet


@kernel
def cheapest_member(
    codes: NDArray[np.int32],
    left: NDArray[np.int64],
    tables: NodeTables,
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
            at = tables.start[j] + level[j] * tables.width[j]
            total += tables.cost[meet(j, a, codes[v, j], at, tables) + a]
            if not farthest and chosen >= 0 and total >= best:
                break
        if chosen < 0 or (total > best if farthest else total < best):
            best = total
            chosen = v
    return chosen


@kernel
def raise_levels(
    codes: NDArray[np.int32],
    tables: NodeTables,
    seed: int,
    row: int,
    level: NDArray[np.int64],
) -> None:
    """Raise ``level`` to the join of the class of ``seed`` with ``row``."""
    for j in range(codes.shape[1]):
        at = tables.start[j] + level[j] * tables.width[j]
        at = meet(j, codes[seed, j], codes[row, j], at, tables)
        level[j] = (at - tables.start[j]) // tables.width[j]


@kernel
def cheapest_class(
    codes: NDArray[np.int32],
    tables: NodeTables,
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
            at = tables.start[j] + levels[c, j] * tables.width[j]
            before += tables.cost[at + a]
            after += tables.cost[meet(j, a, codes[row, j], at, tables) + a]
        grows = (sizes[c] + 1) * after - sizes[c] * before
        if chosen < 0 or grows < best:
            best = grows
            chosen = c
    return chosen
