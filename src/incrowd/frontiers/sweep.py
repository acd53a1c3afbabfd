"""The sweep over k: bounds upwards, releases downwards, each started from its neighbour.

A release for k + 1 is lawful for k, so its cost is one for k as well; a bound for k bounds every
release for k + 1.  Hence neither cost nor bound ever falls as k rises, and both tighten each other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.prices import Prices, better
from incrowd.bounds.support import HASTE, affordable, priceable, support_prices
from incrowd.bounds.wide import wide_prices
from incrowd.driver.solve import choose, recheck, require_lawful_table, solve
from incrowd.errors import NoLawfulReleaseError
from incrowd.privacy.model import Model
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.events import Event
from incrowd.run.stop import Share, Stop
from incrowd.solvers.base import Context, Outcome, Solver
from incrowd.solvers.catalog import by_id
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.engine import Engine, Run
from incrowd.solvers.engine.warm import with_solution

PRICES = 0.4  # share of a time limit that the bounds may take


@dataclass(eq=False)
class Found:
    """The best release and the best bound at one k."""

    problem: Problem
    solver: Solver
    solution: Solution | None = None
    bound: int = 0
    prices: Prices | None = None
    wide: bool = False

    def checked(self) -> "Found":
        """Re-check the release as the driver does; raises VerificationError if it is not lawful."""
        recheck(self.problem, self.solver, Outcome(self.solution, self.bound))
        return self


@dataclass(eq=False)
class Sweep:
    """One sweep.

    Attributes
    ----------
    problem: the table, under any k.
    model_at: the model at each k.
    method: ``"auto"``, a solver's id, or a solver.
    reached: called with each k once its release is found; its bound may still rise.
    impossible: why each k without a release has none.
    """

    problem: Problem
    model_at: Callable[[int], Model]
    method: str | Solver
    context: Context
    reached: Callable[[int, Found], Any] = lambda k, at: None
    impossible: dict[int, str] = field(default_factory=dict)
    found: dict[int, Found] = field(default_factory=dict)

    def run(self, ks: Sequence[int]) -> dict[int, Found]:
        """Return what is found at each k that has a release, ascending.

        Raises
        ------
        NoLawfulReleaseError: no k has one; the reason is that of the smallest.
        """
        for k in sorted(set(ks)):
            problem = replace(self.problem, model=self.model_at(k))
            if not problem.instance.rows:
                empty = solve(problem, self.method, self.context)
                self.found[k] = Found(problem, by_id("engine"), empty.solution)
                continue
            if (why := why_none(problem)) is not None:
                self.impossible[k] = why
                continue
            self.found[k] = Found(problem, choose(problem, self.method))
        if not self.problem.instance.rows:
            return self.found
        require_some(self.found, self.impossible)
        asked = self.found.items() if self.method == "auto" else ()
        asked = ((k, at) for k, at in asked if at.problem.model.size_decides)
        engines = [k for k, at in asked if at.solver.id == "engine"]
        self.raise_bounds(engines)
        self.find_releases(engines)
        self.found = {k: at for k, at in self.found.items() if at.solution is not None}
        require_some(self.found, self.impossible)
        self.bound_anyhow()
        self.pass_on()
        return {k: at.checked() for k, at in self.found.items()}

    def raise_bounds(self, ks: Sequence[int]) -> None:
        """Find prices for each k, from the smallest up."""
        if not ks:
            return
        tree, prices = PrefixTree(self.problem.instance, self.context.stop), None
        budget = Share.of(self.context.stop, PRICES * self.context.stop.left())
        for done, k in enumerate(ks):
            stop = Share.of(budget, budget.left() / (len(ks) - done))
            self.tell(k, "prices", 0.5 * done / len(ks))
            at, columns = self.found[k], self.problem.instance.columns
            visits = affordable(columns, stop.left() / HASTE)
            prices, at.wide = raised_prices(tree, k, prices, visits, stop)
            at.prices, at.bound = prices, prices.bound(self.problem.instance.counts)

    def find_releases(self, engines: Sequence[int]) -> None:
        """Find a release at each k, from the largest down."""
        start: Solution | None = None
        by: Solver | None = None
        for done, k in enumerate(reversed(self.found)):
            at, stop = self.found[k], self.context.stop
            left = len(self.found) - done
            self.tell(k, "release", 0.5 + 0.5 * done / len(self.found))
            if start is None or not stop.now():
                share = Share.of(stop, stop.left() / left)
                context = replace(self.context, stop=share, listener=lambda event: None)
                self.find(k, at, context, start, k in engines)
            if start is None and at.solution is None:
                continue
            if start is not None and (at.solution is None or start.cost < at.solution.cost):
                at.solution, at.solver = start, by or at.solver
            start, by = at.solution, at.solver
            self.reached(k, at)

    def find(self, k: int, at: Found, context: Context, start: Solution | None, warm: bool) -> None:
        """Search at one k."""
        if warm:
            assert at.prices is not None
            outcome = WarmRun(at.problem, context, at.prices, at.wide, start).outcome()
            at.solution, at.bound = outcome.solution, max(at.bound, outcome.bound)
            return
        try:
            solved = solve(at.problem, self.method, context)
        except NoLawfulReleaseError as error:  # of a law that parts may obey and the whole breaks
            if start is None:
                self.impossible[k] = str(error)
            return
        at.solution, at.bound = solved.solution, solved.bound

    def bound_anyhow(self) -> None:
        """Bound the smallest k where time ended before a method could, and so all larger ones."""
        instance = self.problem.instance
        at = next((at for at in self.found.values() if at.problem.smallest_class > 1), None)
        if at is not None and not at.bound and self.method == "auto" and self.context.stop.now():
            least, visits = at.problem.smallest_class, affordable(instance.columns, 0.0)
            tree = PrefixTree(instance)
            prices, _ = raised_prices(tree, least, None, visits, Stop(time_limit=0.0))
            at.bound = prices.bound(instance.counts)

    def pass_on(self) -> None:
        """Let each bound count for all larger k (costs were passed down on the way)."""
        bound = 0
        for at in self.found.values():
            assert at.solution is not None
            bound = at.bound = max(bound, at.bound)

    def tell(self, k: int, stage: str, share: float) -> None:
        """Report where the sweep is."""
        self.context.listener(Event(f"k = {k}: {stage}", share=share))


def why_none(problem: Problem) -> str | None:
    """Return why no release can obey the model; None where one may."""
    try:
        require_lawful_table(problem)
    except NoLawfulReleaseError as error:
        return str(error)
    return None


def require_some(found: Sized, impossible: Mapping[int, str]) -> None:
    """Raise NoLawfulReleaseError, with the reason of the smallest k, where no k has a release."""
    if impossible and not found:
        raise NoLawfulReleaseError(impossible[min(impossible)])


ROUNDS = 6  # of prices that start from those of the next smaller k
ALMOST = 0.95  # share of the support prices that the start is raised to
COOL_TRADE = 0.3  # share of the first heat where near classes trade
COOL = Annealing(moves=60, heat=(0.8, 0.12), least=300_000)  # for a release that is nearly right


def raised_prices(
    tree: PrefixTree, k: int, known: Prices | None, visits: int, stop: Stop
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
            yield partial(self.run.near.trade, COOL_TRADE if self.warm else 1.0)
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
