"""All solvers: one tuple, from which every list of methods is derived."""

from dataclasses import replace
from typing import Any

from incrowd.errors import InputError, did_you_mean
from incrowd.reduce.chain import require_level
from incrowd.solvers.approx.factor_1_2 import Factor12
from incrowd.solvers.approx.forest import Forest
from incrowd.solvers.approx.m_approximation import MApproximation
from incrowd.solvers.approx.starred_set import StarredSet
from incrowd.solvers.approx.two_factor import TwoFactor
from incrowd.solvers.base import Solver
from incrowd.solvers.baseline.datafly import Datafly
from incrowd.solvers.baseline.incognito import Incognito
from incrowd.solvers.baseline.k_member import KMember
from incrowd.solvers.baseline.mondrian import Mondrian
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.exact.split_recursion import SplitRecursion
from incrowd.solvers.exact.subset_convolution import SubsetConvolution
from incrowd.solvers.exact.subset_dp import SubsetDP
from incrowd.solvers.fpt.budget_kernel import BudgetKernel
from incrowd.solvers.fpt.closeness_milp import ClosenessMILP
from incrowd.solvers.fpt.kernel import Kernel
from incrowd.solvers.fpt.pattern_milp import PatternMILP
from incrowd.solvers.fpt.resolution_vectors import ResolutionVectors
from incrowd.solvers.fpt.two_columns import TwoColumns
from incrowd.solvers.matching.solver import SimplexMatching, TwoDiversity

SOLVERS: tuple[Solver, ...] = (
    Engine(),
    SubsetDP(),
    SplitRecursion(),
    SubsetConvolution(),
    SimplexMatching(),
    TwoDiversity(),
    Kernel(),
    ResolutionVectors(),
    TwoColumns(),
    BudgetKernel(),
    PatternMILP(),
    ClosenessMILP(),
    Forest(),
    Factor12(),
    TwoFactor(),
    MApproximation(),
    StarredSet(),
    Mondrian(),
    KMember(),
    Datafly(),
    Incognito(),
)

LIMITED = ("engine", "subset-dp", "pattern-milp")  # that delete up to so many rows
WISHES = ("best", "fast", "fastest", "optimal", "exact", "automatic", "default")
"""What people ask for who know no method; none of these is a method written wrongly."""
ALIASES = {"sensitive-engine": "engine"}  # ids of before that are still accepted


def by_id(solver_id: str) -> Solver:
    """Return the solver with this id, or with the one that took its place.

    Raises
    ------
    InputError: there is none; names the nearest.
    """
    for solver in SOLVERS:
        if solver.id == ALIASES.get(solver_id, solver_id):
            return solver
    ids = [solver.id for solver in SOLVERS]
    hint = "" if solver_id.casefold() in WISHES else did_you_mean(solver_id, ids)
    raise InputError(
        f"no method is called {solver_id!r}{hint}; auto, the default, takes what suits the table, "
        "and incrowd methods lists all"
    )


def aliases_of(solver: Solver) -> list[str]:
    """Return the other ids that name the solver."""
    return [alias for alias, solver_id in ALIASES.items() if solver_id == solver.id]


def has_reductions(solver: Solver) -> bool:
    """Whether the solver reduces the table before it starts, by a level that can be chosen."""
    return hasattr(solver, "reductions")


def with_reductions(method: str | Solver, level: str | None) -> str | Solver:
    """Return a solver that applies the reductions of ``level``: "paper", "all" or "none".

    Without a level it is the method as it is given.

    Raises
    ------
    InputError: no method is named, or one that has no reductions; or there is no such level.
    """
    if level is None:
        return method
    require_level(level)
    solver = None if method == "auto" else by_id(method) if isinstance(method, str) else method
    if solver is None or not has_reductions(solver):
        able = ", ".join(each.id for each in SOLVERS if has_reductions(each))
        what = "auto chooses its own" if solver is None else f"method {solver.id!r} has none"
        raise InputError(f"reductions {level!r}: {what}; the methods that have them are {able}")
    configurable: Any = solver
    return replace(configurable, reductions=level)


def deletes(solver: Solver) -> str:
    """Say how many rows a method deletes where it may; empty where it deletes none.

    Those of ``LIMITED`` know of deletions, the others solve ``incrowd.deletion.solving`` tables.
    """
    if solver.id in LIMITED:
        return "any number of rows, or a limited one"
    if solver.id == TwoColumns.id:
        return "any number of rows, of one column"
    first = solver.scope.models[0]
    return "any number of rows" if first.startswith("any") or first.endswith("-anonymity") else ""
