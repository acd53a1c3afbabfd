"""The program with odd sets, led to a vertex: the exact value, and few penalties.

Steps come near the optimum soon and then hover about it.  Where the rows are few a simplex method
ends what they have begun: from the classes at hand, and those that its prices call for.
"""

import numpy as np

from incrowd.bounds.odd_sets.program import Program
from incrowd.linear.simplex import Simplex

ROUNDS = 12  # of new classes, at most
NEAR = 1e-5  # cells that the bound may fall short of the value
LEAST_PENALTY = 1e-7


def settle(program: Program) -> None:
    """Take the program to its optimum, as far as there is time."""
    rows, sets = len(program.counts), len(program.members)
    lower = np.concatenate([program.counts, np.full(sets, -np.inf)])
    upper = np.concatenate([np.full(rows, np.inf), program.most])
    simplex = Simplex(lower, upper, program.top)
    for _ in range(ROUNDS):
        known = simplex.columns
        matrix = program.columns(known)
        simplex.add_columns(program.pool.cost[known:], matrix)
        point = simplex.solve(program.stop.left, grown=known > 0)
        if point is None:
            return
        program.price = np.clip(point.y[:rows], 0.0, program.top)
        penalty = np.maximum(-point.y[rows:], 0.0)
        program.penalty = np.where(penalty > LEAST_PENALTY, penalty, 0.0)
        program.pool.share[:], program.value = point.x, point.value
        program.evaluate()
        if program.bound >= program.value - NEAR or program.add_classes() == 0:
            return
