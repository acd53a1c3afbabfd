"""The large move: open (or widen) a pattern and pull copies into it.

For each class that loses copies to the new pattern there are two options: give its surplus only,
or dissolve, its other copies going to their cheapest open patterns.  Gainers come first; then the
cheapest further copies fill the pattern up to k.
"""

from typing import Any

import numpy as np

from incrowd.kernels.jit import inner_kernel
from incrowd.kernels.random import below, draw, least_gain
from incrowd.solvers.engine.assignment import MOST_TOUCHED, cheapest_open, move, patterns_up_to
from incrowd.solvers.engine.moves import NONE, collect


@inner_kernel
def list_matching(p: int, number: int, state: Any, pad: Any, c: Any) -> Any:
    """Collect the copies that match p and their classes; return (copies, classes), −1 if many."""
    copies = 0
    classes = 0
    for x in range(c.offset[p], c.offset[p + 1]):
        r = c.rows[x]
        for j in range(c.first_copy[r], c.first_copy[r + 1]):
            q = state.pattern[j]
            if q == p:
                continue
            if pad.stamp[q] != number and classes >= MOST_TOUCHED:
                return -1, 0
            classes = collect(j, copies, classes, number, state, pad)
            copies += 1
    return copies, classes


@inner_kernel
def promising(p: int, classes: int, k: int, threshold: float, state: Any, pad: Any, c: Any) -> bool:
    """Whether the gain could reach the threshold if dissolving classes cost nothing.

    Most pulls end here, before the dear question of where the other copies would go.
    """
    need = k - state.size[p]
    gain = np.int64(0)
    for t in range(classes):
        pad.take[t] = 0
        each = c.cost[pad.touched[t]] - c.cost[p]
        if each > 0:
            gain += each * pad.within[t]
            need -= pad.within[t]
            pad.take[t] = 1
    while need > 0 and gain >= threshold:
        nearest = -1
        for t in range(classes):
            if pad.take[t] == 0 and (
                nearest < 0 or c.cost[pad.touched[t]] > c.cost[pad.touched[nearest]]
            ):
                nearest = t
        if nearest < 0:
            return False
        pad.take[nearest] = 1
        count = min(need, pad.within[nearest])
        gain += count * (c.cost[pad.touched[nearest]] - c.cost[p])
        need -= count
    return bool(gain >= threshold)


@inner_kernel
def price_dissolving(t: int, number: int, k: int, state: Any, pad: Any, c: Any) -> None:
    """Set whether class t can be dissolved and what its copies outside p would pay more."""
    q = pad.touched[t]
    cost = np.int64(0)
    j = state.head[q]
    while j >= 0:
        if pad.mark[j] != number:
            b = cheapest_open(c.row_of[j], q, k, state, pad, c)
            if b < 0:
                return
            cost += c.cost[b] - c.cost[q]
        j = state.next[j]
    pad.may_dissolve[t] = True
    pad.dissolve_cost[t] = cost


@inner_kernel
def choose_gainers(p: int, classes: int, number: int, k: int, state: Any, pad: Any, c: Any) -> Any:
    """Give every class its best option; return (copies pulled, gain)."""
    pulled = 0
    gain = np.int64(0)
    need = k - state.size[p]
    for t in range(classes):
        q = pad.touched[t]
        each = c.cost[q] - c.cost[p]
        surplus = state.size[q] - k
        inside = pad.within[t]
        pad.take[t] = 0
        pad.dissolve[t] = False
        pad.may_dissolve[t] = False
        value = np.int64(0)
        if each > 0:
            pad.take[t] = min(inside, surplus)
            value = pad.take[t] * each
        if (each > 0 or need > 0) and inside > surplus and state.size[q] - inside <= k:
            price_dissolving(t, number, k, state, pad, c)
            if pad.may_dissolve[t] and each > 0 and inside * each - pad.dissolve_cost[t] > value:
                pad.take[t] = inside
                pad.dissolve[t] = True
                value = inside * each - pad.dissolve_cost[t]
        pulled += pad.take[t]
        gain += value
    return pulled, gain


@inner_kernel
def fill(
    p: int, classes: int, pulled: int, gain: Any, k: int, least: float, state: Any, pad: Any, c: Any
) -> Any:
    """Add the cheapest further copies until p has k; return (copies pulled, gain)."""
    need = k - state.size[p]
    while pulled < need and gain >= least:
        best = 1e300
        best_t = -1
        best_dissolves = False
        count = 0
        value = np.int64(0)
        for t in range(classes):
            if pad.dissolve[t]:
                continue
            q = pad.touched[t]
            each = c.cost[q] - c.cost[p]
            surplus = min(pad.within[t], state.size[q] - k)
            if each <= 0 and pad.take[t] < surplus and -each < best:
                best = -each
                best_t = t
                best_dissolves = False
                count = min(surplus - pad.take[t], need - pulled)
                value = -each * count
            extra = pad.within[t] - pad.take[t]
            if pad.may_dissolve[t] and extra > 0:
                loss = pad.take[t] * each - (pad.within[t] * each - pad.dissolve_cost[t])
                if loss / min(extra, need - pulled) < best:
                    best = loss / min(extra, need - pulled)
                    best_t = t
                    best_dissolves = True
                    count = extra
                    value = loss
        if best_t < 0:
            break
        pulled += count
        gain -= value
        pad.take[best_t] += count
        if best_dissolves:
            pad.dissolve[best_t] = True
    return pulled, gain


@inner_kernel
def carry_out(p: int, copies: int, classes: int, k: int, state: Any, pad: Any, c: Any) -> Any:
    """Do the chosen moves, writing a journal; return (change of cost, journal length, failed)."""
    journal = 0
    change = np.int64(0)
    for t in range(classes):
        if pad.dissolve[t]:
            pad.dying[pad.touched[t]] = True
    for z in range(copies):
        j = pad.found[z]
        q = state.pattern[j]
        t = pad.slot[q]
        if pad.take[t] > 0:
            if not pad.dissolve[t]:
                pad.take[t] -= 1
            pad.moved[journal] = j
            pad.origin[journal] = q
            journal += 1
            move(state, j, p, k, c)
            change += c.cost[p] - c.cost[q]
    failed = False
    for t in range(classes):
        if not pad.dissolve[t] or failed:
            continue
        q = pad.touched[t]
        while state.head[q] >= 0:
            j = state.head[q]
            b = cheapest_open(c.row_of[j], q, k, state, pad, c)
            if b < 0:
                failed = True
                break
            pad.moved[journal] = j
            pad.origin[journal] = q
            journal += 1
            move(state, j, b, k, c)
            change += c.cost[b] - c.cost[q]
    for t in range(classes):
        pad.dying[pad.touched[t]] = False
    return change, journal, failed


@inner_kernel
def pull(i: int, number: int, heat: float, mix: Any, state: Any, pad: Any, c: Any, rng: Any) -> int:
    """Pull copies into a random pattern of copy i; return the change of cost or ``NONE``."""
    k = mix.k
    q0 = state.pattern[i]
    r = c.row_of[i]
    u = draw(rng)
    limit = c.cost[q0] - 1
    if u >= mix.cheaper:
        limit = c.cost[q0] if u < 0.95 else c.cost[q0] + mix.unit
    choices = patterns_up_to(r, limit, c)
    if choices <= 0:
        return NONE
    p = c.row_patterns[c.row_offset[r] + below(rng, choices)]
    if p == q0 or c.support[p] > mix.most_support:
        return NONE
    copies, classes = list_matching(p, number, state, pad, c)
    if copies < 0:
        return NONE
    threshold = least_gain(heat, rng)
    if not promising(p, classes, k, threshold, state, pad, c):
        return NONE
    pulled, gain = choose_gainers(p, classes, number, k, state, pad, c)
    pulled, gain = fill(p, classes, pulled, gain, k, threshold, state, pad, c)
    if pulled < k - state.size[p]:
        return NONE
    if gain < threshold or (gain == 0 and pulled == 0):
        return NONE
    change, journal, failed = carry_out(p, copies, classes, k, state, pad, c)
    if failed or -change < threshold:
        for z in range(journal - 1, -1, -1):
            move(state, pad.moved[z], pad.origin[z], k, c)
        return NONE
    return change
