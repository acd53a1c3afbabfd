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
from incrowd.privacy.distance import LINE, MATRIX


@inner_kernel
def fill_shifts(slope: float, form: int, shape: Any, values: int, pad: Any) -> None:
    """Fill in g of each value, and how far off the value is where it is attained.

    From ``values`` and 2·``values`` of ``pad.mass`` on; before them stands M.
    """
    if form == LINE:
        fill_on_line(slope, shape, values, pad)
    elif form == MATRIX:
        fill_by_matrix(slope, shape, values, pad)
    else:
        fill_in_tree(slope, form, shape, values, pad)


@inner_kernel
def fill_by_matrix(slope: float, shape: Any, values: int, pad: Any) -> None:
    """As ``fill_shifts``, by distances row by row."""
    for i in range(values):
        best = IMPOSSIBLE
        far = 0.0
        for x in range(pad.state[0]):
            j = pad.present[x]
            d = shape[i * values + j]
            g = pad.mass[j] - slope * d
            if g > best or (g == best and d < far):
                best = g
                far = d
        pad.mass[values + i] = best
        pad.mass[2 * values + i] = far


@inner_kernel
def fill_on_line(slope: float, shape: Any, values: int, pad: Any) -> None:
    """As ``fill_shifts``, by the values in order: the best one below, then the best above."""
    for x in range(values):
        pad.mass[values + x] = IMPOSSIBLE
    for way in range(2):
        top = IMPOSSIBLE
        steps = 0
        for x in range(values):
            v = int(shape[x] if way == 0 else shape[values - 1 - x])
            steps += 1
            far = steps / (values - 1.0) if values > 1 else 0.0
            if pad.mass[v] >= top - slope * far:
                top = pad.mass[v]
                steps = 0
                far = 0.0
            g = top - slope * far
            best = pad.mass[values + v]
            if g > best or (g == best and far < pad.mass[2 * values + v]):
                pad.mass[values + v] = g
                pad.mass[2 * values + v] = far


@inner_kernel
def fill_in_tree(slope: float, levels: int, shape: Any, values: int, pad: Any) -> None:
    """As ``fill_shifts``, by the node of each value, level by level below the root."""
    for v in range(values):
        pad.mass[values + v] = IMPOSSIBLE
    for level in range(levels, -1, -1):
        far = level / levels
        for x in range(values):
            pad.mass[3 * values + x] = IMPOSSIBLE
        for x in range(pad.state[0]):
            v = pad.present[x]
            node = int(shape[level * values + v]) if level < levels else 0
            pad.mass[3 * values + node] = max(pad.mass[3 * values + node], pad.mass[v])
        for v in range(values):
            node = int(shape[level * values + v]) if level < levels else 0
            g = pad.mass[3 * values + node] - slope * far
            if g >= pad.mass[values + v]:
                pad.mass[values + v] = g
                pad.mass[2 * values + v] = far


@inner_kernel
def potential_value(slope: float, quota: Any, form: int, shape: Any, pad: Any) -> Any:
    """Return (q·g, cost of the plan) where each value goes to its best one."""
    values = quota.size
    fill_shifts(slope, form, shape, values, pad)
    worth = 0.0
    cost = 0.0
    for i in range(values):
        worth += quota[i] * pad.mass[values + i]
        cost += quota[i] * pad.mass[2 * values + i]
    return worth, cost


@inner_kernel
def best_slope(t: float, quota: Any, form: int, shape: Any, pad: Any) -> float:
    """Return the λ ≥ 0 that minimises q·g + λt, or −1 when no class comes within t."""
    worth0, cost0 = potential_value(0.0, quota, form, shape, pad)
    if cost0 <= t:
        return 0.0
    spread = 1.0
    for x in range(pad.state[0]):
        for y in range(pad.state[0]):
            spread = max(spread, pad.mass[pad.present[x]] - pad.mass[pad.present[y]])
    high = 1e6 * spread
    worth1, cost1 = potential_value(high, quota, form, shape, pad)
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
        worth, cost = potential_value(slope, quota, form, shape, pad)
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

    ``data`` = k, t, the form of the distance, q…, its shape (``GroundDistance.told``).
    """
    values = start.size - 1
    k = int(data[0])
    t = data[1]
    form = int(data[2])
    quota = data[3 : 3 + values]
    shape = data[3 + values :]
    if pad.state[0] == 0:
        return IMPOSSIBLE, 0
    for v in range(values):
        pad.mass[v] = IMPOSSIBLE
    for x in range(pad.state[0]):
        v = pad.present[x]
        pad.mass[v] = pad.top[start[v]]
    slope = best_slope(t, quota, form, shape, pad)
    if slope < 0:
        return IMPOSSIBLE, 0
    base = slope * t + potential_value(slope, quota, form, shape, pad)[0]
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
