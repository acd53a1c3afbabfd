"""The search from prices, and a release, that are known: near classes trade rows.

As where rows may be deleted, which asks for prices before anything else.
"""

from incrowd.bounds.prices import Prices
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.engine.near_classes import NearClasses
from incrowd.solvers.engine.search import Search
from incrowd.solvers.progress import Progress


def resumed(problem: Problem, prices: Prices, context: Context, start: Solution) -> Solution:
    """Return a k-anonymous release that costs no more than ``start``.

    prices: of the distinct rows; those by groups of columns or by rows are of tables too wide for
        patterns, where blocks of rows follow trades.
    """
    progress = Progress(context, start)
    search = Search(Engine(), problem.instance, problem.smallest_class, progress)
    search.price, search.priced = prices.price / prices.quantum, True
    search.wide = prices.wide
    near = NearClasses(search)
    near.trade()
    if search.wide:
        near.repartition()
    return progress.best
