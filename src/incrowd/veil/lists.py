"""The consistent method: patterns by rising loss, rare ones first, each taking all it can.

A *set* is a set of published columns, a *group* all waiting rows whose cells in a set are open and
that agree in them.  Sets that lose as much are one step.  Within a step the groups stand by how
rare their cells are among all cells published before; in that order each becomes a class if it is
lawful, and its rows wait no more.  Some rows, chosen by lot, only help: they make no class of their
own, complete one where they are needed, and at the end of the step join the first class they fit.

**Claim.**  Say the model is closed under supersets.  If the method makes release R of veiled table
Y and R hides cell (i, c), then it makes R of Y with that cell veiled.

**Argument.**  By induction the same classes stand and the same rows wait, until row i leaves.  The
order of groups looks at published cells and at a group's own, not at who else is in it.  Veiling
(i, c) takes row i out of groups whose set publishes c.  None of them took row i.  If such a group
made no class, it makes none with fewer rows either, as its firm rows or its helpers became fewer
and the model is closed under supersets.  If it made one, row i was a helper that was not needed:
the first helpers by lot that make the class lawful are the same without it.  So row i leaves with
its own group, whose set does not publish c, or joins the same class, the first that it fits, or
never leaves.  After that nothing differs.
"""

from collections.abc import Callable, Iterator
from itertools import combinations, groupby
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.problem.instance import packed

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
MOST_COLUMNS = 16

Lawful = Callable[[Ints, Ints], Bools]
"""Rows, int64 of shape (n,), and group of each: whether each group is a lawful class."""


class Classes(NamedTuple):
    """What the method makes: class of each row, and bool of shape (classes, columns): hidden."""

    of_row: Ints
    hidden: Bools


class Lots(NamedTuple):
    """What chance alone decides: bool, shape (rows,), who helps; int64, same shape, in which turn.

    Nothing here may depend on a cell.
    """

    helps: Bools
    turn: Ints

    @classmethod
    def none(cls, rows: int) -> "Lots":
        """Return lots under which nobody helps."""
        return cls(np.zeros(rows, bool), np.arange(rows))


class Candidate(NamedTuple):
    """A group that may become a class: how rare, the number of its set, its members, the set."""

    rarity: float
    place: int
    members: Ints
    published: list[int]


def sets_by_cost(weights: Ints) -> list[tuple[int, ...]]:
    """Return all sets of columns but the empty one, by rising cost of the others.

    Equally dear ones by the columns' order: nothing here depends on cells.
    """
    columns = len(weights)
    found = [pub for size in range(columns, 0, -1) for pub in combinations(range(columns), size)]
    return sorted(found, key=lambda pub: lost(weights, pub))


def lost(weights: Ints, published: tuple[int, ...]) -> int:
    """Return what a row pays for the columns that a set does not publish."""
    return int(weights.sum()) - int(weights[list(published)].sum())


def groups_in(codes: Ints, opened: Bools, rows: Ints, published: tuple[int, ...]) -> tuple:
    """Return the rows whose cells in a set of columns are open, and the group of each; int64."""
    columns = list(published)
    whole = rows[opened[rows][:, columns].all(axis=1)]
    key, _ = packed([codes[whole, j] for j in columns], len(whole))
    _, group = np.unique(key, return_inverse=True)
    return whole, group.ravel().astype(np.int64)


class Made:
    """The classes made so far, and who waits."""

    def __init__(self, codes: Ints, veiled: Bools, lots: Lots) -> None:
        self.codes = codes
        self.opened = ~veiled
        self.helps = lots.helps.copy()
        self.turn = lots.turn
        self.of_row = np.full(len(codes), -1)
        self.hidden: list[Bools] = []
        self.shown = [np.zeros(int(c.max(initial=0)) + 1, np.int64) for c in codes.T]
        """For each column and each of its codes, how many cells are published."""

    def close(self, members: Ints, published: list[int]) -> int:
        """Make a class of some rows; return its number."""
        mask = np.ones(self.codes.shape[1], bool)
        mask[published] = False
        self.hidden.append(mask)
        self.join(len(self.hidden) - 1, members)
        return len(self.hidden) - 1

    def join(self, number: int, members: Ints) -> None:
        """Let rows join a class."""
        self.of_row[members] = number
        if not len(members):
            return
        for j in np.flatnonzero(~self.hidden[number]).tolist():
            self.shown[j][self.codes[members[0], j]] += len(members)

    def waiting(self, rows: Ints) -> Ints:
        """Return those of some rows that stand in no class yet."""
        return rows[self.of_row[rows] < 0]


def made(
    codes: Ints, veiled: Bools, weights: Ints, lawful: Lawful, lots: Lots | None = None
) -> Classes:
    """Make the classes.

    Parameters
    ----------
    codes: int64, shape (rows, columns).  Which of two values has the smaller code must not depend
        on other values of the table.
    veiled: bool, the same shape: cells that nobody looks at.
    weights: int64, shape (columns,): what a hidden cell costs.
    lots: who helps; nobody without it.
    """
    rows, columns = codes.shape
    found = Made(codes, veiled, Lots.none(rows) if lots is None else lots)
    sets = sets_by_cost(weights)
    for _ in range(2):
        for _, equal in groupby(sets, key=lambda published: lost(weights, published)):
            step(found, list(equal), lawful)
        if not found.helps.any():
            break
        found.helps[:] = False  # who is left makes classes like all others
    left = np.flatnonzero(found.of_row < 0)
    if len(left):
        found.close(left, [])
    return Classes(found.of_row, np.array(found.hidden, bool).reshape(len(found.hidden), columns))


def step(found: Made, sets: list[tuple[int, ...]], lawful: Lawful) -> None:
    """Make all classes of some sets that lose as much."""
    new = []
    for one in sorted(candidates(found, sets, lawful), key=lambda one: one[:2]):
        members = found.waiting(one.members)
        chosen = taken(members, found, lawful)
        if len(chosen):
            new.append((found.close(chosen, one.published), one.members))
    for number, members in new:
        found.join(number, found.waiting(members))


def candidates(found: Made, sets: list[tuple[int, ...]], lawful: Lawful) -> Iterator[Candidate]:
    """Yield the groups of waiting rows that are lawful; of one set in the order of their cells."""
    rows = np.flatnonzero(found.of_row < 0)
    for place, published in enumerate(sets):
        whole, group = groups_in(found.codes, found.opened, rows, published)
        if not len(whole):
            continue
        fine = lawful(whole, group)
        order = np.argsort(group, kind="stable")
        start = np.searchsorted(group[order], np.arange(len(fine) + 1))
        for g in np.flatnonzero(fine).tolist():
            members = whole[order[start[g] : start[g + 1]]]
            cells = found.codes[members[0]]
            counts = [int(found.shown[j][cells[j]]) + 1 for j in published]
            yield Candidate(rarity(counts), place, members, list(published))


def rarity(counts: list[int]) -> float:
    """Return a number that is small for rare cells, which were published so often before.

    The logarithm of how many rows a group has that leaves one of these columns out, up to what all
    groups of a step share, if columns are independent: rows of rare cells have few groups to go to.
    """
    return sum(map(log, counts)) + log(sum(1 / count for count in counts))


def taken(members: Ints, found: Made, lawful: Lawful) -> Ints:
    """Return which of a group's waiting rows become a class; none where they cannot.

    All that do not help; and of the helpers as few as make the class lawful, by their turn.
    """
    helps = found.helps[members]
    firm, helpers = members[~helps], members[helps]
    if not len(firm):
        return firm
    helpers = helpers[np.argsort(found.turn[helpers], kind="stable")]
    everybody = np.concatenate([firm, helpers])

    def enough(size: int) -> bool:
        return bool(lawful(everybody[:size], np.zeros(size, np.int64)).all())

    low, high = len(firm), len(everybody)
    if not enough(high):
        return firm[:0]
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return everybody[:low]


def least_costs(codes: Ints, veiled: Bools, weights: Ints, lawful: Lawful) -> Ints:
    """int64, shape (rows,): what each row pays at the least in any lawful release of this table.

    **Claim.**  The sum bounds the cost of every lawful release that hides the veiled cells.

    **Argument.**  A row stands in a class that publishes some set of columns.  All of the class
    agree there, so the group of all who do is a superset of it and lawful as well; the row pays for
    the other columns, at least what the cheapest set with such a group costs.
    """
    opened = ~veiled
    total = int(weights.sum())
    least = np.full(len(codes), total)
    everybody = np.arange(len(codes))
    for published in sets_by_cost(weights):
        whole, group = groups_in(codes, opened, everybody, published)
        if len(whole):
            paid = total - int(weights[list(published)].sum())
            fine = whole[lawful(whole, group)[group]]
            least[fine] = np.minimum(least[fine], paid)
    return least
