"""A search among lawful classes by prices that are known, perhaps from a release on.

As where a table has lost a few rows: where a class is lawful by its own rows, prices of lawful
classes of the whole table hold for those of what is left, and most classes stay good.
"""

import numpy as np

from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.prices import Prices
from incrowd.bounds.pricing import pricing_of
from incrowd.privacy.laws import histogram
from incrowd.privacy.violation import violation
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context
from incrowd.solvers.sensitive.engine import LawfulSearch, Run
from incrowd.solvers.sensitive.schedule import AGAIN, COOL


def resumed(
    problem: Problem,
    prices: Prices,
    context: Context,
    start: Solution | None = None,
    lawful: bool = True,
) -> Solution:
    """Return a lawful release; one that costs no more than ``start``, where that is given.

    prices: of the distinct rows.  lawful: whether they are those of lawful classes, which list
        candidates; else the joins of near rows are the candidates.

    Raises
    ------
    OutOfScopeError: no integer law can hold the model's parameters.
    """
    run = Run(LawfulSearch(), problem, context)
    bounds, moves = run.bounds, run.moves
    bounds.price, bounds.wide = prices.price / prices.quantum, not lawful
    if lawful:
        bounds.tree = LawfulTree(problem.instance, *pricing_of(problem), context.stop)
    if start is None:
        run.search()
    elif not obeys(run, start):  # the laws of the search may be stricter than the model
        return start
    else:
        moves.own = run.progress.best = start
        listed = run.among_near() if bounds.wide else run.widened(run.candidates()[0])
        moves.again(listed, AGAIN, COOL)
    return run.progress.best


def obeys(run: Run, solution: Solution) -> bool:
    """Whether all classes obey the laws of the search."""
    order, starts = solution.order
    places = run.rules.places[run.instance.copies[order]]
    return not any(
        violation(run.rules.laws, histogram(run.rules.laws, each), len(each))
        for each in np.split(places, starts[1:])
    )
