"""Deleting any number of rows, for every method that serves k-anonymity: k tables in one.

Claim.  Put k copies of a table below each other, copy i with the value i in one more column, whose
star costs w.  The optimum of this table is k times that of the table whose rows may be deleted at
the price w each; a release of it gives a release of the table of at most a k-th of its cost.

Argument.  From a release with deletions: its classes in each copy, and for each deleted row the
class of its k copies, which agree but in the new column: k·w.  That is k times its cost.
Conversely a class that holds rows of two copies pays at least w for each of its rows, so deleting
them all costs no more.  What is left of each copy is a release with deletions of the table; they
cost no more than the release together, so the cheapest costs at most a k-th.

So a lower bound, divided by k, is one, and a method within a factor of the optimum stays within it.
"""

from dataclasses import replace

import numpy as np

from incrowd.deletion.found import DELETED, Found, cost_of
from incrowd.driver.solve import solve
from incrowd.hierarchy.tree import Tree
from incrowd.problem.deletion import Deletion
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context, Solver


def folded(problem: Problem, price: int) -> Problem:
    """Return the problem of k copies of the table, the copy's number in the first column."""
    instance, k = problem.instance, problem.smallest_class
    number = np.repeat(np.arange(k, dtype=np.int32), instance.distinct)
    codes = np.column_stack([number, np.tile(instance.codes, (k, 1))])
    side = Tree.suppression("copy of the table", tuple(map(str, range(k))), price)
    counts = np.tile(instance.counts, k)
    larger = Instance(codes, counts, (side, *instance.trees), instance.scale)
    return replace(problem, instance=larger)


def by_folding(
    problem: Problem, deletion: Deletion, method: str | Solver, context: Context
) -> Found:
    """Solve k copies of the table at once by any method."""
    rows, k = problem.instance.rows, problem.smallest_class
    solved = solve(folded(problem, deletion.price), method, context)
    number = np.repeat(np.arange(k), rows)
    classes = solved.solution.classes
    first = np.full(len(solved.solution.sizes), k)
    np.minimum.at(first, classes, number)
    mixed = np.zeros(len(first), bool)
    mixed[classes[number != first[classes]]] = True
    sides = np.where(mixed[classes], DELETED, classes).reshape(k, rows)
    kept = [side for side in sides if (side != DELETED).any()] or [sides[0]]
    best = min(kept, key=lambda side: cost_of(problem, side, deletion))
    return Found(best, -(-solved.bound // k), solved.method, solved.ended)
