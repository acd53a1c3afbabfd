"""Prices where rows may be deleted: each at a price of its own, perhaps a limited number of them.

Claim.  Let prices u obey the inequality of ``incrowd.bounds.price`` for classes of k rows, let a
deleted row cost w, and let at most m rows be deleted.  Then no release costs less than
Σ u − E, where E sums the m highest of all excesses (u_r − w)⁺; all of them without a limit.

Argument.  A release keeps rows K in classes of at least k, and deletes the others, D.  Its classes
cost at least Σ_K u, for they are classes of the whole table too.  So it costs at least
Σ_K u + w·|D| = Σ u − Σ_D (u_r − w) ≥ Σ u − E.  For m = 0 that is the price bound; without a limit
it is Σ min(u, w).

Method.  E ≤ Σ (u_r − c)⁺ + (c − w)·m for every c ≥ w, which is linear programming's dual of the
limit: c − w is what one more deletion would be worth.  So prices are raised with c above them all:
at c = w without a limit, else at the (m+1)-st highest of the best prices without deletions.
"""

import numpy as np

from incrowd.bounds.best import best_prices
from incrowd.bounds.leaf_costs import of_original
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.prices import Prices
from incrowd.bounds.rounds import Report, no_report
from incrowd.problem.deletion import Deletion
from incrowd.problem.instance import Instance
from incrowd.reduce.leaf_costs import told_apart
from incrowd.run.stop import Stop, watched


def excess(prices: Prices, instance: Instance, deletion: Deletion) -> int:
    """Return what deleting rows may save beneath the prices, E above, in units of the prices.

    Raises
    ------
    ValueError: the prices have odd sets, which count the rows of classes.
    """
    if prices.odd_sets:
        raise ValueError("prices with odd sets do not bound releases that lack rows")
    over = np.maximum(prices.price.astype(object) - deletion.price * prices.quantum, 0)
    order = np.argsort(-over, kind="stable")
    counts = instance.counts[order]
    if deletion.most is not None:
        before = np.cumsum(counts) - counts
        counts = np.clip(deletion.most - before, 0, counts)
    return int(np.dot(over[order], counts.astype(object))) if len(over) else 0


def bound_of(prices: Prices, instance: Instance, deletion: Deletion) -> int:
    """Return the bound of releases that may lack rows, in units of 1/scale, at least 0."""
    total = prices.total(instance.counts) - excess(prices, instance, deletion)
    return max(0, -(-total // prices.quantum))


def ceiling(prices: Prices, instance: Instance, deletion: Deletion) -> float:
    """Return c above: what a deleted row costs, and what being one of few is worth."""
    if deletion.most is None or deletion.most >= instance.rows:
        return float(deletion.price)
    order = np.argsort(-prices.price, kind="stable")
    reached = np.searchsorted(np.cumsum(instance.counts[order]), deletion.most, side="right")
    return max(float(deletion.price), int(prices.price[order[reached]]) / prices.quantum)


def deletion_prices(
    instance: Instance,
    k: int,
    deletion: Deletion,
    stop: Stop | None = None,
    report: Report = no_report,
    known: Prices | None = None,
) -> tuple[Prices, float]:
    """Return the prices of the highest bound that the time allows, and c above.

    ``known``: prices without deletions that were found before, instead of which none are sought.
    """
    stop = stop or Stop()
    apart = told_apart(instance)
    if apart is not None:
        prices, top = deletion_prices(apart.instance, k, deletion, stop, report)
        return of_original(prices, apart), top
    limited = deletion.most is not None
    highest = np.inf if limited else float(deletion.price)
    first = known
    if first is None or first.odd_sets:
        first = best_prices(instance, k, stop, report, highest)
    top = ceiling(first, instance, deletion)
    if not limited or first.wide or stop.now():
        return first, top
    with watched(stop):
        tree = PrefixTree(instance, stop)
        schedule = PriceBound.suited(instance).split()[1]
        start = np.minimum(first.price / first.quantum, top)
        u = schedule.ascend(tree, k, start, stop.now, report, top)
        second = certify(tree, k, u)
    known = max((first, second), key=lambda one: bound_of(one, instance, deletion))
    return known, top
