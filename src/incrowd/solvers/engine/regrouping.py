"""Moves that tear two near classes open and put their copies together anew.

- regroup: classes are grown from them, each from a random copy by the one that then costs least;
- bisect: they stand in a line, by how much nearer each is to one of two random ones than to the
  other, which is cut where both classes cost least.
"""

from typing import Any

import numpy as np

from incrowd.kernels.jit import inner_kernel
from incrowd.kernels.random import below
from incrowd.problem.join import span_cost
from incrowd.solvers.engine.relief import note
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
    pays_in,
    widen,
)


@inner_kernel
def take(at: Any, into: Any, left: Any, pad: Any) -> None:
    """Decide that the copy at a place of the pool goes to a class; those before ``left`` stay."""
    pad.pool[at], pad.pool[left - 1] = pad.pool[left - 1], pad.pool[at]
    pad.into[left - 1] = into
    pad.held[into] += 1


@inner_kernel
def gather(c: Any, left: Any, pad: Any, m: Any, tables: Any) -> None:
    """Let all copies of the pool that are left be class c."""
    span = pad.span[AHEAD + c]
    clear(span)
    pad.held[c] = 0
    for z in range(left, 0, -1):
        widen(span, span, m.row_of[pad.pool[z - 1]], m.codes)
        take(z - 1, c, z, pad)
    pad.pays[c] = pays_in(span, span, NOBODY, FAR, m, tables)


@inner_kernel
def grow(number: Any, left: Any, k: int, most: Any, m: Any, pad: Any, tables: Any, rng: Any) -> Any:
    """Grow so many classes of k copies of the pool; return how many copies are left over.

    ``REFUSED`` as soon as they cost more than ``most``.
    """
    codes = m.codes
    for c in range(number):
        if left == k:
            gather(c, left, pad, m, tables)
            return 0 if k * pad.pays[c] <= most else REFUSED
        span = pad.span[AHEAD + c]
        at = below(rng, left)
        clear(span)
        widen(span, span, m.row_of[pad.pool[at]], codes)
        pad.held[c] = 0
        pad.pays[c] = 0
        take(at, c, left, pad)
        left -= 1
        while pad.held[c] < k:
            least = most // k + 1
            for z in range(left):
                cost = pays_in(span, span, m.row_of[pad.pool[z]], least, m, tables)
                if cost < least:
                    least = cost
                    at = z
            if k * least > most:
                return REFUSED
            widen(span, span, m.row_of[pad.pool[at]], codes)
            pad.pays[c] = least
            take(at, c, left, pad)
            left -= 1
        most -= k * pad.pays[c]
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
            cost = pays_in(span, span, row, FAR, m, tables)
            more = (pad.held[c] + 1) * cost - pad.held[c] * pad.pays[c]
            if more < least:
                least, at, pays = more, c, cost
        widen(pad.span[AHEAD + at], pad.span[AHEAD + at], row, codes)
        pad.pays[at] = pays
        take(left - 1, at, left, pad)
        left -= 1


@inner_kernel
def pooled(a: Any, b: Any, m: Any, pad: Any) -> Any:
    """Put the copies of two classes into the pool; return how many."""
    n = np.int64(0)
    for c in (a, b):
        for z in range(m.size[c]):
            pad.pool[n] = m.member[c, z]
            n += 1
    return n


@inner_kernel
def regroup(
    a: Any, b: Any, k: int, heat: float, known: bool, m: Any, pad: Any, tables: Any, rng: Any
) -> Any:
    """Put the copies of two classes into as many classes as they can be; return the change."""
    n = pooled(a, b, m, pad)
    number = n // k
    if number > 2 and m.spares[0] == 0:
        number = np.int64(2)
    before, most = allowed(a, b, heat, m, rng)
    left = grow(number, n, k, most, m, pad, tables, rng)
    if left == REFUSED:
        return 0
    deal(number, left, m, pad, tables)
    after = np.int64(0)
    for c in range(number):
        if pad.held[c] > m.member.shape[1]:
            return 0
        after += pad.held[c] * pad.pays[c]
    if after > most:
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
    for c in (a, b, third):
        note(c, known, m, pad, tables)
    return after - before


@inner_kernel
def nearer(r: Any, s: Any, t: Any, codes: Any, tables: Any) -> Any:
    """Return how much more each would pay in a class of rows r and s than in one of r and t.

    Near rows agree in most columns, which then tell nothing.
    """
    more = np.int64(0)
    for j in range(codes.shape[1]):
        one, a, b = codes[r, j], codes[s, j], codes[t, j]
        if a != b:
            more += span_cost(j, min(one, a), max(one, a), tables)
            more -= span_cost(j, min(one, b), max(one, b), tables)
    return more


@inner_kernel
def line_up(n: Any, m: Any, pad: Any, tables: Any, rng: Any) -> None:
    """Order the copies of the pool by how much nearer each is to one of two random ones."""
    s = m.row_of[pad.pool[below(rng, n)]]
    t = m.row_of[pad.pool[below(rng, n)]]
    for z in range(n):
        copy = pad.pool[z]
        key = nearer(m.row_of[copy], s, t, m.codes, tables)
        at = z
        while at > 0 and pad.pays[at - 1] > key:
            pad.pays[at] = pad.pays[at - 1]
            pad.pool[at] = pad.pool[at - 1]
            at -= 1
        pad.pays[at] = key
        pad.pool[at] = copy


@inner_kernel
def best_cut(n: Any, k: int, most: Any, m: Any, pad: Any, tables: Any) -> Any:
    """Return where the pool is best cut in two, and what both and a row of each then pay.

    0 where more than ``most`` would be paid.
    """
    codes, front, widest = m.codes, pad.span[LEFT], m.member.shape[1]
    behind = pad.span[AHEAD : AHEAD + n + 1]
    clear(behind[n])
    for z in range(n - 1, k - 1, -1):
        widen(behind[z], behind[z + 1], m.row_of[pad.pool[z]], codes)
    clear(front)
    cut, pays_a, pays_b = np.int64(0), np.int64(0), np.int64(0)
    for at in range(1, n - k + 1):
        widen(front, front, m.row_of[pad.pool[at - 1]], codes)
        if at < k or at > widest or n - at > widest:
            continue
        to_a = pays_in(front, pad.span[EMPTY], NOBODY, most // at, m, tables)
        rest = most - at * to_a
        if rest < 0:
            break
        to_b = pays_in(behind[at], pad.span[EMPTY], NOBODY, rest // (n - at), m, tables)
        after = at * to_a + (n - at) * to_b
        if after <= most:
            most, cut, pays_a, pays_b = after, np.int64(at), to_a, to_b
    return cut, most, pays_a, pays_b


@inner_kernel
def bisect(
    a: Any, b: Any, k: int, heat: float, known: bool, m: Any, pad: Any, tables: Any, rng: Any
) -> Any:
    """Part the copies of two classes along the line between two of them; return the change."""
    n = pooled(a, b, m, pad)
    before, most = allowed(a, b, heat, m, rng)
    line_up(n, m, pad, tables, rng)
    cut, after, m_a, m_b = best_cut(n, k, most, m, pad, tables)
    if cut == 0:
        return np.int64(0)
    m.size[a] = 0
    m.size[b] = 0
    for z in range(n):
        join(pad.pool[z], a if z < cut else b, m)
    m.cost[a] = m_a
    m.cost[b] = m_b
    note(a, known, m, pad, tables)
    note(b, known, m, pad, tables)
    return after - before
