"""A fractional release that belongs to prices with charges, under t-closeness by equal distance.

It opens each pattern once, as a release does; that of prices without charges opens a wide pattern
as often as its rows allow, and costs less than any release.  As in ``lawful_shares``, the mean of
the dearest classes over many small steps covers every row almost exactly (Barahona and Anbil, The
volume algorithm, Mathematical Programming 87, 2000).
"""

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.charges import MOST_PAIRS, MOST_PATTERNS, charge_all, charging_of, emitted
from incrowd.bounds.copies_by_value import ClosenessLaw
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.reductions import adam_step
from incrowd.bounds.rounds import Stop, no_stop
from incrowd.lattice.emission import Emission, new_sink

ITERATIONS, RATE = 120, 0.004  # steps, and how long each is, in mean prices
MARGIN = 0.05  # patterns that prices so much higher violate take part, in mean prices


def charged_shares(
    tree: LawfulTree,
    law: ClosenessLaw,
    centre: NDArray[np.float64],
    stop: Stop = no_stop,
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
        charge_all(at, i, (place, share))
        adam_step(u, at.gradient, counts, first, second, RATE * mean, stride, 1e-2, -free, free)
        counted += 1
    return (lists, share / counted) if counted else None
