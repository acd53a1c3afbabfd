"""What moves work on: the assignment, their scratch, and the journal of a compound move."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel
from incrowd.solvers.engine.candidates import Candidates
from incrowd.solvers.sensitive.assignment import (
    LawfulState,
    Rules,
    broken_after,
    link,
    new_state,
    unlink,
)

TICK, JOURNAL, TOUCHED, FOUND, DELTA, NUMBER, CHAIN, OWED = range(8)
LONGEST_MEMBERS = 64


class Pad(NamedTuple):
    """Scratch of the moves; ``n`` holds the counters named above.

    dying: per pattern.  stamp: last move that took a copy from it.  touched: such patterns of this
    move.  found: copies to choose from.  moved, origin: the journal.  worth, known: by profile.
    member: rows of classes to join.  sum: a histogram.
    """

    n: NDArray[np.int64]
    dying: NDArray[np.bool_]
    stamp: NDArray[np.int64]
    touched: NDArray[np.int64]
    found: NDArray[np.int64]
    moved: NDArray[np.int64]
    origin: NDArray[np.int64]
    worth: NDArray[np.int64]
    known: NDArray[np.int64]
    member: NDArray[np.int64]
    sum: NDArray[np.int64]


def most_found(least: int) -> int:
    """Return how many copies a move may choose from, where so many rows are the smallest class."""
    return max(300, 6 * least)


def new_pad(c: Candidates, rules: Rules) -> Pad:
    """Allocate scratch for a table."""
    patterns, copies = len(c.cost), len(c.row_of)
    found = most_found(int(rules.least[0]))
    journal = 8 * (found + copies) + 64
    return Pad(
        np.zeros(8, np.int64),
        np.zeros(patterns, np.bool_),
        np.full(patterns, -1, np.int64),
        np.zeros(journal, np.int64),
        np.zeros(found, np.int64),
        np.zeros(journal, np.int64),
        np.zeros(journal, np.int64),
        np.zeros(len(rules.sample), np.int64),
        np.full(len(rules.sample), -1, np.int64),
        np.zeros(LONGEST_MEMBERS, np.int64),
        np.zeros_like(rules.laws.once),
    )


class Search(NamedTuple):
    """What the moves of one table or region work on.

    mix: what they need to know, a ``Mix`` or a ``SoftMix``.  state: the assignment, which they
    change.  pad: their scratch.  rules: what classes obey.  c: which patterns each row may have.
    rng: uint64 (1,), where random numbers come from.
    """

    mix: Any
    state: LawfulState
    pad: Pad
    rules: Rules
    c: Candidates
    rng: NDArray[np.uint64]


def new_search(
    mix: Any, c: Candidates, rules: Rules, pattern: NDArray[np.int64], rng: NDArray[np.uint64]
) -> Search:
    """Begin at an assignment (int64, copies → patterns)."""
    return Search(mix, new_state(c, rules, pattern), new_pad(c, rules), rules, c, rng)


@inner_kernel
def touch(q: int, pad: Any) -> None:
    """Remember that q has lost a copy."""
    if pad.stamp[q] != pad.n[NUMBER]:
        pad.stamp[q] = pad.n[NUMBER]
        pad.touched[pad.n[TOUCHED]] = q
        pad.n[TOUCHED] += 1


@inner_kernel
def step(i: int, p: int, search: Any) -> None:
    """Move copy i to p and note it in the journal."""
    state, pad, rules, c = search.state, search.pad, search.rules, search.c
    q = state.pattern[i]
    pad.moved[pad.n[JOURNAL]] = i
    pad.origin[pad.n[JOURNAL]] = q
    pad.n[JOURNAL] += 1
    pad.n[DELTA] += c.cost[p] - c.cost[q]
    touch(q, pad)
    unlink(i, state, rules, c)
    link(i, p, state, rules, c)


@inner_kernel
def undo(mark: int, search: Any) -> None:
    """Undo the journal down to this length."""
    state, pad, rules, c = search.state, search.pad, search.rules, search.c
    for z in range(pad.n[JOURNAL] - 1, mark - 1, -1):
        i = pad.moved[z]
        pad.n[DELTA] += c.cost[pad.origin[z]] - c.cost[state.pattern[i]]
        unlink(i, state, rules, c)
        link(i, pad.origin[z], state, rules, c)
    pad.n[JOURNAL] = mark


@inner_kernel
def worth_of(p: int, r: int, search: Any) -> int:
    """``broken_after(p, r, +1)``, remembered by profile until ``n[TICK]`` moves on."""
    state, pad, rules = search.state, search.pad, search.rules
    f = rules.profile[r]
    if pad.known[f] != pad.n[TICK]:
        pad.known[f] = pad.n[TICK]
        pad.worth[f] = broken_after(p, r, 1, state, rules)
    return pad.worth[f]


@inner_kernel
def begin_move(number: int, pad: Any) -> None:
    """Clear the journal."""
    pad.n[JOURNAL] = 0
    pad.n[TOUCHED] = 0
    pad.n[DELTA] = 0
    pad.n[CHAIN] = 0
    pad.n[NUMBER] = number
