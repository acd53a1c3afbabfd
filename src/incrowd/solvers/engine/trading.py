"""Annealing over the classes themselves: near classes trade rows.

The other searches choose among listed patterns, of which a table of dozens of columns has too many.
Here a class is its members, k to 2k − 1 copies: more could be split at no cost.  Moves:

- trade: a copy goes to the class of a row near it, and the one that suits best comes in return, or
  none where its own class has one to spare;
- regroup: two near classes are torn open and others grown from their copies, each from a random
  copy by the one that then costs least.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.bounds.rounds import fade
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.kernels.random import below, draw, least_gain
from incrowd.problem.solution import Solution
from incrowd.solvers.engine.anneal import Clock
from incrowd.solvers.engine.near import Near
from incrowd.solvers.engine.traded import (
    AHEAD,
    EMPTY,
    FAR,
    LEFT,
    NOBODY,
    clear,
    join,
    leave,
    new_pad,
    opened,
    paid,
    widen,
)

REFUSED = -2
SLICE = 500_000  # moves between two looks at the clock, times columns


@inner_kernel
def set_out(i: Any, b: Any, m: Any, pad: Any) -> None:
    """Work out the spans of the class of copy i without it and with it, and of the members of b.

    Those of b: of all before each member, and of all behind.
    """
    span = pad.span
    a = m.class_of[i]
    clear(span[LEFT])
    for z in range(m.size[a]):
        if m.member[a, z] != i:
            widen(span[LEFT], span[LEFT], m.row_of[m.member[a, z]], m.codes)
    n = m.size[b]
    behind = AHEAD + m.member.shape[1] + 1
    clear(span[AHEAD])
    clear(span[behind + n])
    for z in range(n):
        widen(span[AHEAD + z + 1], span[AHEAD + z], m.row_of[m.member[b, z]], m.codes)
    for z in range(n - 1, -1, -1):
        widen(span[behind + z], span[behind + z + 1], m.row_of[m.member[b, z]], m.codes)


@inner_kernel
def best_return(i: Any, b: Any, k: int, most: Any, m: Any, pad: Any, tables: Any) -> Any:
    """Return who leaves b for copy i, and what both classes and a row of each then pay.

    Whom: a place in b, ``NOBODY``, or ``REFUSED`` where more than ``most`` would be paid.
    """
    span = pad.span
    r = m.row_of[i]
    na = m.size[m.class_of[i]]
    nb = m.size[b]
    behind = AHEAD + m.member.shape[1] + 1
    who = np.int64(REFUSED)
    pays_a = np.int64(0)
    pays_b = np.int64(0)
    if na > k and nb < m.member.shape[1]:
        to_a = paid(span[LEFT], span[EMPTY], NOBODY, FAR, m.codes, tables)
        to_b = paid(span[AHEAD + nb], span[EMPTY], r, FAR, m.codes, tables)
        after = (na - 1) * to_a + (nb + 1) * to_b
        if after <= most:
            most, who, pays_a, pays_b = after, np.int64(NOBODY), to_a, to_b
    for z in range(nb):
        x = m.row_of[m.member[b, z]]
        if x == r:
            continue
        to_b = paid(span[AHEAD + z], span[behind + z + 1], r, most // nb, m.codes, tables)
        if nb * to_b > most:
            continue
        to_a = paid(span[LEFT], span[EMPTY], x, (most - nb * to_b) // na, m.codes, tables)
        after = na * to_a + nb * to_b
        if after <= most:
            most, who, pays_a, pays_b = after, z, to_a, to_b
    return who, most, pays_a, pays_b


@inner_kernel
def trade(i: Any, b: Any, k: int, heat: float, m: Any, pad: Any, tables: Any, rng: Any) -> Any:
    """Move copy i to class b and, if that is better, one of b in return; return the change."""
    a = m.class_of[i]
    before = m.size[a] * m.cost[a] + m.size[b] * m.cost[b]
    most = before - np.int64(np.ceil(least_gain(heat, rng)))
    set_out(i, b, m, pad)
    who, after, pays_a, pays_b = best_return(i, b, k, most, m, pad, tables)
    if who == REFUSED:
        return np.int64(0)
    leaves = m.member[b, who] if who >= 0 else NOBODY
    leave(i, m)
    if leaves >= 0:
        leave(leaves, m)
        join(leaves, a, m)
    join(i, b, m)
    m.cost[a] = pays_a
    m.cost[b] = pays_b
    return after - before


@inner_kernel
def take(at: Any, into: Any, left: Any, pad: Any) -> None:
    """Decide that the copy at a place of the pool goes to a class; those before ``left`` stay."""
    pad.pool[at], pad.pool[left - 1] = pad.pool[left - 1], pad.pool[at]
    pad.into[left - 1] = into
    pad.held[into] += 1


@inner_kernel
def grow(number: Any, left: Any, k: int, m: Any, pad: Any, tables: Any, rng: Any) -> Any:
    """Grow so many classes of k copies of the pool; return how many copies are left over."""
    codes = m.codes
    for c in range(number):
        span = pad.span[AHEAD + c]
        at = below(rng, left)
        clear(span)
        widen(span, span, m.row_of[pad.pool[at]], codes)
        pad.held[c] = 0
        pad.pays[c] = 0
        take(at, c, left, pad)
        left -= 1
        while pad.held[c] < k:
            least = FAR
            for z in range(left):
                cost = paid(span, span, m.row_of[pad.pool[z]], least, codes, tables)
                if cost < least:
                    least = cost
                    at = z
            widen(span, span, m.row_of[pad.pool[at]], codes)
            pad.pays[c] = least
            take(at, c, left, pad)
            left -= 1
    return left


@inner_kernel
def deal(number: Any, left: Any, m: Any, pad: Any, tables: Any) -> None:
    """Let each copy left over join the grown class whose cost this raises least."""
    codes = m.codes
    while left > 0:
        row = m.row_of[pad.pool[left - 1]]
        least = FAR
        at = 0
        pays = np.int64(0)
        for c in range(number):
            span = pad.span[AHEAD + c]
            cost = paid(span, span, row, FAR, codes, tables)
            more = (pad.held[c] + 1) * cost - pad.held[c] * pad.pays[c]
            if more < least:
                least, at, pays = more, c, cost
        widen(pad.span[AHEAD + at], pad.span[AHEAD + at], row, codes)
        pad.pays[at] = pays
        take(left - 1, at, left, pad)
        left -= 1


@inner_kernel
def regroup(a: Any, b: Any, k: int, heat: float, m: Any, pad: Any, tables: Any, rng: Any) -> Any:
    """Put the copies of two classes into as many classes as they can be; return the change."""
    n = np.int64(0)
    for c in (a, b):
        for z in range(m.size[c]):
            pad.pool[n] = m.member[c, z]
            n += 1
    number = n // k
    if number > 2 and m.spares[0] == 0:
        number = np.int64(2)
    left = grow(number, n, k, m, pad, tables, rng)
    deal(number, left, m, pad, tables)
    before = m.size[a] * m.cost[a] + m.size[b] * m.cost[b]
    after = np.int64(0)
    for c in range(number):
        if pad.held[c] > m.member.shape[1]:
            return 0
        after += pad.held[c] * pad.pays[c]
    if before - after < least_gain(heat, rng):
        return 0
    third = b
    if number > 2:
        m.spares[0] -= 1
        third = m.spare[m.spares[0]]
    for c in (a, b, third):
        m.size[c] = 0
    for z in range(n):
        c = pad.into[z]
        to = a if c == 0 else b if c == 1 else third
        join(pad.pool[z], to, m)
        m.cost[to] = pad.pays[c]
    return after - before


@lean_kernel
def trading_slice(
    moves: int, hot: float, cold: float, regroups: float, k: int, m: Any, pad: Any, tables: Any,
    rng: Any,
) -> Any:  # fmt: skip
    """Try so many moves, from one temperature to another; return the change of cost."""
    change = np.int64(0)
    copies = m.class_of.size
    for number in range(moves):
        i = below(rng, copies)
        a = m.class_of[i]
        if m.cost[a] == 0:
            continue
        s = m.near[m.row_of[i], below(rng, m.near.shape[1])]
        if s < 0:
            continue
        other = m.first_copy[s] + below(rng, m.first_copy[s + 1] - m.first_copy[s])
        b = m.class_of[other]
        if a == b:
            continue
        heat = hot * np.exp(np.log(cold / hot) * number / moves)
        if draw(rng) < regroups:
            change += regroup(a, b, k, heat, m, pad, tables, rng)
        else:
            change += trade(i, b, k, heat, m, pad, tables, rng)
    return change


@dataclass(frozen=True, kw_only=True)
class Trading:
    """How classes trade.

    Attributes
    ----------
    moves: per copy; ``least`` in all.
    heat: first and last temperature, in suppressed cells (``Instance.cell``).
    regroups: share of the moves that regroup two classes.
    """

    moves: float = 150
    least: int = 1_000_000
    heat: tuple[float, float] = (6.0, 0.3)
    regroups: float = 0.1

    def run(
        self,
        solution: Solution,
        near: Near,
        k: int,
        seed: int,
        seconds: tuple[float, float] | None = None,
        stop: Callable[[], bool] = lambda: False,
        report: Callable[[int, float], None] = lambda cost, share: None,
    ) -> Solution:
        """Improve a solution whose classes all have k to 2k − 1 copies.

        near: as ``near_rows`` tells.  seconds: as in ``Clock``.
        """
        classes, pad = opened(solution, near, k), new_pad(solution.instance, k)
        rng = np.array([(seed * 0x9E3779B9 + 99) & 0xFFFFFFFFFFFF], np.uint64)
        total = max(self.least, int(self.moves * len(classes.class_of)))
        length = SLICE // max(10, solution.instance.columns)
        clock = Clock(total, length, seconds)
        cost, cell, tables = solution.cost, solution.instance.cell, solution.instance.tables
        while clock.share < 1 and not stop():
            hot, cold = (fade(self.heat, share) * cell for share in clock.ends())
            cost += trading_slice(
                clock.length, hot, cold, self.regroups, k, classes, pad, tables, rng
            )
            clock.tick()
            report(cost, clock.share)
        return Solution.of(solution.instance, classes.class_of)
