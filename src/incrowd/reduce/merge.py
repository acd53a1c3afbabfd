"""Forget sensitive values that the model does not look at, and merge the duplicates this makes."""

from dataclasses import dataclass, replace

import numpy as np

from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.base import Reduced, unchanged


@dataclass(frozen=True)
class MergeDuplicates:
    """Under k-anonymity rows with equal quasi-identifiers are copies of one row."""

    id = "merge-duplicates"
    source = "k-anonymity does not look at sensitive values"

    def apply(self, problem: Problem) -> Reduced:
        """Drop the sensitive values; rows are sorted, so equal ones stand together."""
        instance = problem.instance
        if instance.sensitive is None or not problem.model.size_decides:
            return unchanged(problem)
        new = np.ones(instance.distinct, bool)
        new[1:] = (instance.codes[1:] != instance.codes[:-1]).any(axis=1)
        starts = np.flatnonzero(new)
        codes = np.ascontiguousarray(instance.codes[starts])
        counts = np.add.reduceat(instance.counts, starts) if len(starts) else instance.counts
        merged = replace(instance, codes=codes, counts=counts, sensitive=None)
        # Copies are numbered row by row and the rows keep their order: the numbers stay.
        return Reduced(
            Problem(merged, problem.model), lambda solution: Solution(instance, solution.classes)
        )
