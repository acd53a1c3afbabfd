"""What a reduction is: it shrinks a problem and lifts solutions back, and keeps the optimum."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution


@dataclass(frozen=True, eq=False)
class Reduced:
    """A smaller problem with the same optimal cost, and the way back.

    Attributes
    ----------
    problem: the reduced problem.
    lift: turns a lawful solution of it into a lawful solution of the original problem that costs
        no more.  Both problems have the same optimal cost, so lower bounds carry over unchanged.
    """

    problem: Problem
    lift: Callable[[Solution], Solution]


@dataclass(frozen=True, eq=False)
class Split:
    """Smaller problems whose optimal costs add up to that of the whole, and the way back.

    Attributes
    ----------
    problems: the parts; lower bounds on them add up, too.
    lift: turns lawful solutions of all parts into one of the whole that costs no more.
    """

    problems: tuple[Problem, ...]
    lift: Callable[[Sequence[Solution]], Solution]


class Reduction(Protocol):
    """One reduction: a frozen value with an id, a source and one method.

    One that takes a problem apart returns a ``Split`` in place of ``Reduced``.
    """

    @property
    def id(self) -> str: ...
    @property
    def source(self) -> str: ...

    def apply(self, problem: Problem) -> Reduced:
        """Return the reduced problem; the same problem when there is nothing to do."""
        ...


def unchanged(problem: Problem) -> Reduced:
    """Return the problem itself."""
    return Reduced(problem, lambda solution: solution)


def after(first: Reduced, second: Reduced) -> Reduced:
    """Compose: ``second`` was applied to ``first.problem``."""
    return Reduced(second.problem, lambda solution: first.lift(second.lift(solution)))
