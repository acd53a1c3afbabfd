"""Nearest rows under the cost of a pair, found block by block; no matrix of all pairs is kept."""

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel
from incrowd.problem.instance import NodeTables
from incrowd.problem.join import join_cost


@kernel
def nearest_copies(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    tables: NodeTables,
    need: int,
    first: int,
    end: int,
    found: NDArray[np.int32],
    distance: NDArray[np.int64],
    length: NDArray[np.int32],
) -> None:
    """For rows ``first:end`` list the nearest other rows that hold ``need`` more copies.

    The row's own further copies count, at distance 0.  ``found`` and ``distance`` have shape
    (rows, need), nearest first, ``length`` entries of each row are filled; a row with more than
    ``need`` copies gets none.  The last entry's distance is that to the need-th nearest copy.
    ``codes`` should have the columns that tell most rows apart first: sums stop once too large.
    """
    distinct = len(codes)
    for u in range(first, end):
        held = counts[u] - 1
        number = 0
        limit = np.int64(9223372036854775807)
        if held >= need:
            length[u] = 0
            continue
        for v in range(distinct):
            if v == u:
                continue
            total = join_cost(codes[u], codes[v], tables, limit - 1)
            if total >= limit:
                continue
            at_end = number
            while at_end > 0 and distance[u, at_end - 1] > total:
                at_end -= 1
            # Drop from the tail what the new row makes unnecessary.
            held += counts[v]
            while number > at_end and held - counts[found[u, number - 1]] >= need:
                number -= 1
                held -= counts[found[u, number]]
            for i in range(number, at_end, -1):
                found[u, i] = found[u, i - 1]
                distance[u, i] = distance[u, i - 1]
            found[u, at_end] = v
            distance[u, at_end] = total
            number += 1
            if held >= need:
                limit = distance[u, number - 1]
        length[u] = number
