"""The consistent method: levels by rising loss, rare groups first, each taking all it can.

What is known of a cell is its node at some level or above; without a hierarchy that is the value
or nothing.  A *choice* is a level for each column, a *group* all waiting rows of which so much is
known and whose nodes at these levels agree.  Choices that lose as much are one step.  Within a step
the groups stand by how rare their nodes are among all cells published before; in that order each
becomes a class if it is lawful, and its rows wait no more.  Some rows, chosen by lot, only help:
they make no class of their own, complete one where they are needed, and at the end of the step join
the first class they fit.  Where k rows are all that a class needs, nobody has to help: the rows of
a step change places until it ends (``exchange.py``, with a proof of its own).

**Claim.**  Say the model is closed under supersets.  If the method makes release R of table Y and
R publishes cell (i, c) at level l, then it makes R of Y with that cell known from level l on only.

**Argument.**  By induction the same classes stand and the same rows wait, until row i leaves.  The
order of groups looks at published nodes and at a group's own, not at who else is in it.  To veil
(i, c) takes row i out of groups whose choice publishes c below l.  None of them took row i.  If
such a group made no class, it makes none with fewer rows either, as its firm rows or its helpers
became fewer and the model is closed under supersets.  If it made one, row i was a helper that was
not needed: the first helpers by lot that make the class lawful are the same without it.  So row i
leaves with its own group, whose choice publishes c at l, or joins the same class, the first that it
fits, or never leaves.  After that nothing differs.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, product
from math import log
from typing import NamedTuple

import numpy as np

from incrowd.kernels.types import Bools, Ints
from incrowd.problem.instance import packed
from incrowd.veil.exchange import placed

MOST_CHOICES = 1 << 16

Choice = tuple[int, ...]
"""The level at which each column is published, the last one hides it."""
Lawful = Callable[[Ints, Ints], Bools]
"""Rows, int64 of shape (n,), and group of each: whether each group is a lawful class."""


class Classes(NamedTuple):
    """What a method makes: class of each row, and bool of shape (classes, columns): hidden."""

    of_row: Ints
    hidden: Bools


class Levels(NamedTuple):
    """Class of each row, and int64 of shape (classes, columns): the level each column shows."""

    of_row: Ints
    levels: Ints


class Known(NamedTuple):
    """What may be known of the cells.

    Attributes
    ----------
    nodes: for each column int64, shape (levels, rows): the cell's node at each level; at the last
        one all are alike.  Which of two nodes has the smaller number must not depend on other
        values of the table.
    lowest: int64, shape (rows, columns): the level from which on a cell is known.
    """

    nodes: Sequence[Ints]
    lowest: Ints

    @classmethod
    def plain(cls, codes: Ints, veiled: Bools) -> "Known":
        """Return what is known of codes, int64 of shape (rows, columns); nothing where veiled."""
        return cls([np.vstack([c, np.zeros_like(c)]) for c in codes.T], veiled.astype(np.int64))

    @property
    def tops(self) -> Choice:
        """The choice that hides every column."""
        return tuple(len(node) - 1 for node in self.nodes)

    def groups(self, rows: Ints, choice: Choice) -> tuple[Ints, Ints]:
        """Return the rows of which so much is known, and the group of each."""
        whole = rows[(self.lowest[rows] <= choice).all(axis=1)]
        shown = [node[level, whole] for node, level in zip(self.nodes, choice, strict=True)]
        key, _ = packed(shown, len(whole))
        _, group = np.unique(key, return_inverse=True)
        return whole, group.ravel().astype(np.int64)


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
    """A group that may become a class: how rare, the number of its choice, its members, it."""

    rarity: float
    place: int
    members: Ints
    choice: Choice


def choices_by_cost(costs: Sequence[Ints]) -> list[Choice]:
    """Return all choices but the one that hides everything, by rising cost.

    Equally dear ones by how many levels they lose, then by the columns' order: nothing here depends
    on cells.

    Parameters
    ----------
    costs: for each column int64, shape (levels,): what a cell at each level costs, 0 at first.
    """
    found = list(product(*(range(len(cost)) for cost in costs)))[:-1]
    return sorted(found, key=lambda choice: (lost(costs, choice), sum(choice), choice))


def steps_of(costs: Sequence[Ints]) -> Iterator[list[Choice]]:
    """Yield the choices that lose as much, by rising loss."""
    for _, equal in groupby(choices_by_cost(costs), key=lambda choice: lost(costs, choice)):
        yield list(equal)


def lost(costs: Sequence[Ints], choice: Choice) -> int:
    """Return what a row pays under a choice."""
    return sum(int(cost[level]) for cost, level in zip(costs, choice, strict=True))


class Made:
    """The classes made so far, and who waits."""

    def __init__(self, known: Known, lots: Lots) -> None:
        self.known = known
        self.tops = known.tops
        self.helps = lots.helps.copy()
        self.turn = lots.turn
        self.of_row = np.full(len(known.lowest), -1)
        self.levels: list[Choice] = []
        self.shown = [
            [np.zeros(int(nodes.max(initial=0)) + 1, np.int64) for nodes in column]
            for column in known.nodes
        ]
        """For each column, level and node, how many cells are published."""

    def counts(self, row: int, choice: Choice) -> Iterator[tuple[Ints, int]]:
        """Yield, for each column that a choice shows, where a row's cells are counted."""
        for j, level in enumerate(choice):
            if level < self.tops[j]:
                yield self.shown[j][level], int(self.known.nodes[j][level, row])

    def close(self, members: Ints, choice: Choice) -> int:
        """Make a class of some rows; return its number."""
        self.levels.append(choice)
        self.join(len(self.levels) - 1, members)
        return len(self.levels) - 1

    def join(self, number: int, members: Ints) -> None:
        """Let rows join a class."""
        self.of_row[members] = number
        if not len(members):
            return
        for count, node in self.counts(members[0], self.levels[number]):
            count[node] += len(members)

    def waiting(self, rows: Ints) -> Ints:
        """Return those of some rows that stand in no class yet."""
        return rows[self.of_row[rows] < 0]

    def place(self, asked: list[Candidate], least: int) -> None:
        """Make classes of groups whose rows change places, asked in this order."""
        place = placed([one.members for one in asked], self.turn, least)
        rows = np.flatnonzero(place >= 0)
        rows = rows[np.argsort(place[rows], kind="stable")]
        numbers, start = np.unique(place[rows], return_index=True)
        for number, members in zip(numbers.tolist(), np.split(rows, start[1:]), strict=False):
            self.close(members, asked[number].choice)


def made(
    codes: Ints,
    veiled: Bools,
    weights: Ints,
    lawful: Lawful,
    lots: Lots | None = None,
    least: int = 0,
) -> Classes:
    """Make the classes of a table without hierarchies.

    Parameters
    ----------
    codes: int64, shape (rows, columns).  Which of two values has the smaller code must not depend
        on other values of the table.
    veiled: bool, the same shape: cells that nobody looks at.
    weights: int64, shape (columns,): what a hidden cell costs.
    lots: who helps; nobody without it.
    least: k, where k rows are all that a class needs: then rows change places (``exchange.py``).
    """
    costs = [np.array([0, weight]) for weight in weights.tolist()]
    found = with_levels(Known.plain(codes, veiled), costs, lawful, lots, least)
    return Classes(found.of_row, found.levels > 0)


def with_levels(
    known: Known, costs: Sequence[Ints], lawful: Lawful, lots: Lots | None = None, least: int = 0
) -> Levels:
    """Make the classes; see ``Known``, ``choices_by_cost`` and ``made``."""
    found = Made(known, Lots.none(len(known.lowest)) if lots is None else lots)
    steps = list(steps_of(costs))
    for _ in range(2):
        for choices in steps:
            if least:
                exchanged(found, choices, lawful, least)
            else:
                step(found, choices, lawful)
        if not found.helps.any():
            break
        found.helps[:] = False  # who is left makes classes like all others
    return finished(found)


def finished(found: Made) -> Levels:
    """Hide who still waits; return all classes."""
    left = np.flatnonzero(found.of_row < 0)
    if len(left):
        found.close(left, found.tops)
    return Levels(found.of_row, np.array(found.levels, np.int64).reshape(-1, len(found.tops)))


def step(found: Made, choices: list[Choice], lawful: Lawful) -> None:
    """Make all classes of some choices that lose as much."""
    new = []
    for one in sorted(candidates(found, choices, lawful), key=lambda one: one[:2]):
        members = found.waiting(one.members)
        chosen = taken(members, found, lawful)
        if len(chosen):
            new.append((found.close(chosen, one.choice), one.members))
    for number, members in new:
        found.join(number, found.waiting(members))


def exchanged(found: Made, choices: list[Choice], lawful: Lawful, least: int) -> None:
    """Make all classes of some choices that lose as much, of so many rows or more."""
    found.place(sorted(candidates(found, choices, lawful), key=lambda one: one[:2]), least)


def candidates(found: Made, choices: list[Choice], lawful: Lawful) -> Iterator[Candidate]:
    """Yield the groups of waiting rows that are lawful; of one choice in the order of its nodes."""
    rows = np.flatnonzero(found.of_row < 0)
    for place, choice in enumerate(choices):
        whole, group = found.known.groups(rows, choice)
        if not len(whole):
            continue
        fine = lawful(whole, group)
        order = np.argsort(group, kind="stable")
        start = np.searchsorted(group[order], np.arange(len(fine) + 1))
        for g in np.flatnonzero(fine).tolist():
            members = whole[order[start[g] : start[g + 1]]]
            counts = [int(count[node]) + 1 for count, node in found.counts(members[0], choice)]
            yield Candidate(rarity(counts), place, members, choice)


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


def least_paid(known: Known, costs: Sequence[Ints], paid: Sequence[Ints], lawful: Lawful) -> Ints:
    """int64, shape (rows,): what each row pays at the least in any lawful release of this table.

    **Claim.**  The sum bounds the cost of every lawful release that hides what is not known.

    **Argument.**  A row stands in a class that publishes each column at some level.  All of the
    class agree there, so the group of all who do is a superset of it and lawful as well; the row
    pays what its cells cost there, at least what the cheapest choice with such a group costs it.

    Parameters
    ----------
    paid: for each column int64, shape (levels, rows): what each cell costs at each level.
    """
    everybody = np.arange(len(known.lowest))
    least = np.sum([cost[-1] for cost in paid], axis=0)
    for choice in choices_by_cost(costs):
        whole, group = known.groups(everybody, choice)
        if len(whole):
            fine = whole[lawful(whole, group)[group]]
            own = np.sum([cost[at, fine] for cost, at in zip(paid, choice, strict=True)], axis=0)
            least[fine] = np.minimum(least[fine], own)
    return least
