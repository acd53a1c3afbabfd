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


@inner_kernel
def span_cost(j: int, low: Any, high: Any, tables: Any) -> Any:
    """Return what column j costs in a class of which these are the least and the greatest code."""
    if low == high:
        return np.int64(0)
    at = tables.ranged[j]
    if at < 0:
        return tables.cost[meet(j, low, high, tables.start[j] + tables.width[j], tables) + low]
    if high > tables.reach[at + low]:
        return tables.star[j]
    return tables.up[at + high] - tables.down[at + low]


@inner_kernel
def in_span(j: int, low: Any, high: Any, leaf: Any, tables: Any) -> bool:
    """Whether a leaf of column j lies below the join of the codes from ``low`` to ``high``."""
    if low <= leaf <= high:
        return True
    if low == high:
        return False
    at = tables.ranged[j]
    if at >= 0:
        return high > tables.reach[at + low]
    at = meet(j, low, high, tables.start[j] + tables.width[j], tables)
    return tables.node[at + low] == tables.node[at + leaf]


@inner_kernel
def join_number(j: int, low: Any, high: Any, tables: Any) -> Any:
    """Return a number of column j's node that is the join of these codes, different for others."""
    at = tables.ranged[j]
    if at < 0:
        at = meet(j, low, high, tables.start[j], tables)
        return at * 1000003 + tables.node[at + low]
    if high > tables.reach[at + low]:
        return np.int64(-1)
    return low * np.int64(1000003) + high


@lean_kernel
def join_cost(low: Any, high: Any, tables: Any, most: Any) -> Any:
    """Return what each row of a class pays, of which ``low`` and ``high`` are the extreme codes.

    int32, shape (columns,), both of them; or those of two rows, in any order.  As soon as it
    exceeds ``most``, something that does.
    """
    total = np.int64(0)
    for j in range(low.size):
        if low[j] != high[j]:
            total += span_cost(j, min(low[j], high[j]), max(low[j], high[j]), tables)
            if total > most:
                break
    return total
