"""Solve a problem whose rows may be deleted: by which method, and what is known of the result."""

from dataclasses import replace

from incrowd.bounds.leaf_costs import averaged
from incrowd.deletion.exact import by_patterns, by_subsets
from incrowd.deletion.folded import by_folding
from incrowd.deletion.found import Found, cost_of, rechecked
from incrowd.deletion.search import by_search
from incrowd.driver.solve import CHEAP_WORK, MOST_DISTINCT
from incrowd.errors import NoLawfulReleaseError, OutOfScopeError
from incrowd.problem.deletion import Deletion
from incrowd.problem.problem import Problem
from incrowd.reduce.leaf_costs import served_apart
from incrowd.run.stop import Share
from incrowd.solvers.base import Context, Solver
from incrowd.solvers.catalog import LIMITED, by_id
from incrowd.solvers.exact.submultisets import work
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
    OutOfScopeError: the model looks at sensitive values, or the method cannot count deletions.
    NoLawfulReleaseError: deleting every row costs least, or fewer than k rows are there.
    StoppedError: the run ended before any release was found.
    """
    context = context or Context()
    if not problem.model.size_decides:
        raise OutOfScopeError(
            f"rows are deleted under k-anonymity alone, not {problem.asked}: what is left of the "
            "table would be compared with another table, and bounds with it; see --suppress-rows"
        )
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


def by_default(problem: Problem, deletion: Deletion, context: Context) -> Found:
    """Run ``subset-dp`` where it takes no time, for k = 2 matching, and else the engine.

    Matching deletes any number of rows.  Where the optimum that it finds deletes few enough it is
    that of a limit, too; where it does not, it still is a lower bound.  The engine gets the time
    that is left where matching did not end, and all of it where that is not to be hoped for.
    """
    instance, k, stop = problem.instance, problem.smallest_class, context.stop
    if instance.distinct <= MOST_DISTINCT and work(instance) <= CHEAP_WORK:
        return by_subsets(problem, deletion, context)
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
    if name == "engine":
        return by_search(problem, deletion, context)
    rows = problem.instance.rows
    if deletion.limit(rows) < rows:
        raise OutOfScopeError(
            f"method {name!r} deletes any number of rows or none; use one of "
            f"{', '.join(LIMITED)}, or leave most away"
        )
    return by_folding(problem, deletion, method, context)
