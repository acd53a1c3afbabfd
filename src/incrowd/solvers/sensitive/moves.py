"""The moves: relocate, shift with refill, pull with repair.

A compound move is a journal of single moves, kept or rolled back as a whole.  Classes are lawful
before and after; in between they may be broken, and every class touched is asked again at the end.
"""

from typing import Any, NamedTuple

from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.kernels.random import below, draw, least_gain
from incrowd.privacy.violation import ROW
from incrowd.solvers.engine.assignment import patterns_up_to
from incrowd.solvers.sensitive.assignment import (
    OPENED,
    broken,
    broken_after,
    cheapest_open,
    link,
    shortfall,
    unlink,
)
from incrowd.solvers.sensitive.journal import (
    DELTA,
    FOUND,
    TICK,
    TOUCHED,
    begin_move,
    step,
    undo,
    worth_of,
)
from incrowd.solvers.sensitive.settle import settle_sources

NONE = 1 << 62
MOST_STEPS = 200


class Mix(NamedTuple):
    """What the moves need to know.

    unit: what suppressing one cell costs, in units of 1/scale.  charge: what one row that the
    exempt class lacks costs.  shifts: share of shifts among moves that open or widen.  breaking:
    share of pulls that may break one further class, and then have to dissolve or refill it.
    breaks: further classes that a pull may break, at most.  largest: rows of a class that may be
    broken.  focus: share of moves that start at copies which pay far above their prices.
    """

    unit: float
    charge: float
    shifts: float
    breaking: float
    breaks: int
    largest: int
    focus: float


@inner_kernel
def list_others(p: int, besides: int, most: int, search: Any) -> None:
    """Collect copies below p that sit elsewhere, from a random place on, at most ``most``."""
    state, pad, c = search.state, search.pad, search.c
    begin = c.offset[p]
    length = c.offset[p + 1] - begin
    pad.n[FOUND] = 0
    if length == 0:
        return
    at = below(search.rng, length)
    for _ in range(length):
        r = c.rows[begin + at]
        at += 1
        if at == length:
            at = 0
        for j in range(c.first_copy[r], c.first_copy[r + 1]):
            if state.pattern[j] != p and j != besides:
                if pad.n[FOUND] >= most:
                    return
                pad.found[pad.n[FOUND]] = j
                pad.n[FOUND] += 1


@inner_kernel
def mend(p: int, doomed: int, source: int, breaks: int, search: Any) -> bool:
    """Add found copies to p until it is lawful: cheap ones that mend much.

    Copies of ``doomed`` and ``source`` may leave although that breaks their class, and so may those
    of ``breaks`` other classes, at a penalty; from any further class only copies that it can spare.
    """
    mix, state, pad, rules, c, rng = search
    now = broken(p, state, rules)
    steps = 0
    most = MOST_STEPS + 2 * rules.least[0]
    penalty = mix.unit * (0.2 + 1.5 * draw(rng))
    while now > 0:
        steps += 1
        if steps > most:
            return False
        pad.n[TICK] += 1
        best = -1e300
        best_j = -1
        best_tight = False
        for z in range(pad.n[FOUND]):
            j = pad.found[z]
            q = state.pattern[j]
            if q == p:
                continue
            r = c.row_of[j]
            after = worth_of(p, r, search)
            if after >= now:
                continue
            score = c.cost[q] - c.cost[p] + mix.unit * (2.0 * (now - after) / now + 0.5 * draw(rng))
            free = q in (doomed, source)
            if free:
                score += 0.5 * mix.unit
            if score <= best:
                continue
            tight = not free and broken_after(q, r, -1, state, rules) > 0
            if tight:
                score -= penalty
                if breaks <= 0 or score <= best or state.size[q] > mix.largest:
                    continue
            best = score
            best_j = j
            best_tight = tight
        if best_j < 0:
            return False
        if best_tight:
            breaks -= 1
        now = worth_of(p, c.row_of[best_j], search)
        step(best_j, p, search)
    return True


@inner_kernel
def take_gainers(p: int, doomed: int, source: int, search: Any) -> None:
    """Pull every found copy that pays more elsewhere, as far as the classes stay lawful."""
    state, pad, rules, c = search.state, search.pad, search.rules, search.c
    n = pad.n[FOUND]
    if n == 0:
        return
    at = below(search.rng, n)
    pad.n[TICK] += 1
    for _ in range(n):
        j = pad.found[at]
        at += 1
        if at == n:
            at = 0
        q = state.pattern[j]
        if q == p or c.cost[q] <= c.cost[p]:
            continue
        r = c.row_of[j]
        if worth_of(p, r, search) > 0:
            continue
        if q != doomed and q != source and broken_after(q, r, -1, state, rules) > 0:
            continue
        step(j, p, search)
        pad.n[TICK] += 1


@inner_kernel
def all_lawful(p: int, search: Any) -> bool:
    """Whether p and every class that lost a copy is lawful."""
    state, pad, rules = search.state, search.pad, search.rules
    if broken(p, state, rules) > 0:
        return False
    for z in range(pad.n[TOUCHED]):
        q = pad.touched[z]
        if state.size[q] > 0 and broken(q, state, rules) > 0:
            return False
    return True


@inner_kernel
def settled(p: int, heat: float, search: Any) -> bool:
    """Settle the classes that a move to p has broken; return whether all are lawful then."""
    limit = 8.0 * heat + 3.0 * search.mix.unit
    if not settle_sources(limit, search):
        return False
    return all_lawful(p, search)


@inner_kernel
def relocate(i: int, search: Any) -> int:
    """Move a copy that its class can spare to its cheapest open pattern, sideways now and then."""
    state, pad, rules, c = search.state, search.pad, search.rules, search.c
    q = state.pattern[i]
    r = c.row_of[i]
    if q == rules.exempt[0] or broken_after(q, r, -1, state, rules) > 0:
        return NONE
    limit = c.cost[q] if draw(search.rng) < 0.2 else c.cost[q] - 1
    p = cheapest_open(r, q, limit, state, pad.dying, rules, c)
    if p < 0:
        return NONE
    unlink(i, state, rules, c)
    link(i, p, state, rules, c)
    return c.cost[p] - c.cost[q]


@inner_kernel
def shift(i: int, choices: int, heat: float, search: Any) -> bool:
    """Move i to an open pattern that can take it, and settle the class it leaves."""
    state, rules, c = search.state, search.rules, search.c
    q = state.pattern[i]
    r = c.row_of[i]
    p = -1
    for _ in range(6):
        x = c.row_patterns[c.row_offset[r] + below(search.rng, choices)]
        if x != q and state.size[x] > 0 and broken_after(x, r, 1, state, rules) == 0:
            p = x
            break
    if p < 0:
        return False
    step(i, p, search)
    return settled(p, heat, search)


@inner_kernel
def pull(i: int, choices: int, heat: float, search: Any) -> bool:
    """Open or widen a pattern for i: mend it, take gainers, settle the classes this breaks."""
    mix, state, pad, c, rng = search.mix, search.state, search.pad, search.c, search.rng
    q = state.pattern[i]
    r = c.row_of[i]
    p = c.row_patterns[c.row_offset[r] + below(rng, choices)]
    if p == q or state.tally[0] < OPENED:
        return False
    step(i, p, search)
    list_others(p, i, pad.found.size, search)
    doomed = -1
    if pad.n[FOUND] > 0 and draw(rng) < mix.breaking:
        doomed = state.pattern[pad.found[below(rng, pad.n[FOUND])]]
        if state.size[doomed] > mix.largest or c.cost[doomed] == 0:
            doomed = -1
    source = q if state.size[q] <= mix.largest else -1  # a large class must stay lawful throughout
    breaks = below(rng, mix.breaks + 1)
    if not mend(p, doomed, source, breaks, search):
        return False
    take_gainers(p, doomed, source, search)
    return settled(p, heat, search)


@lean_kernel
def one_move(i: int, number: int, heat: float, search: Any) -> int:
    """Try a move from copy i; return the change of cost or ``NONE``."""
    mix, state, pad, rules, c, rng = search
    delta = relocate(i, search)
    if delta != NONE:
        return delta
    q = state.pattern[i]
    r = c.row_of[i]
    threshold = least_gain(heat, rng)
    aim = draw(rng)
    limit = c.cost[q] - 1
    if aim >= 0.75:
        limit = c.cost[q] if aim < 0.96 else c.cost[q] + int(mix.unit)
    choices = patterns_up_to(r, limit, c)
    if choices <= 0:
        return NONE
    begin_move(number, pad)
    owed = shortfall(state, rules)
    if draw(rng) < mix.shifts:
        done = shift(i, choices, heat, search)
    else:
        done = pull(i, choices, heat, search)
    if not done or -pad.n[DELTA] - mix.charge * (shortfall(state, rules) - owed) / ROW < threshold:
        undo(0, search)
        return NONE
    return pad.n[DELTA]
