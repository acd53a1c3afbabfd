"""The consistent method: sets of columns in a fixed order, each taking all the rows it can.

For each set of published columns in turn, rows that wait, whose cells there are open and that agree
in them form a class if they are lawful; then they wait no more.  Who is left has nothing published.

**Claim.**  Say the model is closed under supersets.  If the method makes release R of veiled table
Y and R hides cell (i, c), then it makes R of Y with that cell veiled.

**Argument.**  Row i leaves with a set that does not publish c, or never.  Until then, whenever it
was looked at, its group was not lawful; without row i that group is smaller, hence not lawful
either, and no other group differs.  So the same rows leave at each set; and row i leaves with its
own, for which cell c is not looked at.  After that nothing differs.
"""

from collections.abc import Callable
from itertools import combinations
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


def sets_by_cost(weights: Ints) -> list[tuple[int, ...]]:
    """Return all sets of columns but the empty one, by rising cost of the others.

    Equally dear ones by the columns' order: nothing here depends on cells.
    """
    columns = len(weights)
    found = [pub for size in range(columns, 0, -1) for pub in combinations(range(columns), size)]
    total = int(weights.sum())
    return sorted(found, key=lambda pub: total - int(weights[list(pub)].sum()))


def groups_in(codes: Ints, opened: Bools, rows: Ints, published: tuple[int, ...]) -> tuple:
    """Return the rows whose cells in a set of columns are open, and the group of each; int64."""
    columns = list(published)
    whole = rows[opened[rows][:, columns].all(axis=1)]
    key, _ = packed([codes[whole, j] for j in columns], len(whole))
    _, group = np.unique(key, return_inverse=True)
    return whole, group.ravel().astype(np.int64)


def made(codes: Ints, veiled: Bools, weights: Ints, lawful: Lawful) -> Classes:
    """Make the classes.

    Parameters
    ----------
    codes: int64, shape (rows, columns).
    veiled: bool, the same shape: cells that nobody looks at.
    weights: int64, shape (columns,): what a hidden cell costs.
    """
    rows, columns = codes.shape
    opened = ~veiled
    of_row = np.full(rows, -1)
    hidden: list[Bools] = []
    waiting = np.arange(rows)
    for published in sets_by_cost(weights):
        whole, group = groups_in(codes, opened, waiting, published)
        if not len(whole):
            continue
        fine = lawful(whole, group)
        if not fine.any():
            continue
        number = np.cumsum(fine) - 1 + len(hidden)
        taken = fine[group]
        of_row[whole[taken]] = number[group[taken]]
        mask = np.ones(columns, bool)
        mask[list(published)] = False
        hidden += [mask] * int(fine.sum())
        waiting = waiting[of_row[waiting] < 0]
    if len(waiting):
        of_row[waiting] = len(hidden)
        hidden.append(np.ones(columns, bool))
    return Classes(of_row, np.array(hidden, bool).reshape(len(hidden), columns))


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
