"""Caps that no lawful release can meet, by a count of the cells that must change.

A released row's pattern is matched by at least as many rows as its class has, so by k or more.  The
cheapest pattern that so many rows match, where only changed cells under the cap cost and each of
them one, is a lower bound on the row's changed cells (as in ``incrowd.bounds.support``).
"""

from dataclasses import replace

import numpy as np

from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.support import support_prices
from incrowd.constraints.plan import Limit, Plan
from incrowd.encoding.encoded import Coded
from incrowd.errors import NoLawfulReleaseError
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import moved
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.problem.problem import Problem

VISITS = 3_000_000  # nodes that the count may touch for each cap; without an end it says nothing


def require_possible(table: Coded, plan: Plan) -> None:
    """Raise where a cap is below what every lawful release changes.

    Raises
    ------
    NoLawfulReleaseError: names the cap and the least share that any lawful release needs.
    """
    for limit in plan.limits:
        least = least_changed(table, limit)
        if least > limit.most:
            raise NoLawfulReleaseError(
                f"no lawful release is within the caps (proven): of {limit.cap.name} at most "
                f"{float(limit.cap.exact_share):.2%} of the cells may change, every lawful release "
                f"changes {least / limit.cells:.2%} or more"
            )


def least_changed(table: Coded, limit: Limit) -> int:
    """Return a number of cells under a cap that every lawful release changes."""
    instance = table.instance
    k = Problem(instance, table.model).smallest_class if instance.rows else 0
    if k < 2 or instance.rows < k:
        return 0
    trees = [counting(tree, limit.column in (None, j)) for j, tree in enumerate(instance.trees)]
    patterns = PrefixTree(replace(instance, trees=tuple(trees), scale=1))
    price, complete = support_prices(patterns, k, VISITS)
    if not complete:
        return 0
    of_row = price[instance.copies[table.copy_of_row]]
    return int(of_row.sum() if limit.inside is None else of_row[limit.inside].sum())


def counting(tree: Family, counted: bool) -> Family:
    """Return a column whose changed cells cost 1 each, or nothing where they do not count."""
    if isinstance(tree, RangeFamily):
        return tree.counting(counted)
    return replace(tree, cost=moved(tree).astype(np.int64) * counted)
