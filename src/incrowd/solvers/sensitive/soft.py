"""Moves that may break the law at a penalty: what a class lacks in rows costs ``penalty`` a row.

Where the law is tight, hardly a class can spare a copy, and moves between lawful releases fail four
times in five.  Here a copy may leave first and another come later.  The energy is the cost plus the
penalty times the violations of all classes; the penalty rises as the temperature falls.
"""

from typing import Any, NamedTuple

import numpy as np

from incrowd.kernels.halt import halted
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.kernels.random import below, draw, least_gain
from incrowd.privacy.violation import ROW
from incrowd.solvers.engine.assignment import patterns_up_to
from incrowd.solvers.sensitive.assignment import OPENED, lacking, lacking_after
from incrowd.solvers.sensitive.journal import (
    DELTA,
    FOUND,
    JOURNAL,
    OWED,
    TICK,
    TOUCHED,
    begin_move,
    step,
    undo,
)
from incrowd.solvers.sensitive.moves import list_others
from incrowd.solvers.sensitive.settle import matches

FAR = 1e300
BREACH = ROW // 2


class SoftMix(NamedTuple):
    """What the moves need to know.

    relocations, exchanges, closures: shares of those moves; the others are pulls.  unit, breaking,
    largest, focus: as in ``incrowd.solvers.sensitive.moves.Mix``.  found: copies that a pull
    chooses from, at most.
    """

    relocations: float
    exchanges: float
    closures: float
    unit: float
    breaking: float
    found: int
    largest: int
    focus: float


@lean_kernel
def owed(p: int, state: Any, rules: Any) -> int:
    """Violation of the class of p, in 1/1024 of a row."""
    found = lacking(p, state, rules)
    return found + BREACH if found > 0 else 0


@inner_kernel
def owed_after(p: int, r: int, change: int, state: Any, rules: Any) -> int:
    """``owed`` after one copy of row r more (+1) or less (−1)."""
    found = lacking_after(p, r, change, state, rules)
    return found + BREACH if found > 0 else 0


@inner_kernel
def move_copy(i: int, p: int, search: Any) -> None:
    """Move copy i to p, note it in the journal, and what it changes in violations."""
    state, pad, rules = search.state, search.pad, search.rules
    q = state.pattern[i]
    before = owed(p, state, rules) + owed(q, state, rules)
    step(i, p, search)
    pad.n[OWED] += owed(p, state, rules) + owed(q, state, rules) - before


@inner_kernel
def energy(penalty: float, pad: Any) -> float:
    """Change of energy since the move began."""
    return pad.n[DELTA] + penalty * pad.n[OWED]


@inner_kernel
def undo_to(mark: int, owed_then: int, search: Any) -> None:
    """Undo the journal down to a length, and the violations with it."""
    undo(mark, search)
    search.pad.n[OWED] = owed_then


@inner_kernel
def best_home(i: int, besides: int, most: int, penalty: float, search: Any) -> Any:
    """Return (open pattern, energy of joining it) for copy i: the best of ``most`` met."""
    state, pad, rules, c = search.state, search.pad, search.rules, search.c
    r = c.row_of[i]
    begin = c.row_offset[r]
    length = c.row_offset[r + 1] - begin
    best = FAR
    best_p = -1
    if length == 0:
        return best_p, best
    at = below(search.rng, length)
    met = 0
    for _ in range(length):
        p = c.row_patterns[begin + at]
        at += 1
        if at == length:
            at = 0
        if state.size[p] == 0 or p == besides or pad.dying[p]:
            continue
        after = owed_after(p, r, 1, state, rules)
        value = c.cost[p] + penalty * (after - owed(p, state, rules))
        if value < best:
            best = value
            best_p = p
        met += 1
        if met >= most:
            break
    return best_p, best


@inner_kernel
def relocate_soft(i: int, threshold: float, penalty: float, search: Any) -> int:
    """Move one copy; let the class it joins pass on another, and so on, up to three times."""
    state, pad, rules, c = search.state, search.pad, search.rules, search.c
    q = state.pattern[i]
    p, _ = best_home(i, q, 1 + below(search.rng, 4), penalty, search)
    if p < 0:
        return False
    move_copy(i, p, search)
    last = i
    for _ in range(3):
        if -energy(penalty, pad) >= threshold:
            return True
        now = owed(p, state, rules)
        best = FAR
        best_j = -1
        best_s = -1
        j = state.head[p]
        looked = 0
        while j >= 0 and looked < 24:
            looked += 1
            if j != last:
                r = c.row_of[j]
                leave = penalty * (owed_after(p, r, -1, state, rules) - now) - c.cost[p]
                s, come = best_home(j, p, 4, penalty, search)
                if s >= 0 and leave + come < best:
                    best, best_j, best_s = leave + come, j, s
            j = state.next[j]
        if best_j < 0:
            break
        move_copy(best_j, best_s, search)
        last = best_j
        p = best_s
    return -energy(penalty, pad) >= threshold


@inner_kernel
def swap_soft(i: int, threshold: float, penalty: float, search: Any) -> int:
    """Exchange a copy with the best one of another class."""
    state, pad, rules, c = search.state, search.pad, search.rules, search.c
    q = state.pattern[i]
    r = c.row_of[i]
    begin = c.row_offset[r]
    length = c.row_offset[r + 1] - begin
    p = -1
    for _ in range(12):
        x = c.row_patterns[begin + below(search.rng, length)]
        if x != q and state.size[x] > 0:
            p = x
            break
    if p < 0:
        return False
    move_copy(i, p, search)
    at_p = owed(p, state, rules)
    at_q = owed(q, state, rules)
    best = 1 << 60
    best_j = -1
    j = state.head[p]
    looked = 0
    while j >= 0 and looked < 24:
        looked += 1
        s = c.row_of[j]
        if rules.profile[s] != rules.profile[r] and matches(s, q, c):
            value = (
                owed_after(p, s, -1, state, rules) - at_p + owed_after(q, s, 1, state, rules) - at_q
            )
            if value < best:
                best, best_j = value, j
        j = state.next[j]
    if best_j < 0:
        return False
    move_copy(best_j, q, search)
    return -energy(penalty, pad) >= threshold


@inner_kernel
def dissolve_soft(q: int, penalty: float, search: Any) -> bool:
    """Send every copy of q where it costs least."""
    state, pad = search.state, search.pad
    pad.dying[q] = True
    whole = True
    while state.head[q] >= 0:
        j = state.head[q]
        p, _ = best_home(j, q, 30, penalty, search)
        if p < 0:
            whole = False
            break
        move_copy(j, p, search)
    pad.dying[q] = False
    return whole


@inner_kernel
def fill_soft(p: int, doomed: int, source: int, noise: float, penalty: float, search: Any) -> None:
    """Add the copies that lower the energy most, one by one; those of doomed classes leave free."""
    state, pad, rules, c = search.state, search.pad, search.rules, search.c
    now = owed(p, state, rules)
    for _ in range(64 + 2 * rules.least[0]):
        best = 0.0
        best_j = -1
        pad.n[TICK] += 1
        for z in range(pad.n[FOUND]):
            j = pad.found[z]
            q = state.pattern[j]
            if q == p:
                continue
            r = c.row_of[j]
            f = rules.profile[r]
            if pad.known[f] != pad.n[TICK]:
                pad.known[f] = pad.n[TICK]
                pad.worth[f] = owed_after(p, r, 1, state, rules)
            score = (
                c.cost[q] - c.cost[p] + penalty * (now - pad.worth[f]) + noise * draw(search.rng)
            )
            if score <= best:
                continue
            if q not in (doomed, source):
                score -= penalty * (owed_after(q, r, -1, state, rules) - owed(q, state, rules))
            if score > best:
                best = score
                best_j = j
        if best_j < 0:
            return
        move_copy(best_j, p, search)
        now = owed(p, state, rules)


@inner_kernel
def pull_soft(i: int, choices: int, threshold: float, penalty: float, search: Any) -> bool:
    """Open or widen a pattern for i, fill it, close the classes that this breaks if that pays."""
    mix, state, pad, rules, c, rng = search
    q = state.pattern[i]
    r = c.row_of[i]
    p = c.row_patterns[c.row_offset[r] + below(rng, choices)]
    if p == q or state.tally[0] < OPENED:
        return False
    list_others(p, i, mix.found, search)
    if state.size[p] + 1 + pad.n[FOUND] < rules.least[0]:
        return False
    move_copy(i, p, search)
    doomed = -1
    if pad.n[FOUND] > 0 and draw(rng) < mix.breaking:
        doomed = state.pattern[pad.found[below(rng, pad.n[FOUND])]]
        if state.size[doomed] > mix.largest or doomed == p:
            doomed = -1
    source = q if state.size[q] <= mix.largest else -1
    fill_soft(p, doomed, source, 0.5 * mix.unit, penalty, search)
    z = 0
    while z < pad.n[TOUCHED] and z < 12:
        s = pad.touched[z]
        z += 1
        if (
            s == p
            or state.size[s] == 0
            or state.size[s] > mix.largest
            or owed(s, state, rules) == 0
        ):
            continue
        mark = pad.n[JOURNAL]
        then = pad.n[OWED]
        before = energy(penalty, pad)
        if not dissolve_soft(s, penalty, search) or energy(penalty, pad) > before:
            undo_to(mark, then, search)
    return -energy(penalty, pad) >= threshold


@lean_kernel
def soft_move(i: int, number: int, heat: float, penalty: float, search: Any) -> None:
    """Try a move from copy i; ``penalty``: per 1/1024 of a row."""
    mix, state, pad, c, rng = search.mix, search.state, search.pad, search.c, search.rng
    q = state.pattern[i]
    threshold = least_gain(heat, rng)
    begin_move(number, pad)
    pad.n[OWED] = 0
    kind = draw(rng)
    if kind < mix.relocations:
        done = relocate_soft(i, threshold, penalty, search)
    elif kind < mix.relocations + mix.exchanges:
        done = swap_soft(i, threshold, penalty, search)
    elif kind < mix.relocations + mix.exchanges + mix.closures:
        done = (
            state.size[q] <= mix.largest
            and dissolve_soft(q, penalty, search)
            and -energy(penalty, pad) >= threshold
        )
    else:
        aim = draw(rng)
        limit = c.cost[q] - 1
        if aim >= 0.75:
            limit = c.cost[q] if aim < 0.96 else c.cost[q] + int(mix.unit)
        choices = patterns_up_to(c.row_of[i], limit, c)
        done = choices > 0 and pull_soft(i, choices, threshold, penalty, search)
    if not done:
        undo(0, search)


@lean_kernel
def soft_slice(heats: Any, penalties: Any, span: Any, active: Any, search: Any, halt: Any) -> None:
    """Run the moves of a span (first, last + 1, of how many), until the word ends them."""
    state, rules, c, rng = search.state, search.rules, search.c, search.rng
    copies = state.pattern.size
    first, last, total = span
    hot, cold = heats
    penalty0, penalty1 = penalties
    for number in range(first, last):
        if halted(halt):
            break
        if active.size and draw(rng) < search.mix.focus:
            i = active[below(rng, active.size)]
        else:
            i = below(rng, copies)
        p = state.pattern[i]
        if c.cost[p] == 0 and owed(p, state, rules) == 0:
            continue
        heat = hot * np.exp(np.log(cold / hot) * number / total)
        penalty = penalty0 * np.exp(np.log(penalty1 / penalty0) * number / total)
        soft_move(i, number, heat, penalty / ROW, search)
