"""The dearest mean price that a t-close class can have under any metric, among a pattern's rows.

Write q for the table's distribution, z for the class's, u for the rows' prices, and let every
lawful class have at least K rows.  The answer is μ ≥ the mean price of every such class.

For a metric D and a potential g with |g(a) − g(b)| ≤ λ·D(a, b), Kantorovich and Rubinstein's
duality gives z·g ≤ q·g + λt, so the mean of u over the class is at most the mean of u − g over it
plus q·g + λt, and the first mean is at most that of the K dearest copies by u − g.  Any g will do;
ours is the optimal one for classes without a size: gᵢ = max over values j present of (Mⱼ − λ·Dᵢⱼ),
Mⱼ the dearest price of value j.
"""

from typing import Any

from incrowd.bounds.diversity import IMPOSSIBLE, keep_dearest
from incrowd.kernels.jit import inner_kernel


@inner_kernel
def potential_value(slope: float, quota: Any, distance: Any, values: int, pad: Any) -> Any:
    """Return (q·g, cost of the plan) where each value goes to its best one."""
    worth = 0.0
    cost = 0.0
    for i in range(values):
        if quota[i] <= 0:
            continue
        best = IMPOSSIBLE
        best_j = -1
        for x in range(pad.state[0]):
            j = pad.present[x]
            g = pad.mass[j] - slope * distance[i * values + j]
            if g > best or (g == best and distance[i * values + j] < distance[i * values + best_j]):
                best = g
                best_j = j
        worth += quota[i] * best
        cost += quota[i] * distance[i * values + best_j]
    return worth, cost


@inner_kernel
def best_slope(t: float, quota: Any, distance: Any, values: int, pad: Any) -> float:
    """Return the λ ≥ 0 that minimises q·g + λt, or −1 when no class comes within t."""
    worth0, cost0 = potential_value(0.0, quota, distance, values, pad)
    if cost0 <= t:
        return 0.0
    spread = 1.0
    for x in range(pad.state[0]):
        for y in range(pad.state[0]):
            spread = max(spread, pad.mass[pad.present[x]] - pad.mass[pad.present[y]])
    high = 1e6 * spread
    worth1, cost1 = potential_value(high, quota, distance, values, pad)
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
        worth, cost = potential_value(slope, quota, distance, values, pad)
        if worth <= line0 - slope * cost0 + 1e-10 * spread:
            break
        if cost > t:
            low, worth0, cost0 = slope, worth, cost
        else:
            high, worth1, cost1 = slope, worth, cost
    return slope


@inner_kernel
def potential(
    rows: Any,
    begin: int,
    end: int,
    u: Any,
    counts: Any,
    value: Any,
    start: Any,
    data: Any,
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
