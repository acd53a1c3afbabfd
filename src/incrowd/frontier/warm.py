"""The engine at one k, started from what a neighbouring k has left."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.prices import Prices
from incrowd.bounds.support import support_prices, uniqueness_prices
from incrowd.patterns.prefix_tree import PrefixTree
from incrowd.problem import Problem
from incrowd.solution import Solution
from incrowd.solvers.base import Context
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.engine import Engine, Run

ROUNDS = 6  # of prices that start from those of the next smaller k
ALMOST = 0.95  # share of the support prices that the start is raised to
COOL = Annealing(moves=60, heat=(0.8, 0.12), least=300_000)  # for a release that is nearly right


def raised_prices(
    tree: PrefixTree,
    k: int,
    known: Prices | None,
    visits: int,
    stop: Callable[[], bool],
) -> Prices:
    """Return a price certificate at k, at least as good as that of a smaller k.

    Prices for k are prices for k + 1: among the rows that match a pattern the k + 1 highest sum to
    at most (k + 1)/k times what the k highest sum to.  So the ascent starts where it ended before,
    raised to nearly the support prices of the new k, and needs half of the rounds.
    """
    instance = tree.instance
    first, complete = support_prices(tree, k, visits)
    if not complete:  # too wide a table for enumerations
        weakest = Prices(uniqueness_prices(tree, k), 1)
        return better(known, weakest, instance.counts)
    best = better(known, Prices(first, 1), instance.counts)
    if stop() or not best.bound(instance.counts):
        return best
    schedule, start = PriceBound.suited(instance), best.price / best.quantum
    if best is known:
        schedule = replace(schedule, rounds=ROUNDS, lift=1.0)
        start = np.maximum(start, ALMOST * first)
    u = schedule.ascend(tree, k, start, stop)
    return better(best, certify(tree, k, u), instance.counts)


def better(known: Prices | None, other: Prices, counts: NDArray[np.int64]) -> Prices:
    """Return the certificate with the higher bound."""
    if known is None or other.bound(counts) > known.bound(counts):
        return other
    return known


class WarmRun(Run):
    """A run of the engine that is given prices, and a release that is lawful already."""

    def __init__(
        self, problem: Problem, k: int, context: Context, prices: Prices, start: Solution | None
    ) -> None:
        super().__init__(Engine(), problem, k, context)
        self.given, self.warm = prices, start is not None
        if start is not None:
            self.offer(start)

    def stages(self) -> tuple[Callable[[], None], ...]:
        """Skip the prices; with a start, also the search from nothing, and polish if time is given.

        Without a time limit each start has been polished at a larger k, so little is left to gain.
        """
        if not self.warm:
            search = (self.first_search, self.search, self.finish, self.polish, self.finish)
        elif self.stop.left() == float("inf"):
            search = (self.cool, self.finish)
        else:
            search = (self.cool, self.finish, self.polish, self.finish)
        return (self.take_prices, *search)

    def take_prices(self) -> None:
        """Take the prices as given; tell whether the table is too wide for enumerations."""
        _, complete = support_prices(self.tree, self.k, self.visits)
        self.wide = not complete
        self.certificate = self.given
        self.bound = self.given.bound(self.instance.counts)
        self.price = self.given.price / self.given.quantum

    def cool(self) -> None:
        """Anneal the start, not so hot that what is good in it is lost."""
        if self.instance.rows <= 2 * self.k:
            return
        from incrowd.solvers.engine.warm import with_solution

        candidates, pattern = with_solution(self.emission(), self.best)
        found = self.run("annealing", COOL, candidates, pattern, 0)
        self.offer(Solution.of(self.instance, found))
