"""Patterns chosen for a table of other people, so that a release by them loses few cells.

Each of its rows goes into a group, in turns of rising loss: cells that are hidden, or a part of one
for each level of a hierarchy.  In a turn the largest group of waiting rows becomes a pattern and
takes its rows, then the largest of those who wait still, and so on, while half of a group's rows or
more are expected to be published.  Then patterns are left out again, the last first, where that is
expected to lose less: their rows become the next pattern that they match.  Under hierarchies larger
groups are better, so a few sizes are tried, and the list that is expected to lose least is taken.

**Expected loss.**  Of as many other people like these, about as many become a pattern as do here,
c.  The rate is not known exactly (Jeffreys: Gamma with shape c + 1/2), and coins take a part β.  So
the others beside a row that are taken are NB(c + 1/2, 1/(1 + β)), and the row, taken itself, is
left out with the chance that they are fewer than k - 1.  A row left out loses all its cells.

That is a little less than what comes, for the patterns were fitted to these people.  Nothing of it
needs to be believed: the guarantee holds for any list that was made without the table.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.codebooks.delta import Asked
from incrowd.codebooks.patterns import Cell, Patterns, labels_above
from incrowd.codebooks.release import labels_of
from incrowd.errors import InputError, OutOfScopeError
from incrowd.hierarchy.tree import STAR
from incrowd.kernels.types import Floats, Ints
from incrowd.policy.base import Policy
from incrowd.tables.base import Column, Source
from incrowd.tables.files import open_table
from incrowd.veil.lists import MOST_CHOICES, Choice, Known, lost, steps_of

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy

Names = str | Sequence[str]
SURE = 1e-4
"""A pattern whose rows are left out with no more chance than this stays."""


TIMES = (1, 1.25, 1.5, 2)
"""How many times as many rows as that a group needs; the list of which least is expected stays."""


class Chosen(NamedTuple):
    """A list of patterns, and what a release of as many people like the others should lose.

    Attributes
    ----------
    patterns: the list; its last one is all stars.
    loss: share of the cells of rows taken that are hidden, a level of a hierarchy as a part of one,
        all of a row that is left out.
    left_out: share of the rows taken that are left out.
    """

    patterns: Patterns
    loss: float
    left_out: float


class Cells(NamedTuple):
    """What a column's cells may become.

    Attributes
    ----------
    texts: level → node → what it is called; at level 0 the values, at the last one the star.
    nodes: int64, shape (levels, rows): the node of each row.
    """

    texts: list[list[Cell]]
    nodes: Ints


class Group(NamedTuple):
    """Rows alike at some levels; the largest first, then by the list of choices."""

    size: int
    place: int
    order: int
    rows: Ints


def patterns_for(
    others: Any,
    k: int = 20,
    sample: Any = 0.5,
    *,
    qi: Names | None = None,
    sensitive: Names = (),
    keep: Names = (),
    id: Names = (),
    hierarchies: "Mapping[str, Any] | None" = None,
    star: str = STAR,
) -> Chosen:
    """Choose patterns for a table of other people, to be applied with this k and sample.

    Parameters
    ----------
    others: a table as for ``anonymize``, of other people than those the patterns are for.
    k, sample, hierarchies, star: as the patterns will be applied, see ``codebook``.
    qi: the columns of the patterns; None for all that have no other role.
    sensitive, keep: columns that the release will publish as they are: k rows have to be alike in
        them too.
    id: columns that the release leaves out.

    Raises
    ------
    InputError: something given is wrong, the table is empty, or has cells that read as the star.
    OutOfScopeError: the hierarchies give more than 65,536 choices of levels.
    """
    asked = Asked.of(k, sample, 1)
    table = open_table(others)
    policy = Policy(qi=qi, sensitive=sensitive, id=id, keep=keep, hierarchies=hierarchies or {})
    roles = policy.roles(table.columns)
    if not table.rows:
        raise InputError("the table has no rows to choose patterns for")
    sources, columns = policy.sources(), roles.qi
    levels = [cells_of(name, table.encode(name), sources.get(name), star) for name in columns]
    costs = costs_of(levels)
    everybody = np.zeros(table.rows, np.int64)
    beside = labels_of(table, (*roles.sensitive, *roles.keep), everybody)
    whole = np.zeros((table.rows, len(columns)), np.int64)  # each cell is known
    known = Known([one.nodes for one in levels], whole)
    chance = chances(asked, table.rows)
    found, steps = [], list(steps_of(costs))
    for times in TIMES:
        listed = Listed(known, costs, beside, chance, times)
        listed.fill(steps)
        listed.leave_out()
        found.append(judged(listed, levels, columns, table, sources, star))
    return min(found, key=lambda one: one.loss)


def cells_of(name: str, column: Column, hierarchy: "Hierarchy | None", star: str) -> Cells:
    """Return what the cells of a column may become.

    Raises
    ------
    InputError: a value or a label reads as the star.
    """
    labels = labels_above(name, column.values, hierarchy)
    paths = [(value, *labels.get(value, ())) for value in column.values]
    if any(star in path for path in paths):
        raise InputError(
            f"column {name!r} has cells that read {star!r}, as a release's do: make the patterns "
            "of a release without -k, or choose another star"
        )
    texts: list[list[Cell]] = []
    nodes = []
    for level in range(max(map(len, paths))):
        shown = [path[min(level, len(path) - 1)] for path in paths]
        number = {text: i for i, text in enumerate(dict.fromkeys(shown))}
        texts.append(list(number))
        nodes.append(np.array([number[text] for text in shown])[column.codes])
    return Cells([*texts, [star]], np.vstack([*nodes, np.zeros_like(nodes[0])]))


def costs_of(levels: Sequence[Cells]) -> list[Ints]:
    """Return for each column int64, shape (levels,): what a cell at each loses; as much at last.

    Raises
    ------
    OutOfScopeError: there are too many choices of levels.
    """
    heights = [len(one.texts) for one in levels]
    if math.prod(heights) > MOST_CHOICES:
        raise OutOfScopeError(
            f"the hierarchies give {math.prod(heights):,} choices of levels, and at most "
            f"{MOST_CHOICES:,} can be tried; give fewer columns or shorter hierarchies"
        )
    whole = math.lcm(*(height - 1 for height in heights))
    return [np.arange(height) * (whole // (height - 1)) for height in heights]


def chances(asked: Asked, most: int) -> Floats:
    """float64, shape (most + 1,): the chance that a row is published, with so many like it."""
    from scipy.stats import nbinom

    shape, share = np.arange(most + 1) + 0.5, 1 / (1 + float(asked.sample))
    return nbinom.sf(asked.k - 2, shape, share)


class Listed:
    """Patterns under choice, and the rows of each.

    Attributes
    ----------
    choices: of each pattern.  rows: of each pattern, int64.
    beside: int64, shape (rows,): what a row publishes beside the patterns' columns.
    chance: float64: that a row is published, by how many are like it; it rises.
    least: how many rows a group needs: of so many alike half are expected to be published, and
        ``times`` as many.
    """

    def __init__(
        self, known: Known, costs: Sequence[Ints], beside: Ints, chance: Floats, times: float
    ) -> None:
        self.known, self.costs, self.beside, self.chance = known, costs, beside, chance
        self.least = math.ceil(times * int(np.searchsorted(chance, 0.5)))
        self.whole = lost(costs, known.tops)
        self.choices: list[Choice] = []
        self.rows: list[Ints] = []

    def add(self, choice: Choice, rows: Ints) -> None:
        """Append a pattern."""
        self.choices.append(choice)
        self.rows.append(rows)

    def published(self, rows: Ints) -> float:
        """Return how many of the rows of a pattern are expected to be published, if taken."""
        counts = np.bincount(self.beside[rows])
        return float(counts @ self.chance[counts])

    def shown(self, choice: Choice) -> float:
        """Return the share of a row's cells that a choice of levels shows."""
        return 1 - lost(self.costs, choice) / self.whole

    def loss(self, pattern: int, rows: Ints) -> float:
        """Return how many rows' cells a pattern is expected to lose."""
        return len(rows) - self.shown(self.choices[pattern]) * self.published(rows)

    def fill(self, steps: Sequence[list[Choice]]) -> None:
        """Give each row a pattern; who fits none becomes all stars, the last one."""
        waits = np.ones(len(self.beside), bool)
        for choices in steps:
            for group in largest(self.groups(choices, np.flatnonzero(waits)), waits):
                if self.likely(group.rows):
                    self.add(choices[group.place], group.rows)
                    waits[group.rows] = False
        self.add(self.known.tops, np.flatnonzero(waits))

    def likely(self, rows: Ints) -> bool:
        """Whether half of some rows or more are expected to be published as one pattern."""
        return len(rows) >= self.least and 2 * self.published(rows) >= len(rows)

    def groups(self, choices: list[Choice], rows: Ints) -> Iterator[Group]:
        """Yield the groups of some rows that may become patterns."""
        for place, choice in enumerate(choices):
            group = self.known.groups(rows, choice)[1]
            order, end = np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))
            for number in np.flatnonzero(np.diff(end, prepend=0) >= self.least).tolist():
                members = rows[order[end[number - 1] if number else 0 : end[number]]]
                if self.likely(members):
                    yield Group(-len(members), place, number, members)

    def leave_out(self) -> None:
        """Leave out patterns, the last first, as long as that is expected to lose less."""
        now = [self.loss(p, rows) for p, rows in enumerate(self.rows)]
        levels = np.array(self.choices, np.int64)
        nodes = np.array([self.nodes_at(choice, rows[:1]) for choice, rows in self.pairs()])
        stays = np.ones(len(self.rows), bool)
        left_out = True
        while left_out:
            left_out = False
            for p in range(len(self.rows) - 2, -1, -1):
                if not stays[p] or self.sure(self.rows[p]):
                    continue
                later = np.flatnonzero(stays[p + 1 :]) + p + 1
                to = later[self.first_match(self.rows[p], levels[later], nodes[later])]
                into = {
                    t: np.concatenate([self.rows[t], self.rows[p][to == t]])
                    for t in np.unique(to).tolist()
                }
                new = {t: self.loss(t, rows) for t, rows in into.items()}
                if sum(new.values()) < now[p] + sum(now[t] for t in new):
                    stays[p], left_out = False, True
                    for t, rows in into.items():
                        self.rows[t], now[t] = rows, new[t]
        self.choices = [choice for choice, stay in zip(self.choices, stays, strict=True) if stay]
        self.rows = [rows for rows, stay in zip(self.rows, stays, strict=True) if stay]

    def pairs(self) -> Iterator[tuple[Choice, Ints]]:
        """Yield the choice and the rows of each pattern."""
        return zip(self.choices, self.rows, strict=True)

    def nodes_at(self, choice: Choice, rows: Ints) -> list[int]:
        """Return the node of each column of a pattern that has such rows; none where it has not."""
        if not len(rows):
            return [0] * len(choice)
        return [int(n[level, rows[0]]) for n, level in zip(self.known.nodes, choice, strict=True)]

    def sure(self, rows: Ints) -> bool:
        """Whether nearly all of a pattern's rows will be published."""
        return len(rows) - self.published(rows) <= SURE * len(rows)

    def first_match(self, rows: Ints, levels: Ints, nodes: Ints) -> Ints:
        """int64, shape (rows,): which pattern a row matches first; the last fits all."""
        fits = np.ones((len(levels), len(rows)), bool)
        for j, known in enumerate(self.known.nodes):
            fits &= known[levels[:, j, None], rows] == nodes[:, j, None]
        return fits.argmax(axis=0)


def largest(groups: Iterator[Group], waits: NDArray[np.bool_]) -> Iterator[Group]:
    """Yield groups, of those who wait the largest first; who is taken meanwhile waits no more."""
    heap = list(groups)
    heapify(heap)
    while heap:
        first = heap[0]
        rows = first.rows[waits[first.rows]]
        if len(rows) == -first.size:
            yield heappop(heap)
        elif len(rows):
            heapreplace(heap, Group(-len(rows), first.place, first.order, rows))
        else:
            heappop(heap)


def judged(
    listed: Listed,
    levels: Sequence[Cells],
    columns: Sequence[str],
    table: Source,
    sources: "Mapping[str, Hierarchy]",
    star: str,
) -> Chosen:
    """Return the patterns, and what they are expected to lose on a table like this one."""
    shown: dict[tuple[Cell, ...], float] = {}
    for choice, rows in listed.pairs():
        at = zip(levels, choice, listed.nodes_at(choice, rows), strict=True)
        cells = tuple(one.texts[level][node] for one, level, node in at)
        shown.setdefault(cells, listed.shown(choice))
    patterns = Patterns(tuple(columns), tuple(shown), star)
    both = np.column_stack([patterns.of_rows(table, sources), listed.beside])
    kinds, counts = np.unique(both, axis=0, return_counts=True)
    kept = counts * listed.chance[counts]
    cells_shown = np.array([*shown.values()])[kinds[:, 0]]
    return Chosen(
        patterns, 1 - float(kept @ cells_shown) / table.rows, 1 - float(kept.sum()) / table.rows
    )
