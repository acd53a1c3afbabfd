"""The engine at one k, started from what a neighbouring k has left."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.prices import Prices, better
from incrowd.bounds.support import priceable, support_prices
from incrowd.bounds.wide import wide_prices
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context, Outcome
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.engine import Engine, Run
from incrowd.solvers.engine.warm import with_solution

ROUNDS = 6  # of prices that start from those of the next smaller k
ALMOST = 0.95  # share of the support prices that the start is raised to
COOL_TRADE = 0.3  # share of the first heat where near classes trade
COOL = Annealing(moves=60, heat=(0.8, 0.12), least=300_000)  # for a release that is nearly right


def raised_prices(
    tree: PrefixTree,
    k: int,
    known: Prices | None,
    visits: int,
    stop: Stop,
) -> tuple[Prices, bool]:
    """Return a price certificate at k, at least as good as that of a smaller k.

    And whether the table is too wide for enumerations of so many visits.

    Prices for k are prices for k + 1: among the rows that match a pattern the k + 1 highest sum to
    at most (k + 1)/k times what the k highest sum to.  So the ascent starts where it ended before,
    raised to nearly the support prices of the new k, and needs half of the rounds.
    """
    instance = tree.instance
    first, complete = support_prices(tree, k, visits)
    if not complete or tree.visits > priceable(stop.left()):
        known = better(known, Prices(first, 1), instance.counts) if complete else known
        return better(known, wide_prices(instance, k, stop), instance.counts), True
    best = better(known, Prices(first, 1), instance.counts)
    if stop.now() or not best.bound(instance.counts):
        return best, False
    schedule, start = PriceBound.suited(instance), best.price / best.quantum
    if best is known:
        schedule = replace(schedule, rounds=ROUNDS, lift=1.0)
        start = np.maximum(start, ALMOST * first)
    u = schedule.ascend(tree, k, start, stop.now)
    return better(best, certify(tree, k, u), instance.counts), False


class WarmRun:
    """A run of the engine that is given prices, and a release that is lawful already.

    wide: whether the table is too wide for enumerations.
    """

    def __init__(
        self, problem: Problem, context: Context, prices: Prices, wide: bool, start: Solution | None
    ) -> None:
        self.run = Run(Engine(), problem, context)
        self.search, self.progress = self.run.search, self.run.progress
        self.given, self.search.wide, self.warm = prices, wide, start is not None
        if start is not None:
            self.progress.offer(start)

    def outcome(self) -> Outcome:
        """Go through the stages."""
        return self.progress.outcome(self.stages())

    def stages(self) -> Iterator[Callable[[], None]]:
        """Skip the prices; with a start, also the search from nothing, and polish if time is given.

        Without a time limit each start has been polished at a larger k, so little is left to gain.
        """
        search, finish = self.search, self.run.lifting.finish
        yield self.take_prices
        if search.wide:
            yield partial(search.trade, COOL_TRADE if self.warm else 1.0)
            return
        if self.warm:
            yield self.cool
        else:
            yield from (search.first_search, search.search)
        yield finish
        if not self.warm or search.stop.left() < float("inf"):
            yield from (search.polish, finish)

    def take_prices(self) -> None:
        """Take the prices as given."""
        self.progress.prove(self.given, self.given.bound(self.search.instance.counts))
        self.search.price = self.given.price / self.given.quantum

    def cool(self) -> None:
        """Anneal the start, not so hot that what is good in it is lost."""
        search = self.search
        if search.instance.rows <= 2 * search.k:
            return
        candidates, pattern = with_solution(search.emission(), self.progress.best)
        found = search.improve("annealing", COOL, candidates, pattern, 0)
        search.offer(Solution.of(search.instance, found))
