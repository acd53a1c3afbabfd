"""The state of the search: which candidate pattern each copy is released as.

A pattern is *open* when copies are assigned to it; lawful states have at least k on every open
pattern.  A copy on an open pattern with more than k is *surplus*: it may leave freely.

Each copy's pattern covers its row: the row lies below the join of the rows that the pattern lists,
so that no class costs more than its pattern says.  It need not list the row: lists are narrowed,
those of windows hold neighbours only, and copies that become a class together go to the pattern of
their join (``find_join``), whichever rows it lists.  What looks a pattern's copies up by its list
misses such a copy, which may leave, but does not come back.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.solvers.engine.candidates import Candidates

MOST_TOUCHED = 4096
NOWHERE = np.iinfo(np.int32).max


class State(NamedTuple):
    """pattern, next, prev: int32 (copies,).  size, head: int32 (patterns,).

    first, second: int32 (distinct,): the row's two cheapest open patterns, as far as known: every
    other open one has a higher number than both.  −1: not looked up yet; ``NOWHERE``: none.

    Narrow integers: on large tables most of a move's time goes to reaching memory.
    """

    pattern: NDArray[np.int32]
    size: NDArray[np.int32]
    head: NDArray[np.int32]
    next: NDArray[np.int32]
    prev: NDArray[np.int32]
    first: NDArray[np.int32]
    second: NDArray[np.int32]


class Pad(NamedTuple):
    """Scratch space of the moves; stamps compare with the number of the move."""

    stamp: NDArray[np.int32]
    slot: NDArray[np.int32]
    dying: NDArray[np.bool_]
    mark: NDArray[np.int32]
    touched: NDArray[np.int64]
    within: NDArray[np.int64]
    take: NDArray[np.int64]
    spare: NDArray[np.int64]
    dissolve: NDArray[np.bool_]
    may_dissolve: NDArray[np.bool_]
    dissolve_cost: NDArray[np.int64]
    found: NDArray[np.int64]
    moved: NDArray[np.int64]
    origin: NDArray[np.int64]
    left: NDArray[np.int64]
    left_to: NDArray[np.int64]
    core: NDArray[np.int64]


def new_state(candidates: Candidates, pattern: NDArray[np.int64]) -> State:
    """Link up an assignment (int64, copies)."""
    patterns, copies = len(candidates.cost), len(pattern)
    state = State(
        np.full(copies, -1, np.int32),
        np.zeros(patterns, np.int32),
        np.full(patterns, -1, np.int32),
        np.full(copies, -1, np.int32),
        np.full(copies, -1, np.int32),
        np.full(len(candidates.codes), -1, np.int32),
        np.full(len(candidates.codes), -1, np.int32),
    )
    link_all(state, pattern)
    return state


def new_pad(candidates: Candidates, k: int, most_support: int) -> Pad:
    """Allocate scratch for moves that open patterns of at most ``most_support`` copies."""
    patterns, copies = len(candidates.cost), len(candidates.row_of)
    t, left = MOST_TOUCHED, 64 * k + 64

    def ints(n: int) -> NDArray[np.int64]:
        return np.zeros(n, np.int64)

    return Pad(
        np.full(patterns, -1, np.int32),
        np.zeros(patterns, np.int32),
        np.zeros(patterns, np.bool_),
        np.full(copies, -1, np.int32),
        ints(t),
        ints(t),
        ints(t),
        ints(t),
        np.zeros(t, np.bool_),
        np.zeros(t, np.bool_),
        ints(t),
        ints(max(most_support, 8 * k) + k + 1),
        ints(copies + 1),
        ints(copies + 1),
        ints(left),
        ints(left),
        ints(left),
    )


@lean_kernel
def unlink(state: Any, i: int) -> None:
    """Take copy i out of its pattern."""
    p = state.pattern[i]
    before = state.prev[i]
    after = state.next[i]
    if before >= 0:
        state.next[before] = after
    else:
        state.head[p] = after
    if after >= 0:
        state.prev[after] = before
    state.size[p] -= 1


@lean_kernel
def link(state: Any, i: int, p: int) -> None:
    """Put copy i on pattern p."""
    first = state.head[p]
    state.next[i] = first
    state.prev[i] = -1
    if first >= 0:
        state.prev[first] = i
    state.head[p] = i
    state.pattern[i] = p
    state.size[p] += 1


@inner_kernel
def move(state: Any, i: int, p: int, k: int, c: Any) -> None:
    """Move copy i to pattern p."""
    unlink(state, i)
    link(state, i, p)
    if state.size[p] == k:
        note_opening(state, p, c)


@inner_kernel
def note_opening(state: Any, p: int, c: Any) -> None:
    """Enter p, just opened, among the two cheapest open patterns of its rows.

    Closing needs no note: who looks a pattern up sees its size.
    """
    for x in range(c.offset[p], c.offset[p + 1]):
        r = c.rows[x]
        if p < state.first[r]:
            state.second[r] = state.first[r]
            state.first[r] = p
        elif state.first[r] < p < state.second[r]:
            state.second[r] = p


@inner_kernel
def look_up_open(row: int, k: int, state: Any, c: Any) -> None:
    """Find the row's two cheapest open patterns; patterns are numbered by rising cost."""
    state.first[row] = NOWHERE
    state.second[row] = NOWHERE
    for x in range(c.row_offset[row], c.row_offset[row + 1]):
        p = c.row_patterns[x]
        if state.size[p] >= k:
            if state.first[row] != NOWHERE:
                state.second[row] = p
                return
            state.first[row] = p


@inner_kernel
def is_closed(p: int, k: int, state: Any) -> bool:
    """Whether p is not what ``first`` or ``second`` should say (any more)."""
    return p < 0 or (p != NOWHERE and state.size[p] < k)


@lean_kernel
def link_all(state: Any, pattern: Any) -> None:
    """Link every copy."""
    for i in range(pattern.size):
        link(state, i, pattern[i])


@lean_kernel
def cheapest_open(row: int, besides: int, k: int, state: Any, pad: Any, c: Any) -> int:
    """Return the row's cheapest pattern that is open, not dying and not ``besides``, or −1."""
    if is_closed(state.first[row], k, state) or is_closed(state.second[row], k, state):
        look_up_open(row, k, state, c)
    p = state.first[row]
    if p == NOWHERE:
        return -1
    if p != besides and not pad.dying[p]:
        return p
    p = state.second[row]
    if p == NOWHERE:
        return -1
    if p != besides and not pad.dying[p]:
        return p
    for x in range(c.row_offset[row], c.row_offset[row + 1]):
        p = c.row_patterns[x]
        if p != besides and state.size[p] >= k and not pad.dying[p]:
            return p
    return -1


@inner_kernel
def patterns_up_to(row: int, limit: int, c: Any) -> int:
    """Count the row's patterns that cost at most ``limit``."""
    low = c.row_offset[row]
    high = c.row_offset[row + 1]
    begin = low
    while low < high:
        middle = (low + high) >> 1
        if c.cost[c.row_patterns[middle]] <= limit:
            low = middle + 1
        else:
            high = middle
    return low - begin


@lean_kernel
def total_cost(state: Any, c: Any) -> int:
    """Cost of the state, by candidate costs (joins can only be cheaper)."""
    total = 0
    for p in range(c.cost.size):
        total += state.size[p] * c.cost[p]
    return total
