"""The state of the search: which candidate pattern each copy is released as, and histograms.

A pattern is *open* when copies are assigned to it; its copies are one class (models here are closed
under union, so classes of one pattern may as well be one).  Each open pattern owns a *slot*, where
the histogram of its class is kept up to date move by move.  Each copy's pattern covers its row, but
need not list it, as ``incrowd.solvers.engine.assignment`` says.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.privacy.law import Laws
from incrowd.privacy.violation import tally, violation, violation_after
from incrowd.solvers.engine.assignment import link as link_copy
from incrowd.solvers.engine.assignment import unlink as unlink_copy
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


class LawfulState(NamedTuple):
    """The assignment as linked lists, and the slots.

    pattern, next, prev: int32 (copies,).  size, head, slot: int32 (patterns,); slot −1: closed.
    hist: int64 (slots + 1, places); the last row stays zero.  known: int32 (slots + 1, 1 + 2 ×
    profiles), what has been found out about the class since it last changed: its violation, then
    that after a copy of each profile less and more; −1: not asked yet.  Where there are too many
    profiles only the first is kept.  free: int64 (slots,), a stack of free slots, ``tally[0]`` of
    them.
    """

    pattern: NDArray[np.int32]
    next: NDArray[np.int32]
    prev: NDArray[np.int32]
    size: NDArray[np.int32]
    head: NDArray[np.int32]
    slot: NDArray[np.int32]
    hist: NDArray[np.int64]
    known: NDArray[np.int32]
    free: NDArray[np.int64]
    tally: NDArray[np.int64]


SPARE_SLOTS = 2048
OPENED = 8  # slots that a move may need before it gives some back
MOST_KNOWN = 64  # profiles
LARGEST_KNOWN = 2**31 - 1


def new_state(c: Candidates, rules: Rules, pattern: NDArray[np.int64]) -> LawfulState:
    """Link up an assignment (int64, copies); −1 stands for a copy not yet placed."""
    patterns, copies = len(c.cost), len(pattern)
    least = max(1, int(rules.least[0]))
    open_now = len(np.unique(pattern[pattern >= 0]))
    slots = min(patterns + OPENED, max(copies // least, open_now) + SPARE_SLOTS)
    profiles = len(rules.sample)
    known = 2 * profiles if profiles <= MOST_KNOWN else 0
    state = LawfulState(
        np.full(copies, -1, np.int32),
        np.full(copies, -1, np.int32),
        np.full(copies, -1, np.int32),
        np.zeros(patterns, np.int32),
        np.full(patterns, -1, np.int32),
        np.full(patterns, -1, np.int32),
        np.zeros((slots + 1, len(rules.laws.once)), np.int64),
        np.full((slots + 1, 1 + known), -1, np.int32),
        np.arange(slots, dtype=np.int64)[::-1].copy(),
        np.array([slots], np.int64),
    )
    link_all(pattern, state, rules, c)
    return state


@inner_kernel
def forget(s: int, state: Any) -> None:
    """The class in slot s has changed."""
    for x in range(state.known.shape[1]):
        state.known[s, x] = -1


@inner_kernel
def unlink(i: int, state: Any, rules: Any, c: Any) -> None:
    """Take copy i out of its class."""
    p = state.pattern[i]
    unlink_copy(state, i)
    state.pattern[i] = -1
    s = state.slot[p]
    tally(rules.laws, state.hist[s], rules.places[c.row_of[i]], -1)
    forget(s, state)
    if state.size[p] == 0:
        state.slot[p] = -1
        state.free[state.tally[0]] = s
        state.tally[0] += 1


@inner_kernel
def link(i: int, p: int, state: Any, rules: Any, c: Any) -> None:
    """Put copy i into the class of pattern p; there must be a free slot."""
    if state.size[p] == 0:
        state.tally[0] -= 1
        state.slot[p] = state.free[state.tally[0]]
    link_copy(state, i, p)
    s = state.slot[p]
    tally(rules.laws, state.hist[s], rules.places[c.row_of[i]], 1)
    forget(s, state)


@lean_kernel
def link_all(pattern: Any, state: Any, rules: Any, c: Any) -> None:
    """Link every copy that has a place."""
    for i in range(pattern.size):
        if pattern[i] >= 0:
            link(i, pattern[i], state, rules, c)


@lean_kernel
def lacking(p: int, state: Any, rules: Any) -> int:
    """How badly the class of p breaks the laws, in 1/1024 of a row; 0 for lawful or no class."""
    s = state.slot[p]
    found = int(state.known[s, 0])
    if found < 0:
        found = violation(rules.laws, state.hist[s], state.size[p])
        if found <= LARGEST_KNOWN:
            state.known[s, 0] = found
    return found


@lean_kernel
def lacking_after(p: int, r: int, change: int, state: Any, rules: Any) -> int:
    """``lacking`` after one copy of row r more (+1) or less (−1)."""
    s = state.slot[p]  # slot −1 is the row of zeros
    x = 2 * rules.profile[r] + 1 + (change > 0)
    if x >= state.known.shape[1]:
        return violation_after(rules.laws, state.hist[s], state.size[p], rules.places[r], change)
    found = int(state.known[s, x])
    if found < 0:
        found = violation_after(rules.laws, state.hist[s], state.size[p], rules.places[r], change)
        if found <= LARGEST_KNOWN:
            state.known[s, x] = found
    return found


@lean_kernel
def broken(p: int, state: Any, rules: Any) -> int:
    """``lacking``, but 0 for the exempt class."""
    return 0 if p == rules.exempt[0] else lacking(p, state, rules)


@lean_kernel
def shortfall(state: Any, rules: Any) -> int:
    """``lacking`` of the exempt class."""
    p = rules.exempt[0]
    return 0 if p < 0 else lacking(p, state, rules)


@inner_kernel
def broken_after(p: int, r: int, change: int, state: Any, rules: Any) -> int:
    """``broken`` after one copy of row r more (+1) or less (−1)."""
    return 0 if p == rules.exempt[0] else lacking_after(p, r, change, state, rules)


@inner_kernel
def cheapest_open(
    r: int, besides: int, limit: int, state: Any, dying: Any, rules: Any, c: Any
) -> int:
    """Return the row's cheapest open pattern that can take a copy lawfully, or −1."""
    for x in range(c.row_offset[r], c.row_offset[r + 1]):
        p = c.row_patterns[x]
        if c.cost[p] > limit:
            return -1
        if (
            state.size[p] > 0
            and p != besides
            and not dying[p]
            and broken_after(p, r, 1, state, rules) == 0
        ):
            return p
    return -1
