"""The state of the search: which candidate pattern each copy is released as, and histograms.

A pattern is *open* when copies are assigned to it; its copies are one class (models here are closed
under union, so classes of one pattern may as well be one).  Each open pattern owns a *slot*, where
the histogram of its class is kept up to date move by move.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.jit import lean_kernel
from incrowd.privacy.laws import Laws
from incrowd.privacy.violation import violation, violation_after
from incrowd.solvers.engine.candidates import Candidates


class Rules(NamedTuple):
    """What a class has to obey.

    laws: see ``incrowd.privacy.laws``.  places: int64 (distinct, attributes), where each row's
    values stand in a histogram.  profile: int64 (distinct,), number of the row's combination of
    values.  sample: int64 (profiles,), a distinct row of each.  least: int64 (1,), rows of the
    smallest class.  exempt: int64 (1,), a pattern whose class may break the laws, or −1.
    """

    laws: Laws
    places: NDArray[np.int64]
    profile: NDArray[np.int64]
    sample: NDArray[np.int64]
    least: NDArray[np.int64]
    exempt: NDArray[np.int64]


class Crowd(NamedTuple):
    """The assignment as linked lists, and the slots.

    pattern, next, prev: int64 (copies,).  size, head, slot: int64 (patterns,); slot −1: closed.
    hist: int64 (slots + 1, places); the last row stays zero.  free: int64 (slots,), a stack of
    free slots, ``tally[0]`` of them.
    """

    pattern: NDArray[np.int64]
    next: NDArray[np.int64]
    prev: NDArray[np.int64]
    size: NDArray[np.int64]
    head: NDArray[np.int64]
    slot: NDArray[np.int64]
    hist: NDArray[np.int64]
    free: NDArray[np.int64]
    tally: NDArray[np.int64]


SPARE_SLOTS = 2048


def new_crowd(c: Candidates, rules: Rules, places: int, pattern: NDArray[np.int64]) -> Crowd:
    """Link up an assignment (int64, copies); −1 stands for a copy not yet placed."""
    patterns, copies = len(c.cost), len(pattern)
    least = max(1, int(rules.least[0]))
    open_now = len(np.unique(pattern[pattern >= 0]))
    slots = min(patterns, max(copies // least, open_now) + SPARE_SLOTS)
    crowd = Crowd(
        np.full(copies, -1, np.int64),
        np.full(copies, -1, np.int64),
        np.full(copies, -1, np.int64),
        np.zeros(patterns, np.int64),
        np.full(patterns, -1, np.int64),
        np.full(patterns, -1, np.int64),
        np.zeros((slots + 1, max(1, places)), np.int64),
        np.arange(slots, dtype=np.int64)[::-1].copy(),
        np.array([slots], np.int64),
    )
    link_all(pattern, crowd, rules, c)
    return crowd


@lean_kernel
def unlink(i: int, crowd: Any, rules: Any, c: Any) -> None:
    """Take copy i out of its class."""
    p = crowd.pattern[i]
    before = crowd.prev[i]
    after = crowd.next[i]
    if before >= 0:
        crowd.next[before] = after
    else:
        crowd.head[p] = after
    if after >= 0:
        crowd.prev[after] = before
    crowd.pattern[i] = -1
    s = crowd.slot[p]
    r = c.row_of[i]
    for a in range(rules.places.shape[1]):
        crowd.hist[s, rules.places[r, a]] -= 1
    crowd.size[p] -= 1
    if crowd.size[p] == 0:
        crowd.slot[p] = -1
        crowd.free[crowd.tally[0]] = s
        crowd.tally[0] += 1


@lean_kernel
def link(i: int, p: int, crowd: Any, rules: Any, c: Any) -> None:
    """Put copy i into the class of pattern p; there must be a free slot."""
    if crowd.size[p] == 0:
        crowd.tally[0] -= 1
        crowd.slot[p] = crowd.free[crowd.tally[0]]
    first = crowd.head[p]
    crowd.next[i] = first
    crowd.prev[i] = -1
    if first >= 0:
        crowd.prev[first] = i
    crowd.head[p] = i
    crowd.pattern[i] = p
    crowd.size[p] += 1
    s = crowd.slot[p]
    r = c.row_of[i]
    for a in range(rules.places.shape[1]):
        crowd.hist[s, rules.places[r, a]] += 1


@lean_kernel
def link_all(pattern: Any, crowd: Any, rules: Any, c: Any) -> None:
    """Link every copy that has a place."""
    for i in range(pattern.size):
        if pattern[i] >= 0:
            link(i, pattern[i], crowd, rules, c)


@lean_kernel
def broken(p: int, crowd: Any, rules: Any) -> int:
    """How badly the class of p breaks the laws; 0 for lawful, for no class and for the exempt."""
    if p == rules.exempt[0]:
        return 0
    return violation(rules.laws, crowd.hist[crowd.slot[p]], crowd.size[p])


@lean_kernel
def debt(crowd: Any, rules: Any) -> int:
    """How badly the exempt class breaks the laws, in 1/1024 of a row."""
    p = rules.exempt[0]
    if p < 0:
        return 0
    return violation(rules.laws, crowd.hist[crowd.slot[p]], crowd.size[p])


@lean_kernel
def broken_after(p: int, r: int, change: int, crowd: Any, rules: Any) -> int:
    """``broken`` after one copy of row r more (+1) or less (−1)."""
    if p == rules.exempt[0]:
        return 0
    hist = crowd.hist[crowd.slot[p]]  # slot −1 is the row of zeros
    return violation_after(rules.laws, hist, crowd.size[p], rules.places[r], change)


@lean_kernel
def cheapest_open(
    r: int, besides: int, limit: int, crowd: Any, dying: Any, rules: Any, c: Any
) -> int:
    """Return the row's cheapest open pattern that can take a copy lawfully, or −1."""
    for x in range(c.row_offset[r], c.row_offset[r + 1]):
        p = c.row_patterns[x]
        if c.cost[p] > limit:
            return -1
        if (
            crowd.size[p] > 0
            and p != besides
            and not dying[p]
            and broken_after(p, r, 1, crowd, rules) == 0
        ):
            return p
    return -1


@lean_kernel
def total_cost(crowd: Any, c: Any) -> int:
    """Cost of the state, by candidate costs (joins can only be cheaper)."""
    total = 0
    for p in range(c.cost.size):
        total += crowd.size[p] * c.cost[p]
    return total
