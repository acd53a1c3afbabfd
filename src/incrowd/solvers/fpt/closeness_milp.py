"""Exact integer programming with transport variables: t-closeness over any ground metric."""

from dataclasses import dataclass

from incrowd.problem.problem import Problem
from incrowd.reduce.chain import Level, presolve
from incrowd.solvers.base import Context, Outcome, Scope
from incrowd.solvers.fpt.laws import LINEAR, refuse_bent
from incrowd.solvers.fpt.patterns import effort
from incrowd.solvers.fpt.program import optimise_reduced

MOST_EFFORT = 500_000


@dataclass(frozen=True, kw_only=True)
class ClosenessMILP:
    """Liang and Yuan's program: x(v*, v, s) and transports g(v*, i, j), for each attribute.

    Serves several sensitive attributes, and t-closeness together with k-anonymity and the linear
    l-diversities.  Closedness under union lets one class per pattern suffice.
    """

    reductions: Level = "all"

    id = "closeness-milp"
    guarantee = "exact"
    scope = Scope(
        models=("t-closeness", *LINEAR),
        size=f"level combinations × distinct rows × transports ≤ {MOST_EFFORT:,}",
    )
    source = "Liang & Yuan 2012, Theorem 9"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse models that are not linear, and too large programs."""
        laws = problem.model.linear(problem.table)
        if laws is None:
            return refuse_bent(problem)
        if not laws.closeness:
            return "the model has no t-closeness; use pattern-milp"
        sizes = problem.table.sizes
        transports = max(
            sizes[law.attribute] ** (1 if law.distance.all_alike else 2) for law in laws.closeness
        )
        size = effort(presolve(problem, self.reductions).problem.instance) * transports
        if size > MOST_EFFORT:
            return (
                f"level combinations × distinct rows × transports = {size:,}, more than "
                f"{MOST_EFFORT:,}; use engine, or fewer columns, levels, rows or values"
            )
        return None

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Solve; bound = cost when HiGHS finishes, else its proven bound."""
        return optimise_reduced(problem, self.reductions, context)
