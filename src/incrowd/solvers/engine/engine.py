"""The main engine: prices first, then candidates, annealing and large neighbourhoods.

1. A lawful release at once (stretches of the sorted table), and the support bound.
2. A few rounds of prices, candidates, a greedy release and a quick descent: a good release early
   (not with hierarchies under a time limit that gives time, of which it would take a tenth).
3. More rounds of prices: the certified bound, and the guide of everything after.
4. Annealing over the (row, pattern) pairs whose reduced cost is small, from a release near the
   fractional one that the prices belong to.
5. Polishing: short annealing where classes pay above their prices, and blocks of classes
   re-solved exactly, until that stops paying or the budget ends.
   With a time limit that gives time: blocks of classes near prices with odd sets.
6. On small tables, before and after polishing: everything as one block over all pairs that a
   better release could use; when that finds nothing better, the release is optimal.

A table too wide for prices has those of groups of its columns, and near classes trade rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.column_groups import wide_prices
from incrowd.bounds.odd_sets.lifted import OddSets
from incrowd.bounds.price import MOST_TRIES, PriceBound, certify
from incrowd.bounds.prices import Prices, better
from incrowd.bounds.support import HASTE, affordable, priceable, support_prices
from incrowd.lattice.prefix_tree import EMIT, OVERFLOW, Emission, PrefixTree, Slack, new_sink
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context, Outcome, Scope, refuse_other_models
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.candidates import Candidates, build_candidates
from incrowd.solvers.engine.class_blocks import split
from incrowd.solvers.engine.gathering import gathered
from incrowd.solvers.engine.greedy import greedy
from incrowd.solvers.engine.lifting import LiftedRun
from incrowd.solvers.engine.near import near_rows
from incrowd.solvers.engine.neighbourhood import Neighbourhoods
from incrowd.solvers.engine.rounding import rounded
from incrowd.solvers.engine.schedule import Shares
from incrowd.solvers.engine.trading import Trading
from incrowd.solvers.engine.warm import with_solution
from incrowd.solvers.engine.windows import sorted_classes, window_emission

SMALL = 600  # rows up to which polishing gives up after some idle turns, whatever the budget
MOST_PATIENT = 16.0  # factor on the moves of the annealing that a long time limit may buy
PATIENCE = 4  # such idle turns, also when a gap is asked for without a time limit
WORTHWHILE = 0.0005  # share of the cost that one turn of polishing must save
RESTARTS = 4  # annealings of a small table under a time limit
MOST_AGAIN = 4.0  # the same where the best release is annealed again and again after that
STARTS = 3  # annealings before that: some end better than others, and stay so
WARM = 0.25  # share of the first heat then
SMALL_SHARE = 0.6  # share of the time left that annealing takes on small tables
PATIENT_SLACK = 2.5  # cells above its prices that a class may cost, where time is given
POLISH = Annealing(moves=40, heat=(0.2, 0.07), focus=0.9, least=200_000)


@dataclass(frozen=True, kw_only=True)
class Engine:
    """Improve until it stops paying; the best lawful release so far is always at hand.

    Attributes
    ----------
    prices: how the bound is sought; None for the schedule suited to the table.
    annealing: how the release is sought; None for the schedule suited to the table.
    neighbourhoods: how blocks are re-solved.
    odd_sets: how the bound is raised beyond the linear program; None for what suits the table.
    slack: reduced cost of a class, in suppressed cells times k ** ``spread``, up to which its
        (row, pattern) pairs are candidates.
    visits: nodes of the prefix tree that one enumeration may touch before the table counts as
        too wide.
    pairs: (row, pattern) pairs that may be kept.
    """

    prices: PriceBound | None = None
    annealing: Annealing | None = None
    neighbourhoods: Neighbourhoods = field(default_factory=Neighbourhoods)
    odd_sets: OddSets | None = None
    slack: float = 0.27
    spread: float = 0.7
    visits: int = 30_000_000
    pairs: int = 4_000_000

    id = "engine"
    guarantee = "none; the gap it reports is proven"
    scope = Scope(models=("k-anonymity",), hierarchies=True)
    source = "this project; prices: duals of the set-partitioning LP over lawful classes"

    def refuse(self, problem: Problem) -> str | None:
        """Say no to models other than k-anonymity."""
        return refuse_other_models(problem)

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Run all stages within the budget."""
        return Run(self, problem, problem.smallest_class, context).outcome()


class Run(LiftedRun):
    """One run of the engine: the best so far, and the stages."""

    def __init__(self, engine: Engine, problem: Problem, k: int, context: Context) -> None:
        self.engine, self.k, self.context = engine, k, context
        self.instance = problem.instance
        self.stop = context.stop
        self.best = Solution.of(self.instance, sorted_classes(self.instance, k))
        self.tree = PrefixTree(self.instance)
        self.certificate = Prices(np.zeros(self.instance.distinct, np.int64), 1)
        self.bound = 0
        self.again = 0
        self.early = True
        self.listed: tuple[NDArray[np.float64], Emission] | None = None
        self.odd_sets = engine.odd_sets or OddSets()
        limit = context.stop.time_limit
        self.limit = np.inf if limit is None else limit
        self.shares = Shares.suited(self.instance, k, limit)
        self.visits = affordable(self.instance.columns, self.limit, engine.visits)

    def stages(self) -> Iterator[Callable[[], None]]:
        """Bounds and releases in turn, the cheap ones first."""
        yield self.bound_by_support
        if self.wide:
            yield self.trade
            return
        closing = self.raise_by_odd_sets, self.search_in_reach, self.exchange, self.finish
        yield from (self.first_prices, self.first_search, self.bound_by_prices, self.search)
        yield from closing
        yield self.polish
        yield from closing

    def bound_by_support(self) -> None:
        """Find the support bound; on a table too wide for prices, those of groups of columns."""
        self.tell("support bound")
        visits = affordable(self.instance.columns, self.limit / HASTE, self.engine.visits)
        price, complete = support_prices(self.tree, self.k, visits)
        known = Prices(price, 1) if complete else None
        self.bound = known.bound(self.instance.counts) if known else 0
        most = priceable(self.shares.pricing * self.limit)
        self.wide = known is None or self.tree.visits > most
        if known is None or self.wide:
            known = better(known, self.prices_by_groups(), self.instance.counts)
        self.certificate = known
        self.bound = known.bound(self.instance.counts)
        self.price = known.price / known.quantum

    def prices_by_groups(self) -> Prices:
        """Price groups of columns alone."""
        self.tell("prices")

        def report(bound: int, share: float) -> None:
            self.bound = max(self.bound, bound)
            self.tell("prices", share)

        return wide_prices(self.instance, self.k, self.stop, self.shares.pricing, report)

    def first_prices(self) -> None:
        """Run a quarter of the price rounds, for a guide to the first search."""
        schedule = self.engine.prices or PriceBound.suited(self.instance)
        schedule = replace(schedule, visits=min(schedule.visits, self.visits // 3))
        self.early = self.shares.early
        self.schedule = schedule
        if self.early:
            first, self.schedule = schedule.split()
            self.raise_prices(first)

    def bound_by_prices(self) -> None:
        """Run the other rounds."""
        self.raise_prices(self.schedule)
        self.priced = self.bound > 0 and not self.stop.now()

    def raise_prices(self, schedule: PriceBound) -> None:
        """Raise the prices; keep the certificate if it is better."""
        if self.bound == 0:
            return
        u = schedule.ascend(
            self.tree,
            self.k,
            self.price,
            self.enough_prices,
            lambda bound, share: self.tell("prices", share),
        )
        certificate = certify(self.tree, self.k, u)
        bound = certificate.bound(self.instance.counts)
        if bound > self.bound:
            self.bound, self.certificate = bound, certificate
            self.price = certificate.price / certificate.quantum

    def enough_prices(self) -> bool:
        """Whether to leave the prices for the release: under a short time limit."""
        limit, share = self.stop.time_limit, self.shares.pricing
        return self.stop.now() or (limit is not None and self.stop.elapsed() > share * limit)

    def slack(self) -> float:
        """Return the reduced cost, in cells, up to which classes are candidates."""
        usual = self.engine.slack * self.k**self.engine.spread
        return max(usual, PATIENT_SLACK) if self.shares.wide else usual

    def emission(self) -> Emission:
        """List the candidate pairs, anew when the prices have changed."""
        if self.listed is None or self.listed[0] is not self.price:
            self.listed = self.price, self.list_candidates()
        return self.listed[1]

    def list_candidates(self) -> Emission:
        """List the candidate pairs under the prices at hand."""
        share = self.slack() * self.instance.cell / self.k
        pairs = self.engine.pairs
        sink = new_sink(pairs // 3, pairs)
        for _ in range(MOST_TRIES):
            slack = Slack(share, True)
            state = self.tree.run(
                EMIT, self.k, self.price, slack=slack, sink=sink, visits=self.visits // 3
            )
            if state[3] == 0:
                break
            share *= 0.7 if state[3] == OVERFLOW else 0.2
        else:
            return window_emission(self.instance, self.k, 6, self.context.seed, self.stop)
        p, z = int(state[0]), int(state[1])
        return Emission(sink.cost[:p].copy(), sink.offset[: p + 1].copy(), sink.rows[:z].copy())

    def first_search(self) -> None:
        """Greedy and a quick descent: a good release within seconds."""
        if not self.early:
            return
        self.anneal("first release", Annealing(moves=20, heat=(1e-4, 1e-4), least=100_000))

    def search(self) -> None:
        """Anneal from a greedy start, over candidates that the final prices allow."""
        annealing = self.engine.annealing or Annealing.suited(self.instance, self.k)
        if self.priced:  # what the start knows should not melt
            hot, cold = annealing.heat
            warm = WARM if self.shares.wide else 0.5
            annealing = replace(annealing, heat=(warm * hot, cold))
        left = self.stop.left()
        if self.stop.time_limit is None:
            self.anneal("annealing", annealing)
            return
        if self.instance.rows <= SMALL:  # the best of some, rather than one that takes long
            self.anneal("annealing", annealing, (SMALL_SHARE * left / RESTARTS, 1.0), RESTARTS)
            return
        # slower cooling is what more time is best spent on, unless a gap may end the run early
        factor = MOST_PATIENT if self.stop.gap is None else 1.0
        if not self.shares.wide:
            self.anneal("annealing", annealing, (self.shares.searching * left, factor))
            return
        # or, with much time, annealing the best of some again and again
        share = self.shares.searching * left
        end = self.stop.elapsed() + share
        patience = 0.5 * share / STARTS, min(factor, MOST_AGAIN)
        self.anneal("annealing", annealing, patience, STARTS)
        self.anneal_again(lambda turns: self.stop.elapsed() > end)

    def trade(self, warmth: float = 1.0) -> None:
        """Let near classes trade rows, from the best so far or from classes of near rows."""
        self.tell("near rows")
        near = near_rows(self.instance, self.context.seed, self.stop)
        if warmth == 1.0 and not self.done():
            self.offer(Solution.of(self.instance, gathered(self.instance, near, self.k)))
        hot, cold = Trading().heat
        left = self.stop.left()
        found = Trading(heat=(warmth * hot, cold)).run(
            split(self.best, self.k), near, self.k, self.context.seed,
            None if left == np.inf else (left, MOST_PATIENT), self.done,
            lambda cost, share: self.tell("trading", share, cost),
        )  # fmt: skip
        self.offer(found)

    def anneal_again(self, enough: Callable[[int], bool]) -> None:
        """Anneal the best so far, from little heat, until ``enough`` (of the turns done)."""
        candidates, pattern = with_solution(self.emission(), self.best)
        hot, cold = Annealing.suited(self.instance, self.k).heat
        annealing = replace(Annealing.suited(self.instance, self.k), heat=(WARM * hot, cold))
        turns = 0
        while not self.done() and not enough(turns):
            self.again += 1
            pattern = self.run("annealing again", annealing, candidates, pattern, self.again)
            self.offer(Solution.of(self.instance, pattern))
            turns += 1

    def anneal(
        self,
        stage: str,
        annealing: Annealing,
        seconds: tuple[float, float] | None = None,
        turns: int = 1,
    ) -> None:
        """List candidates, build a greedy release on them, anneal it ``turns`` times."""
        self.tell("candidates")
        candidates = build_candidates(self.instance, self.emission())
        pattern = self.start(candidates)
        self.offer(Solution.of(self.instance, pattern))
        for turn in range(turns):
            if turn == 0 or not self.done():
                found = self.run(stage, annealing, candidates, pattern, turn, seconds)
                self.offer(Solution.of(self.instance, found))

    def start(self, candidates: Candidates) -> NDArray[np.int64]:
        """Return a lawful assignment: near a fractional release once there are good prices."""
        cell, k = self.instance.cell, self.k
        if not self.priced:
            return greedy(candidates, k, max(1, int(cell / 10)))
        return rounded(candidates, self.instance.counts, self.price, k, cell, self.done)

    def run(
        self,
        stage: str,
        annealing: Annealing,
        candidates: Candidates,
        pattern: NDArray[np.int64],
        turn: int,
        seconds: tuple[float, float] | None = None,
    ) -> NDArray[np.int64]:
        """Run one annealing with the context's seed, listener and budget."""
        return annealing.run(
            candidates,
            pattern,
            self.k,
            self.instance.cell,
            self.context.seed + turn,
            self.done,
            lambda cost, share: self.tell(stage, share, cost),
            self.price,
            seconds,
        )

    def polish(self) -> None:
        """Anneal where classes pay above their prices and re-solve blocks, while that pays."""
        if self.instance.rows <= 2 * self.k:
            return
        candidates, pattern = with_solution(self.emission(), self.best)
        timed, aiming = self.stop.time_limit is not None, self.stop.gap is not None
        patience = PATIENCE if aiming or self.instance.rows <= SMALL else 1
        idle = turn = 0
        while not self.done() and (idle < patience or (timed and self.instance.rows > SMALL)):
            before = self.best.cost
            turn += 1
            pattern = self.run("polishing", POLISH, candidates, pattern, turn)
            if timed or aiming:
                pattern = self.engine.neighbourhoods.run(
                    candidates,
                    pattern,
                    self.price,
                    self.k,
                    self.instance.cell,
                    self.context.seed + turn,
                    self.stop.left,
                    self.done,
                    lambda cost, share: self.tell("blocks", share, cost),
                )
            self.offer(Solution.of(self.instance, pattern))
            idle = idle + 1 if before - self.best.cost < WORTHWHILE * before else 0
