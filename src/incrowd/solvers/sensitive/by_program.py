"""The integer program over all closed patterns, where these are few: often the optimum in seconds.

Under a sensitive model prices leave a gap of some per cent that no release closes, and annealing
ends as much above the optimum.  A table of few columns has some hundred patterns, whatever its
number of rows, and HiGHS mostly solves their program at its first node.
"""

import numpy as np

from incrowd.errors import StoppedError
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context, Outcome
from incrowd.solvers.fpt.patterns import closed_patterns, effort
from incrowd.solvers.fpt.program import Limits, optimise_over

# pairs of a row and a pattern, and work of HiGHS: without a time limit, and with one
MOST_PAIRS, WORK = (12_000, 60_000), (60, np.inf)
LOOSE = 4  # times as many pairs as there are, ``effort`` may say


def by_program(
    problem: Problem, known: Solution, context: Context, pairs: tuple[int, int] = MOST_PAIRS
) -> Outcome | None:
    """Return the best release over all patterns, or a bound; None where they are too many.

    Also where the model is not linear, or closeness would add variables for all pairs of values.
    ``known``: the best release so far; without a limit of time the effort is counted.
    """
    instance, laws, stop = problem.instance, problem.model.linear(problem.table), context.stop
    limited = stop.time_limit is not None
    most = pairs[limited]
    if laws is None or laws.closeness or effort(instance) > LOOSE * most:
        return None
    try:
        patterns = closed_patterns(instance, problem.smallest_class, stop)
    except StoppedError:
        return None
    if len(patterns.row) > most:
        return None
    return optimise_over(problem, patterns, laws, context, Limits(WORK[limited], known.cost + 0.5))
