"""How much a class of a pattern's rows can be worth beyond its cost, under caps on shares.

The law says low·n ≤ h ≤ cap·n of the copies h of each value in a class of n rows.  A row's excess
is its price less the cost of the pattern.

One size.  For n rows each value has a least and a most number of whole copies, its dearest ones.
What is left is taken from the dearest copies on: exact, because the sums of the dearest h copies of
a value are concave in h.  Let π be the excess of the last copy taken.

Other sizes.  A class of n rows is worth at most π·n + Σ over values of the most that its dearest
copies, within its limits at n, come to above π each.  And where a value is at a limit, a part γ − π
of what its next copy is worth goes to that limit, which grows with n: a line in n.

A value that may not be lacking has one copy at least, whatever n: that is where few scarce rows
allow few classes.  Theorems and proofs: docs/explanation/sensitive-bounds.md, "Once per pattern".
"""

from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.copies_by_value import NOTHING, keep, sort_by_value
from incrowd.kernels.jit import inner_kernel, lean_kernel

PROBES = 32  # sizes tried on the way to the one where classes are worth most, at most
QUIET = 24  # sizes passed over in a row, at most
SLACK = 1e-9  # of a copy, in limits


class CapLaw(NamedTuple):
    """Shares of classes of at least ``least`` rows: low, cap float64, shape (values,).

    start, value: as in ``incrowd.bounds.copies_by_value.ClosenessLaw``.
    """

    least: int
    low: NDArray[np.float64]
    cap: NDArray[np.float64]
    start: NDArray[np.int64]
    value: NDArray[np.int32]


@inner_kernel
def limits(v: int, size: int, law: Any, s: Any) -> Any:
    """Return the least and the most copies of v in a class of this size."""
    low = ceil(law.low[v] * size - SLACK * size)
    if law.low[v] > 0.0:
        low = max(low, 1)
    return max(low, 0), min(s.held[v], floor(law.cap[v] * size + SLACK * size))


@inner_kernel
def ends(law: Any, s: Any) -> Any:
    """Return the highest excess of a copy that may join and its value, the lowest that may go."""
    high, to, low, from_ = NOTHING, -1, -NOTHING, -1
    for v in range(law.low.size):
        x = s.take[v]
        at = law.start[v] + x
        if x < s.above[v] and s.excess[at] > high:
            high, to = s.excess[at], v
        if x > s.order[v] and s.excess[at - 1] < low:
            low, from_ = s.excess[at - 1], v
    return high, to, low, from_


@inner_kernel
def filled(size: int, law: Any, s: Any) -> Any:
    """Return (worth of the dearest class of this size, excess of its last copy).

    Its histogram is left in ``take``, from where the next search starts; limits in ``order`` and
    ``above``.  ``NOTHING`` where there is none.
    """
    taken = 0
    least = 0
    most = 0
    for v in range(law.low.size):
        low, high = limits(v, size, law, s)
        if low > high:
            return NOTHING, 0.0
        s.order[v], s.above[v] = low, high
        s.take[v] = min(max(s.take[v], low), high)
        taken += s.take[v]
        least += low
        most += high
    if least > size or most < size:
        return NOTHING, 0.0
    while True:
        high, to, low, from_ = ends(law, s)
        if taken == size and high <= low:
            break
        if taken >= size:
            s.take[from_] -= 1
            taken -= 1
        if taken < size and to >= 0:
            s.take[to] += 1
            taken += 1
    total = 0.0
    for v in range(law.low.size):
        total += s.sum[law.start[v] + v + s.take[v]]
    return total, (low if from_ >= 0 else max(high, 0.0))


@inner_kernel
def count_above(last: float, law: Any, s: Any) -> None:
    """Count each value's copies above the last one."""
    for v in range(law.low.size):
        low, high = 0, s.held[v]
        while low < high:
            middle = (low + high) // 2
            if s.excess[law.start[v] + middle] > last:
                low = middle + 1
            else:
                high = middle
        s.well_above[v] = low


@inner_kernel
def level(size: int, last: float, law: Any, s: Any) -> float:
    """Return what the last copy of one size proves of another, after ``count_above``."""
    total = size * last
    for v in range(law.low.size):
        low, high = limits(v, size, law, s)
        if low > high:
            return NOTHING
        x = min(max(s.well_above[v], low), high)
        total += s.sum[law.start[v] + v + x] - last * x
    return total


@inner_kernel
def tangent(size: int, last: float, law: Any, s: Any) -> Any:
    """Return (A, B): classes of n rows are worth at most A + B·(n − size); after ``filled``."""
    rise = last
    total = 0.0
    for v in range(law.low.size):
        at = law.start[v]
        x = s.take[v]
        more = 0.0
        if x == s.above[v] and x < s.held[v]:
            more = max(0.0, s.excess[at + x] - last)
            rise += more * law.cap[v]
        elif x == s.order[v] and x > 1:
            more = min(0.0, s.excess[at + x - 1] - last)
            rise += more * law.low[v]
        forced = 1 if law.low[v] > 0.0 and s.held[v] > 0 else 0
        for x in range(s.held[v]):
            over = s.excess[at + x] - last - more
            if over <= 0 and x >= forced:
                break
            total += over
    return total + rise * size, rise


@inner_kernel
def peak(held: int, law: Any, s: Any) -> int:
    """Return the size about which classes are worth most, by doubling and halving."""
    below = above = size = law.least
    for _ in range(PROBES):
        worth, last = filled(size, law, s)
        if worth == NOTHING:  # there is no class of this size: nothing says where to go
            rise = 1.0
        else:
            _, rise = tangent(size, last, law, s)
        if rise > 0:
            below = size
        else:
            above = size
        if above <= below:
            if below == held or rise <= 0:
                break
            above, size = below, min(2 * size, held)
        else:
            if above - below <= max(1, below // 32):
                break
            size = (below + above) // 2
    return size


@inner_kernel
def scan(size: int, step: int, held: int, best: float, law: Any, s: Any) -> float:
    """Go through sizes upwards or downwards; return the worth of the best class, at least ``best``.

    As in ``incrowd.bounds.dearest_class``; here every size that is asked is asked exactly.
    """
    quiet = QUIET
    last = 0.0
    while law.least <= size <= held:
        if quiet < QUIET and level(size, last, law, s) <= best:
            quiet += 1
        else:
            worth, lowest = filled(size, law, s)
            if worth > NOTHING:
                quiet = 0
                last = lowest
                if worth > best:
                    best = worth
                    keep(s.take, s.best)
                most, rise = tangent(size, last, law, s)
                if most <= best and rise * step <= 0:
                    break
                count_above(last, law, s)
        size += step
    return best


@lean_kernel
def most_worth_capped(
    rows: Any, begin: int, end: int, u: Any, counts: Any, cost: float, law: Any, s: Any
) -> float:
    """Return the largest Σ (u − cost) over a lawful class of these rows, at least 0.

    Where it is positive, ``best`` is the histogram of such a class.
    """
    held = sort_by_value(rows, begin, end, u, counts, cost, law, s)
    if held < law.least:
        return 0.0
    size = peak(held, law, s)
    best = scan(size, 1, held, 0.0, law, s)
    return scan(size - 1, -1, held, best, law, s)
