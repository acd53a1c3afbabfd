"""A release of some rows of a problem, and what is known about it."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prices import Prices
from incrowd.errors import NoLawfulReleaseError, VerificationError
from incrowd.problem.deletion import Deletion
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution

Ints = NDArray[np.int64]
DELETED = -1

EVERYTHING = (
    "no release was found that costs less than to delete every row; ask a higher price of a "
    "deleted row (--delete-rows price=…), or set how many may be deleted (most=…)"
)


@dataclass(frozen=True, eq=False)
class Found:
    """Which class each copy belongs to.

    Attributes
    ----------
    classes: int64, shape (rows,): class of each copy, ``DELETED`` for rows left out.
    bound: in units of 1/scale, proven for all releases that may lack rows as asked.
    method, ended: see ``incrowd.driver.solve.Solved``.
    prices: the certificate behind the bound, or None.
    """

    classes: Ints
    bound: int
    method: str
    ended: str
    prices: Prices | None = None

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Whether each copy is released."""
        return self.classes != DELETED


def kept_problem(problem: Problem, kept: NDArray[np.bool_]) -> tuple[Problem, Ints]:
    """Return the problem of some copies, and int64: the copy that each of them becomes there."""
    instance = problem.instance
    row = instance.copies[kept]
    secret = None if instance.sensitive is None else instance.sensitive[row]
    smaller, place = from_codes(instance.codes[row], instance.trees, secret, instance.scale)
    return replace(problem, instance=smaller), place


def cost_of(problem: Problem, classes: Ints, deletion: Deletion) -> int:
    """Return what a release costs, in units of 1/scale: its classes and its deleted rows."""
    kept = classes != DELETED
    return solution_of(problem, classes).cost + deletion.price * int((~kept).sum())


def solution_of(problem: Problem, classes: Ints) -> Solution:
    """Return the classes as a solution of the problem of the rows that are kept.

    Raises
    ------
    NoLawfulReleaseError: none are kept.
    """
    if not (classes != DELETED).any():
        raise NoLawfulReleaseError(EVERYTHING)
    return kept_solution(problem, classes)[0]


def kept_solution(problem: Problem, classes: Ints) -> tuple[Solution, Ints]:
    """Return the solution of the rows that are kept, and int64: the copy of each of them in it."""
    kept = classes != DELETED
    smaller, place = kept_problem(problem, kept)
    of_copy = np.empty(smaller.instance.rows, np.int64)
    of_copy[place] = classes[kept]
    return Solution.of(smaller.instance, of_copy), place


def rechecked(problem: Problem, found: Found, deletion: Deletion) -> int:
    """Return the cost of a release that a method found; raise unless it is as it should be.

    Raises
    ------
    VerificationError: a class is too small, too many rows are deleted, or the bound is too high.
    NoLawfulReleaseError: to delete every row costs no more than the release.
    """
    rows = problem.instance.rows
    gone = int((~found.kept).sum())
    if found.classes.shape != (rows,) or found.classes.min(initial=0) < DELETED:
        raise VerificationError(f"method {found.method!r} returned a solution of another table")
    if deletion.most is not None and gone > deletion.most:
        raise VerificationError(f"method {found.method!r} deleted {gone} rows, too many")
    solution = solution_of(problem, found.classes)
    kept = np.flatnonzero(found.kept)
    number = np.unique(found.classes[kept], return_inverse=True)[1]
    if not problem.lawful_classes(number, kept).all():
        raise VerificationError(
            f"method {found.method!r} returned a class that breaks {problem.asked}"
        )
    cost = solution.cost + deletion.price * gone
    if deletion.limit(rows) == rows and deletion.price * rows <= cost:
        raise NoLawfulReleaseError(EVERYTHING)
    if found.bound > cost:
        raise VerificationError(
            f"method {found.method!r} claims the bound {found.bound} above its own cost {cost}"
        )
    return cost
