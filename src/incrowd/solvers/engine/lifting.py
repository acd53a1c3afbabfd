"""The stages of the engine that need prices with odd sets: bound, blocks over classes, proof."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.listing import in_reach, within
from incrowd.bounds.odd_sets.boxes import RowBoxes
from incrowd.bounds.odd_sets.certificate import certify_with_sets, exact
from incrowd.bounds.odd_sets.lifted import MOST_SETTLED, Lifted, OddSets
from incrowd.bounds.prices import Prices
from incrowd.lattice.emission import Emission
from incrowd.problem.solution import Solution
from incrowd.run.gauge import Gauge
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.class_blocks import ClassBlocks
from incrowd.solvers.engine.prove import pairs_in_reach, prove
from incrowd.solvers.engine.schedule import LARGE
from incrowd.solvers.engine.search import Search
from incrowd.solvers.engine.warm import with_solution

MOST_LIFTED = (150_000, 600_000)  # pairs in one program with odd sets: in a hurry, and patient
MOST_AGAIN = 2_400_000  # pairs there, on tables small enough for a proof
MOST_ENTRIES = 20_000_000  # rows of a class for every pattern of that program: 80 MB, held twice
MOST_TIME = 0.5  # share of the time left that it takes at most, in a hurry
TURNS = (60, 180)  # of that program: in a hurry, and patient
# cells by which prices of large tables may rise
ROOMS = (0.9, 0.6, 0.45, 0.3, 0.2, 0.14, 0.1, 0.07, 0.05, 0.03)
MOST_RISE = 4.5  # cells by which the prices of k rows together may rise there
# times as far where columns are many: prices of rows with few near ones want to go farther, and few
# patterns stand in the way (20 columns: a tenth of the prices stood at .9 cells)
FARTHER, MANY_COLUMNS = (4.0, 3.0, 2.0, 1.5), 16
# pairs there, and per second; the widest room with no more is taken: by suppression, and with
# hierarchies and small classes or ranges, where prices have to rise by more; with trees, k = 10
# and NCP the checker was left with too many classes to try
MOST_BOXED = ((1_200_000, 20_000), (2_400_000, 40_000))
FIRST_OF_SEVERAL = 0.2  # cells in the first of several boxes: one without room takes seconds
# without a time limit: such pairs per row, and turns, on tables with hierarchies, where the linear
# program is loose
BOXED_PER_ROW, BOXED_TURNS = (80, 100), 16
LEFT = 2e-4  # share of a bound with hierarchies that is left to the release rather than added
SMALL = 5  # rows of classes that are small
EXCHANGING = 0.2  # share of the time left that blocks over classes take on small ones
NEARLY = 8  # cells of gap that branching closes sooner than they do
REHEATS = 4  # annealings of a large table between two goes at blocks that gain nothing
# annealings within reach of lifted prices, and moves per copy there: in a hurry, and patient
RESTARTS, MOVES = (2, 4), (1_000, 2_000)


class Lifting:
    """What a run does with odd sets.

    Attributes
    ----------
    search: the search that prices guide.
    lifted: prices with odd sets over all that a better release could use, on small tables.
    guide: the latest prices with odd sets.
    certain: what ``guide`` proves of all releases.
    tried: the release that no proof of optimality was found for.
    """

    def __init__(self, search: Search, odd_sets: OddSets) -> None:
        self.search, self.progress = search, search.progress
        self.odd_sets = odd_sets if search.instance.plain else replace(odd_sets, near=LEFT)
        self.instance, self.tree, self.k = search.instance, search.tree, search.k
        self.stop, self.shares = search.stop, search.shares
        self.tell, self.offer, self.done = search.tell, search.offer, search.done
        self.lifted: Lifted | None = None
        self.guide: Lifted | None = None
        self.certain: Prices | None = None
        self.tried: Solution | None = None

    def few(self) -> bool:
        """Whether the table is small enough for a proof that a release is optimal."""
        return self.lifted is not None or self.instance.distinct <= MOST_SETTLED

    def raise_by_odd_sets(self) -> None:
        """Raise the bound beyond the linear program: on small tables, and where time is given."""
        if not self.search.priced or self.progress.best is self.tried:
            return
        patient = self.stop.patient
        slack = self.progress.best.cost - 1 - float(self.search.price @ self.instance.counts) + 1e-6
        lists = within(self.tree, self.search.price, self.k, max(slack, 0.0), MOST_LIFTED[patient])
        lifted = None
        if lists is not None and self.fits(lists):
            # only these lists hold all that a better release could use: see ``prove``
            in_time = self.time_spent(self.shares.lifting or MOST_TIME)
            lifted = self.lifted = self.raised(
                lists, None, lambda turns: max(turns / TURNS[patient], in_time())
            )
        elif self.shares.lifting or self.pays_unasked():
            lifted = self.lifted_in_a_box()
        if lifted is not None:
            self.keep(lifted)

    def keep(self, lifted: Lifted) -> None:
        """Let lifted prices guide what follows, and prove what they do of all releases."""
        self.guide = lifted
        certificate = self.certain = certify_with_sets(self.tree, self.k, lifted)
        bound = 0 if certificate is None else certificate.bound(self.instance.counts)
        if certificate is not None and bound > self.progress.bound:
            self.progress.prove(certificate, bound)

    def raise_again(self) -> None:
        """Raise the bound of a small table over all pairs where a box was needed before.

        With the prices of the box, and a better release since, few pairs matter.
        """
        box, certain = self.guide, self.certain
        if self.lifted is not None or box is None or certain is None or self.settled():
            return
        if not self.few() or not self.stop.patient:
            return
        box = exact(certain, box.lists, self.instance)
        worth = certain.total(self.instance.counts) / certain.quantum
        slack = max(self.progress.best.cost - 1 - worth, 0.0) + 1e-6
        lists = in_reach(self.tree, box.price, self.k, slack, MOST_AGAIN)
        if lists is not None and self.fits(lists):
            self.lifted = self.raised(lists, None, lambda turns: turns / TURNS[True], box.price)
            self.keep(self.lifted)

    def lifted_in_a_box(self) -> Lifted | None:
        """Raise the prices of a large table by a little each, in turns or a share of the time."""
        cells, small = self.k * self.instance.cell, self.k <= SMALL
        more = self.instance.ranged or (small and not self.instance.plain)
        at_most, per_second = MOST_BOXED[more]
        if self.stop.time_limit is None:
            most = min(at_most, BOXED_PER_ROW[small] * self.instance.rows)
        else:
            most = min(at_most, int(per_second * self.shares.lifting * self.stop.left()))
        for room in self.rooms():
            lists = within(self.tree, self.search.price, self.k, room * cells, most)
            if lists is not None and self.fits(lists):
                several = self.instance.ranged or self.many_columns()
                boxes = RowBoxes(self.tree, self.k, room, most) if several else None
                return self.raised(lists, room, self.boxed_progress(), boxes=boxes)
        return None

    def boxed_progress(self) -> Callable[[int], float]:
        """Return what tells, by turns or by the clock, how far work in a box has come."""
        if self.stop.time_limit is None:
            return lambda turns: turns / BOXED_TURNS
        in_time = self.time_spent(self.shares.lifting)
        return lambda turns: in_time()

    def pays_unasked(self) -> bool:
        """Whether a large table's bound is raised without a time limit, once.

        Classes of up to five rows with hierarchies: the gap is halved for a third more time.  Of
        larger ones only with ranges: with trees alone the whole run takes twice as long.
        """
        suits = self.k <= (LARGE if self.instance.ranged else SMALL)
        large = self.search.guided() and not self.search.wide
        return suits and large and self.stop.time_limit is None and self.guide is None

    def rooms(self) -> list[float]:
        """Return how far prices of a large table may rise, in cells, the farthest first."""
        widest = FIRST_OF_SEVERAL if self.instance.ranged else MOST_RISE / self.k
        rooms = sorted({min(room, widest, MOST_RISE / self.k) for room in ROOMS}, reverse=True)
        return [*(times * rooms[0] for times in FARTHER if self.many_columns()), *rooms]

    def many_columns(self) -> bool:
        """Whether rows have few near ones, by suppression: some prices want to go far."""
        return self.instance.plain and self.instance.columns >= MANY_COLUMNS

    def fits(self, lists: Emission) -> bool:
        """Whether a class for every pattern is not too much to hold."""
        return len(lists.cost) * (2 * self.k - 1) <= MOST_ENTRIES

    def time_spent(self, share: float) -> Callable[[], float]:
        """Return what tells how much of a share of the time left has been spent since."""
        begin, span = self.stop.elapsed(), max(share * self.stop.left(), 1e-3)
        return lambda: (self.stop.elapsed() - begin) / span

    def raised(
        self,
        lists: Emission,
        room: float | None,
        progress: Callable[[int], float],
        price: NDArray[np.float64] | None = None,
        boxes: RowBoxes | None = None,
    ) -> Lifted:
        """Solve the linear program with odd sets over these patterns, as far as there is time.

        ``price``: where it begins; None for the prices of the search.  ``boxes``: where it goes on.
        """
        price = self.search.price if price is None else price
        problem = lists, self.instance.counts, self.k, price, room, self.instance.cell

        def until(turns: int) -> float:
            return 1.0 if self.done() else progress(turns)

        def report(share: float) -> None:
            self.tell("odd sets", share)

        hurry = room is None and not self.stop.patient
        odd_sets = self.odd_sets.in_a_hurry() if hurry else self.odd_sets
        return odd_sets.raised(*problem, self.search.seed, until, report, self.stop, boxes)

    def settled(self) -> bool:
        """Whether nothing is left to do for the best so far."""
        return self.progress.best is self.tried or self.progress.best.cost == self.progress.bound

    def search_in_reach(self) -> None:
        """Anneal a small table over the classes that cost little above lifted prices."""
        if self.lifted is None or self.settled():
            return
        emission = pairs_in_reach(self.lifted, self.instance, self.k, self.stop)
        if emission is None:
            return
        candidates, _ = with_solution(emission, self.progress.best)
        hot, cold = Annealing.suited(self.instance, self.k).heat
        annealing = Annealing(moves=MOVES[self.stop.patient], heat=(hot, cold), least=0)
        for turn in range(RESTARTS[self.stop.patient]):
            if not self.done():
                pattern = self.search.rounded(candidates)
                found = self.search.improve("annealing", annealing, candidates, pattern, turn)
                self.offer(Solution.of(self.instance, found))

    def exchange(self) -> None:
        """Re-solve blocks over the classes that cost little above lifted prices."""
        limit = self.stop.time_limit
        if self.guide is None or limit is None or self.settled():
            return
        small = self.lifted is not None
        if small and self.progress.best.cost - self.progress.bound <= NEARLY * self.instance.cell:
            return  # what is left is rather the proof's
        part = EXCHANGING if self.few() else 1.0
        end = self.stop.elapsed() + part * self.stop.left()
        gauge = Gauge(self.time_spent(part))  # all of it, if it pays for so long
        self.tell("blocks of classes", gauge=gauge)
        turn, idle = 0, False
        going = self.progress.paying()
        while not (idle and small) and not self.done() and self.stop.elapsed() < end and going():
            before = self.progress.best.cost
            stop = partial(self.ended, end)
            self.offer(self.exchanged(turn, stop, gauge))
            idle = self.progress.best.cost == before
            if idle and not small:
                self.search.anneal_again(lambda turns: turns >= REHEATS)
            turn += 1

    def ended(self, end: float) -> bool:
        """Whether there is nothing left to do, or this moment is over."""
        return self.done() or self.stop.elapsed() > end

    def exchanged(self, turn: int, stop: Callable[[], bool], gauge: Gauge) -> Solution:
        """Go through one round of such blocks."""
        assert self.guide is not None
        problem = self.progress.best, self.guide, self.k, self.search.seed + turn

        def report(cost: int) -> None:
            self.tell("blocks of classes", None, cost, gauge)

        return ClassBlocks().run(*problem, self.stop.left, stop, report)

    def finish(self) -> None:
        """Try to prove the best so far optimal, on tables where that is within reach."""
        self.raise_again()
        if self.settled():
            return
        self.tell("proof")  # nobody knows how long it takes
        problem = (
            self.tree,
            self.progress.best,
            self.search.price,
            self.progress.bound,
            self.k,
            self.stop,
        )
        solution, bound = prove(*problem, self.stop.patient, self.lifted)
        self.offer(solution)
        self.tried = self.progress.best
        self.progress.bound = max(self.progress.bound, bound)
