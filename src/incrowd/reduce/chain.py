"""The reductions in the order in which they are applied, by level; the shortest ones stand here."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from incrowd.errors import InputError, did_you_mean
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.base import Reduced, Reduction, after, unchanged
from incrowd.reduce.copies import PaperThreshold, TightThreshold

Level = Literal["paper", "all", "none"]


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


REDUCTIONS: dict[Level, tuple[Reduction, ...]] = {
    "none": (),
    "paper": (PaperThreshold(),),
    "all": (MergeDuplicates(), DropConstantColumns(), TightThreshold()),
}


def presolve(problem: Problem, level: Level) -> Reduced:
    """Apply the reductions of ``level``.

    Raises
    ------
    InputError: there is no such level.
    """
    require_level(level)
    done = unchanged(problem)
    for reduction in REDUCTIONS[level]:
        done = after(done, reduction.apply(done.problem))
    return done


def require_level(level: str) -> None:
    """Raise InputError unless ``level`` names a chain of reductions."""
    if level not in get_args(Level):
        raise InputError(
            f"no reductions are called {level!r}{did_you_mean(level, get_args(Level))}"
        )
