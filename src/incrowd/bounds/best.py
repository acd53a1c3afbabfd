"""The best prices of any table: priced whole where that can be done, else by groups of columns."""

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.leaf_costs import of_original
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.prices import Prices, better
from incrowd.bounds.rounds import Report, no_report
from incrowd.bounds.span_prices import in_many_intervals, span_prices, spans_prove_more, suits_spans
from incrowd.bounds.span_sets import SpanSets
from incrowd.bounds.support import HASTE, affordable, priceable, support_prices
from incrowd.bounds.wide import wide_prices
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution
from incrowd.reduce.leaf_costs import told_apart
from incrowd.run.stop import Stop, watched


def best_prices(
    instance: Instance,
    k: int,
    stop: Stop | None = None,
    report: Report = no_report,
    highest: float = np.inf,
) -> Prices:
    """Return the best certified prices for k that the time allows.

    Parameters
    ----------
    report: called with a bound, in units of 1/scale, and the share of the work that is done.
    highest: where prices end, in units of 1/scale, though higher ones would do.
    """
    if not instance.rows:
        return Prices(np.zeros(0, np.int64), 1)
    stop = stop or Stop()
    apart = told_apart(instance)
    if apart is not None and k < 2:  # every row pays for its own values at least
        return Prices(Solution(instance, instance.copies).class_costs, 1)
    if apart is not None:
        return of_original(best_prices(apart.instance, k, stop, report, highest), apart)
    with watched(stop):
        return raised(instance, k, stop, report, highest)


def raised(instance: Instance, k: int, stop: Stop, report: Report, highest: float) -> Prices:
    """Return the best prices, as ``best_prices``; the clock is watched."""
    near: NDArray[np.int64] | None = None
    if suits_spans(instance, k):
        near = SpanSets(instance, k).neighbours(stop.now)

    def by_sets() -> Prices:
        if near is None:
            return wide_prices(instance, k, stop, 1.0, report)
        return span_prices(instance, k, stop, 1.0, report, near)

    if near is not None and in_many_intervals(instance, k, near):
        return by_sets()
    tree, counts = PrefixTree(instance, stop), instance.counts
    visits = affordable(instance.columns, stop.left() / HASTE)
    price, complete = support_prices(tree, k, visits)
    first = Prices(price, 1) if complete else None
    if first is None or tree.visits > priceable(stop.left()):
        return better(first, by_sets(), counts)
    report(first.bound(counts), 0.0)
    start = np.minimum(price, highest)
    first = Prices(np.floor(start).astype(np.int64), 1)
    u = PriceBound.suited(instance).ascend(tree, k, start, stop.now, report, highest)
    best = better(first, certify(tree, k, u), counts)
    if not spans_prove_more(instance, k):
        return best
    return better(best, by_sets().by_patterns(), counts)
