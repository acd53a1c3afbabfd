"""A block: some classes torn open, and everything their copies could become.

The block problem is exact within the candidates: the copies of the block's classes choose among
their patterns.  A pattern that is open outside the block takes them for its cost alone; any other
must end with none or at least k.  Classes outside may lend their surplus copies to it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel
from incrowd.kernels.random import draw
from incrowd.solvers.engine.assignment import State
from incrowd.solvers.engine.candidates import Candidates

WIDEST_LINK = 60


class Block(NamedTuple):
    """Choices of a block.

    rows, free: distinct rows torn loose and how many copies of each.
    row, pattern, most, cost: one entry per choice: position in ``rows`` (or −1 for a loan), the
        pattern, how many copies at most, cost each.
    lender, lent_row: for loans, the outside class and the distinct row; −1 otherwise.
    pays: current cost of the torn classes.
    """

    rows: NDArray[np.int64]
    free: NDArray[np.int64]
    row: NDArray[np.int64]
    pattern: NDArray[np.int64]
    most: NDArray[np.int64]
    cost: NDArray[np.int64]
    lender: NDArray[np.int64]
    lent_row: NDArray[np.int64]
    pays: int


@kernel
def add_links(q: int, score: Any, seen: Any, listed: Any, count: int, state: Any, c: Any) -> int:
    """Add q's links to other classes to ``score``; return the new length of ``listed``."""
    j = state.head[q]
    last_row = -1
    while j >= 0:
        r = c.row_of[j]
        j = state.next[j]
        if r == last_row:
            continue
        last_row = r
        for x in range(c.row_offset[r], c.row_offset[r + 1]):
            p = c.row_patterns[x]
            length = c.offset[p + 1] - c.offset[p]
            if length > WIDEST_LINK:
                continue
            for y in range(c.offset[p], c.offset[p + 1]):
                s = c.rows[y]
                first = c.first_copy[s]
                for i in range(first, min(c.first_copy[s + 1], first + 3)):
                    other = state.pattern[i]
                    if not seen[other]:
                        seen[other] = True
                        listed[count] = other
                        count += 1
                    score[other] += 1.0 / length
            if state.size[p] > 0:
                if not seen[p]:
                    seen[p] = True
                    listed[count] = p
                    count += 1
                score[p] += 1.0
    return count


@kernel
def grow(
    seed: int,
    size: int,
    state: Any,
    c: Any,
    score: Any,
    seen: Any,
    listed: Any,
    torn: Any,
    rng: Any,
) -> int:
    """Choose classes around ``seed``, most strongly linked first, up to ``size`` copies.

    ``score``, ``seen`` (per pattern) come and go cleared; ``torn`` receives the classes.
    """
    listed[0] = seed
    seen[seed] = True
    score[seed] = 1e18
    count = 1
    copies = 0
    classes = 0
    while copies < size:
        best = -1
        best_score = 0.0
        for z in range(count):
            q = listed[z]
            if score[q] <= 0 or state.size[q] == 0 or state.size[q] > size // 2:
                continue
            if c.cost[q] == 0:
                continue
            s = score[q] * (0.5 + draw(rng)) / np.sqrt(state.size[q])
            if s > best_score:
                best_score = s
                best = q
        if best < 0:
            break
        torn[classes] = best
        classes += 1
        copies += state.size[best]
        count = add_links(best, score, seen, listed, count, state, c)
        for z in range(classes):
            score[torn[z]] = -1e18
    for z in range(count):
        score[listed[z]] = 0.0
        seen[listed[z]] = False
    return classes


@kernel
def loosen(torn: Any, state: Any, c: Any, at: Any, rows: Any, free: Any) -> Any:
    """List the distinct rows of the torn classes; ``at`` maps row → position (−1 outside)."""
    count = 0
    pays = 0
    for q in torn:
        j = state.head[q]
        while j >= 0:
            r = c.row_of[j]
            if at[r] < 0:
                at[r] = count
                rows[count] = r
                free[count] = 0
                count += 1
            free[at[r]] += 1
            pays += c.cost[q]
            j = state.next[j]
    return count, pays


@kernel
def count_supply(
    rows: Any,
    free: Any,
    count: int,
    k: int,
    torn_flag: Any,
    state: Any,
    c: Any,
    supply: Any,
    touched: Any,
) -> int:
    """Sum, for every pattern that is not open outside, the copies it could get from the block."""
    n = 0
    for z in range(count):
        r = rows[z]
        for x in range(c.row_offset[r], c.row_offset[r + 1]):
            p = c.row_patterns[x]
            if state.size[p] >= k and not torn_flag[p]:
                continue
            if supply[p] == 0:
                touched[n] = p
                n += 1
            supply[p] += free[z]
    return n


@kernel
def add_loans(
    p: int, k: int, limit: int, torn_flag: Any, state: Any, c: Any, out: Any, n: int
) -> Any:
    """List copies that outside classes could lend to p; return (entries, copies)."""
    lent = 0
    begin = n
    for x in range(c.offset[p], c.offset[p + 1]):
        r = c.rows[x]
        first = n
        for i in range(c.first_copy[r], c.first_copy[r + 1]):
            q = state.pattern[i]
            if torn_flag[q] or state.size[q] <= k or q == p or c.cost[p] - c.cost[q] > limit:
                continue
            known = False
            for y in range(first, n):
                if out[4, y] == q:
                    if out[2, y] < state.size[q] - k:
                        out[2, y] += 1
                        lent += 1
                    known = True
                    break
            if known:
                continue
            if n >= out.shape[1]:
                return begin, 0
            out[0, n] = -1
            out[1, n] = p
            out[2, n] = 1
            out[3, n] = c.cost[p] - c.cost[q]
            out[4, n] = q
            out[5, n] = r
            lent += 1
            n += 1
    return n, lent


@kernel
def list_choices(
    rows: Any,
    free: Any,
    count: int,
    k: int,
    loan_limit: int,
    detour: int,
    torn_flag: Any,
    state: Any,
    c: Any,
    supply: Any,
    touched: Any,
    out: Any,
) -> int:
    """Write all choices as columns of ``out`` (6 × room); return their number, −1 if no room."""
    patterns = count_supply(rows, free, count, k, torn_flag, state, c, supply, touched)
    n = 0
    for z in range(patterns):
        p = touched[z]
        start = n
        n, lent = add_loans(p, k, loan_limit, torn_flag, state, c, out, n)
        if supply[p] + lent < k:
            n = start
            supply[p] = -supply[p]
    for z in range(count):
        r = rows[z]
        outside = np.int64(-1)
        for x in range(c.row_offset[r], c.row_offset[r + 1]):
            p = c.row_patterns[x]
            is_outside = state.size[p] >= k and not torn_flag[p]
            if outside >= 0 and (is_outside or c.cost[p] > c.cost[outside] + detour):
                continue
            if not is_outside and supply[p] <= 0:
                continue
            if n >= out.shape[1]:
                n = -1
                break
            if is_outside:
                outside = p
            out[0, n] = z
            out[1, n] = p
            out[2, n] = free[z]
            out[3, n] = c.cost[p]
            out[4, n] = -1
            out[5, n] = r
            n += 1
        if n < 0:
            break
    for z in range(patterns):
        supply[touched[z]] = 0
    return n


class BlockMaker:
    """Buffers for making blocks, one after the other."""

    def __init__(self, candidates: Candidates, room: int = 60_000) -> None:
        patterns, distinct = len(candidates.cost), len(candidates.codes)
        self.candidates = candidates
        self.score = np.zeros(patterns)
        self.seen = np.zeros(patterns, np.bool_)
        self.listed = np.empty(patterns, np.int64)
        self.torn = np.empty(patterns, np.int64)
        self.flag = np.zeros(patterns, np.bool_)
        self.at = np.full(distinct, -1, np.int64)
        self.rows = np.empty(distinct, np.int64)
        self.free = np.empty(distinct, np.int64)
        self.supply = np.zeros(patterns, np.int64)
        self.out = np.empty((6, room), np.int64)

    def grow(self, seed: int, size: int, state: State, rng: Any) -> NDArray[np.int64]:
        """Return the classes (pattern ids) to tear open around ``seed``."""
        n = grow(
            seed, size, state, self.candidates, self.score, self.seen, self.listed, self.torn, rng
        )
        return self.torn[:n].copy()

    def make(
        self, torn: NDArray[np.int64], k: int, loan_limit: int, detour: int, state: State
    ) -> Block | None:
        """Return the block of these classes, or None when it has too many choices."""
        c = self.candidates
        self.flag[torn] = True
        count, pays = loosen(torn, state, c, self.at, self.rows, self.free)
        n = list_choices(
            self.rows,
            self.free,
            count,
            k,
            loan_limit,
            detour,
            self.flag,
            state,
            c,
            self.supply,
            self.listed,
            self.out,
        )
        self.flag[torn] = False
        self.at[self.rows[:count]] = -1
        if n < 0:
            return None
        row, pattern, most, cost, lender, lent_row = self.out[:, :n].copy()
        return Block(
            self.rows[:count].copy(),
            self.free[:count].copy(),
            row,
            pattern,
            most,
            cost,
            lender,
            lent_row,
            int(pays),
        )
