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
def potential_value(slope: float, quota: Any, form: int, shape: Any, pad: Any) -> Any:
    """Return (q·g, cost of the plan) where each value goes to its best one.

    g of each value present is left in ``pad.mass``, from place V on.
    """
    if form == LINE:
        return value_on_line(slope, shape, pad)
    values = quota.size
    if form == MATRIX:
        fill_by_matrix(slope, shape, values, pad)
    else:
        fill_in_tree(slope, form, shape, values, pad)
    worth = 0.0
    cost = 0.0
    for i in range(values):
        worth += quota[i] * pad.mass[values + i]
        cost += quota[i] * pad.mass[2 * values + i]
    return worth, cost


@inner_kernel
def fill_by_matrix(slope: float, shape: Any, values: int, pad: Any) -> None:
    """Fill in g of each value and the distance to its best one, by distances row by row.

    From ``values`` and 2·``values`` of ``pad.mass`` on; before them stands M.
    """
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
def fill_in_tree(slope: float, levels: int, shape: Any, values: int, pad: Any) -> None:
    """As ``fill_by_matrix``, by the node of each value, level by level below the root."""
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
def sort_by_place(shape: Any, pad: Any) -> None:
    """Put the values present in their order on the line."""
    gap = pad.state[0] // 2
    while gap > 0:  # Shell's sort: in place
        for i in range(gap, pad.state[0]):
            v = pad.present[i]
            j = i - gap
            while j >= 0 and shape[pad.present[j]] > shape[v]:
                pad.present[j + gap] = pad.present[j]
                j -= gap
            pad.present[j + gap] = v
        gap //= 2


@inner_kernel
def value_on_line(slope: float, shape: Any, pad: Any) -> Any:
    """As ``potential_value``, of values present in order: prefix sums tell of those between them.

    ``shape``: the place of each value, then Σ q and Σ q·place of the places below each.
    """
    values = (shape.size - 2) // 3
    share = shape[values : 2 * values + 1]
    moment = shape[2 * values + 1 :]
    step = 1.0 / max(1, values - 1)
    last = pad.state[0] - 1
    fill_on_line(slope * step, step, shape, values, pad)
    worth = 0.0
    cost = 0.0
    for x in range(last + 1):
        v = pad.present[x]
        place = int(shape[v])
        g = pad.mass[values + v]
        far = pad.mass[2 * values + v]
        low = 0  # the places that are nearer by way of v: low ≤ place < high
        high = values
        if x > 0:
            low = turn(pad.present[x - 1], v, slope * step, step, shape, values, pad)
        if x < last:
            high = turn(v, pad.present[x + 1], slope * step, step, shape, values, pad)
        below = share[place] - share[low]
        above = share[high] - share[place]
        way = place * below - (moment[place] - moment[low])
        way += moment[high] - moment[place] - place * above
        worth += g * (below + above) - slope * step * way
        cost += far * (below + above) + step * way
    return worth, cost


@inner_kernel
def fill_on_line(fall: float, step: float, shape: Any, values: int, pad: Any) -> None:
    """Fill in g of each value present, and the distance to its best one, both ways in turn."""
    for way in range(2):
        best = IMPOSSIBLE
        far = 0.0
        before = 0.0
        for x in range(pad.state[0]):
            v = pad.present[x if way == 0 else pad.state[0] - 1 - x]
            moved = abs(shape[v] - before)
            before = shape[v]
            best -= fall * moved
            far += step * moved
            if way == 0:
                pad.mass[values + v] = pad.mass[v]
                pad.mass[2 * values + v] = 0.0
            g = pad.mass[values + v]
            own = pad.mass[2 * values + v]
            if best > g or (best == g and far < own):
                pad.mass[values + v] = best
                pad.mass[2 * values + v] = far
            else:
                best = g
                far = own


@inner_kernel
def turn(v: int, w: int, fall: float, step: float, shape: Any, values: int, pad: Any) -> int:
    """Return the first place after v from which on w is better, w being the next one present."""
    middle = (shape[v] + shape[w]) / 2
    if fall > 0:
        middle += (pad.mass[values + v] - pad.mass[values + w]) / (2 * fall)
    else:
        middle += (pad.mass[2 * values + w] - pad.mass[2 * values + v]) / (2 * step)
    return int(min(max(middle, shape[v]), shape[w] - 1)) + 1


@inner_kernel
def best_slope(t: float, quota: Any, form: int, shape: Any, pad: Any) -> float:
    """Return the λ ≥ 0 that minimises q·g + λt, or −1 when no class comes within t."""
    worth0, cost0 = potential_value(0.0, quota, form, shape, pad)
    if cost0 <= t:
        return 0.0
    least = most = pad.mass[pad.present[0]]
    for x in range(pad.state[0]):
        least = min(least, pad.mass[pad.present[x]])
        most = max(most, pad.mass[pad.present[x]])
    spread = max(1.0, most - least)
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
    if form == LINE:
        sort_by_place(shape, pad)
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
