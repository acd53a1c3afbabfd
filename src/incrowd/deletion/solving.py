"""Solve a problem whose rows may be deleted: by which method, and what is known of the result.

Deleting any number of rows, for every method that serves k-anonymity: k tables in one.

Claim.  Put k copies of a table below each other, copy i with the value i in one more column, whose
star costs w.  The optimum of this table is k times that of the table whose rows may be deleted at
the price w each; a release of it gives a release of the table of at most a k-th of its cost.

Argument.  From a release with deletions: its classes in each copy, and for each deleted row the
class of its k copies, which agree but in the new column: k·w.  That is k times its cost.
Conversely a class that holds rows of two copies pays at least w for each of its rows, so deleting
them all costs no more.  What is left of each copy is a release with deletions of the table; they
cost no more than the release together, so the cheapest costs at most a k-th.

So a lower bound, divided by k, is one, and a method within a factor of the optimum stays within it.

Exact methods for tables whose rows may be deleted.

``subset-dp``: see ``small.py``.  ``pattern-milp`` gets a variable for each
distinct row, how many of its copies are deleted; these need no pattern.  They all leave to one
place, whose capacity is the limit, so what is left with patterns fixed is a flow as before.
"""

from dataclasses import replace

import numpy as np

from incrowd.bounds.leaf_costs import averaged
from incrowd.deletion.by_model import by_model
from incrowd.deletion.found import DELETED, Found, cost_of, rechecked
from incrowd.deletion.search import by_search
from incrowd.deletion.small import by_subsets
from incrowd.driver.solve import CHEAP_WORK, MOST_DISTINCT, solve
from incrowd.errors import NoLawfulReleaseError, OutOfScopeError, StoppedError
from incrowd.hierarchy.tree import Tree
from incrowd.problem.deletion import Deletion
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.reduce.leaf_costs import served_apart
from incrowd.run.stop import Share, watched
from incrowd.solvers.base import Context, Solver, insist
from incrowd.solvers.catalog import LIMITED, by_id
from incrowd.solvers.exact.submultisets import work
from incrowd.solvers.fpt.pattern_milp import PatternMILP
from incrowd.solvers.fpt.patterns import closed_patterns
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
from incrowd.solvers.portfolio import PACE
from incrowd.text.units import counted

HALF = 0.5  # of a time limit, for matching, which may not end or delete too many rows


def solve_deleting(
    problem: Problem,
    deletion: Deletion,
    method: str | Solver = "auto",
    context: Context | None = None,
) -> tuple[Found, int]:
    """Return the release of some rows of a problem, and its cost in units of 1/scale.

    Parameters
    ----------
    method: ``"auto"``, the id of a method, or a solver.  ``engine``, ``subset-dp`` and
        ``pattern-milp`` are told of deletions; others solve the table of ``deletion.folded``,
        where any number of rows may be deleted.

    Raises
    ------
    OutOfScopeError: the model compares classes with the table, or the method cannot count
        deletions.
    NoLawfulReleaseError: deleting every row costs no more than what was found, or fewer than k
        rows are there.
    StoppedError: the run ended before any release was found.
    """
    context = context or Context()
    require_classes_alone(problem)
    rows, k = problem.instance.rows, problem.smallest_class
    if rows < k:
        raise NoLawfulReleaseError(
            f"k = {k} is larger than the table, which has {counted(rows, 'row')}; use k ≤ {rows} "
            "or more rows"
        )
    needed, apart = served_apart(problem)
    found = run(needed, deletion, method, context)
    if apart is not None:
        prices = averaged(found.prices, apart)
        found = replace(found, classes=found.classes[apart.place], prices=prices)
    return found, rechecked(problem, found, deletion)


def require_classes_alone(problem: Problem) -> None:
    """Raise where the model is not one of classes by themselves, or the whole table breaks it."""
    model = problem.model
    if model.compares_with_table:
        raise OutOfScopeError(
            f"rows are not deleted under {problem.asked}: what is left of the table would be "
            "compared with another table, and bounds with it; see --suppress-rows"
        )
    if not model.closed_under_union:
        raise OutOfScopeError(
            f"rows are not deleted under {problem.asked}, which is not closed under union"
        )
    if not model.size_decides and not problem.lawful_together:
        raise NoLawfulReleaseError(
            f"the whole table as one class breaks {problem.asked}"
            f"{model.how_broken(problem.table, problem.sensitive)}; rows are deleted of tables "
            "that obey it: leave some out (--suppress-rows), or ask for less"
        )


def by_default(problem: Problem, deletion: Deletion, context: Context) -> Found:
    """Run ``subset-dp`` where it takes no time, for k = 2 matching, and else the engine.

    Matching deletes any number of rows.  Where the optimum that it finds deletes few enough it is
    that of a limit, too; where it does not, it still is a lower bound.  The engine gets the time
    that is left where matching did not end, and all of it where that is not to be hoped for.
    """
    instance, k, stop = problem.instance, problem.smallest_class, context.stop
    if instance.distinct <= MOST_DISTINCT and work(instance) <= CHEAP_WORK:
        return by_subsets(problem, deletion, context)
    if not problem.model.size_decides:
        return by_model(problem, deletion, context, "auto")
    if k != 2:
        return by_search(problem, deletion, context)
    left = stop.left()
    if k * instance.distinct > PACE * HALF * left:
        return by_search(problem, deletion, context, "auto")
    part = replace(context, stop=Share.of(stop, HALF * left))
    free = by_folding(problem, replace(deletion, most=None), "auto", part)
    fits = (~free.kept).sum() <= deletion.limit(instance.rows)
    if fits and not part.stop.now():
        return free
    found = by_search(problem, deletion, context, "auto")
    bound = max(found.bound, free.bound)
    if fits and cost_of(problem, free.classes, deletion) < cost_of(
        problem, found.classes, deletion
    ):
        found = replace(found, classes=free.classes, method=free.method)
    return replace(found, bound=bound)


def run(problem: Problem, deletion: Deletion, method: str | Solver, context: Context) -> Found:
    """Run the method."""
    if method == "auto":
        return by_default(problem, deletion, context)
    name = by_id(method).id if isinstance(method, str) else method.id
    if name == "subset-dp":
        return by_subsets(problem, deletion, context)
    if name == "pattern-milp":
        return by_patterns(problem, deletion, context)
    if not problem.model.size_decides:
        if name != "engine":
            raise OutOfScopeError(
                f"method {name!r} deletes rows under k-anonymity alone; use one of "
                f"{', '.join(LIMITED)}"
            )
        return by_model(problem, deletion, context)
    if name == "engine":
        return by_search(problem, deletion, context)
    rows = problem.instance.rows
    if deletion.limit(rows) < rows:
        raise OutOfScopeError(
            f"method {name!r} deletes any number of rows or none; use one of "
            f"{', '.join(LIMITED)}, or leave most away"
        )
    return by_folding(problem, deletion, method, context)


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
    kept = [side for side in sides if (side != DELETED).any()]  # none: a limit may forbid that
    best = min(kept, key=lambda side: cost_of(problem, side, deletion), default=sides[0])
    return Found(best, -(-solved.bound // k), solved.method, solved.ended)


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
    scaled, unit = patterns.scaled(deletion.price)
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
    classes = columns.spread(instance, taken, DELETED)
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
