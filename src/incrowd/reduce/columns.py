"""Drop columns in which all rows agree: no class ever pays for them."""

from dataclasses import dataclass, replace

import numpy as np

from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.base import Reduced, unchanged


@dataclass(frozen=True)
class DropConstantColumns:
    """Remove every column with a single value; any model."""

    id = "constant-columns"
    source = "a column in which all rows agree is never changed"

    def apply(self, problem: Problem) -> Reduced:
        """Keep the columns that vary, and at least one."""
        instance = problem.instance
        if instance.distinct == 0 or instance.columns < 2:
            return unchanged(problem)
        varies = (instance.codes != instance.codes[0]).any(axis=0)
        if varies.all():
            return unchanged(problem)
        varies[0] |= not varies.any()
        keep = np.flatnonzero(varies)
        codes = np.ascontiguousarray(instance.codes[:, keep])
        smaller = replace(instance, codes=codes, trees=tuple(instance.trees[j] for j in keep))
        # Rows stay sorted and different, so copies keep their numbers.
        return Reduced(
            Problem(smaller, problem.model), lambda solution: Solution(instance, solution.classes)
        )
