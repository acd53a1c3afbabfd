"""What the dynamic programs over sub-multisets share: all but the recurrence."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.interpreted import of_few
from incrowd.problem.problem import Problem
from incrowd.reduce.chain import Level, presolve
from incrowd.solvers.base import Context, Outcome, Scope
from incrowd.solvers.baseline.first import first_release
from incrowd.solvers.exact.submultisets import (
    MOST_DISTINCT,
    SIZE,
    SubMultisets,
    assign,
    enumerate_submultisets,
    too_big,
    work,
)

BLOCK = 1 << 12  # sub-multisets between two looks at the clock
FEW = 3**10  # pairs of them that Python tries sooner than compiled kernels are loaded


@dataclass(frozen=True, kw_only=True)
class DynamicProgram:
    """Every sub-multiset's optimum from those of smaller numbers, the whole table's last."""

    reductions: Level = "all"

    id: ClassVar[str]
    source: ClassVar[str]
    effort: ClassVar[str]  # what it does too much of where there are too many distinct rows
    guarantee = "exact"
    scope = Scope(models=("any",), rows=MOST_DISTINCT, size=SIZE)

    def refuse(self, problem: Problem) -> str | None:
        """Refuse tables with too many sub-multisets."""
        if too_big(presolve(problem, self.reductions).problem.instance):
            many = problem.instance.distinct
            exact = "pattern-milp or " if problem.model.size_decides else ""
            return f"{self.effort.format(many)}; use {exact}engine"
        return None

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Fill the table of optima; returns bound = cost when it finishes."""
        reduced = presolve(problem, self.reductions)
        filled = self.optima(reduced.problem, context)
        if filled is None:
            return Outcome(first_release(problem), 0, context.stop.why())
        parts, best, choice = filled
        if best[-1] < 0:
            return Outcome(None)
        solution = assign(reduced.problem, parts, self.classes(choice))
        return Outcome(reduced.lift(solution), int(best[-1]))

    def optima(
        self, problem: Problem, context: Context
    ) -> tuple[SubMultisets, NDArray[np.int64], NDArray[np.int64]] | None:
        """Return every sub-multiset, its optimum (−1: none is lawful) and a choice of its own.

        None when stopped.
        """
        few = work(problem.instance) <= FEW
        return of_few(few, lambda: self._optima(problem, context))

    def _optima(
        self, problem: Problem, context: Context
    ) -> tuple[SubMultisets, NDArray[np.int64], NDArray[np.int64]] | None:
        context.tell("pricing subsets")
        parts = enumerate_submultisets(problem, context.stop)
        if parts is None:
            return None
        fill, number = self.recurrence(parts), len(parts.size)
        best = np.full(number, -1, np.int64)
        choice = np.zeros(number, np.int64)
        best[0] = 0
        for first in range(0, number, BLOCK):
            if context.stop.now():
                return None
            end = min(first + BLOCK, number)
            fill(best, choice, first, end)
            context.tell("subsets", share=end / number)
        return parts, best, choice

    def recurrence(self, parts: SubMultisets) -> Callable[..., Any]:
        """Return what fills ``best`` and ``choice`` from a first sub-multiset to a last."""
        raise NotImplementedError

    def classes(self, choice: NDArray[np.int64]) -> list[int]:
        """Return the classes of the whole table's optimum."""
        raise NotImplementedError
