"""The one driver: choose a solver, run it, re-check what it returns, say what is known."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from incrowd.errors import NoLawfulReleaseError, StoppedError, VerificationError
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.solution import Solution
from incrowd.solvers.base import Context, Outcome, Prices, Problem, Solver, insist

Status = Literal["optimal", "feasible"]


@dataclass(frozen=True, eq=False)
class Solved:
    """A lawful solution and what is known about it.

    Attributes
    ----------
    solution: re-checked here: every class lawful, cost recomputed.
    cost, bound: in units of 1/Instance.scale; ``bound`` is proven.
    status: ``"optimal"`` exactly when ``bound == cost``.
    method: id of the solver that ran.
    ended: why it ended, see ``Outcome.ended``.
    prices: the certificate behind the bound, where there is one.
    """

    solution: Solution
    cost: int
    bound: int
    status: Status
    method: str
    ended: str
    prices: Prices | None = None

    @property
    def gap(self) -> float:
        """(cost − bound) / cost; 0 for a release that costs nothing."""
        return (self.cost - self.bound) / self.cost if self.cost else 0.0


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
        return Solved(
            empty, 0, 0, "optimal", "auto" if isinstance(method, str) else method.id, "finished"
        )
    require_lawful_table(problem)
    solver = choose(problem, method)
    insist(solver, problem)
    outcome = solver.run(problem, context)
    if outcome.solution is None:
        raise StoppedError(
            f"method {solver.id!r} ended ({outcome.ended}) before it found any lawful release; "
            "give it more time, or use --method auto, whose first release comes at once"
        )
    return recheck(problem, solver, outcome)


def choose(problem: Problem, method: str | Solver) -> Solver:
    """Return the solver that ``method`` names; ``"auto"`` picks one."""
    if not isinstance(method, str):
        return method
    from incrowd.solvers.catalog import by_id

    if method != "auto":
        return by_id(method)
    for candidate in ("subset-dp", "simplex-matching", "engine", "sensitive-engine", "mondrian"):
        solver = by_id(candidate)
        if is_cheap_here(problem, candidate) and solver.refuse(problem) is None:
            return solver
    return by_id("engine")


def is_cheap_here(problem: Problem, solver_id: str) -> bool:
    """Whether ``auto`` should consider the solver for a problem of this size."""
    if solver_id == "subset-dp":
        return problem.instance.rows <= 14
    return solver_id != "simplex-matching"


def require_lawful_table(problem: Problem) -> None:
    """Raise when no release can obey the model.

    All models here are closed under union or have the whole table as their loosest class, so a
    lawful release exists exactly when the table as one class is lawful.
    """
    model, rows = problem.model, problem.instance.rows
    if isinstance(model, KAnonymity) and rows < model.k:
        raise NoLawfulReleaseError(
            f"k = {model.k} is larger than the table, which has {rows} rows: nobody in it can "
            f"hide among {model.k}; use k ≤ {rows} or more rows"
        )
    if model.closed_under_union and not model.lawful(problem.table, problem.table):
        raise NoLawfulReleaseError(
            f"no release obeys {model.name}: even the whole table as one class breaks it"
        )


def recheck(problem: Problem, solver: Solver, outcome: Outcome) -> Solved:
    """Check the solver's claim; a solver never sets the status itself."""
    solution = outcome.solution
    assert solution is not None
    if solution.instance is not problem.instance or len(solution.classes) != problem.instance.rows:
        raise VerificationError(f"method {solver.id!r} returned a solution of another table")
    model = problem.model
    if isinstance(model, KAnonymity):
        lawful = bool((solution.sizes >= model.k).all())
    else:
        order = np.argsort(solution.classes, kind="stable")
        parts = np.split(order, np.cumsum(solution.sizes)[:-1])
        table = problem.table
        lawful = all(model.lawful(problem.group(part), table) for part in parts)
    if not lawful:
        raise VerificationError(f"method {solver.id!r} returned a class that breaks {model.name}")
    cost = solution.cost
    if outcome.bound > cost:
        raise VerificationError(
            f"method {solver.id!r} claims the bound {outcome.bound} above its own cost {cost}"
        )
    status: Status = "optimal" if outcome.bound == cost else "feasible"
    return Solved(solution, cost, outcome.bound, status, solver.id, outcome.ended, outcome.prices)
