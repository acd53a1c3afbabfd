"""The one driver: choose a solver, run it, re-check what it returns, say what is known."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from incrowd.bounds.leaf_costs import averaged
from incrowd.bounds.prices import Prices
from incrowd.driver.every import every_release
from incrowd.driver.memory import within_memory
from incrowd.driver.unions import mended
from incrowd.errors import NoLawfulReleaseError, StoppedError, VerificationError
from incrowd.hierarchy.family import costs_to_keep
from incrowd.privacy.model import essential
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.base import Reduced
from incrowd.reduce.chain import presolve
from incrowd.reduce.copies import most_impure, without
from incrowd.reduce.leaf_costs import served_apart
from incrowd.run.stop import watched
from incrowd.solvers.base import Context, Outcome, Solver, insist
from incrowd.solvers.catalog import by_id
from incrowd.solvers.exact.submultisets import work
from incrowd.solvers.fpt.patterns import effort
from incrowd.solvers.portfolio import two_anonymous
from incrowd.text.units import Status, counted, gap_of, status_of

MOST_DISTINCT = 22  # rows beyond which subset-dp is not even considered
CHEAP_WORK = 3**17  # pairs of subsets that auto gives to subset-dp: well under a second
# distinct rows, and level combinations for each of them, of tables that auto gives to pattern-milp:
# seconds, without a kernel to compile
TINY, TINY_EFFORT = 30, 20_000
MANY_COPIES = 1_000  # copies from which it pays to ask how many of them matter
HELPED_BY_FEWER_COPIES = ("engine",)


@dataclass(frozen=True, eq=False)
class Solved:
    """A lawful solution and what is known about it.

    Attributes
    ----------
    solution: re-checked here: every class lawful, cost recomputed.
    cost, bound: in units of 1/Instance.scale; ``bound`` is proven.
    method: id of the solver whose release it is.
    ended: why it ended, see ``Outcome.ended``.
    prices, lawful: the certificate behind the bound, where there is one, see ``Outcome``.
    """

    solution: Solution
    cost: int
    bound: int
    method: str
    ended: str
    prices: Prices | None = None
    lawful: Prices | None = None

    @property
    def gap(self) -> float:
        """(cost − bound) / cost; 0 for a release that costs nothing."""
        return gap_of(self.cost, self.bound)

    @property
    def status(self) -> Status:
        """``"optimal"`` exactly when ``bound == cost``, else ``"feasible"``."""
        return status_of(self.cost, self.bound)


def solve(
    problem: Problem, method: str | Solver = "auto", context: Context | None = None
) -> Solved:
    """Find a lawful solution of ``problem`` with a lower bound beside it.

    Parameters
    ----------
    method: ``"auto"``, the id of a solver in ``incrowd.solvers.catalog``, or a solver value.

    Raises
    ------
    NoLawfulReleaseError: no release can obey the model.
    OutOfScopeError: the method does not serve this problem; says which one does.
    StoppedError: the run ended before any lawful solution was found.
    """
    context = context or Context()
    if problem.instance.rows == 0:
        empty = Solution(problem.instance, np.zeros(0, np.int64))
        asked = "auto" if method == "auto" else choose(problem, method).id
        return Solved(empty, 0, 0, asked, "finished")
    require_lawful_table(problem)
    if (alone := rows_alone(problem, method)) is not None:
        return alone
    needed, apart = served_apart(matched(problem))
    solver = choose(needed, method)
    insist(solver, needed)
    one = np.zeros(problem.instance.rows, np.int64)
    if problem.one_class and problem.lawful_classes(one).all():
        return recheck(problem, solver, together(problem))
    auto = method == "auto"
    with watched(context.stop):
        outcome, solver = within_memory(partial(run_one, auto), needed, solver, context, auto)
    if not needed.model.closed_under_union:
        outcome = replace(outcome, solution=as_published(needed, outcome.solution))
    if outcome.solution is None:
        raise StoppedError(
            f"method {solver.id!r} ended ({outcome.ended}) before it found any lawful release; "
            "give it more time, or use --method auto, whose first release comes at once"
        )
    if apart is not None:
        require_same_table(needed, solver, outcome.solution)
        outcome = replace(
            outcome,
            solution=apart.lift(outcome.solution),
            prices=averaged(outcome.prices, apart),
            lawful=averaged(outcome.lawful, apart),
        )
    return recheck(problem, solver, outcome)


def as_published(problem: Problem, solution: Solution | None) -> Solution:
    """Return a release whose classes are lawful as a reader sees them.

    Raises
    ------
    NoLawfulReleaseError: none was found; says whether that is proven.
    """
    if solution is None:
        solution = Solution(problem.instance, np.zeros(problem.instance.rows, np.int64))
    found = mended(problem, solution)
    if found is not None:
        return found
    tried = every_release(problem)
    if tried.solution is not None:
        return tried.solution
    broken = problem.model.how_broken(problem.table, problem.sensitive)
    if tried.none:
        raise NoLawfulReleaseError(
            f"no release obeys {problem.asked} (proven: all were tried): the whole table as one "
            f"class breaks it{broken}, and so does every way to part the table"
        )
    raise NoLawfulReleaseError(
        f"no release was found that obeys {problem.asked}: the whole table as one class breaks "
        f"it{broken}. It is not proven that there is none, for parts of the table may obey what "
        "the whole does not"
    )


def rows_alone(problem: Problem, method: str | Solver) -> Solved | None:
    """Return all rows as they are, where that is lawful and values cost something though they stay.

    Every row pays at least for its own values, so these prices prove that it is an optimum.
    """
    instance, model = problem.instance, problem.model
    if not any(map(costs_to_keep, instance.trees)):
        return None
    if not (model.size_decides and problem.smallest_class < 2):
        return None
    solution = Solution(instance, instance.copies)
    prices = Prices(solution.class_costs, 1)
    outcome = Outcome(solution, prices.bound(instance.counts), prices=prices)
    return recheck(problem, choose(problem, method), outcome)


def together(problem: Problem) -> Outcome:
    """Return the release of all rows in one class, the only lawful one, so its cost is its bound.

    Without prices: those that prove it hold for classes of all rows of this table alone.
    """
    solution = Solution(problem.instance, np.zeros(problem.instance.rows, np.int64))
    return Outcome(solution, solution.cost)


def run_one(
    auto: bool, problem: Problem, solver: Solver, context: Context
) -> tuple[Outcome, Solver]:
    """Run one solver; where ``auto`` chose matching, the engine stands by."""
    if auto and solver.id == "simplex-matching":
        return two_anonymous(problem, context)
    return run_on_fewer_copies(problem, solver, context), solver


def matched(problem: Problem) -> Problem:
    """Return the problem as methods see it: without a k that the other models imply."""
    return replace(problem, model=essential(problem.model, problem.table))


def choose(problem: Problem, method: str | Solver) -> Solver:
    """Return the solver that ``method`` names; ``"auto"`` picks one."""
    if not isinstance(method, str):
        return method

    if method != "auto":
        return by_id(method)
    if problem.instance.rows:
        problem = matched(problem)
    for candidate in ("subset-dp", "pattern-milp", "simplex-matching", "engine", "mondrian"):
        solver = by_id(candidate)
        if is_cheap_here(problem, candidate) and solver.refuse(problem) is None:
            return solver
    return by_id("engine")


def is_cheap_here(problem: Problem, solver_id: str) -> bool:
    """Whether ``auto`` should consider the solver for a problem of this size."""
    if solver_id == "pattern-milp":
        instance = problem.instance
        if problem.model.size_decides and problem.smallest_class == 2:
            return False  # matching is as quick there, and has prices
        return instance.distinct <= TINY and effort(instance) <= TINY_EFFORT
    if solver_id != "subset-dp":
        return True
    if problem.instance.distinct > MOST_DISTINCT:
        return False

    return work(presolve(problem, "all").problem.instance) <= CHEAP_WORK


def run_on_fewer_copies(problem: Problem, solver: Solver, context: Context) -> Outcome:
    """Run the solver on a table whose rows have no more copies than matter, and undo that.

    The engine's time grows with the number of copies.  A row keeps at least k of them, so its
    patterns have as much support as before and the k highest prices of each stay the same: prices
    for the smaller table are prices for the table.
    """
    if solver.id not in HELPED_BY_FEWER_COPIES:
        return solver.run(problem, context)
    reduced = fewer_copies(problem)
    outcome = solver.run(reduced.problem, context)
    if outcome.solution is None or reduced.problem is problem:
        return outcome
    require_same_table(reduced.problem, solver, outcome.solution)
    return replace(outcome, solution=reduced.lift(outcome.solution))


def fewer_copies(problem: Problem) -> Reduced:
    """Set aside the copies of very frequent rows that some optimum leaves as they are.

    As ``TightThreshold``, with one more bound on the copies of a row in impure classes: each such
    class can be cut to k rows, one of which is not a copy of the row (step 1 there).
    """
    instance = problem.instance
    removed = np.zeros(instance.distinct, np.int64)
    if problem.model.size_decides:
        k = problem.smallest_class
        for row in np.flatnonzero(instance.counts >= max(MANY_COPIES, 3 * k)):
            count = int(instance.counts[row])
            most = (k - 1) * (instance.rows - count)
            if count < most + 2 * k:
                most = min(most, most_impure(instance, int(row), k))
            if count >= most + 2 * k:
                removed[row] = count - most - k
    return without(problem, removed)


def require_enough(rows: int, k: int) -> None:
    """Raise NoLawfulReleaseError for a table of fewer than k rows."""
    if rows < k:
        raise NoLawfulReleaseError(
            f"k = {k} is larger than the table, which has {counted(rows, 'row')}: nobody in it "
            f"can hide among {k}; use k ≤ {rows} or more rows"
        )


def require_lawful_table(problem: Problem) -> None:
    """Raise when no release can obey the model.

    All models here are closed under union or have the whole table as their loosest class, so a
    lawful release exists exactly when the table as one class is lawful.
    """
    model, rows, k = problem.model, problem.instance.rows, problem.smallest_class
    if model.size_decides:
        require_enough(rows, k)
    if model.closed_under_union and not problem.lawful_together:
        raise NoLawfulReleaseError(
            f"no release obeys {problem.asked}: even the whole table as one "
            "class breaks it" + model.how_broken(problem.table, problem.sensitive)
        )


def recheck(problem: Problem, solver: Solver, outcome: Outcome) -> Solved:
    """Check the solver's claim."""
    solution = outcome.solution
    assert solution is not None
    require_same_table(problem, solver, solution)
    if not problem.lawful_classes(solution.classes).all():
        raise VerificationError(
            f"method {solver.id!r} returned a class that breaks {problem.asked}"
        )
    cost = solution.cost
    if outcome.bound > cost:
        raise VerificationError(
            f"method {solver.id!r} claims the bound {outcome.bound} above its own cost {cost}"
        )
    return Solved(
        solution, cost, outcome.bound, outcome.by or solver.id, outcome.ended,
        outcome.prices, outcome.lawful,
    )  # fmt: skip


def require_same_table(problem: Problem, solver: Solver, solution: Solution) -> None:
    """Raise unless the solution assigns each copy of this very table to a class, densely."""
    classes, rows = solution.classes, problem.instance.rows
    if solution.instance is not problem.instance or classes.shape != (rows,):
        raise VerificationError(f"method {solver.id!r} returned a solution of another table")
    if not (classes.min() >= 0 and classes.max() < rows and np.bincount(classes).all()):
        raise VerificationError(
            f"method {solver.id!r} returned classes that are not numbered 0, 1, …"
        )
