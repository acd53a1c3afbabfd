"""The move that opens one pattern and closes one class, with a third class between them.

A copy of the closed class need not match the pattern: it may replace one that does, in a class that
could not spare it.  What that costs depends on the ends alone.  A pull does not see it, as it takes
from a class its surplus or everything.
"""

from typing import Any

import numpy as np

from incrowd.kernels.jit import inner_kernel
from incrowd.kernels.random import below, least_gain
from incrowd.solvers.engine.assignment import cheapest_open, move, patterns_up_to
from incrowd.solvers.engine.moves import NONE
from incrowd.solvers.engine.pull import list_matching

WIDEST_SWAP = 400
MOST_CLOSED = 3  # times k copies: larger classes are not closed
OUT, BARRED, IN = -1, -2, -3  # where a copy of the closed class goes, if not to replace another


@inner_kernel
def clear(q: int, k: int, state: Any, pad: Any, c: Any) -> Any:
    """List the copies of q and where else they would go; return (copies or −1, gain)."""
    left = 0
    gain = np.int64(0)
    j = state.head[q]
    while j >= 0:
        b = cheapest_open(c.row_of[j], q, k, state, pad, c)
        if b < 0:
            return -1, gain
        pad.left[left] = j
        pad.left_to[left] = b
        pad.core[left] = OUT
        gain += c.cost[q] - c.cost[b]
        left += 1
        j = state.next[j]
    return left, gain


@inner_kernel
def could_pay(p: int, q: int, left: int, classes: int, k: int, state: Any, pad: Any, c: Any) -> Any:
    """Set what classes can spare; return (most copies that may come to p, most that they gain)."""
    copies = left
    gain = np.int64(0)
    for z in range(left):
        gain += max(0, c.cost[pad.left_to[z]] - c.cost[p])
    for t in range(classes):
        s = pad.touched[t]
        pad.take[t] = 0
        pad.spare[t] = 0 if s == q else min(state.size[s] - k, pad.within[t])
        copies += pad.spare[t]
        gain += pad.spare[t] * max(0, c.cost[s] - c.cost[p])
    return copies, gain


@inner_kernel
def dearest_left(left: int, pad: Any, c: Any) -> int:
    """Return which copy of the closed class would pay most elsewhere and may still come, or −1."""
    best = -1
    for z in range(left):
        if pad.core[z] == OUT and (best < 0 or c.cost[pad.left_to[z]] > c.cost[pad.left_to[best]]):
            best = z
    return best


@inner_kernel
def can_give(t: int, pad: Any) -> bool:
    """Whether class t has a copy that matches the pattern and does not go there yet."""
    return pad.take[t] < pad.within[t]


@inner_kernel
def can_spare(t: int, pad: Any) -> bool:
    """Whether it has one that nothing need replace."""
    return pad.spare[t] > 0 and can_give(t, pad)


@inner_kernel
def dearest_spare(classes: int, pad: Any, c: Any) -> int:
    """Return the dearest class that can spare one more matching copy, or −1."""
    best = -1
    for t in range(classes):
        if can_spare(t, pad) and (best < 0 or c.cost[pad.touched[t]] > c.cost[pad.touched[best]]):
            best = t
    return best


@inner_kernel
def bring_in(z: int, q: int, number: int, pad: Any, c: Any) -> bool:
    """Let the z-th copy of the closed class come, or replace one that does; False if it cannot."""
    pad.core[z] = IN
    if pad.mark[pad.left[z]] == number:
        return True
    r = c.row_of[pad.left[z]]
    for x in range(c.row_offset[r], c.row_offset[r + 1]):
        s = c.row_patterns[x]
        # a class met with copies that match is open, save q, which closes
        if s != q and pad.stamp[s] == number and can_give(pad.slot[s], pad):
            pad.take[pad.slot[s]] += 1
            pad.core[z] = s
            return True
    pad.core[z] = BARRED
    return False


@inner_kernel
def gather_dearest(
    p: int,
    q: int,
    left: int,
    classes: int,
    number: int,
    need: int,
    gain: int,
    threshold: float,
    pad: Any,
    c: Any,
) -> Any:
    """Choose who comes to p, the dearest first; return (copies, gain), or (−1, …) when hopeless.

    ``gain``: of leaving q.  Those that come add to it, or take from it while p needs them.
    """
    come = 0
    z = dearest_left(left, pad, c)
    t = dearest_spare(classes, pad, c)
    while z >= 0 or t >= 0:
        closed = t < 0 or (z >= 0 and c.cost[pad.left_to[z]] >= c.cost[pad.touched[t]])
        each = (c.cost[pad.left_to[z]] if closed else c.cost[pad.touched[t]]) - c.cost[p]
        if each <= 0:
            if come >= need:
                break
            if gain + (need - come) * each < threshold:
                return -1, gain
        comes = 1
        if closed:
            comes = int(bring_in(z, q, number, pad, c))
            z = dearest_left(left, pad, c)
        else:
            pad.take[t] += 1
            pad.spare[t] -= 1
        come += comes
        gain += comes * each
        if t >= 0 and not can_spare(t, pad):
            t = dearest_spare(classes, pad, c)
    return come, gain


@inner_kernel
def exchange(
    p: int, left: int, copies: int, number: int, k: int, state: Any, pad: Any, c: Any
) -> None:
    """Carry it out: first the closed class leaves, then its place is taken from."""
    for z in range(left):
        way = pad.core[z]
        to = p if way == IN else pad.left_to[z]
        move(state, pad.left[z], way if way >= 0 else to, k, c)
    for z in range(copies):
        j = pad.found[z]
        s = state.pattern[j]
        if s != p and pad.stamp[s] == number and pad.take[pad.slot[s]] > 0:
            pad.take[pad.slot[s]] -= 1
            move(state, j, p, k, c)


@inner_kernel
def swap(i: int, number: int, heat: float, mix: Any, state: Any, pad: Any, c: Any, rng: Any) -> int:
    """Close the class of copy i for a random pattern of it; return the change or ``NONE``.

    The class has at most ``MOST_CLOSED`` · k copies.
    """
    k = mix.k
    q = state.pattern[i]
    r = c.row_of[i]
    choices = patterns_up_to(r, c.cost[q] + mix.unit, c)
    if choices <= 0:  # candidates list other rows for q
        return NONE
    p = c.row_patterns[c.row_offset[r] + below(rng, choices)]
    if p == q or not k <= c.support[p] <= min(WIDEST_SWAP, pad.found.size):
        return NONE
    copies, classes = list_matching(p, number, state, pad, c)
    if copies < 0:
        return NONE
    left, gain = clear(q, k, state, pad, c)
    if left < 0:
        return NONE
    need = k - state.size[p]
    threshold = least_gain(heat, rng)
    most, most_gain = could_pay(p, q, left, classes, k, state, pad, c)
    if most < need or gain + most_gain < threshold:
        return NONE
    come, gain = gather_dearest(p, q, left, classes, number, need, gain, threshold, pad, c)
    if come < need or gain < threshold:
        return NONE
    exchange(p, left, copies, number, k, state, pad, c)
    return -gain
