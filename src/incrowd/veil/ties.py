"""The first of all cheapest partitions into pairs and triples, in a fixed order over releases.

Of two equally cheap releases the one comes first that shows the first cell, row by row, which only
one of them shows.  All columns that a cheapest partition may use are given, with what each costs
above its rows' prices; so what is looked for is an exact cover of the rows.  Most rows have one
column left, or columns that all hide the same cells; the others fall into small components.

Where a certificate lies below the optimum, its prices say little of which columns the cheapest
covers may use.  What they leave open is branched on, by linear programs.  A *leaf* is a branch
whose own program is whole, or costs as much as the optimum: there few columns are left.  Each cover
that costs no more than ``room`` is in one of the leaves, since a branch is dropped, and a column
taken out of one, by integer prices alone.

Whole numbers decide throughout.  A clock may end the search, without a result; nothing else
depends on it.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from incrowd.errors import OutOfScopeError
from incrowd.solvers.matching.branching import Branch, Relaxation, Relaxed, covers, pair_to_split
from incrowd.solvers.matching.certificate import FINEST
from incrowd.veil.columns import TOO_MANY, Columns

MOST_PROGRAMS = 20_000
FEW_STEPS, MOST_STEPS = 2_000, 20_000
"""Of one search for a cover before linear programs help, and in one of their leaves: a second."""


class TooManyError(Exception):
    """A search took too many steps."""


class TornError(Exception):
    """Some row has no column left."""


def first(columns: Columns) -> dict[int, int]:
    """Row → what it hides in the first of the cheapest partitions.

    Raises
    ------
    OutOfScopeError: there are too many to look through.
    """
    stack = [set(part) for part in within_means(columns)]
    while stack:
        part = stack.pop()
        at = columns.at(part)
        open_rows = (row for row in sorted(at) if len({columns.masks[c] for c in at[row]}) > 1)
        row = next(open_rows, None)
        if row is None:
            continue
        left = decided(columns, part, at, row)
        stack += parts(columns, left)
    return {row: columns.masks[column] for row, column in columns.chosen.items()}


def within_means(columns: Columns) -> list[set[int]]:
    """Components of the columns that cost no more, above prices, than the known partition there.

    That one is the cheapest, so in each component it is the cheapest too.
    """
    waiting, found = parts(columns, range(len(columns.groups))), []
    while waiting:
        part = waiting.pop()
        room = columns.paid(columns.standing(part))
        kept = {column for column in part if columns.rests[column] <= room}
        if room and len(kept) == len(part):
            kept = narrowed(columns, part)
        if len(kept) == len(part):
            found.append(part)
        else:
            waiting += parts(columns, kept)
    return found


def decided(columns: Columns, part: set[int], at: dict[int, set[int]], row: int) -> set[int]:
    """Return the columns left of a component when a row hides what comes first, and choose them."""
    room = columns.paid(columns.standing(part))
    for mask in sorted({columns.masks[column] for column in at[row]}):
        left = part - {column for column in at[row] if columns.masks[column] != mask}
        if columns.masks[columns.chosen[row]] == mask:
            return settled(columns, left)[0]
        found = searched(columns, left, at.keys(), room)
        if found is not None:
            columns.choose(found)
            return settled(columns, left)[0]
    raise AssertionError("the known partition is one of them")


def settled(columns: Columns, left: set[int]) -> tuple[set[int], list[int]]:
    """Return the columns that are left, and those that some row needs, whose rows are gone.

    Raises
    ------
    TornError: some row has none left.
    """
    at = columns.at(left)
    queue = [row for row, mine in at.items() if len(mine) == 1]
    needed = []
    while queue:
        row = queue.pop()
        if row not in at:
            continue
        if not at[row]:
            raise TornError
        (column,) = at[row]
        needed.append(column)
        for other in columns.groups[column]:
            for lost in list(at[other]):
                for loser in columns.groups[lost]:
                    if loser in at:
                        at[loser].discard(lost)
                        if len(at[loser]) < 2:
                            queue.append(loser)
            del at[other]
    return set().union(*at.values()), needed


def parts(columns: Columns, left: Iterable[int]) -> list[set[int]]:
    """Return the components of some columns, which are joined where they share a row."""
    parent: dict[int, int] = {}

    def find(row: int) -> int:
        while parent.setdefault(row, row) != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    left = list(left)
    for column in left:
        head, *others = columns.groups[column]
        for row in others:
            parent[find(row)] = find(head)
    found: dict[int, set[int]] = {}
    for column in left:
        found.setdefault(find(columns.groups[column][0]), set()).add(column)
    return list(found.values())


def searched(columns: Columns, left: set[int], rows: Iterable[int], room: int) -> list[int] | None:
    """Return some columns that hold each row once and cost ``room`` at most; None if none do.

    Raises
    ------
    OutOfScopeError: there are too many to look through.
    """
    if set(rows) - columns.at(left).keys():
        return None
    try:
        return quick(columns, left, rows, room, FEW_STEPS)
    except TooManyError:
        pass
    for leaf in leaves(columns, left, room):
        if leaf.cover is not None:
            return leaf.cover
        try:
            found = quick(columns, leaf.columns, rows, room, MOST_STEPS)
        except TooManyError:
            raise OutOfScopeError(TOO_MANY) from None
        if found is not None:
            return found
    return None


def quick(
    columns: Columns, left: set[int], rows: Iterable[int], room: int, steps: int
) -> list[int] | None:
    """Return the same, in so many steps; TooManyError if these are not enough."""
    columns.steps = steps
    try:
        return cover(columns, left, rows, room)
    except RecursionError:  # a component of thousands of rows
        raise TooManyError from None


def cover(columns: Columns, left: set[int], rows: Iterable[int], room: int) -> list[int] | None:
    """Return the cheapest of some columns that hold each row once; None above ``room``."""
    columns.steps -= 1
    if columns.steps < 0:
        raise TooManyError
    if set(rows) - columns.at(left).keys():
        return None
    try:
        left, found = settled(columns, left)
    except TornError:
        return None
    room -= columns.paid(found)
    for part in parts(columns, left):
        here = alone(columns, part, room)
        if here is None:
            return None
        found += here
        room -= columns.paid(here)
    return found if room >= 0 else None


def alone(columns: Columns, part: set[int], room: int) -> list[int] | None:
    """Return the cheapest cover of a component's rows; None above ``room``."""
    at = columns.at(part)
    if (found := columns.stands(at, part)) is not None:
        return found if columns.paid(found) <= room else None
    best = None
    row = min(at, key=lambda row: (len(at[row]), row))
    for column in branches(columns, at[row], columns.chosen[row]):
        taken = columns.groups[column]
        left = {other for other in part if not set(taken) & set(columns.groups[other])}
        rest = cover(columns, left, at.keys() - set(taken), room - columns.rests[column])
        if rest is not None:
            best = [column, *rest]
            room = columns.paid(best) - 1
            if room < 0:
                break
    return best


def branches(columns: Columns, mine: set[int], known: int) -> Iterator[int]:
    """Yield a row's columns, the cheapest first, and of these the known one."""
    return iter(sorted(mine, key=lambda column: (columns.rests[column], column != known, column)))


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
