"""The journal of a compound move, and the scratch that moves share."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel
from incrowd.solvers.engine.candidates import Candidates
from incrowd.solvers.sensitive.assignment import Rules, broken_after, link, unlink

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


def new_pad(c: Candidates, rules: Rules, places: int) -> Pad:
    """Allocate scratch for a table with so many places in a histogram."""
    patterns, copies = len(c.cost), len(c.row_of)
    least = int(rules.least[0])
    found = max(300, 6 * least)
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
        np.zeros(max(1, places), np.int64),
    )


@inner_kernel
def touch(q: int, pad: Any) -> None:
    """Remember that q has lost a copy."""
    if pad.stamp[q] != pad.n[NUMBER]:
        pad.stamp[q] = pad.n[NUMBER]
        pad.touched[pad.n[TOUCHED]] = q
        pad.n[TOUCHED] += 1


@inner_kernel
def step(i: int, p: int, state: Any, pad: Any, rules: Any, c: Any) -> None:
    """Move copy i to p and note it in the journal."""
    q = state.pattern[i]
    pad.moved[pad.n[JOURNAL]] = i
    pad.origin[pad.n[JOURNAL]] = q
    pad.n[JOURNAL] += 1
    pad.n[DELTA] += c.cost[p] - c.cost[q]
    touch(q, pad)
    unlink(i, state, rules, c)
    link(i, p, state, rules, c)


@inner_kernel
def undo(mark: int, state: Any, pad: Any, rules: Any, c: Any) -> None:
    """Undo the journal down to this length."""
    for z in range(pad.n[JOURNAL] - 1, mark - 1, -1):
        i = pad.moved[z]
        pad.n[DELTA] += c.cost[pad.origin[z]] - c.cost[state.pattern[i]]
        unlink(i, state, rules, c)
        link(i, pad.origin[z], state, rules, c)
    pad.n[JOURNAL] = mark


@inner_kernel
def worth_of(p: int, r: int, state: Any, pad: Any, rules: Any) -> int:
    """``broken_after(p, r, +1)``, remembered by profile until ``n[TICK]`` moves on."""
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
