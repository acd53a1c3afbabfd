"""A release near the prices: patterns as a fractional release fills them, then greedy."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.ascent import Ascent, nobody
from incrowd.kernels.jit import kernel
from incrowd.lattice.emission import Emission
from incrowd.solvers.engine.candidates import Candidates
from incrowd.solvers.engine.greedy import greedy

STEPS = 150
WIDTH, RATE = 0.05, 0.01  # of the box and of a step, in suppressed cells
LEAST = 0.02  # classes that a pattern must carry to be opened


@kernel
def fill_by_share(order: Any, carried: Any, share: Any, k: int, pattern: Any, c: Any) -> None:
    """Open patterns in this order for the copies that they carry, where k are still free.

    ``carried`` (per pattern): how many classes; ``pattern`` (per copy) comes all −1.
    """
    taken = np.zeros(c.first_copy.size - 1, np.int64)
    for p in order:
        if carried[p] < LEAST:
            break
        whole = min(1.0, carried[p])
        total = 0
        for i in range(c.offset[p], c.offset[p + 1]):
            r = c.rows[i]
            free = c.first_copy[r + 1] - c.first_copy[r] - taken[r]
            total += min(free, int(share[i] / whole + 0.5))
        if total < k:
            continue
        for i in range(c.offset[p], c.offset[p + 1]):
            r = c.rows[i]
            free = c.first_copy[r + 1] - c.first_copy[r] - taken[r]
            for _ in range(min(free, int(share[i] / whole + 0.5))):
                pattern[c.first_copy[r] + taken[r]] = p
                taken[r] += 1


def rounded(
    candidates: Candidates,
    counts: NDArray[np.int64],
    price: NDArray[np.float64],
    k: int,
    cell: float,
    stop: Callable[[], bool] = lambda: False,
    threads: int = 1,
    told: Callable[[int], None] = nobody,
    steps: int = STEPS,
) -> NDArray[np.int64]:
    """Return a lawful assignment (int64, copies → patterns) near a fractional release.

    Dear itself, it is a better start than a greedy one: most of its classes are where the best
    releases have theirs.  ``price`` (float64, distinct): the best prices; needs at least k copies.
    ``threads``: that may take steps together; no influence.  ``told``: as an ascent's.
    ``steps``: towards the fractional release.
    """
    c = candidates
    patterns = len(c.cost) - 1  # the root takes leftovers only
    if patterns == 0:
        return greedy(c, k, 1)
    lists = Emission(c.cost, c.offset[: patterns + 1], c.rows)
    ascent = Ascent(lists, patterns, counts, k, threads=threads, told=told)
    share, _ = ascent.shares(price, WIDTH * cell, steps, RATE * cell, stop)
    carried = np.add.reduceat(share, c.offset[:patterns]) / k
    pattern = np.full(len(c.row_of), -1, np.int64)
    fill_by_share(np.argsort(-carried, kind="stable"), carried, share, k, pattern, c)
    return greedy(c, k, max(1, int(cell / 10)), pattern)
