"""Small moves: relocate a surplus copy, shift with refill, regroup around a new class.

Every move looks at copy i, which sits on a pattern q that is not free.  It returns the change of
cost, or ``NONE`` when it did nothing.  Lawfulness (size 0 or ≥ k) holds before and after.
"""

from typing import Any, NamedTuple

import numpy as np

from incrowd.kernels.jit import inner_kernel
from incrowd.kernels.random import below, draw, least_gain
from incrowd.solvers.engine.assignment import cheapest_open, move, patterns_up_to
from incrowd.solvers.engine.candidates import find_join

NONE = 1 << 62
FAR = 1 << 60
LONGEST_SCAN = 400
MOST_GROUPS = 12
WIDEST_REGROUP = 400


class Mix(NamedTuple):
    """What the moves of an annealing have in common: see ``Annealing``.

    k: copies of the smallest class.  unit: what a cell costs, in units of cost.
    The others: how often which move is tried, and where.
    """

    k: int
    unit: int
    shifts: float
    regroups: float
    swaps: float
    cheaper: float
    most_support: int
    focus: float


@inner_kernel
def accepts(gain: float, heat: float, rng: Any) -> bool:
    """Metropolis' rule; what gains needs no draw."""
    return gain >= 0 or gain >= least_gain(heat, rng)


@inner_kernel
def relocate(i: int, k: int, state: Any, pad: Any, c: Any, rng: Any) -> int:
    """Move a surplus copy to its cheapest open pattern (sideways now and then)."""
    q = state.pattern[i]
    p = cheapest_open(c.row_of[i], q, k, state, pad, c)
    if p < 0:
        return NONE
    if c.cost[p] < c.cost[q] or (c.cost[p] == c.cost[q] and draw(rng) < 0.2):
        move(state, i, p, k, c)
        return c.cost[p] - c.cost[q]
    return NONE


@inner_kernel
def refill_for(q: int, p: int, i: int, k: int, state: Any, c: Any, rng: Any) -> int:
    """Find the dearest surplus copy (or one on p) that could take i's place on q, or −1."""
    begin = c.offset[q]
    length = c.offset[q + 1] - begin
    if length <= 0:
        return -1
    at = below(rng, length)
    best = -1
    best_cost = np.int64(-1)
    for _ in range(min(length, LONGEST_SCAN)):
        r = c.rows[begin + at]
        at += 1
        if at == length:
            at = 0
        for j in range(c.first_copy[r], c.first_copy[r + 1]):
            s = state.pattern[j]
            if s != q and j != i and (state.size[s] > k or s == p) and c.cost[s] > best_cost:
                best_cost = c.cost[s]
                best = j
    return best


@inner_kernel
def shift(i: int, k: int, heat: float, state: Any, c: Any, rng: Any) -> int:
    """Move i to an open cheaper pattern, and refill its class with a copy that is surplus."""
    q = state.pattern[i]
    r = c.row_of[i]
    limit = c.cost[q] - 1 if draw(rng) < 0.8 else c.cost[q]
    choices = patterns_up_to(r, limit, c)
    if choices <= 0:
        return NONE
    p = -1
    for _ in range(4):
        x = c.row_patterns[c.row_offset[r] + below(rng, choices)]
        if x != q and state.size[x] >= k:
            p = x
            break
    if p < 0:
        return NONE
    j = refill_for(q, p, i, k, state, c, rng)
    if j < 0:
        return NONE
    s = state.pattern[j]
    gain = c.cost[q] - c.cost[p] + c.cost[s] - c.cost[q]
    if not accepts(gain, heat, rng):
        return NONE
    move(state, i, p, k, c)
    move(state, j, q, k, c)
    return -gain


@inner_kernel
def may_come(
    p: int, q: int, broken: bool, number: int, classes: int, mix: Any, state: Any, pad: Any, c: Any
) -> bool:
    """Whether one more copy of class q may regroup on p.

    ``broken``: only from classes met before that have no surplus left.
    """
    known = pad.stamp[q] == number
    rest = state.size[q] - (pad.within[pad.slot[q]] if known else 0)
    if broken:
        return known and rest <= mix.k and c.cost[q] >= c.cost[p]
    if c.cost[q] + mix.unit < c.cost[p]:
        return False
    if known:
        return state.size[q] <= mix.k or rest > mix.k
    return classes < MOST_GROUPS


@inner_kernel
def collect(j: int, got: int, classes: int, number: int, state: Any, pad: Any) -> int:
    """Note copy j as the ``got``-th that comes; return the number of classes that they leave."""
    q = state.pattern[j]
    if pad.stamp[q] != number:
        pad.stamp[q] = number
        pad.slot[q] = classes
        pad.touched[classes] = q
        pad.within[classes] = 0
        classes += 1
    pad.within[pad.slot[q]] += 1
    pad.found[got] = j
    pad.mark[j] = number
    return classes


@inner_kernel
def collect_for_regroup(
    i: int, p: int, need: int, number: int, mix: Any, state: Any, pad: Any, c: Any, rng: Any
) -> Any:
    """Collect ``need`` copies for p from few classes; return (copies, classes) or (−1, 0).

    First pass: all copies of classes that this breaks anyway; second pass: further classes.
    """
    got = 1
    classes = collect(i, 0, 0, number, state, pad)
    begin = c.offset[p]
    length = c.offset[p + 1] - begin
    for broken in (True, False):
        most = pad.found.size if broken else min(need, pad.found.size)
        at = below(rng, length)
        for _ in range(length):
            if got >= most:
                break
            r = c.rows[begin + at]
            at += 1
            if at == length:
                at = 0
            for j in range(c.first_copy[r], c.first_copy[r + 1]):
                q = state.pattern[j]
                if q == p or pad.mark[j] == number or got >= most:
                    continue
                if may_come(p, q, broken, number, classes, mix, state, pad, c):
                    classes = collect(j, got, classes, number, state, pad)
                    got += 1
    if got < need:
        return -1, 0
    return got, classes


@inner_kernel
def send_left_to_open(p: int, left: int, k: int, state: Any, pad: Any, c: Any) -> Any:
    """Find each leftover's cheapest open pattern, into ``pad.left_to``; return the loss."""
    loss = np.int64(0)
    for z in range(left):
        i = pad.left[z]
        b = cheapest_open(c.row_of[i], p, k, state, pad, c)
        pad.left_to[z] = b
        loss = FAR if b < 0 or loss >= FAR else loss + c.cost[b] - c.cost[state.pattern[i]]
    return loss


@inner_kernel
def found_class(p: int, left: int, k: int, open_to_all: bool, state: Any, pad: Any, c: Any) -> Any:
    """Make the leftovers a class of their own; those better off elsewhere leave while k stay.

    Returns (loss, pattern of that class or −1).  ``pad.core[z]`` says who stays (1) or leaves (0).
    """
    rows = pad.moved  # scratch: no journal is open here
    for z in range(left):
        rows[z] = c.row_of[pad.left[z]]
        pad.core[z] = 1
    own = find_join(rows, left, c.codes, c.tables, c.table_key, c.table_pattern)
    if own < 0 or pad.dying[own] or own == p:
        return FAR, -1
    loss = np.int64(0)
    staying = left
    for z in range(left):
        to = own
        if open_to_all and staying > k and c.cost[pad.left_to[z]] <= c.cost[own]:
            to = pad.left_to[z]
            pad.core[z] = 0
            staying -= 1
        loss += c.cost[to] - c.cost[state.pattern[pad.left[z]]]
    if staying < left:
        n = 0
        for z in range(left):
            if pad.core[z] == 1:
                rows[n] = c.row_of[pad.left[z]]
                n += 1
        smaller = find_join(rows, n, c.codes, c.tables, c.table_key, c.table_pattern)
        if smaller >= 0 and smaller != p and not pad.dying[smaller]:
            loss -= staying * (c.cost[own] - c.cost[smaller])
            own = smaller
    return loss, own


@inner_kernel
def place_left(p: int, left: int, k: int, state: Any, pad: Any, c: Any) -> Any:
    """Choose where the copies of broken classes go; ``pad.left_to`` receives the targets."""
    loss = send_left_to_open(p, left, k, state, pad, c)
    if left < k or left > 3 * k:
        return loss
    together, own = found_class(p, left, k, loss < FAR, state, pad, c)
    if own < 0 or together > loss:
        return loss
    for z in range(left):
        if pad.core[z] == 1:
            pad.left_to[z] = own
    return together


@inner_kernel
def list_broken(classes: int, number: int, k: int, state: Any, pad: Any) -> int:
    """Mark classes that fall below k as dying; list the copies left in them, return how many."""
    left = 0
    for t in range(classes):
        q = pad.touched[t]
        if 0 < state.size[q] - pad.within[t] < k:
            pad.dying[q] = True
            j = state.head[q]
            while j >= 0:
                if pad.mark[j] != number:
                    pad.left[left] = j
                    left += 1
                j = state.next[j]
    return left


@inner_kernel
def regroup(
    i: int, number: int, heat: float, mix: Any, state: Any, pad: Any, c: Any, rng: Any
) -> int:
    """Open a cheaper pattern for i and others; the classes this breaks form one new class."""
    k = mix.k
    q0 = state.pattern[i]
    r = c.row_of[i]
    limit = c.cost[q0] - 1 if draw(rng) < 0.8 else c.cost[q0]
    choices = patterns_up_to(r, limit, c)
    if choices <= 0:
        return NONE
    p = c.row_patterns[c.row_offset[r] + below(rng, choices)]
    if p == q0 or c.support[p] > WIDEST_REGROUP:
        return NONE
    need = max(1, k - state.size[p])
    got, classes = collect_for_regroup(i, p, need, number, mix, state, pad, c, rng)
    if got < 0:
        return NONE
    gain = np.int64(0)
    for z in range(got):
        gain += c.cost[state.pattern[pad.found[z]]] - c.cost[p]
    left = list_broken(classes, number, k, state, pad)
    loss: Any = place_left(p, left, k, state, pad, c) if left > 0 else 0
    for t in range(classes):
        pad.dying[pad.touched[t]] = False
    if loss >= FAR or not accepts(gain - loss, heat, rng):
        return NONE
    for z in range(got):
        move(state, pad.found[z], p, k, c)
    for z in range(left):
        move(state, pad.left[z], pad.left_to[z], k, c)
    return loss - gain
