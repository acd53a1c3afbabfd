"""Datafly: generalize the column with most values until few rows stand out (Sweeney 1998)."""

from dataclasses import dataclass

import numpy as np

from incrowd.hierarchy.family import no_ranges, trees_of
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context, Outcome, Scope, refuse_open_models
from incrowd.solvers.baseline.first import first_release
from incrowd.solvers.baseline.full_domain import FullDomain


@dataclass(frozen=True, kw_only=True)
class Datafly:
    """Greedy full-domain generalization.

    Attributes
    ----------
    suppression: the largest share of rows that may be suppressed whole.
    """

    suppression: float = 0.05

    id = "datafly"
    guarantee = "none"
    scope = Scope(models=("any closed under union",))
    source = "Sweeney 1998"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse models under which the whole table need not be a lawful class."""
        whole = no_ranges(problem.instance.trees, "a method that generalizes whole columns")
        return refuse_open_models(problem) or whole

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Climb until the rows outside lawful groups are few enough."""
        if not problem.lawful_together:
            return Outcome(None)
        view = FullDomain(problem, self.suppression)
        instance = problem.instance
        columns = tuple(range(instance.columns))
        levels = [0] * instance.columns
        while not view.holds(columns, tuple(levels)):
            if context.stop.now():
                return Outcome(first_release(problem), 0, context.stop.why())
            values = [
                len(np.unique(tree.node[levels[j]][instance.codes[:, j]]))
                if levels[j] + 1 < tree.levels
                else -1
                for j, tree in enumerate(trees_of(instance.trees, self.id))
            ]
            levels[int(np.argmax(values))] += 1
            context.tell(f"levels {'/'.join(map(str, levels))}")
        return Outcome(view.release(tuple(levels)))
