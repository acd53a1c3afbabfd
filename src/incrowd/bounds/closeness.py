"""The dearest mean price that a t-close class can have among the rows of a pattern.

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

Any metric D.  For a potential g with |g(a) − g(b)| ≤ λ·D(a, b), Kantorovich and Rubinstein's
duality gives z·g ≤ q·g + λt, so the mean of u over the class is at most the mean of u − g over it
plus q·g + λt, and the first mean is at most that of the K dearest copies by u − g.  Any g will do;
ours is the optimal one for classes without a size: gᵢ = max over values j present of (Mⱼ − λ·Dᵢⱼ),
Mⱼ the dearest price of value j.
"""

from typing import Any

from incrowd.bounds.diversity import IMPOSSIBLE, keep_dearest
from incrowd.bounds.tops import fill_tops, sort_pieces
from incrowd.jit import lean_kernel

SLOPES = 9  # slopes tried for one size of class, at most


@lean_kernel
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


@lean_kernel
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


@lean_kernel
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


@lean_kernel
def sized_mean(size: int, first: float, t: float, quota: Any, start: Any, pad: Any) -> Any:
    """Return (bound on the mean of classes of this size, the slope that proves it).

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
        if far <= 0 and slope <= 0.0:
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


@lean_kernel
def variation(
    rows: Any,
    begin: int,
    end: int,
    u: Any,
    counts: Any,
    value: Any,
    start: Any,
    data: Any,
    enough: float,
    pad: Any,
) -> Any:
    """Return (dearest mean within total variation t, number of weights).

    ``data`` = k, t, number of sizes, q….  A relaxation that does not exceed ``enough`` is answer
    enough.
    """
    k = int(data[0])
    t = data[1]
    sizes = int(data[2])
    quota = data[3:]
    fill_tops(rows, begin, end, u, counts, value, start, pad)
    mean, out, slope = relaxed_mean(data[0], t, quota, start, pad)
    if sizes == 0 or mean <= enough:
        return mean, out
    best, out, tail = relaxed_mean(data[0] + sizes, t, quota, start, pad)
    best_size = k + sizes
    best_slope = 0.0
    if best != IMPOSSIBLE:
        slope = tail
    for size in range(k + sizes - 1, k - 1, -1):
        if best >= mean:
            break
        found, slope = sized_mean(size, slope, t, quota, start, pad)
        if found > best:
            best, best_size, best_slope = found, size, slope
    if best >= mean:  # few steps may prove less than the relaxation
        mean, out, _ = relaxed_mean(data[0], t, quota, start, pad)
        return mean, out
    if best_size == k + sizes:
        best, out, _ = relaxed_mean(data[0] + sizes, t, quota, start, pad)
        return best, out
    sized_line(best_size, best_slope, t, quota, start, pad)
    for j in range(best_size):
        pad.out_row[j] = pad.low_row[j]
        pad.out_weight[j] = 1.0 / best_size
    return best, best_size


@lean_kernel
def potential_value(slope: float, quota: Any, distance: Any, values: int, pad: Any, at: int) -> Any:
    """Fill the plan at ``at``: the best value j for each i; return (q·g, cost of the plan)."""
    worth = 0.0
    cost = 0.0
    for i in range(values):
        if quota[i] <= 0:
            pad.plan[at + i] = -1
            continue
        best = IMPOSSIBLE
        best_j = -1
        for x in range(pad.state[0]):
            j = pad.present[x]
            g = pad.mass[j] - slope * distance[i * values + j]
            if g > best or (g == best and distance[i * values + j] < distance[i * values + best_j]):
                best = g
                best_j = j
        pad.plan[at + i] = best_j
        worth += quota[i] * best
        cost += quota[i] * distance[i * values + best_j]
    return worth, cost


@lean_kernel
def best_slope(t: float, quota: Any, distance: Any, values: int, pad: Any) -> float:
    """Return the λ ≥ 0 that minimises q·g + λt, or −1 when no class comes within t."""
    worth0, cost0 = potential_value(0.0, quota, distance, values, pad, 0)
    if cost0 <= t:
        return 0.0
    spread = 1.0
    for x in range(pad.state[0]):
        for y in range(pad.state[0]):
            spread = max(spread, pad.mass[pad.present[x]] - pad.mass[pad.present[y]])
    high = 1e6 * spread
    worth1, cost1 = potential_value(high, quota, distance, values, pad, 0)
    if cost1 > t + 1e-5:  # the plan may be this far from the cheapest one
        return -1.0
    low = 0.0
    slope = 0.0
    for _ in range(60):
        line0 = worth0 + low * cost0
        line1 = worth1 + high * cost1
        if cost0 - cost1 < 1e-12:
            break
        slope = (line0 - line1) / (cost0 - cost1)
        worth, cost = potential_value(slope, quota, distance, values, pad, 0)
        if worth <= line0 - slope * cost0 + 1e-10 * spread:
            break
        if cost > t:
            low, worth0, cost0 = slope, worth, cost
        else:
            high, worth1, cost1 = slope, worth, cost
    return slope


@lean_kernel
def potential(
    rows: Any,
    begin: int,
    end: int,
    u: Any,
    counts: Any,
    value: Any,
    start: Any,
    data: Any,
    enough: float,
    pad: Any,
) -> Any:
    """Return (dearest mean within distance t of the table, number of weights).

    ``data`` = k, t, q…, then the distances row by row.
    """
    values = start.size - 1
    k = int(data[0])
    t = data[1]
    quota = data[2 : 2 + values]
    distance = data[2 + values :]
    fill_tops(rows, begin, end, u, counts, value, start, pad)
    if pad.state[0] == 0:
        return IMPOSSIBLE, 0
    for x in range(pad.state[0]):
        v = pad.present[x]
        pad.mass[v] = pad.top[start[v]]
    slope = best_slope(t, quota, distance, values, pad)
    if slope < 0:
        return IMPOSSIBLE, 0
    base = slope * t
    for i in range(values):
        g = IMPOSSIBLE
        for x in range(pad.state[0]):
            j = pad.present[x]
            g = max(g, pad.mass[j] - slope * distance[i * values + j])
        pad.mass[values + i] = g
        base += quota[i] * g
    held = 0
    for i in range(begin, end):
        r = rows[i]
        shifted = u[r] - pad.mass[values + value[r]]
        for _ in range(min(counts[r], k)):
            if held >= k and shifted <= pad.price[held - 1]:
                break
            held = keep_dearest(pad.price, pad.row, held, k, shifted, r)
    if held < k:
        return IMPOSSIBLE, 0
    total = 0.0
    for j in range(k):
        total += pad.price[j]
        pad.out_row[j] = pad.row[j]
        pad.out_weight[j] = 1.0 / k
    return base + total / k, k
