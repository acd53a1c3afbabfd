"""The scan of k-member clustering: what a row would cost a growing class."""

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel
from incrowd.problem.instance import NodeTables
from incrowd.problem.join import span_cost


@kernel
def cheapest_member(
    codes: NDArray[np.int32],
    left: NDArray[np.int64],
    tables: NodeTables,
    span: NDArray[np.int32],
    farthest: bool,
) -> int:
    """Return the row with copies left whose join with a class costs least (or most).

    ``span``, shape (2, columns): the least and greatest codes of the class.  Ties go to the first
    row; −1 when no row is left.
    """
    distinct, columns = codes.shape
    best = np.int64(-1)
    chosen = -1
    for v in range(distinct):
        if left[v] == 0:
            continue
        total = np.int64(0)
        for j in range(columns):
            low = min(span[0, j], codes[v, j])
            high = max(span[1, j], codes[v, j])
            total += span_cost(j, low, high, tables)
            if not farthest and chosen >= 0 and total >= best:
                break
        if chosen < 0 or (total > best if farthest else total < best):
            best = total
            chosen = v
    return chosen


@kernel
def cheapest_class(
    codes: NDArray[np.int32],
    tables: NodeTables,
    spans: NDArray[np.int32],
    sizes: NDArray[np.int64],
    row: int,
) -> int:
    """Return the class whose total cost grows least when a copy of ``row`` joins.

    ``spans``, shape (classes, 2, columns): as ``span`` of ``cheapest_member``.
    """
    best = np.int64(-1)
    chosen = -1
    for c in range(len(spans)):
        before = np.int64(0)
        after = np.int64(0)
        for j in range(codes.shape[1]):
            low = spans[c, 0, j]
            high = spans[c, 1, j]
            before += span_cost(j, low, high, tables)
            after += span_cost(j, min(low, codes[row, j]), max(high, codes[row, j]), tables)
        grows = (sizes[c] + 1) * after - sizes[c] * before
        if chosen < 0 or grows < best:
            best = grows
            chosen = c
    return chosen
