"""A release of near rows: each class is grown from a row by the nearest of those that are left.

As k-member clustering (Byun, Kamra, Bertino and Li 2007), but who is asked stands in the members'
lists of near rows, so that its time grows with the table and not with its square.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.problem.instance import Instance, row_order
from incrowd.problem.solution import Solution
from incrowd.solvers.engine.near import Near
from incrowd.solvers.engine.traded import (
    AHEAD,
    EMPTY,
    FAR,
    NOBODY,
    clear,
    empty_spans,
    new_pad,
    paid,
    widen,
)


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


@lean_kernel
def take_in(
    k: int, near: Any, codes: Any, tables: Any, first_copy: Any, classes: Any, size: Any, span: Any,
) -> None:  # fmt: skip
    """Let each copy without a class join that of a near row, where it has room and costs least.

    ``size``, ``span``: of each class, as ``TradedClasses`` has them; one more span is empty.
    """
    empty = span[size.size]
    for r in range(near.shape[0]):
        for i in range(first_copy[r], first_copy[r + 1]):
            if classes[i] >= 0:
                continue
            best, least = np.int64(NOBODY), np.int64(FAR)
            for y in range(-1, near.shape[1]):  # copies of the row itself come first
                s = r if y < 0 else near[r, y]
                c = classes[first_copy[s]] if s >= 0 else NOBODY
                if c < 0 or size[c] >= 2 * k - 1:
                    continue
                pays = paid(span[c], empty, r, FAR, codes, tables)
                now = paid(span[c], empty, NOBODY, FAR, codes, tables)
                more = (size[c] + 1) * pays - size[c] * now
                if more < least:
                    best, least = c, more
            if best >= 0:
                classes[i] = best
                size[best] += 1
                widen(span[best], span[best], r, codes)


def joined(
    instance: Instance, near: Near, k: int, classes: NDArray[np.int64], number: int
) -> NDArray[np.int64]:
    """Return these classes with the copies in them that have none, as far as there is room."""
    classes, span = classes.copy(), empty_spans(number + 1, instance.columns)
    held = classes >= 0
    of, codes = classes[held], instance.codes[instance.copies[held]]
    np.minimum.at(span[:, 0], of, codes)
    np.maximum.at(span[:, 1], of, codes)
    size = np.bincount(of, minlength=number)
    take_in(k, near.rows, instance.codes, instance.tables, instance.first_copy, classes, size, span)
    return classes


def grown(instance: Instance, near: Near, k: int) -> NDArray[np.int64]:
    """Return the class of each copy, of k to 2k − 1 copies each; int64, shape (rows,).

    Those that find no company join the classes of near rows, or make classes in the order of the
    table, whichever costs less.  Needs at least k copies.
    """
    classes = np.full(instance.rows, NOBODY, np.int64)
    # who has near rows first: nobody takes them away then, and others have few to lose
    order = np.argsort(near.apart[:, : k - 1].astype(np.float64).sum(axis=1), kind="stable")
    number = gather(
        order, k, near.rows, instance.codes, instance.tables, instance.counts.copy(),
        instance.first_copy, classes, new_pad(instance, k),
    )  # fmt: skip
    found = [classes, joined(instance, near, k, classes, number)]
    done = [Solution.of(instance, parted(instance, k, each, number)) for each in found]
    fit = [one for one in done if one.sizes.max() < 2 * k]  # who joins may leave no room for a rest
    return min(fit, key=lambda one: one.cost).classes


def parted(
    instance: Instance, k: int, classes: NDArray[np.int64], number: int
) -> NDArray[np.int64]:
    """Return these classes and, of the copies that have none, more in the order of the table."""
    classes = classes.copy()
    alone = np.flatnonzero(classes == NOBODY)
    alone = alone[row_order(instance.codes[instance.copies[alone]])]
    more = len(alone) // k
    if more:
        classes[alone] = number + np.minimum(np.arange(len(alone)) // k, more - 1)
        return classes
    size = np.bincount(classes[classes >= 0], minlength=max(1, number))
    for one in alone:  # fewer than k
        classes[one] = np.argmin(size)
        size[classes[one]] += 1
    return classes
