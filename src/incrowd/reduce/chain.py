"""The reductions in the order in which they are applied, by level."""

from typing import Literal, get_args

from incrowd.errors import InputError, did_you_mean
from incrowd.problem.problem import Problem
from incrowd.reduce.base import Reduced, Reduction, after, unchanged
from incrowd.reduce.columns import DropConstantColumns
from incrowd.reduce.copies import PaperThreshold, TightThreshold
from incrowd.reduce.merge import MergeDuplicates

Level = Literal["paper", "all", "none"]

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
