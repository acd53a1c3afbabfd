"""Exact methods for tables whose rows may be deleted.

``subset-dp`` knows the optimum of every sub-multiset of the rows: the best of those that lack few
enough rows, with the price of these, is the optimum.  ``pattern-milp`` gets a variable for each
distinct row, how many of its copies are deleted; these need no pattern.  They all leave to one
place, whose capacity is the limit, so what is left with patterns fixed is a flow as before.
"""

import numpy as np

from incrowd.deletion.found import DELETED, Found
from incrowd.errors import StoppedError
from incrowd.problem.deletion import Deletion
from incrowd.problem.problem import Problem
from incrowd.run.stop import watched
from incrowd.solvers.base import Context, insist
from incrowd.solvers.exact.submultisets import classes_of
from incrowd.solvers.exact.subset_dp import SubsetDP
from incrowd.solvers.fpt.pattern_milp import PatternMILP
from incrowd.solvers.fpt.patterns import Patterns, closed_patterns
from incrowd.solvers.fpt.program import (
    TOLERANCES,
    Columns,
    Ints,
    Program,
    build,
    round_up,
    solve_program,
    unproven,
)

FAR = np.iinfo(np.int64).max


def by_subsets(problem: Problem, deletion: Deletion, context: Context) -> Found:
    """Take the best of all sub-multisets as what is kept.

    Raises
    ------
    StoppedError: time ended before.
    """
    solver = SubsetDP(reductions="none")
    insist(solver, problem)
    with watched(context.stop):
        filled = solver.optima(problem, context)
    if filled is None:
        raise StoppedError(f"method {solver.id!r} ended ({context.stop.why()}) before it was done")
    parts, best, choice = filled
    gone = problem.instance.rows - parts.size.astype(np.int64)
    allowed = (best >= 0) & (gone <= deletion.limit(problem.instance.rows))
    cost = np.where(allowed, best + deletion.price * gone, FAR)
    kept = len(cost) - 1 - int(np.argmin(cost[::-1]))
    classes = classes_of(problem, parts, solver.classes_of(choice, kept))
    return Found(classes, int(cost[kept]), solver.id, "finished")


def by_patterns(problem: Problem, deletion: Deletion, context: Context) -> Found:
    """Solve the integer program over patterns, with deletions in it.

    Raises
    ------
    StoppedError: time ended before any release was found.
    """
    solver = PatternMILP(reductions="none")
    insist(solver, problem)
    instance = problem.instance
    laws = problem.model.linear(problem.table)
    assert laws is not None
    context.tell("listing patterns")
    patterns = closed_patterns(instance, problem.smallest_class, context.stop)
    unit = max(int(np.gcd.reduce(np.append(patterns.cost, deletion.price))), 1)
    scaled = Patterns(patterns.cost // unit, patterns.start, patterns.row)
    program, columns = build(instance, scaled, laws)
    each = np.arange(instance.distinct)
    price = np.full(instance.distinct, deletion.price // unit)
    gone = program.add_columns(price, instance.counts, False)
    program.put(each, gone, 1)  # the first rows say that every copy goes somewhere
    program.put(
        program.add_rows(1, 0, deletion.limit(problem.instance.rows)).repeat(len(gone)), gone, 1
    )
    context.tell("integer program over patterns")
    taken, bound, finished = taken_by(program, columns, problem.smallest_class, context)
    classes = spread(problem, columns.pattern, columns.row, taken)
    left = classes != DELETED
    cost = int(np.dot(taken, patterns.cost[columns.pattern])) + deletion.price * int((~left).sum())
    if finished and cost - bound * unit < 0.5 * unit:
        return Found(classes, cost, solver.id, "finished")
    ended = unproven(finished, context)
    return Found(classes, min(cost, round_up(bound) * unit), solver.id, ended)


def taken_by(
    program: Program, columns: Columns, k: int, context: Context
) -> tuple[Ints, float, bool]:
    """Return what HiGHS puts where, by closer tolerances if a class lacks rows, and its bound.

    Raises
    ------
    StoppedError: it found nothing.
    """
    taken, bound, finished = np.zeros(0, np.int64), 0.0, False
    for tolerance in TOLERANCES:
        with watched(context.stop):
            values, bound, finished = solve_program(program, columns, context, tolerance)
        if values is None:
            why = unproven(finished, context)
            raise StoppedError(f"method {PatternMILP.id!r} ended ({why}) before any release")
        taken = np.rint(values[columns.x]).astype(np.int64)
        used = np.bincount(columns.pattern, weights=taken)
        if (used[used > 0] >= k).all():
            break
    return taken, bound, finished


def spread(problem: Problem, pattern: Ints, row: Ints, taken: Ints) -> Ints:
    """int64, shape (rows,): the pattern of each copy; where none takes it ``DELETED``."""
    instance = problem.instance
    classes, used = np.full(instance.rows, DELETED), instance.first_copy[:-1].copy()
    for p, r, number in zip(pattern.tolist(), row.tolist(), taken.tolist(), strict=True):
        classes[used[r] : used[r] + number] = p
        used[r] += number
    return classes
