"""Rows deleted where a class has to obey more than a size: diversity, people.

Which classes are lawful must depend on their own rows alone, not on the table: then the classes of
a release that lacks rows are lawful classes of the whole table, and prices for these bound it
(``incrowd.bounds.deletion``).  All of them have as many rows as the model's smallest class, so
prices for classes of that size do too, and these a proof can state.

A release of all rows comes first, and one of those that the search under k-anonymity keeps.  Of the
cheaper one rows go whose deletion costs less than what the rest of their class saves by it, the
rest still being lawful, and whole classes that cost more than their deletion; the search goes on
from there, until that saves nothing.  In the end small blocks are solved exactly.  Prices of the
whole table guide all searches of what is kept.
"""

from dataclasses import replace

import numpy as np

from incrowd.bounds.deletion import bound_of
from incrowd.bounds.prices import Prices
from incrowd.deletion.found import DELETED, Found, Ints, kept_solution
from incrowd.deletion.paying import lawful, without_dear, without_single
from incrowd.deletion.search import PLAIN, Best, again, by_search, how_ended
from incrowd.deletion.small import by_blocks
from incrowd.driver.solve import solve
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.deletion import Deletion
from incrowd.problem.problem import Problem
from incrowd.run.events import silent
from incrowd.run.stop import Share
from incrowd.solvers.base import Context
from incrowd.solvers.sensitive.engine import LawfulSearch
from incrowd.solvers.sensitive.resumed import resumed

ROUNDS = 4
HALF = 0.5  # of the time that is left, for the search under k-anonymity and its prices


def by_model(
    problem: Problem, deletion: Deletion, context: Context, method: str = "engine"
) -> Found:
    """Search for a release under a model of classes, with certified prices beside it.

    ``method``: by which all rows are released first, and those that are kept in the end.
    """
    instance, stop = problem.instance, context.stop
    part = replace(context, stop=Share.of(stop, PLAIN * stop.left()))
    solved = solve(problem, method, part)
    best = Best(problem, deletion, solved.solution.classes)
    part = replace(context, stop=Share.of(stop, HALF * stop.left()), listener=silent)
    alike = by_search(Problem(instance, KAnonymity(problem.smallest_class)), deletion, part)
    bound = alike.bound
    if solved.lawful is not None:
        bound = max(bound, bound_of(solved.lawful, instance, deletion))

    prices = solved.lawful or solved.prices or alike.prices
    guided = solved.cost != solved.bound and LawfulSearch().refuse(problem) is None

    def anew(classes: Ints, fresh: bool = False) -> Ints:
        if not guided:
            return again(problem, classes, method, context)
        assert prices is not None
        return by_prices(problem, classes, prices, context, fresh, solved.lawful is not None)

    kept = np.flatnonzero(alike.kept)
    if len(kept) < instance.rows and lawful(problem, kept[None])[0] and not stop.now():
        best.offer(anew(np.where(alike.kept, 0, DELETED), fresh=True))
    for _ in range(ROUNDS):
        before = best.cost
        best.offer(without_single(problem, best.classes, deletion))
        best.offer(without_dear(problem, best.classes, deletion))
        if best.cost == before or stop.now() or stop.satisfied(best.cost, bound):
            break
        best.offer(anew(best.classes))
    if not stop.satisfied(best.cost, bound) and not stop.now():
        best.offer(by_blocks(problem, best.classes, deletion, context))
    return Found(best.classes, bound, "engine", how_ended(stop, best.cost, bound), alike.prices)


def by_prices(
    problem: Problem, classes: Ints, prices: Prices, context: Context, fresh: bool, known: bool
) -> Ints:
    """Release the rows that are kept, by prices of all rows.

    ``fresh``: not from their classes on.  ``known``: the prices are of lawful classes.
    """
    kept = classes != DELETED
    start, place = kept_solution(problem, classes)
    price = np.empty(start.instance.distinct, np.int64)
    price[start.instance.copies[place]] = prices.price[problem.instance.copies[kept]]
    smaller, rest = replace(problem, instance=start.instance), Prices(price, prices.quantum)
    found = np.full(len(classes), DELETED)
    solution = resumed(smaller, rest, context, None if fresh else start, known)
    found[kept] = solution.classes[place]
    return found
