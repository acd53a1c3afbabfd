"""Prices for classes that hold all rows of at least k people.

Claim.  Let all quasi-identifiers be constant within each person, and let each person have a price u
for each row such that for every pattern p and every set S of at least k people who match it
Σ_S w·u ≤ Σ_S w·cost(p), w being the numbers of their rows.  Then no release whose classes hold all
rows of k people costs less than Σ w·u.

Argument.  A class with join p holds all rows of a set S of k people or more, who match p, and
costs Σ_S w·cost(p), at least the prices of its rows.  Sum over classes.

Where some columns vary, the claim holds for what the constant ones cost: all rows of a person show
one cell in each of these, so the people who show the same ones are such a class.

Method.  As for other models (``incrowd.bounds.lawful_price``), with ``incrowd.bounds.whole`` for
the dearest class.
"""

import numpy as np

from incrowd.bounds.lawful_price import LawfulPriceBound, first_prices, safe_prices
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.prices import Prices, better
from incrowd.bounds.pricing import assembled
from incrowd.bounds.rounds import Report, no_report
from incrowd.bounds.support import HASTE, affordable
from incrowd.privacy.people import People
from incrowd.privacy.pricing import whole_part
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop, watched

VISITS = 20_000_000


def whole_prices(
    instance: Instance, k: int, stop: Stop, start: Prices | None = None, report: Report = no_report
) -> Prices:
    """Return prices for classes of k people with all their rows; of 0 where there is no time.

    Parameters
    ----------
    instance: a distinct row for each person, whose number is the one sensitive attribute; its
        copies are the person's rows.
    start: others that hold as well, or nearly, to begin with.
    report: called with a bound on the way, and the share of a schedule that is done.
    """
    nothing = Prices(np.zeros(instance.distinct, np.int64), 1)
    problem = Problem(instance, People(k, 0))
    tree = LawfulTree(instance, *assembled(problem, [whole_part(k, 0)], k), stop)
    with watched(stop):
        first, complete = first_prices(
            tree, affordable(instance.columns, stop.left() / HASTE, VISITS)
        )
        if not complete:
            return nothing
        best = better(nothing, safe_prices(tree, first), instance.counts)
        if start is not None:
            own = safe_prices(tree, start.price / start.quantum)
            best = better(best, own, instance.counts)
        u = best.price / best.quantum
        box = LawfulPriceBound.one_box()
        schedules = (box,) if box.fits(tree, first) else (LawfulPriceBound(),)
        for schedule in (*schedules, LawfulPriceBound.close_up()):
            if stop.now():
                break
            u = schedule.ascend(tree, u, stop.now, report)
        return better(best, safe_prices(tree, u), instance.counts)
