"""A lawful release at once, for runs that are stopped before their method has one."""

from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.events import Listener, silent
from incrowd.run.stop import Share, Stop
from incrowd.solvers.base import Context
from incrowd.solvers.baseline.mondrian import Mondrian

GRACE = 2.0  # seconds
BESIDE = 0.1  # share of the time left that a release to compare with may take


def first_release(problem: Problem) -> Solution | None:
    """Return what Mondrian finds in a moment, or None when the table itself is not lawful.

    Time is up when this is called, so it gets a short grace; its first part is the whole table.
    """
    solver = Mondrian()
    if solver.refuse(problem) is not None:
        return None
    return solver.run(problem, Context(stop=Stop(GRACE))).solution


def release_beside(problem: Problem, stop: Stop, listener: Listener = silent) -> Solution | None:
    """Return Mondrian's release to compare a search with, or None where there is none.

    Takes a share of the time left; the usual grace where nothing is left.
    """
    solver = Mondrian()
    if stop.now() or solver.refuse(problem) is not None:
        return first_release(problem)
    share = Share.of(stop, max(GRACE, BESIDE * stop.left()))
    return solver.run(problem, Context(stop=share, listener=listener)).solution
