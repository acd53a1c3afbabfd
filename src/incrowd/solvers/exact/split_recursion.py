"""Exact balanced split recursion (Blocki and Williams, Theorem 3; Liang and Yuan, Theorem 8)."""

from dataclasses import dataclass

import numpy as np

from incrowd.presolve.chain import Level, presolve
from incrowd.problem import Problem
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
class SplitRecursion:
    """OPT(S) is the better of two splits of S.

    1. If one class C of an optimum has more than half the rows: price(C) + OPT(S∖C).
    2. Otherwise its classes fall into two bunches with between a quarter and three quarters of
       the rows each: OPT(T) + OPT(S∖T).

    The papers recurse from the top in polynomial space and time 2^O(n); here every sub-multiset
    is solved once, smallest number first, so that the time is ∏ (c+1)(c+2)/2 ≤ 3^n.
    """

    reductions: Level = "all"

    id = "split-recursion"
    guarantee = "exact"
    scope = Scope(models=("any",), hierarchies=True, rows=MOST_DISTINCT, size=SIZE)
    source = "Blocki & Williams 2010, Theorem 3; Liang & Yuan 2012, Theorem 8"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse tables with too many sub-multisets."""
        if too_big(presolve(problem, self.reductions).problem.instance):
            return (
                f"its time is exponential in the {problem.instance.distinct} distinct rows, and "
                "about 19 can be done; use pattern-milp or engine"
            )
        return None

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Solve every sub-multiset; returns bound = cost when it finishes."""
        from incrowd.solvers.exact.submultiset_kernels import balanced_split_dp

        reduced = presolve(problem, self.reductions)
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
            balanced_split_dp(
                parts.counts, parts.place, parts.size, parts.price, best, choice, first, end
            )
            context.tell("splits", share=end / number)
        if best[-1] < 0:
            return Outcome(None)
        chosen, todo = [], [number - 1]
        while todo:
            whole = todo.pop()
            part = int(choice[whole])
            if part < 0:
                chosen.append(-part)
            else:
                todo.append(part)
            rest = whole - abs(part)
            if rest:
                todo.append(rest)
        return Outcome(reduced.lift(assign(reduced.problem, parts, chosen)), int(best[-1]))
