"""Exact steps: of all ways to make classes of waiting rows, a step takes the heaviest.

Each row weighs 1 and a lot, each class costs a lot.  A step looks at few sets of columns: those
that hide what published rows hide most.  It opens the groups of the heaviest way (``program.py``,
with a proof that it alone weighs so much); then rows are placed as in ``exchange.py``.  The other
sets of as many columns follow in a step of their own, as groups that change places.

**Claim.**  Say the step makes R of table Y, and R does not publish what Y shows of cell (i, c).
Then it makes R of Y with that hidden as well.

**Argument.**  Which sets are looked at follows from published rows.  What a row weighs is a lot of
its own; what a class costs is a lot of the texts that it shows.  The veil takes row i out of groups
that publish the cell, and R places it in none of them.  So the way of R stays one: R itself shows
that its classes have k rows each without row i in such groups.  It weighs the same, since row i
counts if it fits an open group, and then R places it in one that hides the cell.  No other way
comes, and none becomes heavier.  So the heaviest of all is the heaviest of fewer.
"""

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.types import Bools, Ints
from incrowd.run.stop import Stop
from incrowd.veil.exchange import placed
from incrowd.veil.lists import (
    Candidate,
    Choice,
    Known,
    Lawful,
    Levels,
    Lots,
    Made,
    candidates,
    exchanged,
    finished,
    steps_of,
)
from incrowd.veil.program import Kind, Program, heaviest

ONE = 1 << 24
"""What a row weighs before its lot."""
DEAREST = (2, 2, 2, 3, 5, 6)
"""By hidden columns: so many times ``ONE`` no class of up to ``FEW`` rows costs, larger ones more.

Dearer classes make a proof shorter."""
FEW = 5
EFFORT = 200.0
"""What the search and the proof of a step may take, in CP-SAT's deterministic seconds."""


class Width(NamedTuple):
    """How many sets of columns an exact step takes: a longer list makes a longer proof.

    Attributes
    ----------
    least, most: sets.
    rows: up to so many waiting rows it takes the most; where more wait, or classes need more than
        ``FEW`` rows, fewer in proportion.
    """

    least: int
    most: int
    rows: int

    def sets(self, waiting: int, k: int) -> int:
        """Return how many sets a step takes; published rows decide how many wait."""
        found = self.most * self.rows * FEW // (max(1, waiting) * max(FEW, k))
        return max(self.least, min(self.most, found))


ALL = 1 << 16
WIDTHS = {
    1: Width(ALL, ALL, 0),
    2: Width(10, 10, 0),
    3: Width(16, 25, 5000),
    4: Width(12, 30, 2200),
    5: Width(8, 50, 1000),
}
"""By hidden columns; there is no exact step for others."""


class Weights(NamedTuple):
    """What chance alone decides.

    Attributes
    ----------
    rows: int64, shape (rows,): what each row weighs, ``ONE`` at least.  Nothing in it may depend on
        a cell.
    signs: uint64, shape (rows, columns): a number by lot for the text of each cell, and for nothing
        else.
    """

    rows: Ints
    signs: NDArray[np.uint64]

    def cost(self, one: Candidate, k: int) -> int:
        """Return what a class of k rows costs, by lot for its choice and the texts it shows."""
        shown = self.signs[one.members[0]][np.array(one.choice) == 0]
        drawn = blake2b(bytes(one.choice) + shown.tobytes(), digest_size=8).digest()
        dearest = DEAREST[sum(one.choice)] * ONE * max(FEW, 2 * k - FEW) // FEW
        return int.from_bytes(drawn, "big") * dearest >> 64


class Settled(NamedTuple):
    """Bool, shape (groups,): which open in the heaviest way for sure, and which do not.

    fits: bool, shape (rows,): who fits one that opens.
    """

    opened: Bools
    closed: Bools
    fits: Bools


def made_exactly(
    known: Known,
    costs: Sequence[Ints],
    lawful: Lawful,
    lots: Lots,
    least: int,
    weights: Weights,
    stop: Stop,
) -> Levels:
    """Make the classes of a table without hierarchies; see ``lists.with_levels``.

    Parameters
    ----------
    least: k; k rows are all that a class needs.

    Raises
    ------
    OutOfScopeError: a step is not proven.
    """
    found = Made(known, lots)
    for equal in steps_of(costs):
        choices = ranked(found, equal)
        width = WIDTHS.get(max(map(sum, choices)))
        if width:
            size = width.sets(int((found.of_row < 0).sum()), least)
            few, choices = choices[:size], choices[size:]
            asked = list(candidates(found, few, lawful))
            asked.sort(key=lambda one: one[:2])
            opened = opened_groups(asked, weights, least, stop)
            found.place([one for one, is_open in zip(asked, opened, strict=True) if is_open], least)
        if choices:
            exchanged(found, choices, lawful, least)
    return finished(found)


def ranked(found: Made, choices: list[Choice]) -> list[Choice]:
    """Return choices in the order of a product: how many published rows hide each column hidden."""
    rows = found.of_row[found.of_row >= 0]
    levels = np.array(found.levels, np.int64).reshape(-1, len(found.tops))
    hiding = (levels[rows] > 0).sum(axis=0).tolist()

    def often(choice: Choice) -> int:
        product = 1
        for j, level in enumerate(choice):
            product *= hiding[j] if level else 1
        return product

    return sorted(choices, key=often, reverse=True)  # stable


def opened_groups(asked: list[Candidate], weights: Weights, k: int, stop: Stop) -> Bools:
    """bool, shape (groups,): which the heaviest way opens."""
    members = [one.members for one in asked]
    cost = [weights.cost(one, k) for one in asked]
    sure = settled(members, cost, weights.rows, k)
    found = sure.opened.copy()
    free = np.flatnonzero(~sure.opened & ~sure.closed)
    if len(free):
        few = [members[g] for g in free]
        fit = fitting(few)
        program = Program(kinds_of(fit, weights.rows, sure.fits), [cost[g] for g in free], k)
        known = greedy([members[g] for g in np.flatnonzero(sure.opened)], few, k)
        found[free] = heaviest(program, known, EFFORT, stop)
    return found


def greedy(sure: list[Ints], members: list[Ints], k: int) -> set[int]:
    """Return the groups of a way to begin with: one by one, whoever changes places."""
    groups = sure + members
    rows = 1 + max(int(group.max()) for group in groups)
    place = placed(groups, np.arange(rows), k)
    return {at - len(sure) for at in place[place >= len(sure)].tolist()}


def settled(members: list[Ints], cost: list[int], weight: Ints, k: int) -> Settled:
    """Return what is decided before any search.

    A group opens in the heaviest way if k rows fit it alone, and these outweigh its cost; it does
    not if all rows that fit no group opened for sure weigh less than its cost.
    """
    opened, closed = np.zeros(len(members), bool), np.zeros(len(members), bool)
    fits = np.zeros(len(weight), bool)
    count = np.bincount(np.concatenate([*members, np.zeros(0, np.int64)]), minlength=len(weight))
    changed = True
    while changed:
        changed = False
        for g in np.flatnonzero(~opened & ~closed).tolist():
            rows = members[g]
            own = rows[count[rows] == 1]
            if weight[rows[~fits[rows]]].sum() < cost[g]:
                closed[g] = changed = True
                count[rows] -= 1
            elif len(own) >= k and weight[own].sum() > cost[g]:
                opened[g] = changed = True
                fits[rows] = True
    return Settled(opened, closed, fits)


def weighed(chances: NDArray[np.uint64]) -> Ints:
    """Return what rows weigh by lot (64 random bits each): 1, and exponentially, 1 in the mean."""
    lots = -np.log((chances + 0.5) / 2.0**64)
    return ONE + (lots * ONE).astype(np.int64)


def fitting(members: list[Ints]) -> dict[int, tuple[int, ...]]:
    """Return for each row of some groups which of them it fits."""
    found: dict[int, list[int]] = {}
    for g, rows in enumerate(members):
        for row in rows.tolist():
            found.setdefault(row, []).append(g)
    return {row: tuple(groups) for row, groups in sorted(found.items())}


def kinds_of(fit: dict[int, tuple[int, ...]], weight: Ints, fits: Bools) -> list[Kind]:
    """Return the kinds of some rows; who fits an open group already adds nothing."""
    rows, adds = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
    for row, groups in fit.items():
        rows[groups] += 1
        adds[groups] += 0 if fits[row] else int(weight[row])
    return [Kind(groups, number, adds[groups]) for groups, number in rows.items()]
