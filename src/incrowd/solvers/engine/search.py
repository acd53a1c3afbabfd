"""The search for k-anonymous releases: candidates, annealing, polishing."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prefix_tree import EMIT, OVERFLOW, STOPPED, PrefixTree, Slack
from incrowd.bounds.price import MOST_TRIES
from incrowd.bounds.support import affordable
from incrowd.lattice.emission import Emission, new_sink
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution
from incrowd.run.gauge import Gauge
from incrowd.solvers.baseline.dear_columns import has_dear_columns
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.by_levels import SHARE, by_levels
from incrowd.solvers.engine.candidates import Candidates, build_candidates
from incrowd.solvers.engine.near import Near, near_rows
from incrowd.solvers.engine.neighbourhood import Neighbourhoods
from incrowd.solvers.engine.repartition import Repartition
from incrowd.solvers.engine.rounding import STEPS, rounded
from incrowd.solvers.engine.schedule import Shares
from incrowd.solvers.engine.warm import with_solution
from incrowd.solvers.engine.windows import window_emission
from incrowd.solvers.progress import Progress

SMALL = 600  # rows up to which polishing gives up after some idle turns, whatever the budget
MOST_PATIENT = 16.0  # factor on the moves of the annealing that a long time limit may buy
PATIENCE = 4  # such idle turns, also when a gap is asked for without a time limit
WORTHWHILE = 0.0005  # share of the cost that one turn of polishing must save
RESTARTS = 4  # annealings of a small table under a time limit
MOST_AGAIN = 4.0  # the same where the best release is annealed again and again after that
STARTS = 3  # annealings before that: some end better than others, and stay so
WARM = 0.25  # share of the first heat then
# where prices are good and cells are kept or starred: last heat of annealing, share of moves that
# start at what pays above its prices; first and last heat of tables with as many copies or more,
# which their moves would not bring back from more heat
COLD, ABOVE = 0.06, 0.9
LARGE, LARGE_HEAT = 50_000, (0.12, 0.05)
SMALL_SHARE = 0.6  # share of the time left that annealing takes on small tables
RANGED = 3  # times as many pairs where columns are generalized to ranges: more patterns are near
# where trading among ranges follows and does more: share of the moves of annealing, on small tables
# and others; on these, share of its first heat and steps towards a fractional release to begin near
SOONER, MILD, FEW_STEPS = (0.6, 0.4), 0.25, 40
# seconds of a time limit per row from which on blocks of rows gain as much as more trading
BLOCKS_PAY = 1e-2
PATIENT_SLACK = 2.5  # cells above its prices that a class may cost, where time is given
# where blocks of rows follow among ranges, they find what annealing leaves: times as much that a
# candidate may cost above its prices, as many moves, as much heat at first
NARROW, BRIEF, MILDER = 0.6, 0.5, 0.5
POLISH = Annealing(moves=40, heat=(0.2, 0.07), focus=0.9, least=200_000)


@dataclass(frozen=True, kw_only=True)
class Means:
    """What a search may use.

    Attributes
    ----------
    annealing: how the release is sought; None for the schedule suited to the table.
    neighbourhoods: how blocks are re-solved.
    slack: reduced cost of a class, in suppressed cells times k ** ``spread``, up to which its
        (row, pattern) pairs are candidates.
    visits: nodes of the prefix tree that one enumeration may touch before the table counts as
        too wide.
    pairs: (row, pattern) pairs that may be kept.
    """

    annealing: Annealing | None = None
    neighbourhoods: Neighbourhoods = field(default_factory=Neighbourhoods)
    slack: float = 0.27
    spread: float = 0.7
    visits: int = 30_000_000
    pairs: int = 4_000_000


class Search:
    """One search: what it goes by, and its stages.

    Attributes
    ----------
    price: float64, shape (distinct,): prices that bound every release; ``raised`` once they
        are more than those of support, ``priced`` once they are good.
    wide: whether the table is too wide for prices of all columns.
    shares: how a time limit is dealt out.  early: whether a release comes before the prices are
        done.
    visits: nodes of the prefix tree that one enumeration may touch.
    """

    def __init__(self, means: Means, instance: Instance, k: int, progress: Progress) -> None:
        self.means, self.instance, self.k, self.progress = means, instance, k, progress
        self.stop, self.seed = progress.stop, progress.context.seed
        self.tell, self.offer, self.done = progress.tell, progress.offer, progress.done
        self.tree = PrefixTree(instance, self.stop)
        self.price = np.zeros(instance.distinct)
        self.raised = self.priced = self.wide = False
        self.early = True
        self.limit = np.inf if self.stop.time_limit is None else self.stop.time_limit
        self.shares = Shares.suited(instance, k, self.stop.time_limit)
        self.visits = affordable(instance.columns, self.limit, means.visits)
        self._again = 0
        self._listed: tuple[NDArray[np.float64], Emission] | None = None

    @cached_property
    def near(self) -> Near:
        """Near rows of each row, as far as there is time when they are first asked for."""
        return self.near_at()

    def near_at(self, price: NDArray[np.float64] | None = None) -> Near:
        """Find the near rows of each row, where rows pay these prices anyhow."""
        told = partial(self.tell, "near rows")
        return near_rows(self.instance, self.seed, self.stop, price, told)

    def slack(self) -> float:
        """Return the reduced cost, in cells, up to which classes are candidates."""
        usual = self.means.slack * self.k**self.means.spread
        if self.shares.wide:
            return max(usual, PATIENT_SLACK)
        return NARROW * usual if self.builds_on() else usual

    def emission(self) -> Emission:
        """List the candidate pairs, anew when the prices have changed."""
        if self._listed is None or self._listed[0] is not self.price:
            self._listed = self.price, self.list_candidates()
        return self._listed[1]

    def list_candidates(self) -> Emission:
        """List the candidate pairs under the prices at hand."""
        share = self.slack() * self.instance.cell / self.k
        pairs = self.means.pairs * (RANGED if self.instance.ranged else 1)
        sink = new_sink(pairs // 3, pairs)
        for _ in range(MOST_TRIES):
            slack = Slack(share, True)
            state = self.tree.run(
                EMIT, self.k, self.price, slack=slack, sink=sink, visits=self.visits // 3
            )
            if state[3] in (0, STOPPED):
                break
            share *= 0.7 if state[3] == OVERFLOW else 0.2
        else:
            return window_emission(self.instance, self.k, 6, self.seed, self.stop)
        return sink.first(int(state[0]))

    def by_levels(self) -> None:
        """Group rows by levels of columns: a good release before anything is priced."""
        self.tell("first release", 0.0)
        share = SHARE * self.limit
        classes = by_levels(
            self.instance, self.k, self.limit, lambda: self.done() or self.stop.elapsed() > share,
            lambda done: self.tell("first release", done),
        )  # fmt: skip
        if classes is not None:
            self.offer(Solution.of(self.instance, classes))

    def first_search(self) -> None:
        """A quick descent near a fractional release: a good one within seconds."""
        if not self.early:
            return
        self.anneal("first release", Annealing(moves=20, heat=(1e-4, 1e-4), least=100_000))

    def search(self) -> None:
        """Anneal from near a fractional release, over candidates that the final prices allow."""
        annealing = self.means.annealing or Annealing.suited(self.instance, self.k)
        if self.instance.ranged and not self.blocks_suit and not self.means.annealing:
            annealing = replace(annealing, moves=SOONER[self.trades_on()] * annealing.moves)
        if self.builds_on() and not self.means.annealing:
            hot, cold = annealing.heat
            moves, most = BRIEF * annealing.moves, int(BRIEF * annealing.most)
            annealing = replace(annealing, moves=moves, most=most, heat=(MILDER * hot, cold))
        if self.priced:
            annealing = self.cooler(annealing)
        left = self.stop.left()
        if self.stop.time_limit is None:
            self.anneal("annealing", annealing)
            return
        if self.small:  # the best of some, rather than one that takes long
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
        # where a gap may end the run, what is nearly there comes sooner from the best so far
        self.anneal("annealing", annealing, patience, STARTS if self.stop.gap is None else 1)
        self.anneal_again(lambda turns: self.stop.elapsed() > end)

    def cooler(self, annealing: Annealing) -> Annealing:
        """Return a schedule that does not melt what a start near good prices knows."""
        hot, cold = annealing.heat
        heat = (WARM if self.shares.wide else 0.5) * hot, cold
        if self.trades_on() and not self.means.annealing:
            return replace(annealing, heat=(MILD * heat[0], cold))
        if not self.instance.plain or self.means.annealing:
            return replace(annealing, heat=heat)
        large = self.instance.rows >= LARGE
        return replace(annealing, heat=LARGE_HEAT if large else (heat[0], COLD), focus=ABOVE)

    def guided(self) -> bool:
        """Whether prices are good enough to guide near rows, and patterns are not better."""
        if self.wide:
            enough = self.instance.ranged or not self.small
            return enough and self.limit >= BLOCKS_PAY * self.instance.rows
        return not self.small and self.priced and not self.instance.plain

    @property
    def small(self) -> bool:
        """Whether the table is small enough for turns that others have no time for."""
        return self.instance.rows <= SMALL

    @property
    def blocks_suit(self) -> bool:
        """Whether classes are small enough for blocks of near ones to be put together anew."""
        return Repartition().suits(self.k)

    def trades_on(self) -> bool:
        """Whether near classes of a release by patterns trade rows: what blocks are too large for.

        They find what annealing leaves, so that it begins mildly, near a rough fractional release.
        """
        return self.instance.ranged and not (self.wide or self.blocks_suit) and self.guided()

    def rebuilds(self) -> bool:
        """Whether blocks of near classes are put together anew."""
        return self.guided() and self.blocks_suit

    def builds_on(self) -> bool:
        """Whether such blocks follow a release by patterns among ranges."""
        return self.instance.ranged and not self.wide and self.rebuilds()

    def anneal_again(self, enough: Callable[[int], bool]) -> None:
        """Anneal the best so far, from little heat, until ``enough`` (of the turns done)."""
        candidates, pattern = with_solution(self.emission(), self.progress.best)
        hot, cold = Annealing.suited(self.instance, self.k).heat
        annealing = replace(Annealing.suited(self.instance, self.k), heat=(WARM * hot, cold))
        turns, going = 0, self.progress.paying()
        while not self.done() and not enough(turns) and going():
            self._again += 1
            pattern = self.improve("annealing again", annealing, candidates, pattern, self._again)
            self.offer(Solution.of(self.instance, pattern))
            turns += 1

    def anneal(
        self,
        stage: str,
        annealing: Annealing,
        seconds: tuple[float, float] | None = None,
        turns: int = 1,
    ) -> None:
        """List candidates, build a release of them, anneal it ``turns`` times."""
        self.tell("candidates", gauge=Gauge(self.tree.walked))
        candidates, pattern = self.start()
        self.offer(Solution.of(self.instance, pattern))
        for turn in range(turns):
            if turn == 0 or not self.done():
                found = self.improve(stage, annealing, candidates, pattern, turn, seconds)
                self.offer(Solution.of(self.instance, found))

    def start(self) -> tuple[Candidates, NDArray[np.int64]]:
        """Return candidates and a lawful assignment of copies to them.

        Near a fractional release where prices were raised at all; the best so far where they tell
        nothing, or where rows that no candidate suits would pay for dear columns.
        """
        if not self.raised or has_dear_columns(self.instance):
            return with_solution(self.emission(), self.progress.best)
        candidates = build_candidates(self.instance, self.emission())
        return candidates, self.rounded(candidates)

    def rounded(self, candidates: Candidates) -> NDArray[np.int64]:
        """Return a lawful assignment near a fractional release of the prices at hand."""
        counts, cell = self.instance.counts, self.instance.cell
        gauge, steps = Gauge(), FEW_STEPS if self.wide or self.trades_on() else STEPS
        told = gauge.steps(0.0, 1.0, steps)
        self.tell("fractional release", gauge=gauge)
        problem = candidates, counts, self.price, self.k, cell, self.done
        return rounded(*problem, self.stop.threads, told, steps)

    def improve(
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
            self.seed + turn,
            self.done,
            lambda cost, share: self.tell(stage, share, cost),
            self.price,
            seconds,
            threads=self.stop.threads,
        )

    def polish(self) -> None:
        """Anneal where classes pay above their prices and re-solve blocks, while that pays.

        Large tables by suppression only where more is asked for: a turn takes a tenth of a run
        there, and saves .01 %.  So those of ranges whose blocks of rows are put together anew.
        """
        small = self.small
        pays = small or self.stop.patient or not (self.instance.plain or self.builds_on())
        if self.instance.rows <= 2 * self.k or not pays:
            return
        candidates, pattern = with_solution(self.emission(), self.progress.best)
        timed, aiming = self.stop.time_limit is not None, self.stop.gap is not None
        going = self.progress.paying()
        patience = PATIENCE if aiming or small else 1
        idle = turn = 0
        while not self.done() and (idle < patience or (timed and not small and going())):
            before = self.progress.best.cost
            turn += 1
            pattern = self.improve("polishing", POLISH, candidates, pattern, turn)
            if timed or aiming:
                pattern = self.means.neighbourhoods.run(
                    candidates,
                    pattern,
                    self.price,
                    self.k,
                    self.instance.cell,
                    self.seed + turn,
                    self.stop,
                    self.done,
                    lambda cost, share: self.tell("blocks", share, cost),
                )
            self.offer(Solution.of(self.instance, pattern))
            idle = idle + 1 if before - self.progress.best.cost < WORTHWHILE * before else 0
