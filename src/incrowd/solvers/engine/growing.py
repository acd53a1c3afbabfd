"""A release of near rows: each class is grown from a row by the nearest of those that are left.

As k-member clustering (Byun, Kamra, Bertino and Li 2007), but who is asked stands in the members'
lists of near rows, so that its time grows with the table and not with its square.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.problem.instance import Instance, row_order
from incrowd.solvers.engine.near import Near
from incrowd.solvers.engine.traded import AHEAD, EMPTY, FAR, NOBODY, clear, new_pad, paid, widen


@inner_kernel
def nearest_left(
    n: Any, members: Any, left: Any, near: Any, codes: Any, tables: Any, pad: Any
) -> Any:
    """Return the row with copies left that it costs least to take to the first n members."""
    least = np.int64(FAR)
    best = np.int64(NOBODY)
    for x in range(n):
        for y in range(near.shape[1]):
            s = near[members[x], y]
            if s >= 0 and left[s] > 0:
                cost = paid(pad.span[AHEAD], pad.span[EMPTY], s, least, codes, tables)
                if cost < least:
                    least, best = cost, s
    return best


@lean_kernel
def gather(
    order: Any, k: int, near: Any, codes: Any, tables: Any, left: Any, first_copy: Any,
    classes: Any, pad: Any,
) -> Any:  # fmt: skip
    """Grow classes from the rows in order; return their number.

    ``left``: copies without a class; ``classes``: the class of each copy, −1 for those.
    """
    span = pad.span[AHEAD]
    number = np.int64(0)
    for seed in order:
        while left[seed] > 0:
            held = np.int64(0)
            row = seed
            clear(span)
            while row >= 0:
                widen(span, span, row, codes)
                while left[row] > 0 and held < k:
                    left[row] -= 1
                    classes[first_copy[row] + left[row]] = number
                    pad.pool[held] = row
                    held += 1
                if held == k:
                    break
                row = nearest_left(held, pad.pool, left, near, codes, tables, pad)
            if held == k:
                number += 1
                continue
            for z in range(held):  # too few are near: they wait
                row = pad.pool[z]
                classes[first_copy[row] + left[row]] = NOBODY
                left[row] += 1
            break
    return number


def grown(instance: Instance, near: Near, k: int) -> NDArray[np.int64]:
    """Return the class of each copy, of k to 2k − 1 copies each; int64, shape (rows,).

    Those that find no company make classes in the order of the table.  Needs at least k copies.
    """
    classes = np.full(instance.rows, NOBODY, np.int64)
    # who has near rows first: nobody takes them away then, and others have few to lose
    order = np.argsort(near.apart[:, : k - 1].astype(np.float64).sum(axis=1), kind="stable")
    number = gather(
        order, k, near.rows, instance.codes, instance.tables, instance.counts.copy(),
        instance.first_copy, classes, new_pad(instance, k),
    )  # fmt: skip
    alone = np.flatnonzero(classes == NOBODY)
    alone = alone[row_order(instance.codes[instance.copies[alone]])]
    more = len(alone) // k
    parts = np.minimum(np.arange(len(alone)) // k, more - 1)
    classes[alone] = number + parts if more else 0  # fewer than k: any class has room for them
    return classes
