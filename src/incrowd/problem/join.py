"""What the join of leaves costs: the innermost loop of every search over classes."""

from typing import Any

import numpy as np

from incrowd.kernels.jit import inner_kernel, lean_kernel


@inner_kernel
def meet(j: int, one: Any, other: Any, at: int, tables: Any) -> int:
    """Go up from a level of column j to the lowest one at which two leaves have the same node.

    ``at`` and the answer are where a level begins in ``tables``: its cost stands at the leaf's code
    from there on.  The leaves below a node are a run of codes, so the join of any leaves is that of
    the least and the greatest.
    """
    while tables.node[at + one] != tables.node[at + other]:
        at += tables.width[j]
    return at


@lean_kernel
def join_cost(low: Any, high: Any, tables: Any, most: Any) -> Any:
    """Return what each row of a class pays, of which ``low`` and ``high`` are the extreme codes.

    int32, shape (columns,), both of them.  As soon as it exceeds ``most``, something that does.
    """
    total = np.int64(0)
    for j in range(low.size):
        if low[j] != high[j]:
            at = meet(j, low[j], high[j], tables.start[j] + tables.width[j], tables)
            total += tables.cost[at + low[j]]
            if total > most:
                break
    return total
