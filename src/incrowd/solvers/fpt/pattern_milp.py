"""Exact integer programming over patterns: k-anonymity and the linear l-diversities."""

from dataclasses import dataclass

from incrowd.problem.problem import Problem
from incrowd.reduce.chain import Level, presolve
from incrowd.solvers.base import Context, Outcome, Scope
from incrowd.solvers.fpt.laws import LINEAR, refuse_bent
from incrowd.solvers.fpt.patterns import effort
from incrowd.solvers.fpt.program import optimise_reduced

MOST_EFFORT = 4_000_000


@dataclass(frozen=True, kw_only=True)
class PatternMILP:
    """One class per closed pattern, x(r, p) copies of row r in it; solved with HiGHS.

    The program's size depends on the distinct rows and the patterns alone, not on how many
    copies there are: fixed-parameter tractable in (values, columns), like the resolution vectors
    of Bonizzoni et al. §4, and the form of that method that works in practice.
    """

    reductions: Level = "all"

    id = "pattern-milp"
    guarantee = "exact"
    scope = Scope(models=LINEAR, size=f"level combinations × distinct rows ≤ {MOST_EFFORT:,}")
    source = "Bonizzoni et al. 2009, §4, as an integer program; Liang & Yuan 2012, Theorem 9"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse models that are not linear, and too many patterns."""
        laws = problem.model.linear(problem.table)
        if laws is None:
            return refuse_bent(problem)
        if laws.closeness:
            return "t-closeness needs transport variables; use closeness-milp"
        size = effort(presolve(problem, self.reductions).problem.instance)
        if size > MOST_EFFORT:
            return (
                f"level combinations × distinct rows = {size:,}, more than {MOST_EFFORT:,}; "
                f"use engine, or fewer columns, levels or rows"
            )
        return None

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Solve; bound = cost when HiGHS finishes, else its proven bound."""
        return optimise_reduced(problem, self.reductions, context)
