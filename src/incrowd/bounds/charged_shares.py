"""A fractional release that belongs to prices with charges, under t-closeness by equal distance.

It opens each pattern once, as a release does; that of prices without charges opens a wide pattern
as often as its rows allow, and costs less than any release.  As in ``lawful_shares``, the mean of
the dearest classes over many small steps covers every row almost exactly (Barahona and Anbil, The
volume algorithm, Mathematical Programming 87, 2000).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.charges import (
    MOST_PAIRS,
    MOST_PATTERNS,
    begun,
    charging_of,
    emitted,
    noted,
)
from incrowd.bounds.copies_by_value import Law
from incrowd.bounds.dearest_class import most_worth
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.reductions import adam_step
from incrowd.kernels.jit import lean_kernel
from incrowd.lattice.emission import Emission, new_sink

ITERATIONS, RATE = 120, 0.004  # steps, and how long each is, in mean prices
MARGIN = 0.05  # patterns that prices so much higher violate take part, in mean prices


@lean_kernel
def carry_all(at: Any, step: int, place: Any, share: Any) -> None:
    """Fill the supergradient at u, and add each pattern's dearest class to the shares of its pairs.

    ``at``: a ``Charging``.  ``place``: int64, shape (distinct,), scratch.
    """
    begun(at)
    cost, offset, rows = at.lists
    law, s = at.law, at.s
    for p in range(len(at.idle)):
        if step < at.idle[p, 1]:
            continue
        c = float(cost[p])
        charge = most_worth(rows, offset[p], offset[p + 1], at.u, at.counts, c, law, s)
        if noted(charge, p, step, at) <= 0.0:
            continue
        for x in range(offset[p], offset[p + 1]):
            place[rows[x]] = x
        for v in range(law.start.size - 1):
            for x in range(law.start[v], law.start[v] + s.best[v]):
                share[place[s.row[x]]] += 1.0


def charged_shares(
    tree: LawfulTree,
    law: Law,
    centre: NDArray[np.float64],
    stop: Callable[[], bool] = lambda: False,
    iterations: int = ITERATIONS,
) -> tuple[Emission, NDArray[np.float64]] | None:
    """Return the patterns that take part, and how many copies each pair carries.

    float64, shape (pairs,).  ``centre``: float64, shape (distinct,), prices with charges.
    ``iterations``: steps, the first quarter of which does not count.  None where there are too many
    patterns, or ``stop`` says so before a step counts.
    """
    instance = tree.instance
    counts = instance.counts
    mean = max(float(centre @ counts) / instance.rows, 1e-9)
    sink = new_sink(MOST_PATTERNS, MOST_PAIRS)
    patterns = emitted(tree, centre, MARGIN * mean, sink)
    if patterns is None:
        return None
    lists = sink.first(patterns)
    u, free = centre.astype(np.float64), np.full(len(centre), np.inf)
    first, second = np.zeros((2, len(u)))
    at, place = charging_of(u, lists, patterns, tree, law), np.zeros(len(u), np.int64)
    share, counted = np.zeros(len(lists.rows)), 0
    stride = tree.strides.of_row
    for i in range(iterations):
        if stop():
            break
        if i == iterations // 4:
            share[:], counted = 0, 0
        carry_all(at, i, place, share)
        adam_step(u, at.gradient, counts, first, second, RATE * mean, stride, 1e-2, -free, free)
        counted += 1
    return (lists, share / counted) if counted else None
