"""The dearest mean price that a class of a diversity model can have among the rows of a pattern.

Write u for the rows' prices and C for a lawful class of n ≥ K rows, all of which match p.  Each
kernel returns μ ≥ (Σ over C of u)/n for all such C, with the weights that attain it; the dearest
copies of each value are listed before (``fill_top_copies``).

Caps (frequency diversity, (α,k)-anonymity, likeness, disclosure; as a relaxation entropy and
recursive diversity).  The law says lowᵥ·n ≤ h(v) ≤ capᵥ·n.

- *Frequency l, exact.*  A lawful class splits into lawful classes of k rows with at most ⌊k/l⌋ of
  a value, or of l⌈k/l⌉ rows with at most ⌈k/l⌉ of a value; the dearest part's mean is at least
  the class's own.  For k ≤ l: list the class by value and deal its rows round-robin to ⌊n/l⌋ hands.
- *Any caps.*  A class of exactly s rows holds at most ⌊capᵥ·s⌋ copies of v.  A class of at least s
  rows gives each copy a weight of at most 1/s, and each value at most capᵥ.  Both are solved by
  taking the dearest copies first.

Distinct l with k, exact.  The class holds l different values and k rows; any further row above
the mean raises it.  So: the l values with the dearest copies, the k − l dearest further copies, and
then everything above the mean, which rises until nothing is left above it.
"""

from math import floor
from typing import Any

from incrowd.bounds.top_copies import LOOKS
from incrowd.kernels.jit import inner_kernel

IMPOSSIBLE = -1e300


@inner_kernel
def capped_of_size(size: float, caps: Any, lows: Any, must: int, start: Any, pad: Any) -> Any:
    """Return (sum of the dearest ``size`` copies within the caps, number of weights).

    ``caps`` and ``lows`` are copies of each value, possibly fractional; ``must`` is the number of
    values with a low above 0.  ``IMPOSSIBLE`` when no class of this size fits in.

    The lists of the values fall already: after what the lows force, they are merged until the class
    is full.  Sorting all copies within the caps would take them all, for each size anew.
    """
    out = 0
    have = 0.0
    room = 0.0
    total = 0.0
    for x in range(pad.state[0]):
        v = pad.present[x]
        low = lows[v]
        if low > 0:
            must -= 1
            if low > pad.filled[v] + 1e-9:
                return IMPOSSIBLE, 0
        low = max(0.0, min(low, caps[v], float(pad.filled[v])))
        total, out = take(x, start[v], 0.0, low, total, size, out, pad)
        have += low
        room += min(caps[v], float(pad.filled[v])) - low
    if must > 0 or have + room < size - 1e-6 or have > size + 1e-6:
        return IMPOSSIBLE, 0
    left = heaped(caps, pad)
    while left > 0 and have < size - 1e-12:
        x = pad.plan[0]
        v = pad.present[x]
        begin = pad.mass[x]
        end = min(floor(begin) + 1.0, min(caps[v], float(pad.filled[v])), begin + (size - have))
        if end <= begin:  # what is lacking is lost in rounding
            break
        total, out = take(x, start[v], begin, end, total, size, out, pad)
        have += end - begin
        if not within(x, caps, pad):
            left -= 1
            x = pad.plan[left]
        sink(0, left, x, pad)
    return total, out


@inner_kernel
def within(x: int, caps: Any, pad: Any) -> bool:
    """Whether the x-th value present has a copy left within its cap."""
    v = pad.present[x]
    return pad.mass[x] < min(caps[v], float(pad.filled[v]))


@inner_kernel
def heaped(caps: Any, pad: Any) -> int:
    """List in ``plan`` which of the values present have copies left within their caps.

    As a heap, the value with the dearest next copy on top; return how many there are.
    """
    n = 0
    for x in range(pad.state[0]):
        if within(x, caps, pad):
            pad.plan[n] = x
            n += 1
    for j in range(n // 2 - 1, -1, -1):
        sink(j, n, pad.plan[j], pad)
    pad.state[LOOKS] += pad.state[0]
    return n


@inner_kernel
def sink(j: int, n: int, x: int, pad: Any) -> None:
    """Put the x-th value present at place j of the heap of n, or below."""
    while 2 * j + 1 < n:
        child = 2 * j + 1
        if child + 1 < n and dearer(pad.plan[child + 1], pad.plan[child], pad):
            child += 1
        pad.state[LOOKS] += 1
        if not dearer(pad.plan[child], x, pad):
            break
        pad.plan[j] = pad.plan[child]
        j = child
    pad.plan[j] = x


@inner_kernel
def dearer(x: int, y: int, pad: Any) -> bool:
    """Whether the next copy of x is dearer than that of y; of equal ones the first met counts."""
    return pad.price[x] > pad.price[y] or (pad.price[x] == pad.price[y] and x < y)


@inner_kernel
def take(
    x: int, at: int, begin: float, end: float, total: float, size: float, out: int, pad: Any
) -> Any:
    """Take copies ``begin`` to ``end`` (possibly fractional) of the x-th value present.

    Return (total, number of weights); note what is taken in ``mass[x]``, and in ``price[x]`` the
    price of the copy that would be next, if there is one.
    """
    z = int(begin)
    while z < end:
        amount = min(z + 1.0, end) - max(float(z), begin)
        total += amount * pad.top[at + z]
        pad.out_row[out] = pad.top_row[at + z]
        pad.out_weight[out] = amount / size
        out += 1
        z += 1
    pad.state[LOOKS] += z - int(begin)
    pad.mass[x] = end
    if end < pad.filled[pad.present[x]]:
        pad.price[x] = pad.top[at + int(end)]
    return total, out


@inner_kernel
def capped_from(at: int, start: Any, data: Any, pad: Any) -> Any:
    """Return (dearest mean, number of weights) for the size, caps and lows at ``data[at]``."""
    values = start.size - 1
    caps = data[at + 1 : at + 1 + values]
    lows = data[at + 1 + values : at + 1 + 2 * values]
    total, out = capped_of_size(data[at], caps, lows, int(data[2]), start, pad)
    return (IMPOSSIBLE if total == IMPOSSIBLE else total / data[at]), out


@inner_kernel
def capped(start: Any, data: Any, enough: float, pad: Any) -> Any:
    """Return (dearest mean under caps, number of weights).

    ``data`` = number of sizes, whether the first is a relaxation of all others, number of values
    with lows, then per size: the size, all caps, all lows.  A relaxation that does not exceed
    ``enough`` is answer enough.
    """
    step = 1 + 2 * (start.size - 1)
    sizes = int(data[0])
    first = 0
    if data[1] > 0:
        mean, out = capped_from(3, start, data, pad)
        if mean == IMPOSSIBLE or mean <= enough or sizes == 1:
            return mean, out
        first = 1
    best = IMPOSSIBLE
    best_at = at = 3 + first * step
    out = 0
    for _ in range(first, sizes):
        mean, out = capped_from(at, start, data, pad)
        if mean > best:
            best = mean
            best_at = at
        at += step
    if best > IMPOSSIBLE and best_at != at - step:  # the weights are those of the last
        _, out = capped_from(best_at, start, data, pad)
    return best, out


@inner_kernel
def distinct(
    rows: Any, begin: int, end: int, u: Any, counts: Any, start: Any, data: Any, pad: Any
) -> Any:
    """Return (dearest mean with l values and k rows, number of weights); ``data`` = l, k."""
    l = int(data[0])  # noqa: E741
    k = int(data[1])
    held = pad.state[0]
    if held < l:
        return IMPOSSIBLE, 0
    base = 0
    for x in range(held):
        at = start[pad.present[x]]
        base = keep_dearest(pad.price, pad.row, base, l, pad.top[at], pad.top_row[at])
    total = 0.0
    for j in range(l):
        total += pad.price[j]
        pad.used[pad.row[j]] += 1
    more = 0
    if k > l:
        for i in range(begin, end):
            r = rows[i]
            for _ in range(min(counts[r] - pad.used[r], k - l)):
                if more >= k - l and u[r] <= pad.low_price[more - 1]:
                    break
                more = keep_dearest(pad.low_price, pad.low_row, more, k - l, u[r], r)
        for j in range(more):
            total += pad.low_price[j]
            pad.used[pad.low_row[j]] += 1
    n = l + more
    if n < k:
        for j in range(l):
            pad.used[pad.row[j]] = 0
        for j in range(more):
            pad.used[pad.low_row[j]] = 0
        return IMPOSSIBLE, 0
    mean = rise(rows, begin, end, u, counts, total, n, pad)
    out = write_distinct(rows, begin, end, u, counts, mean, l, more, pad)
    return mean, out


@inner_kernel
def keep_dearest(price: Any, row: Any, held: int, most: int, p: float, r: int) -> int:
    """Insert a copy into a falling list of at most ``most``; return the list's length."""
    if held >= most and p <= price[held - 1]:
        return held
    j = held if held < most else most - 1
    while j > 0 and price[j - 1] < p:
        price[j] = price[j - 1]
        row[j] = row[j - 1]
        j -= 1
    price[j] = p
    row[j] = r
    return held + 1 if held < most else held


@inner_kernel
def rise(
    rows: Any, begin: int, end: int, u: Any, counts: Any, total: float, n: int, pad: Any
) -> Any:
    """Add all copies above the mean until none is left; return the mean."""
    mean = total / n
    for _ in range(100):
        now = total
        size = n
        for i in range(begin, end):
            r = rows[i]
            if u[r] > mean:
                copies = counts[r] - pad.used[r]
                now += copies * u[r]
                size += copies
        higher = now / size
        if higher <= mean:
            break
        mean = higher
    return mean


@inner_kernel
def write_distinct(
    rows: Any,
    begin: int,
    end: int,
    u: Any,
    counts: Any,
    mean: float,
    base: int,
    more: int,
    pad: Any,
) -> int:
    """Write the weights of the base and of all copies above the mean; clear ``used``."""
    out = 0
    n = base + more
    for i in range(begin, end):
        r = rows[i]
        if u[r] > mean:
            copies = counts[r] - pad.used[r]
            if copies > 0:
                pad.out_row[out] = r
                pad.out_weight[out] = copies
                n += copies
                out += 1
    for j in range(base):
        pad.out_row[out] = pad.row[j]
        pad.out_weight[out] = 1.0
        pad.used[pad.row[j]] = 0
        out += 1
    for j in range(more):
        pad.out_row[out] = pad.low_row[j]
        pad.out_weight[out] = 1.0
        pad.used[pad.low_row[j]] = 0
        out += 1
    for j in range(out):
        pad.out_weight[j] /= n
    return out
