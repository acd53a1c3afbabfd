"""Annealing over the classes themselves: near classes trade rows.

The other searches choose among listed patterns, of which a table of dozens of columns has too many.
Here a class is its members, k to 2k − 1 copies: more could be split at no cost.  Moves:

- trade: a copy goes to the class of a row near it, and the one that suits best comes in return, or
  none where its own class has one to spare;
- regroup and bisect (``regrouping.py``): two near classes are put together anew.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.bounds.rounds import fade
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.kernels.random import below, draw
from incrowd.problem.solution import Solution
from incrowd.solvers.engine.anneal import Clock
from incrowd.solvers.engine.near import Near
from incrowd.solvers.engine.regrouping import bisect, regroup
from incrowd.solvers.engine.relief import note, note_all, set_out_members, submodular
from incrowd.solvers.engine.traded import (
    AHEAD,
    EMPTY,
    FAR,
    LEFT,
    NOBODY,
    REFUSED,
    allowed,
    clear,
    join,
    leave,
    new_pad,
    opened,
    paid,
    widen,
)

SLICE = 500_000  # moves between two looks at the clock, times columns


@inner_kernel
def set_out_left(i: Any, m: Any, pad: Any) -> None:
    """Work out the span of the class of copy i without it."""
    span = pad.span
    a = m.class_of[i]
    clear(span[LEFT])
    for z in range(m.size[a]):
        if m.member[a, z] != i:
            widen(span[LEFT], span[LEFT], m.row_of[m.member[a, z]], m.codes)


@inner_kernel
def best_return(
    i: Any, b: Any, k: int, most: Any, least: Any, m: Any, pad: Any, tables: Any
) -> Any:
    """Return who leaves b for copy i, and what both classes and a row of each then pay.

    Whom: a place in b, ``NOBODY``, or ``REFUSED`` where more than ``most`` would be paid.
    least: what a row pays at least in the class that i leaves, and in b with i if nobody leaves.
    """
    span = pad.span
    left, joined = least
    r = m.row_of[i]
    na = m.size[m.class_of[i]]
    nb = m.size[b]
    behind = AHEAD + m.member.shape[1] + 1
    who = np.int64(REFUSED)
    pays_a = np.int64(0)
    pays_b = np.int64(0)
    left_out = members_out = False
    if na > k and nb < m.member.shape[1] and (na - 1) * left + (nb + 1) * joined <= most:
        set_out_left(i, m, pad)
        left_out = True
        to_a = paid(span[LEFT], span[EMPTY], NOBODY, FAR, m.codes, tables)
        after = (na - 1) * to_a + (nb + 1) * joined
        if after <= most:
            most, who, pays_a, pays_b = after, np.int64(NOBODY), to_a, joined
    if na * left + nb * (joined - m.ease[b]) > most:
        return who, most, pays_a, pays_b
    for z in range(nb):
        x = m.row_of[m.member[b, z]]
        least_b = nb * (joined - m.relief[m.member[b, z]])
        if x == r or na * left + least_b > most:
            continue
        if not left_out:
            set_out_left(i, m, pad)
            left_out = True
        to_a = paid(span[LEFT], span[EMPTY], x, (most - least_b) // na, m.codes, tables)
        if na * to_a + least_b > most:
            continue
        if not members_out:
            set_out_members(b, m, pad)
            members_out = True
        rest = (most - na * to_a) // nb
        to_b = paid(span[AHEAD + z], span[behind + z + 1], r, rest, m.codes, tables)
        after = na * to_a + nb * to_b
        if after <= most:
            most, who, pays_a, pays_b = after, z, to_a, to_b
    return who, most, pays_a, pays_b


@inner_kernel
def trade(
    i: Any, b: Any, k: int, heat: float, known: bool, m: Any, pad: Any, tables: Any, rng: Any
) -> Any:
    """Move copy i to class b and, if that is better, one of b in return; return the change.

    A copy that joins never adds to what another's leaving spares, so most moves are given up after
    one look at b with i (see ``submodular``).
    """
    a = m.class_of[i]
    before, most = allowed(a, b, heat, m, rng)
    left = m.cost[a] - m.relief[i]
    na, nb = m.size[a], m.size[b]
    at_most = max(
        (most - na * left) // nb + m.ease[b], (most - (na - 1) * left) // (nb + 1)
    )
    joined = paid(m.span[b], pad.span[EMPTY], m.row_of[i], at_most, m.codes, tables)
    if joined > at_most:
        return np.int64(0)
    who, after, pays_a, pays_b = best_return(i, b, k, most, (left, joined), m, pad, tables)
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
    note(a, known, m, pad, tables)
    note(b, known, m, pad, tables)
    return after - before


@lean_kernel
def trading_slice(
    moves: int, hot: float, cold: float, bisects: float, regroups: float, k: int, known: bool,
    m: Any, pad: Any, tables: Any, rng: Any,
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
        kind = draw(rng)
        if kind < bisects:
            change += bisect(a, b, k, heat, known, m, pad, tables, rng)
        elif kind < bisects + regroups:
            change += regroup(a, b, k, heat, known, m, pad, tables, rng)
        else:
            change += trade(i, b, k, heat, known, m, pad, tables, rng)
    return change


@dataclass(frozen=True, kw_only=True)
class Trading:
    """How classes trade.

    Attributes
    ----------
    moves: per copy; ``least`` in all.
    heat: first and last temperature, in suppressed cells (``Instance.cell``).
    regroups, bisects: shares of the moves that put two classes together anew.
    """

    moves: float = 150
    least: int = 1_000_000
    heat: tuple[float, float] = (6.0, 0.3)
    regroups: float = 0.1
    bisects: float = 0.0

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
        known = submodular(solution.instance)
        note_all(known, classes, pad, tables)
        while clock.share < 1 and not stop():
            hot, cold = (fade(self.heat, share) * cell for share in clock.ends())
            cost += trading_slice(
                clock.length,
                hot,
                cold,
                self.bisects,
                self.regroups,
                k,
                known,
                classes,
                pad,
                tables,
                rng,
            )
            clock.tick()
            report(cost, clock.share)
        return Solution.of(solution.instance, classes.class_of)
