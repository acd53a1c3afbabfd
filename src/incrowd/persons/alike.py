"""Columns that are constant within each person, generalized alike in all rows of a person.

A release is *alike* when each class has rows of at least k people, and all rows of a person show
one cell in every quasi-identifier that is constant within each person of the table.  People who
share a class, or are linked by a chain of shared classes, then show one cell in these columns: a
*group*, of at least k people with all their rows.  What that protects: docs/how-to/people.md.

Groups first: the persons' table, with the constant columns alone, each person weighted by the
number of rows (``incrowd.persons.groups``).  Then classes within each group, by the columns that
vary, which cost less in larger groups: groups of at least k, 2k and 4k people are tried, and the
cheapest release counts.

Bounds: every alike release is one whose classes have k people, so the bound of these holds; and the
constant columns cost at least as much as the cheapest groups.  The higher one counts.  Where no
column varies the second is that of k-anonymity for the persons' table with weights.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prices import Prices
from incrowd.driver.solve import Solved, solve
from incrowd.encoding.encoded import Coded
from incrowd.errors import StoppedError
from incrowd.hierarchy.tree import Tree
from incrowd.kernels.types import Ints
from incrowd.persons.groups import Persons, dense, grouped
from incrowd.persons.whole_price import whole_prices
from incrowd.privacy.classes import values_by_class
from incrowd.privacy.people import People, as_whole
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.stop import Share, Stop
from incrowd.solvers.base import Context, Solver

SIZES = 1, 2, 4  # how many times k people groups are tried with
BOUND, GROUPS = 0.35, 0.3  # shares of a time limit: of the bound by rows, of groups


@dataclass(frozen=True, eq=False)
class AlikeSolution(Solution):
    """Classes that show, in some columns, what their whole group has in common.

    Attributes
    ----------
    group: int64, shape (classes,): group of each class, from 0.
    constant: the columns, by number.
    """

    group: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    constant: tuple[int, ...] = ()

    @classmethod
    def of_groups(
        cls, table: Coded, classes: Ints, group: Ints, constant: tuple[int, ...]
    ) -> "AlikeSolution":
        """Build from the class and the group of each row of the table; classes lie in groups."""
        both = table.by_copy(classes), table.by_copy(group)
        _, first, dense = np.unique(both[0], return_index=True, return_inverse=True)
        of_class = both[1][first]
        return cls(
            table.instance, dense.ravel().astype(np.int64), group=of_class, constant=constant
        )

    @cached_property
    def spans(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As of every solution; in the constant columns those of the group."""
        low, high = (ends.copy() for ends in super().spans)
        for j in self.constant:
            least = np.full(int(self.group.max(initial=-1)) + 1, np.iinfo(np.int32).max, np.int32)
            most = np.full(len(least), -1, np.int32)
            np.minimum.at(least, self.group, low[:, j])
            np.maximum.at(most, self.group, high[:, j])
            low[:, j], high[:, j] = least[self.group], most[self.group]
        return low, high


class ColumnsByPerson(NamedTuple):
    """Quasi-identifiers, by number: those constant within each person, and the others."""

    constant: tuple[int, ...]
    varying: tuple[int, ...]


def split_of(leaves: NDArray[np.int32], whose: Ints) -> ColumnsByPerson:
    """Tell the columns that are constant within each person from the others."""
    order = np.argsort(whose, kind="stable")
    same = whose[order][1:] == whose[order][:-1]
    found: tuple[list[int], list[int]] = [], []
    for j in range(leaves.shape[1]):
        codes = leaves[order, j]
        found[bool((codes[1:] != codes[:-1])[same].any())].append(j)
    return ColumnsByPerson(tuple(found[0]), tuple(found[1]))


def solve_alike(
    table: Coded, k: int, method: str | Solver, context: Context
) -> tuple[Coded, Solved]:
    """Find an alike release with a bound beside it; return the table with the model that it obeys.

    Raises
    ------
    OutOfScopeError: values cost something though they stay.
    """
    table.instance.require_free_values()
    whose = table.owners
    split = split_of(table.leaves, whose)
    if not split.constant:
        return table, solve(table.problem, method, context)
    persons = Persons.of(table, whose, split.constant)
    if not split.varying:
        return replace(table, model=as_whole(table.model)), of_persons(
            table, persons, k, method, context
        )
    return table, of_both(table, persons, split, k, method, context)


def of_persons(
    table: Coded, persons: Persons, k: int, method: str | Solver, context: Context
) -> Solved:
    """Find a release of a table in which no column varies: groups are classes."""
    found = grouped(persons, k, method, context)
    group = found.member[persons.whose]
    constant = tuple(range(table.instance.columns))
    solution = AlikeSolution.of_groups(table, group, group, constant)
    bound = min(found.bound, solution.cost)
    lawful = None if found.prices is None else of_rows(table, persons, found.prices)
    return Solved(solution, solution.cost, bound, found.method, found.ended, None, lawful)


def of_rows(table: Coded, persons: Persons, prices: Prices) -> Prices:
    """Return the prices of people as those of each of their rows."""
    price = np.zeros(table.instance.distinct, np.int64)
    of_person = prices.price[persons.visits.place]
    price[table.distinct_of_row] = of_person[persons.whose]
    return replace(prices, price=price)


def certified(table: Coded, k: int, known: Prices | None, stop: Stop) -> Prices:
    """Return the prices of a release in which no column varies; where a method has none, find some.

    They are per distinct row of the table.
    ``stop``: when to be content with the prices found so far.
    """
    if known is not None:
        return known
    whose = table.owners
    persons = Persons.of(table, whose, split_of(table.leaves, whose).constant)
    return of_rows(table, persons, whole_prices(persons.visits.instance, k, stop))


def of_both(
    table: Coded,
    persons: Persons,
    split: ColumnsByPerson,
    k: int,
    method: str | Solver,
    context: Context,
) -> Solved:
    """Find a release of a table in which some columns are constant, and some vary."""
    stop = context.stop
    limit = stop.left()
    share = replace(context, stop=Share.of(stop, BOUND * limit))
    try:
        known = solve(table.problem, method, share)
    except StoppedError:
        known = None
    best: AlikeSolution | None = None
    first = grouped(persons, k, method, replace(context, stop=Share.of(stop, GROUPS * limit)))
    for number, times in enumerate(SIZES):
        if number and (stop.now() or times * k > len(persons.weight)):
            break
        left = replace(context, stop=Share.of(stop, stop.left() / (len(SIZES) - number) / 2))
        member = first.member
        if number:
            member = grouped(persons, times * k, method, left, False).member
        group = member[persons.whose]
        left = replace(context, stop=Share.of(stop, stop.left() / (len(SIZES) - number)))
        classes = classes_within(table, group, split.varying, k, left)
        solution = AlikeSolution.of_groups(table, classes, group, split.constant)
        if best is None or solution.cost < best.cost:
            best = solution
    assert best is not None
    bound = min(max(first.bound, 0 if known is None else known.bound), best.cost)
    finished = "finished" if bound == best.cost else "stopped paying"
    found = Solved(best, best.cost, bound, "groups", stop.why() if stop.now() else finished)
    if known is None:
        return found
    return replace(found, prices=known.prices, lawful=known.lawful)


def classes_within(
    table: Coded, group: Ints, columns: tuple[int, ...], k: int, context: Context
) -> Ints:
    """int64, shape (rows,): classes of at least k people, each within its group.

    All groups are one table: the group is a column whose star costs more than all others together,
    so that no class of a cheapest release holds two groups.  A search need not find that; what it
    leaves is parted by groups, and parts with fewer than k people are joined.
    """
    whose = table.owners
    trees = [table.instance.trees[j] for j in columns]
    star = sum(tree.dearest for tree in trees) + 1
    names = tuple(f"{g:09}" for g in range(int(group.max()) + 1))
    codes = np.column_stack([table.leaves[:, list(columns)], group]).astype(np.int32)
    side = Tree.suppression("group", names, star)
    instance, copy = from_codes(codes, (*trees, side), whose, table.instance.scale)
    try:
        solved = solve(Problem(instance, People(k, 0)), "auto", context)
    except StoppedError:  # each group as one class is lawful, if dear
        return group
    return parted(solved.solution.classes[copy], group, whose, k)


def parted(classes: Ints, group: Ints, whose: Ints, k: int) -> Ints:
    """Part classes by group; join the parts of a group with fewer than k people, or all of them."""
    width = int(group.max()) + 1
    part = dense(classes * width + group)
    few = values_by_class(part, whose) < k
    left = few[part]
    part[left] = len(few) + group[left]  # what is too small within a group, together
    part = dense(part)
    broken = np.zeros(width, bool)
    broken[group[(values_by_class(part, whose) < k)[part]]] = True
    whole = broken[group]
    part[whole] = len(part) + group[whole]
    return dense(part)
