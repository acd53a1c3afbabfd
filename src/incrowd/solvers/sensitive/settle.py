"""What becomes of classes that a move has broken: refill, dissolve, or merge."""

from typing import Any

from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.kernels.random import below, draw
from incrowd.privacy.violation import violation
from incrowd.solvers.engine.candidates import find_join
from incrowd.solvers.sensitive.assignment import broken, broken_after, cheapest_open
from incrowd.solvers.sensitive.journal import (
    CHAIN,
    DELTA,
    JOURNAL,
    NUMBER,
    TICK,
    TOUCHED,
    step,
    undo,
    worth_of,
)

LONGEST_REFILL = 150
LONGEST_CHAIN = 4
MOST_TARGETS = 25
FAR = 1 << 60


@inner_kernel
def refill(q: int, search: Any) -> bool:
    """Mend a broken class by copies of other classes.

    A copy that its class cannot spare breaks that class, which has its turn later: so a chain of
    classes each pass on a copy, until one has a copy to spare.
    """
    mix, state, pad, rules, c, rng = search
    now = broken(q, state, rules)
    begin = c.offset[q]
    length = c.offset[q + 1] - begin
    if length == 0:
        return False
    first = below(rng, length)
    before = pad.n[JOURNAL]
    chained = pad.n[CHAIN] < LONGEST_CHAIN
    penalty = mix.unit * (0.5 + 2.0 * draw(rng))
    while now > 0:
        pad.n[TICK] += 1
        best = -1e300
        best_j = -1
        best_tight = False
        for z in range(min(length, LONGEST_REFILL)):
            y = first + z
            if y >= length:
                y -= length
            r = c.rows[begin + y]
            after = worth_of(q, r, search)
            if after >= now:
                continue
            for j in range(c.first_copy[r], c.first_copy[r + 1]):
                s = state.pattern[j]
                if s == q:
                    continue
                score = c.cost[s] - c.cost[q] + mix.unit * 2.0 * (now - after) / now
                if score <= best:
                    continue
                tight = broken_after(s, r, -1, state, rules) > 0
                if tight:
                    score -= penalty
                    if (
                        not chained
                        or score <= best
                        or pad.stamp[s] == pad.n[NUMBER]
                        or state.size[s] > mix.largest
                    ):
                        continue
                best = score
                best_j = j
                best_tight = tight
        if best_j < 0 or pad.n[JOURNAL] - before > 30:
            return False
        if best_tight:
            pad.n[CHAIN] += 1
            chained = pad.n[CHAIN] < LONGEST_CHAIN
        now = worth_of(q, c.row_of[best_j], search)
        step(best_j, q, search)
    return True


@inner_kernel
def dissolve(q: int, search: Any) -> bool:
    """Send every copy of q to its cheapest open pattern that can take it."""
    state, pad, rules, c = search.state, search.pad, search.rules, search.c
    pad.dying[q] = True
    whole = True
    far = c.cost[c.cost.size - 1]
    while state.head[q] >= 0:
        j = state.head[q]
        b = cheapest_open(c.row_of[j], q, far, state, pad.dying, rules, c)
        if b < 0:
            whole = False
            break
        step(j, b, search)
    pad.dying[q] = False
    return whole


@inner_kernel
def matches(r: int, p: int, c: Any) -> bool:
    """Whether (r, p) is a candidate pair: rows list their patterns by number."""
    low = c.row_offset[r]
    high = c.row_offset[r + 1]
    while low < high:
        middle = (low + high) >> 1
        if c.row_patterns[middle] < p:
            low = middle + 1
        else:
            high = middle
    return low < c.row_offset[r + 1] and c.row_patterns[low] == p


@inner_kernel
def holds_class(p: int, q: int, state: Any, c: Any) -> bool:
    """Whether every copy of q may go to p."""
    j = state.head[q]
    while j >= 0:
        if not matches(c.row_of[j], p, c):
            return False
        j = state.next[j]
    return True


@inner_kernel
def lawful_together(p: int, q: int, search: Any) -> bool:
    """Whether the classes of p and q are lawful as one."""
    state, pad, rules = search.state, search.pad, search.rules
    a = state.hist[state.slot[p]]
    b = state.hist[state.slot[q]]
    for v in range(a.size):
        pad.sum[v] = a[v] + b[v]
    once = rules.laws.once
    for v in range(a.size):
        if once[v] >= 0 and a[v] > 0 and b[v] > 0:  # one value, which either class has counted
            pad.sum[once[v]] -= 1
    return violation(rules.laws, pad.sum, state.size[p] + state.size[q]) == 0


@inner_kernel
def host_of(q: int, search: Any) -> int:
    """Return the cheapest open pattern that can take the whole class of q, or −1."""
    state, pad, c = search.state, search.pad, search.c
    first = c.row_of[state.head[q]]
    tried = 0
    for x in range(c.row_offset[first], c.row_offset[first + 1]):
        p = c.row_patterns[x]
        if p == q or state.size[p] == 0 or pad.dying[p]:
            continue
        if not holds_class(p, q, state, c):
            continue
        tried += 1
        if lawful_together(p, q, search):
            return p
        if tried >= MOST_TARGETS:
            break
    return -1


@inner_kernel
def list_rows(q: int, n: int, search: Any) -> int:
    """Append the rows of q to ``pad.member``; return how many there are, −1 for too many."""
    state, pad, c = search.state, search.pad, search.c
    j = state.head[q]
    while j >= 0:
        if n >= pad.member.size:
            return -1
        pad.member[n] = c.row_of[j]
        n += 1
        j = state.next[j]
    return n


@inner_kernel
def partner_of(q: int, at: int, search: Any) -> Any:
    """Find a broken class that makes a lawful one with q; return (class, pattern, extra cost)."""
    state, pad, rules, c = search.state, search.pad, search.rules, search.c
    best = FAR
    best_s = -1
    best_p = -1
    for z in range(at, min(pad.n[TOUCHED], at + 8)):
        s = pad.touched[z]
        if s == q or state.size[s] == 0 or broken(s, state, rules) == 0:
            continue
        if not lawful_together(q, s, search):
            continue
        n = list_rows(q, 0, search)
        if n >= 0:
            n = list_rows(s, n, search)
        if n < 0:
            continue
        p = find_join(pad.member, n, c.codes, c.tables, c.table_key, c.table_pattern)
        if p < 0 or (state.size[p] > 0 and p not in (q, s)):
            continue
        extra = state.size[q] * (c.cost[p] - c.cost[q]) + state.size[s] * (c.cost[p] - c.cost[s])
        if extra < best:
            best, best_s, best_p = extra, s, p
    return best_s, best_p, best


@inner_kernel
def pour(q: int, p: int, search: Any) -> None:
    """Move the whole class of q to p."""
    while search.state.head[q] >= 0:
        step(search.state.head[q], p, search)


@inner_kernel
def scatter(q: int, at: int, search: Any) -> bool:
    """Close q in the cheapest of three ways: copy by copy, as a whole, with another broken class.

    ``at``: number of touched classes that have had their turn.
    """
    state, pad, c = search.state, search.pad, search.c
    host = host_of(q, search)
    cost = FAR if host < 0 else state.size[q] * (c.cost[host] - c.cost[q])
    other, join, extra = partner_of(q, at, search)
    mark = pad.n[JOURNAL]
    before = pad.n[DELTA]
    if dissolve(q, search) and pad.n[DELTA] - before <= min(cost, extra):
        return True
    if host < 0 and other < 0:
        return False
    undo(mark, search)
    if cost <= extra:
        pour(q, host, search)
        return True
    if join != q:
        pour(q, join, search)
    if join != other:
        pour(other, join, search)
    return True


@lean_kernel
def settle_sources(limit: float, search: Any) -> bool:
    """Refill or close the classes that the move has broken."""
    state, pad, rules = search.state, search.pad, search.rules
    at = 0
    while at < pad.n[TOUCHED]:
        q = pad.touched[at]
        at += 1
        if state.size[q] == 0 or broken(q, state, rules) == 0:
            continue
        if pad.n[DELTA] > limit or at > 64:
            return False
        mark = pad.n[JOURNAL]
        if draw(search.rng) < 0.5:
            if refill(q, search):
                continue
            undo(mark, search)
        if state.size[q] > search.mix.largest or not scatter(q, at, search):
            return False
    return True
