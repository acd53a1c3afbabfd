"""Rows of a person that stay linked: all of them together are shared by k people.

A person's *record* is the multiset of the released quasi-identifiers of all rows of the person.  A
release is lawful when each record is that of at least k people.  What it gives and what not stands
in docs/how-to/people.md, with proofs.

People of one record have equally many rows.  So the people with n rows are a table of their own, a
row for each, with the columns of n rows side by side; classes of k in it are records that k people
share, each n classes of rows, one for each place.  Which row takes which place is a choice (here
they are sorted): a release is found this way, but no bound.  The bound is that of classes of rows
with k people in each, which every lawful release has.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from incrowd.driver.solve import Solved, solve
from incrowd.encoding.encoded import Coded
from incrowd.errors import NoLawfulReleaseError, StoppedError
from incrowd.kernels.types import Ints
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context, Solver
from incrowd.text.units import counted


def solve_records(table: Coded, k: int, method: str | Solver, context: Context) -> Solved:
    """Find a release in which each record is that of ``k`` people, with a bound beside it.

    Raises
    ------
    NoLawfulReleaseError: some people have a number of rows that fewer than k people have.
    """
    instance = table.instance
    classes = np.zeros(instance.rows, np.int64)
    made = 0
    for rows in by_number(table, k):
        own = people_alike(table, rows, k, method, context)
        places = made + own[:, None] * rows.shape[1] + np.arange(rows.shape[1])
        classes[table.copy_of_row[rows]] = places
        made = int(places.max()) + 1
    solution = Solution.of(instance, classes)
    try:
        known = solve(table.problem, method, context)
    except StoppedError:  # a release is at hand, and nothing is known of others
        return Solved(solution, solution.cost, 0, "records", context.stop.why())
    cost = solution.cost
    return replace(known, solution=solution, cost=cost, bound=min(known.bound, cost))


def by_number(table: Coded, k: int) -> Iterator[Ints]:
    """Yield the rows of the people with n rows, for each n: int64, shape (people, n).

    The rows of a person are sorted by their values, so that those alike mostly take one place.
    """
    if not table.instance.rows:
        return
    whose = table.owners
    number = np.bincount(whose)
    sizes, people = np.unique(number[number > 0], return_counts=True)
    few = people < k
    if few.any():
        who = counted(int(people[few].sum()), "person has", "people have")
        raise NoLawfulReleaseError(
            f"{who} a number of rows that fewer than {k:,} people have, "
            "and linked rows show that number: no release of all rows hides them. "
            "Do without linked rows (--person without --pseudonym and --linked-rows), "
            "or publish as many rows of everybody"
        )
    order = np.lexsort((*table.leaves.T[::-1], whose))
    start = np.concatenate([[0], np.cumsum(number)])[:-1]
    for n in sizes.tolist():
        first = start[np.flatnonzero(number == n)]
        yield order[first[:, None] + np.arange(n)]


def people_alike(table: Coded, rows: Ints, k: int, method: str | Solver, context: Context) -> Ints:
    """int64, shape (people,): a class of at least k for each of the people with these rows."""
    people, number = rows.shape
    wide = table.leaves[rows].reshape(people, -1)
    trees = table.instance.trees * number
    instance, copy_of_person = from_codes(wide, trees, None, table.instance.scale)
    try:
        solved = solve(Problem(instance, KAnonymity(k)), method, context)
    except StoppedError:  # all of them as one class are lawful, if dear
        return np.zeros(people, np.int64)
    return solved.solution.classes[copy_of_person]
