"""The first release: cheap patterns first, each with the lawful class that trimming leaves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, kernel, lean_kernel
from incrowd.kernels.random import below
from incrowd.privacy.violation import tally, violation, violation_after
from incrowd.solvers.engine.candidates import Candidates
from incrowd.solvers.sensitive.assignment import (
    LawfulState,
    Rules,
    broken,
    broken_after,
    cheapest_open,
    link,
    new_state,
    unlink,
)

LONGEST_TRIM = 4000
MOST_TRIM_WORK = 2_000_000
USUAL = 60  # rows of the root's class while it is mended, at the least, by which a value is rare


@inner_kernel
def count_copy(r: int, profiles: int, rules: Any, hist: Any, held: Any, met: Any) -> int:
    """Count a copy of row r into ``hist`` and ``held``; return how many profiles are met so far."""
    tally(rules.laws, hist, rules.places[r], 1)
    f = rules.profile[r]
    held[f] += 1
    if held[f] > 1:
        return profiles
    met[profiles] = f
    return profiles + 1


@inner_kernel
def count_free(p: int, state: Any, rules: Any, c: Any, hist: Any, held: Any, met: Any) -> Any:
    """Count the unplaced copies below p: into ``hist``, ``held`` by profile; (copies, profiles)."""
    hist[:] = 0
    total = 0
    profiles = 0
    for x in range(c.offset[p], c.offset[p + 1]):
        r = c.rows[x]
        for i in range(c.first_copy[r], c.first_copy[r + 1]):
            if state.pattern[i] >= 0:
                continue
            total += 1
            profiles = count_copy(r, profiles, rules, hist, held, met)
    return total, profiles


@kernel
def trim(total: int, profiles: int, least: int, rules: Any, hist: Any, held: Any, met: Any) -> int:
    """Drop copies one by one until the rest is lawful; return how many are left, 0 for failure."""
    now = violation(rules.laws, hist, total)
    if now > 0 and (total > LONGEST_TRIM or total * profiles * hist.size > 100 * MOST_TRIM_WORK):
        return 0
    patience = profiles  # values tied for the most come down one after the other
    least_now = now
    while now > 0 and total > least and patience > 0:
        best = -1
        drop = -1
        for x in range(profiles):
            f = met[x]
            if held[f] > 0:
                places = rules.places[rules.sample[f]]
                after = violation_after(rules.laws, hist, total, places, -1)
                if drop < 0 or after < best or (after == best and held[f] > held[drop]):
                    best = after
                    drop = f
        tally(rules.laws, hist, rules.places[rules.sample[drop]], -1)
        held[drop] -= 1
        total -= 1
        now = best
        patience = profiles if now < least_now else patience - 1
        least_now = min(least_now, now)
    return total if now == 0 else 0


@lean_kernel
def sweep(order: Any, state: Any, rules: Any, c: Any, hist: Any, held: Any, met: Any) -> None:
    """Open patterns in this order wherever the unplaced copies allow a lawful class."""
    least = rules.least[0]
    for p in order:
        if c.support[p] < least:
            continue
        total, profiles = count_free(p, state, rules, c, hist, held, met)
        if total >= least:
            total = trim(total, profiles, least, rules, hist, held, met)
            if total >= least:
                for x in range(c.offset[p], c.offset[p + 1]):
                    r = c.rows[x]
                    for i in range(c.first_copy[r], c.first_copy[r + 1]):
                        if state.pattern[i] < 0 and held[rules.profile[r]] > 0:
                            held[rules.profile[r]] -= 1
                            link(i, p, state, rules, c)
        for x in range(profiles):
            held[met[x]] = 0


@lean_kernel
def place_left(root: int, state: Any, dying: Any, rules: Any, c: Any) -> None:
    """Put unplaced copies into classes that can take them, what is left over at the root."""
    for last in range(2):
        for i in range(state.pattern.size):
            if state.pattern[i] < 0:
                p = cheapest_open(c.row_of[i], root, c.cost[root], state, dying, rules, c)
                if p < 0 and last == 1:
                    p = root
                if p >= 0:
                    link(i, p, state, rules, c)


def filled(c: Candidates, rules: Rules, pattern: NDArray[np.int64]) -> NDArray[np.int64]:
    """Move copies from the root to the cheapest classes that take them lawfully, one by one."""
    root = len(c.cost) - 1
    state = new_state(c, rules, np.where(pattern == root, -1, pattern))
    place_left(root, state, np.zeros(len(c.cost), np.bool_), rules, c)
    return state.pattern.astype(np.int64)


@inner_kernel
def smallest_met(p: int, root: int, state: Any, rng: Any) -> int:
    """Return the smallest of p's class and those of some copies drawn, the root's aside."""
    for _ in range(60):
        q = state.pattern[below(rng, state.pattern.size)]
        if q != root and state.size[q] < state.size[p]:
            p = q
    return p


@lean_kernel
def move_to_root(
    root: int, tries: int, alike: Any, state: Any, rules: Any, c: Any, rng: Any
) -> int:
    """Move copies to the root until its class is lawful: spare ones first, then whole classes.

    Copies with values that are rare for a class of the root's size (or of ``USUAL`` rows), though
    easily spared, would only ask for a larger one; ``alike`` counts the table's copies by profile.
    """
    now = broken(root, state, rules)
    copies = state.pattern.size
    patience = min(100_000, 10 * copies)
    for t in range(tries):
        if now == 0:
            break
        i = below(rng, copies)
        p = state.pattern[i]
        if p == root:
            continue
        r = c.row_of[i]
        rare = alike[rules.profile[r]] * max(USUAL, state.size[root]) < copies
        after = now if rare else broken_after(root, r, 1, state, rules)
        if after < now and broken_after(p, r, -1, state, rules) == 0:
            unlink(i, state, rules, c)
            link(i, root, state, rules, c)
            now = after
        elif t % patience == patience - 1:
            p = smallest_met(p, root, state, rng)
            while state.head[p] >= 0:
                j = state.head[p]
                unlink(j, state, rules, c)
                link(j, root, state, rules, c)
            now = broken(root, state, rules)
    return now


def mend_root(state: LawfulState, rules: Rules, c: Candidates, rng: NDArray[np.uint64]) -> bool:
    """Move copies to the root until its class is lawful; return whether it is."""
    copies = len(c.row_of)
    alike = np.bincount(rules.profile[c.row_of], minlength=len(rules.sample))
    return move_to_root(len(c.cost) - 1, 400 * copies, alike, state, rules, c, rng) == 0


def greedy(c: Candidates, rules: Rules, band: int, seed: int) -> NDArray[np.int64]:
    """Return a lawful assignment (int64, copies → patterns) of a table that is lawful as a whole.

    Patterns are taken in cost bands of width ``band``, in random order within each.
    """
    rng = np.random.default_rng([seed, 23])
    root = len(c.cost) - 1
    order = np.lexsort((rng.random(root), c.cost[:root] // max(1, band))).astype(np.int64)
    state: LawfulState = new_state(c, rules, np.full(len(c.row_of), -1, np.int64))
    profiles = len(rules.sample)
    scratch = np.zeros_like(rules.laws.once), np.zeros(profiles, np.int64)
    sweep(order, state, rules, c, *scratch, np.zeros(profiles, np.int64))
    place_left(root, state, np.zeros(len(c.cost), np.bool_), rules, c)
    random = np.array([rng.integers(1 << 62)], np.uint64)
    if not mend_root(state, rules, c, random):
        return np.full(len(c.row_of), root, np.int64)
    return state.pattern.astype(np.int64)
