"""The best prices behind a release that the independent checker can confirm."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from incrowd.bounds.best import best_prices
from incrowd.bounds.prices import Prices
from incrowd.bounds.pricing import sizes_that_pay
from incrowd.driver.solve import Solved
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.proof.lawful import (
    charged_prices,
    lawful_prices,
    rules_of,
    strictest_rules,
    values_needed,
)
from incrowd.run.stop import Stop


class Certificate(NamedTuple):
    """Prices, and the pricing rules that they obey.

    Without rules the prices hold for all classes of ``size``; None: of the smallest lawful size.
    """

    prices: Prices
    rules: Sequence[Mapping[str, Any]] = ()
    size: int | None = None


def certificate(
    problem: Problem,
    solved: Solved,
    models: Sequence[Mapping[str, Any]],
    sizes: Mapping[str, int],
    by_size: bool = True,
    stop: Stop | None = None,
) -> Certificate:
    """Return the certificate of the highest bound; where a method has none, find some.

    Parameters
    ----------
    models: as the proof states them.
    sizes: number of values of each sensitive column, in the order of the attributes.
    by_size: whether t-closeness may be priced by size of class.
    stop: when to be content with the prices found so far.
    """
    stop = stop or Stop()
    instance = problem.instance
    if not instance.rows:
        return Certificate(Prices(np.zeros(0, np.int64), 1))
    plain = None if solved.prices is None else Certificate(solved.prices)
    priced = sizes_that_pay(problem) if by_size and solved.lawful is not None else 0
    if priced and solved.lawful is not None and solved.lawful.charge:
        rules = rules_of(models, sizes, priced, once=True)
        return Certificate(charged_prices(solved.lawful, rules, problem), rules)
    rules = rules_of(models, sizes, priced) + values_needed(problem, list(sizes))
    if not rules:
        return plain or Certificate(plain_prices(problem, stop))

    rules = strictest_rules(rules, problem, list(sizes))
    if solved.lawful is None:
        if plain is not None and plain.prices.bound(instance.counts) >= solved.bound:
            return plain
        plain = plain or Certificate(plain_prices(problem, stop))
        if plain.prices.wide:  # too many patterns to ask each for its dearest class
            return plain
        found = lawful_prices(problem, rules, list(sizes), plain.prices, None, stop)
    else:
        found = lawful_prices(problem, rules, list(sizes), solved.lawful, solved.bound, stop)
        if plain is None and (found is None or found.bound(instance.counts) < solved.bound):
            plain = Certificate(plain_prices(problem, stop))
    known = [] if found is None else [Certificate(found, rules)]
    known += [plain] if plain else []
    return max(known, key=lambda one: one.prices.bound(instance.counts))


def price_of_one_class(instance: Instance) -> Certificate:
    """Return prices for classes of all rows, where every lawful release has no other class.

    Linked columns, linked rows and coins may hide more than these rows ask for: no price tells it.
    """
    whole = Solution(instance, np.zeros(instance.rows, np.int64))
    prices = Prices(np.full(instance.distinct, whole.class_costs[0]), 1)
    return Certificate(prices, size=instance.rows)


def plain_prices(problem: Problem, stop: Stop | None = None) -> Prices:
    """Find prices for all classes of the smallest lawful size."""
    return best_prices(problem.instance, problem.smallest_class, stop)
