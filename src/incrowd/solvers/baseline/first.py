"""A lawful release at once, for runs that are stopped before their method has one."""

from incrowd.problem import Problem
from incrowd.solution import Solution
from incrowd.solvers.base import Context
from incrowd.solvers.baseline.mondrian import Mondrian
from incrowd.stop import Stop

GRACE = 2.0  # seconds


def first_release(problem: Problem) -> Solution | None:
    """Return what Mondrian finds in a moment, or None when the table itself is not lawful.

    Time is up when this is called, so it gets a short grace; its first part is the whole table.
    """
    solver = Mondrian()
    if solver.refuse(problem) is not None:
        return None
    return solver.run(problem, Context(stop=Stop(GRACE))).solution
