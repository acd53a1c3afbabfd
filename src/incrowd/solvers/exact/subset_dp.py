"""Exact dynamic programming over subsets, by the lowest row that is still free."""

from dataclasses import dataclass

import numpy as np

from incrowd.presolve.chain import Level, presolve
from incrowd.problem import Problem
from incrowd.solution import Solution
from incrowd.solvers.base import Context, Outcome, Scope
from incrowd.solvers.baseline.first import first_release
from incrowd.solvers.exact.submultisets import (
    MOST_DISTINCT,
    SIZE,
    assign,
    enumerate_submultisets,
    too_big,
)

BLOCK = 1 << 12  # sub-multisets between two looks at the clock


@dataclass(frozen=True, kw_only=True)
class SubsetDP:
    """OPT(S) = min over lawful classes C ∋ lowest row of S of |C|·cost(join C) + OPT(S∖C).

    Copies of one row are alike, so S ranges over sub-multisets: ∏(copies + 1) states.  Serves any
    model at all: it tries every partition, and asks the model about every histogram once.
    """

    reductions: Level = "all"

    id = "subset-dp"
    guarantee = "exact"
    scope = Scope(models=("any",), hierarchies=True, rows=MOST_DISTINCT, size=SIZE)
    source = "dynamic programming over subsets; compare Blocki & Williams 2010, Theorem 3"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse tables with too many sub-multisets."""
        if too_big(presolve(problem, self.reductions).problem.instance):
            return (
                f"it goes through all subsets of the {problem.instance.distinct} distinct rows, "
                "and can do so up to about 19; use pattern-milp or engine"
            )
        return None

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Fill the table of optima; returns bound = cost when it finishes."""
        from incrowd.solvers.exact.submultiset_kernels import lowest_row_dp

        reduced = presolve(problem, self.reductions)
        context.tell("pricing subsets")
        parts = enumerate_submultisets(reduced.problem, context.stop)
        if parts is None:
            return Outcome(first_release(problem), 0, context.stop.why())
        number = len(parts.size)
        best = np.full(number, -1, np.int64)
        choice = np.zeros(number, np.int64)
        best[0] = 0
        for first in range(0, number, BLOCK):
            if context.stop.now():
                return Outcome(first_release(problem), 0, context.stop.why())
            end = min(first + BLOCK, number)
            lowest_row_dp(parts.counts, parts.place, parts.price, best, choice, first, end)
            context.tell("subsets", share=end / number)
        if best[-1] < 0:
            return Outcome(None)
        chosen = []
        rest = number - 1
        while rest:
            chosen.append(int(choice[rest]))
            rest -= chosen[-1]
        solution: Solution = reduced.lift(assign(reduced.problem, parts, chosen))
        return Outcome(solution, int(best[-1]))
