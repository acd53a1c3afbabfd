"""The dearest mean price that a t-close class can have by equal distance, among a pattern's rows.

Write q for the table's distribution, z for the class's, u for the rows' prices, and let every
lawful class have at least K rows.  Each kernel returns μ ≥ the mean price of every such class.

Equal distance.  A class of n ≥ K rows gives each of its copies the weight 1/n ≤ 1/K; its weights
sum to 1, and Σ (z − q)⁺ ≤ t.  Maximising over these weights is a transport between two lists: the
copies that fill the quota K·qᵥ of each value, and those beyond it.  Start from full quotas, replace
what is lacking by the dearest copies beyond, then exchange the cheapest of the first list for the
dearest of the second while that pays and the distance allows.

Equal distance, sized.  A class of exactly n rows holds whole copies: the j-th copy of v lies
c = min(1, (j − n·qᵥ)⁺) beyond the quota, and these sum to at most n·t.  For every slope λ ≥ 0 the
n copies of largest price − λ·c, plus λ·n·t, are worth at least the class.  So each of the smallest
sizes is bounded by its own λ, all larger ones by the relaxation with K as large as them; the
largest of these bounds holds for every class.

Equal distance, counted.  Near the smallest size hardly any histogram is lawful.  Where they are
few, they are listed, and the dearest copies in the proportions of each make the exact answer.
"""

from typing import Any

from incrowd.bounds.diversity import IMPOSSIBLE
from incrowd.bounds.top_copies import sort_pieces
from incrowd.kernels.jit import inner_kernel

SLOPES = 9  # slopes tried for one size of class, at most


@inner_kernel
def list_quota(k: float, t: float, quota: Any, start: Any, pad: Any) -> Any:
    """Fill the two lists for classes of ≥ k rows; return (in quota, beyond, lacking)."""
    inside = 0
    beyond = 0
    lacking = k
    for x in range(pad.state[0]):
        v = pad.present[x]
        at = start[v]
        full = quota[v] * k
        lacking -= min(full, float(pad.filled[v]))
        for z in range(pad.filled[v]):
            kept = min(z + 1.0, full) - z
            if kept > 0:
                pad.low_price[inside] = pad.top[at + z]
                pad.low_amount[inside] = kept
                pad.low_row[inside] = pad.top_row[at + z]
                inside += 1
            extra = min(z + 1.0, full + t * k) - max(float(z), full)
            if extra > 1e-15:
                pad.price[beyond] = pad.top[at + z]
                pad.amount[beyond] = extra
                pad.row[beyond] = pad.top_row[at + z]
                beyond += 1
    return inside, beyond, max(lacking, 0.0)


@inner_kernel
def relaxed_mean(k: float, t: float, quota: Any, start: Any, pad: Any) -> Any:
    """Return (dearest mean of classes of ≥ k rows, number of weights, price of more distance)."""
    inside, beyond, lacking = list_quota(k, t, quota, start, pad)
    budget = t * k
    if lacking > budget + 1e-7:
        return IMPOSSIBLE, 0, 0.0
    sort_pieces(pad.price, pad.amount, pad.row, beyond, False)
    out = 0
    total = 0.0
    need = lacking
    x = 0
    while need > 1e-12 and x < beyond:
        amount = min(need, pad.amount[x])
        total += amount * pad.price[x]
        pad.out_row[out] = pad.row[x]
        pad.out_weight[out] = amount / k
        out += 1
        need -= amount
        pad.amount[x] -= amount
        if pad.amount[x] <= 1e-12:
            x += 1
    if need > 1e-6:
        return IMPOSSIBLE, 0, 0.0
    sort_pieces(pad.low_price, pad.low_amount, pad.low_row, inside, True)
    left = budget - lacking
    y = 0
    while left > 1e-12 and x < beyond and y < inside and pad.price[x] > pad.low_price[y]:
        amount = min(left, min(pad.amount[x], pad.low_amount[y]))
        total += amount * pad.price[x]
        pad.out_row[out] = pad.row[x]
        pad.out_weight[out] = amount / k
        out += 1
        left -= amount
        pad.amount[x] -= amount
        pad.low_amount[y] -= amount
        if pad.amount[x] <= 1e-12:
            x += 1
        if pad.low_amount[y] <= 1e-12:
            y += 1
    slope = max(0.0, pad.price[x] - pad.low_price[y]) if x < beyond and y < inside else 0.0
    for z in range(y, inside):
        total += pad.low_amount[z] * pad.low_price[z]
        pad.out_row[out] = pad.low_row[z]
        pad.out_weight[out] = pad.low_amount[z] / k
        out += 1
    return total / k, out, slope


@inner_kernel
def sized_line(size: int, slope: float, t: float, quota: Any, start: Any, pad: Any) -> Any:
    """Return (dearest mean of a class of this size at this slope, its distance beyond t).

    The class's rows stand in ``pad.low_row``.
    """
    held = 0
    spent = 0.0
    for x in range(pad.state[0]):
        v = pad.present[x]
        at = start[v]
        full = quota[v] * size
        for z in range(min(pad.filled[v], int(full + size * t + 1e-9))):
            far = min(1.0, max(0.0, z + 1.0 - full))
            key = pad.top[at + z] - slope * far
            if held >= size:
                if key <= pad.low_price[held - 1]:
                    break
                spent -= pad.low_amount[held - 1]
            j = held if held < size else size - 1
            while j > 0 and pad.low_price[j - 1] < key:
                pad.low_price[j] = pad.low_price[j - 1]
                pad.low_amount[j] = pad.low_amount[j - 1]
                pad.low_row[j] = pad.low_row[j - 1]
                j -= 1
            pad.low_price[j] = key
            pad.low_amount[j] = far
            pad.low_row[j] = pad.top_row[at + z]
            spent += far
            held = min(held + 1, size)
    if held < size:
        return IMPOSSIBLE, 0.0
    total = 0.0
    for j in range(size):
        total += pad.low_price[j]
    return total / size + slope * t, spent / size - t


@inner_kernel
def sized_mean(
    size: int, first: float, floor: float, t: float, quota: Any, start: Any, pad: Any
) -> Any:
    """Return (bound on the mean of classes of this size, the slope that proves it).

    A bound of at most ``floor`` is answer enough.

    The least of a convex function of the slope, from ``first`` on by intersecting tangents; any
    slope is proof enough, so a few steps will do.
    """
    slope = first
    best = -IMPOSSIBLE
    best_slope = first
    low = high = -1.0
    low_value = high_value = low_far = high_far = 0.0
    for _ in range(SLOPES):
        value, far = sized_line(size, slope, t, quota, start, pad)
        if value == IMPOSSIBLE:
            return IMPOSSIBLE, slope
        if value < best:
            best = value
            best_slope = slope
        if best <= floor or (far <= 0 and slope <= 0.0):
            break
        if far > 0:
            low, low_value, low_far = slope, value, far
        else:
            high, high_value, high_far = slope, value, far
        if high < 0:
            slope = 2.0 * slope + 0.5
        elif low < 0:
            slope = 0.0 if slope < 0.1 else 0.5 * slope
        else:  # tangents: value − far·(λ − slope)
            if low_far - high_far < 1e-12:
                break
            slope = (low_value + low_far * low - high_value - high_far * high) / (
                low_far - high_far
            )
            if low_value - low_far * (slope - low) >= best - 2e-3 * abs(best):
                break
    return best, best_slope


@inner_kernel
def fill_sums(start: Any, pad: Any) -> None:
    """Sum up the dearest 0, 1, 2, … copies of every value, from ``start[v] + v`` on."""
    for v in range(start.size - 1):
        at = start[v] + v
        total = 0.0
        pad.sum[at] = 0.0
        for z in range(pad.filled[v]):
            total += pad.top[start[v] + z]
            pad.sum[at + z + 1] = total


@inner_kernel
def counted_mean(size: int, first: int, number: int, data: Any, start: Any, pad: Any) -> Any:
    """Return (dearest mean of a class with one of the histograms listed, its place in ``data``)."""
    values = start.size - 1
    best = IMPOSSIBLE
    where = -1
    for x in range(number):
        at = first + x * values
        total = 0.0
        for v in range(values):
            h = int(data[at + v])
            if h > 0:
                if h > pad.filled[v]:
                    total = IMPOSSIBLE
                    break
                total += pad.sum[start[v] + v + h]
        if total > best:
            best = total
            where = at
    if where < 0:
        return IMPOSSIBLE, -1
    return best / size, where


@inner_kernel
def list_counted(where: int, size: int, data: Any, start: Any, pad: Any) -> None:
    """Fill the answer with the dearest class that has the histogram at ``where``."""
    out = 0
    for v in range(start.size - 1):
        for z in range(int(data[where + v])):
            pad.out_row[out] = pad.top_row[start[v] + z]
            pad.out_weight[out] = 1.0 / size
            out += 1


@inner_kernel
def best_size(
    mean: float, slope: float, enough: float, data: Any, quota: Any, start: Any, pad: Any
) -> Any:
    """Return (bound on the mean of every class, the size that decides, its slope, its histogram).

    ``mean`` and ``slope`` are the relaxation's answer for all sizes at once, which few steps may
    not reach: then, and for large classes, there is no slope (−1) and no histogram (−1).  Sizes
    that prove to be no dearer than others, or than ``enough``, are left at that.
    """
    k = int(data[0])
    t = data[1]
    sizes = int(data[2])
    best, _, tail = relaxed_mean(data[0] + sizes, t, quota, start, pad)
    size_then = k + sizes
    slope_then = -1.0
    where_then = -1
    if best != IMPOSSIBLE:
        slope = tail
    fill_sums(start, pad)
    for size in range(k + sizes - 1, k - 1, -1):
        if best >= mean:
            break
        at = 3 + quota.size + 2 * (size - k)
        number = int(data[at + 1])
        where = -1
        if number >= 0:
            found, where = counted_mean(size, int(data[at]), number, data, start, pad)
        else:
            floor = max(best, enough)
            found, slope = sized_mean(size, slope, floor, t, quota, start, pad)
        if found > best:
            best, size_then, slope_then, where_then = found, size, slope, where
    if best >= mean:
        return mean, k, -1.0, -1
    return best, size_then, slope_then, where_then


@inner_kernel
def variation(start: Any, data: Any, enough: float, pad: Any) -> Any:
    """Return (dearest mean within total variation t, number of weights).

    ``data`` = k, t, number of sizes, q…, for each size where its histograms stand and how many they
    are (−1 for too many), then the histograms.  A relaxation that does not exceed ``enough`` is
    answer enough.
    """
    t = data[1]
    quota = data[3 : 3 + start.size - 1]
    mean, out, slope = relaxed_mean(data[0], t, quota, start, pad)
    if data[2] == 0 or mean <= enough:
        return mean, out
    best, size, slope, where = best_size(mean, slope, enough, data, quota, start, pad)
    if where >= 0:
        list_counted(where, size, data, start, pad)
        return best, size
    if slope < 0:
        best, out, _ = relaxed_mean(float(size), t, quota, start, pad)
        return best, out
    sized_line(size, slope, t, quota, start, pad)
    for j in range(size):
        pad.out_row[j] = pad.low_row[j]
        pad.out_weight[j] = 1.0 / size
    return best, size
