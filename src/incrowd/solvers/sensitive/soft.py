"""Moves that may break the law at a toll: what a class lacks in rows costs ``toll`` a row.

Where the law is tight, hardly a class can spare a copy, and moves between lawful releases fail four
times in five.  Here a copy may leave first and another come later.  The energy is the cost plus the
toll times the violations of all classes; the toll rises as the temperature falls.
"""

from typing import Any, NamedTuple

import numpy as np

from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.kernels.random import below, draw, least_gain
from incrowd.privacy.violation import ROW
from incrowd.solvers.engine.crowd import patterns_up_to
from incrowd.solvers.sensitive.crowd import OPENED, lacking, lacking_after
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

    relocations, exchanges, closures: shares of those moves; the others are pulls.  unit, doom,
    largest, focus: as in ``incrowd.solvers.sensitive.moves.Mix``.  found: copies that a pull
    chooses from, at most.
    """

    relocations: float
    exchanges: float
    closures: float
    unit: float
    doom: float
    found: int
    largest: int
    focus: float


@lean_kernel
def owed(p: int, crowd: Any, rules: Any) -> int:
    """Violation of the class of p, in 1/1024 of a row."""
    found = lacking(p, crowd, rules)
    return found + BREACH if found > 0 else 0


@inner_kernel
def owed_after(p: int, r: int, change: int, crowd: Any, rules: Any) -> int:
    """``owed`` after one copy of row r more (+1) or less (−1)."""
    found = lacking_after(p, r, change, crowd, rules)
    return found + BREACH if found > 0 else 0


@inner_kernel
def move_copy(i: int, p: int, crowd: Any, pad: Any, rules: Any, c: Any) -> None:
    """Move copy i to p, note it in the journal, and what it changes in violations."""
    q = crowd.pattern[i]
    before = owed(p, crowd, rules) + owed(q, crowd, rules)
    step(i, p, crowd, pad, rules, c)
    pad.n[OWED] += owed(p, crowd, rules) + owed(q, crowd, rules) - before


@inner_kernel
def energy(toll: float, pad: Any) -> float:
    """Change of energy since the move began."""
    return pad.n[DELTA] + toll * pad.n[OWED]


@inner_kernel
def undo_to(mark: int, owed_then: int, crowd: Any, pad: Any, rules: Any, c: Any) -> None:
    """Undo the journal down to a length, and the violations with it."""
    undo(mark, crowd, pad, rules, c)
    pad.n[OWED] = owed_then


@inner_kernel
def best_home(
    i: int, besides: int, most: int, toll: float, crowd: Any, pad: Any, rules: Any, c: Any, rng: Any
) -> Any:
    """Return (open pattern, energy of joining it) for copy i: the best of ``most`` met."""
    r = c.row_of[i]
    begin = c.row_offset[r]
    length = c.row_offset[r + 1] - begin
    best = FAR
    best_p = -1
    if length == 0:
        return best_p, best
    at = below(rng, length)
    met = 0
    for _ in range(length):
        p = c.row_patterns[begin + at]
        at += 1
        if at == length:
            at = 0
        if crowd.size[p] == 0 or p == besides or pad.dying[p]:
            continue
        after = owed_after(p, r, 1, crowd, rules)
        value = c.cost[p] + toll * (after - owed(p, crowd, rules))
        if value < best:
            best = value
            best_p = p
        met += 1
        if met >= most:
            break
    return best_p, best


@inner_kernel
def relocate_soft(
    i: int, threshold: float, toll: float, crowd: Any, pad: Any, rules: Any, c: Any, rng: Any
) -> int:
    """Move one copy; let the class it joins pass on another, and so on, up to three times."""
    q = crowd.pattern[i]
    p, _ = best_home(i, q, 1 + below(rng, 4), toll, crowd, pad, rules, c, rng)
    if p < 0:
        return False
    move_copy(i, p, crowd, pad, rules, c)
    last = i
    for _ in range(3):
        if -energy(toll, pad) >= threshold:
            return True
        now = owed(p, crowd, rules)
        best = FAR
        best_j = -1
        best_s = -1
        j = crowd.head[p]
        looked = 0
        while j >= 0 and looked < 24:
            looked += 1
            if j != last:
                r = c.row_of[j]
                leave = toll * (owed_after(p, r, -1, crowd, rules) - now) - c.cost[p]
                s, come = best_home(j, p, 4, toll, crowd, pad, rules, c, rng)
                if s >= 0 and leave + come < best:
                    best, best_j, best_s = leave + come, j, s
            j = crowd.next[j]
        if best_j < 0:
            break
        move_copy(best_j, best_s, crowd, pad, rules, c)
        last = best_j
        p = best_s
    return -energy(toll, pad) >= threshold


@inner_kernel
def swap_soft(
    i: int, threshold: float, toll: float, crowd: Any, pad: Any, rules: Any, c: Any, rng: Any
) -> int:
    """Exchange a copy with the best one of another class."""
    q = crowd.pattern[i]
    r = c.row_of[i]
    begin = c.row_offset[r]
    length = c.row_offset[r + 1] - begin
    p = -1
    for _ in range(12):
        x = c.row_patterns[begin + below(rng, length)]
        if x != q and crowd.size[x] > 0:
            p = x
            break
    if p < 0:
        return False
    move_copy(i, p, crowd, pad, rules, c)
    at_p = owed(p, crowd, rules)
    at_q = owed(q, crowd, rules)
    best = 1 << 60
    best_j = -1
    j = crowd.head[p]
    looked = 0
    while j >= 0 and looked < 24:
        looked += 1
        s = c.row_of[j]
        if rules.profile[s] != rules.profile[r] and matches(s, q, c):
            value = (
                owed_after(p, s, -1, crowd, rules) - at_p + owed_after(q, s, 1, crowd, rules) - at_q
            )
            if value < best:
                best, best_j = value, j
        j = crowd.next[j]
    if best_j < 0:
        return False
    move_copy(best_j, q, crowd, pad, rules, c)
    return -energy(toll, pad) >= threshold


@inner_kernel
def dissolve_soft(q: int, toll: float, crowd: Any, pad: Any, rules: Any, c: Any, rng: Any) -> bool:
    """Send every copy of q where it costs least."""
    pad.dying[q] = True
    whole = True
    while crowd.head[q] >= 0:
        j = crowd.head[q]
        p, _ = best_home(j, q, 30, toll, crowd, pad, rules, c, rng)
        if p < 0:
            whole = False
            break
        move_copy(j, p, crowd, pad, rules, c)
    pad.dying[q] = False
    return whole


@inner_kernel
def fill_soft(
    p: int, doomed: int, source: int, noise: float, toll: float, crowd: Any, pad: Any, rules: Any,
    c: Any, rng: Any,
) -> None:  # fmt: skip
    """Add the copies that lower the energy most, one by one; those of doomed classes leave free."""
    now = owed(p, crowd, rules)
    for _ in range(64 + 2 * rules.least[0]):
        best = 0.0
        best_j = -1
        pad.n[TICK] += 1
        for z in range(pad.n[FOUND]):
            j = pad.found[z]
            q = crowd.pattern[j]
            if q == p:
                continue
            r = c.row_of[j]
            f = rules.profile[r]
            if pad.known[f] != pad.n[TICK]:
                pad.known[f] = pad.n[TICK]
                pad.worth[f] = owed_after(p, r, 1, crowd, rules)
            score = c.cost[q] - c.cost[p] + toll * (now - pad.worth[f]) + noise * draw(rng)
            if score <= best:
                continue
            if q not in (doomed, source):
                score -= toll * (owed_after(q, r, -1, crowd, rules) - owed(q, crowd, rules))
            if score > best:
                best = score
                best_j = j
        if best_j < 0:
            return
        move_copy(best_j, p, crowd, pad, rules, c)
        now = owed(p, crowd, rules)


@inner_kernel
def pull_soft(
    i: int, choices: int, threshold: float, toll: float, mix: Any, crowd: Any, pad: Any, rules: Any,
    c: Any, rng: Any,
) -> bool:  # fmt: skip
    """Open or widen a pattern for i, fill it, close the classes that this breaks if that pays."""
    q = crowd.pattern[i]
    r = c.row_of[i]
    p = c.row_patterns[c.row_offset[r] + below(rng, choices)]
    if p == q or crowd.tally[0] < OPENED:
        return False
    list_others(p, i, mix.found, crowd, pad, c, rng)
    if crowd.size[p] + 1 + pad.n[FOUND] < rules.least[0]:
        return False
    move_copy(i, p, crowd, pad, rules, c)
    doomed = -1
    if pad.n[FOUND] > 0 and draw(rng) < mix.doom:
        doomed = crowd.pattern[pad.found[below(rng, pad.n[FOUND])]]
        if crowd.size[doomed] > mix.largest or doomed == p:
            doomed = -1
    source = q if crowd.size[q] <= mix.largest else -1
    fill_soft(p, doomed, source, 0.5 * mix.unit, toll, crowd, pad, rules, c, rng)
    z = 0
    while z < pad.n[TOUCHED] and z < 12:
        s = pad.touched[z]
        z += 1
        if (
            s == p
            or crowd.size[s] == 0
            or crowd.size[s] > mix.largest
            or owed(s, crowd, rules) == 0
        ):
            continue
        mark = pad.n[JOURNAL]
        then = pad.n[OWED]
        before = energy(toll, pad)
        if not dissolve_soft(s, toll, crowd, pad, rules, c, rng) or energy(toll, pad) > before:
            undo_to(mark, then, crowd, pad, rules, c)
    return -energy(toll, pad) >= threshold


@lean_kernel
def soft_move(
    i: int, number: int, heat: float, toll: float, mix: Any, crowd: Any, pad: Any, rules: Any,
    c: Any, rng: Any,
) -> None:  # fmt: skip
    """Try a move from copy i; ``toll``: per 1/1024 of a row."""
    q = crowd.pattern[i]
    threshold = least_gain(heat, rng)
    begin_move(number, pad)
    pad.n[OWED] = 0
    kind = draw(rng)
    if kind < mix.relocations:
        done = relocate_soft(i, threshold, toll, crowd, pad, rules, c, rng)
    elif kind < mix.relocations + mix.exchanges:
        done = swap_soft(i, threshold, toll, crowd, pad, rules, c, rng)
    elif kind < mix.relocations + mix.exchanges + mix.closures:
        done = (
            crowd.size[q] <= mix.largest
            and dissolve_soft(q, toll, crowd, pad, rules, c, rng)
            and -energy(toll, pad) >= threshold
        )
    else:
        aim = draw(rng)
        limit = c.cost[q] - 1
        if aim >= 0.75:
            limit = c.cost[q] if aim < 0.96 else c.cost[q] + int(mix.unit)
        choices = patterns_up_to(c.row_of[i], limit, c)
        done = choices > 0 and pull_soft(
            i, choices, threshold, toll, mix, crowd, pad, rules, c, rng
        )
    if not done:
        undo(0, crowd, pad, rules, c)


@lean_kernel
def soft_slice(
    first: int, last: int, total: int, hot: float, cold: float, toll0: float, toll1: float,
    mix: Any, crowd: Any, pad: Any, rules: Any, c: Any, rng: Any, active: Any,
) -> None:  # fmt: skip
    """Run moves first..last−1 of ``total``."""
    copies = crowd.pattern.size
    for number in range(first, last):
        if active.size and draw(rng) < mix.focus:
            i = active[below(rng, active.size)]
        else:
            i = below(rng, copies)
        p = crowd.pattern[i]
        if c.cost[p] == 0 and owed(p, crowd, rules) == 0:
            continue
        heat = hot * np.exp(np.log(cold / hot) * number / total)
        toll = toll0 * np.exp(np.log(toll1 / toll0) * number / total)
        soft_move(i, number, heat, toll / ROW, mix, crowd, pad, rules, c, rng)
