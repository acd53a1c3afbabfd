"""Ties by linear programs: what the prices of all rows leave open is branched on.

Where a certificate lies below the optimum, its prices say little of which columns the cheapest
covers may use.  A *leaf* is a branch whose own linear program is whole, or costs as much as the
optimum: there few columns are left.  Each cover that costs no more than ``room`` is in one of the
leaves, since a branch is dropped, and a column taken out of one, by integer prices alone.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from incrowd.errors import OutOfScopeError
from incrowd.solvers.matching.branching import Branch, Relaxation, Relaxed, covers, pair_to_split
from incrowd.solvers.matching.certificate import FINEST
from incrowd.veil.columns import TOO_MANY, Columns

MOST_PROGRAMS = 20_000


class Leaf(NamedTuple):
    """The columns that a branch's covers may use, and one such cover, None if it is not known."""

    columns: set[int]
    cover: list[int] | None


def narrowed(columns: Columns, part: set[int]) -> set[int]:
    """Return those of a component's columns that its cheapest covers may use, and perhaps more.

    The known partition's there is one of them from now on.
    """
    found = columns.standing(part)
    room = columns.paid(found)
    kept = set(found)
    for leaf in leaves(columns, part, room, tight=True):
        if leaf.cover is not None and columns.paid(leaf.cover) < room:
            columns.choose(leaf.cover)
            return narrowed(columns, part)
        kept |= leaf.columns
    return kept


def leaves(columns: Columns, part: set[int], room: int, tight: bool = False) -> Iterator[Leaf]:
    """Yield the leaves of some columns whose rows' covers may cost ``room`` or less.

    tight: whether one that holds nothing cheaper is a leaf although its program is not whole.

    Raises
    ------
    OutOfScopeError: time is over, or there are too many branches.
    """
    names = np.array(sorted(part))
    rows = np.unique([row for column in part for row in columns.groups[column]])
    groups = np.full((len(names), 3), -1, np.int32)
    for at, column in enumerate(names.tolist()):
        group = np.searchsorted(rows, columns.groups[column])
        groups[at, : len(group)] = group
    cost = np.array([columns.rests[column] for column in names.tolist()], np.int64)
    unit = max(1, min(FINEST, (1 << 60) // (4 * (int(cost.max()) + room + 1) * len(rows))))
    within = [np.flatnonzero(np.isin(rows, odd_set)) for odd_set in columns.odd_sets]
    odd = [odd_set for odd_set in within if len(odd_set) % 2 and len(odd_set) > 1]
    program = Relaxation(groups, cost, len(rows), odd, room, unit)
    stack = [Branch(program.usable, None)]
    while stack:
        at = stack.pop()
        relaxed = solved(columns, program, at)
        if relaxed.bound > room:
            continue
        # a column whose slack alone exceeds the gap is in no such cover
        usable = at.usable & (relaxed.slack < (room - relaxed.bound + 1) * unit)
        done = tight and relaxed.bound > room - columns.step  # nothing is cheaper
        split = None if done else pair_to_split(groups, relaxed.x)
        if split is None:
            chosen = np.flatnonzero(relaxed.x > 0.5)
            whole = covers(groups[chosen], len(rows)) and int(cost[chosen].sum()) <= room
            yield Leaf(set(names[usable].tolist()), names[chosen].tolist() if whole else None)
            continue
        holds_u, holds_v = ((groups == node).any(axis=1) for node in split)
        basis = program.simplex.basis()
        stack.append(Branch(usable & ~(holds_u & holds_v), basis))
        stack.append(Branch(usable & (holds_u == holds_v), basis))


def solved(columns: Columns, program: Relaxation, at: Branch) -> Relaxed:
    """Solve a branch's linear program."""
    columns.programs += 1
    if columns.programs <= MOST_PROGRAMS:
        program.enter(at)
        relaxed = program.solve(columns.stop)
        if relaxed is not None:
            return relaxed
    raise OutOfScopeError(TOO_MANY)
