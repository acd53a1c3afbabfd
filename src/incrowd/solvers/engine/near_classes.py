"""The stages of the search in which near classes change rows: trades, blocks of rows, near joins.

Annealing meets the patterns that it was given.  These begin with the classes of the best release so
far and with near rows (``near.py``): they find what no list of patterns holds, and are all there is
for tables too wide for such a list.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.span_prices import suits_spans
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.candidates import build_candidates
from incrowd.solvers.engine.class_blocks import split
from incrowd.solvers.engine.growing import grown
from incrowd.solvers.engine.near import Near, near_rows
from incrowd.solvers.engine.near_joins import near_joins
from incrowd.solvers.engine.repartition import Repartition
from incrowd.solvers.engine.search import MOST_PATIENT, RANGED, Search
from incrowd.solvers.engine.trading import Trading

# from little heat: what annealing knew of these rows should not melt
GENTLE: Any = {"moves": 600, "least": 20_000, "heat": (0.3, 0.02), "bisects": 0.1}
MOST_TRADING = 64.0  # factor on the moves of trading that a long time limit may buy
# trading after annealing among ranges, from little heat; four times the moves find no more
LUKEWARM = Trading(moves=700, heat=(0.08, 0.015), regroups=0.08, bisects=0.2)
# the same on small tables with hierarchies: from more heat, then from little
WARMER = replace(LUKEWARM, moves=600, least=1, heat=(0.6, 0.03))
COOLER = replace(LUKEWARM, moves=400, least=1, heat=(0.1, 0.003))
# the same of tables too wide for prices, with the moves of all copies (intervals differ by little)
WIDE_TRADES, MOST_TRADES, RANGED_HEAT = 6_000, 100_000_000, (1.0, 0.03)
AS_PAID = 0.03  # the last heat at most, in what a row pays: little for most beside a long tail
# moves of a wide table without a limit, of each copy and of all: what few rows take seconds for
PATIENT_TRADES, ALL_TRADES = 2_400, 8_000_000
# times what prices say in all, from which on they miss patterns that a release of cells kept or
# starred needs: its classes trade, in such a share of the time left
LOOSE, LOOSELY = 1.1, 0.5
TRADED = 0.6  # share of the time left that trading takes on wide tables where blocks follow
# rows of tables too wide for patterns among ranges from which on joins of near rows are annealed in
# place of trades, which have too far to go there; first and last heat, in what a row pays
MANY, JOINED_HEAT = 10_000, (1.5, 0.03)
# blocks where patterns of ranges are priced and no limit ends them: slower cooling still gains
PATIENT_BLOCKS = Repartition(sweeps=48, most=300_000)


class NearClasses:
    """What a run does with near classes.

    Attributes
    ----------
    search: the search by patterns, whose prices tell who is near.
    """

    def __init__(self, search: Search) -> None:
        self.search, self.progress = search, search.progress
        self.instance, self.k, self.stop, self.seed = (
            search.instance, search.k, search.stop, search.seed,
        )  # fmt: skip
        self.tell, self.offer, self.done = search.tell, search.offer, search.done

    def rehouse(self) -> None:
        """Put the rows that no candidate suits together anew, among themselves."""
        if self.done() or not (self.search.priced or self.search.wide):
            return
        slack = self.search.slack() * self.instance.cell
        problem = self.progress.best, self.search.price, slack, self.k, self.seed
        self.offer(Rehousing().run(*problem, self.stop, self.done))

    def anneal_joins(self) -> None:
        """Anneal among joins of near rows; let classes trade rows where there are none."""
        self.tell("candidates")
        prices, pairs = self.progress.certificate, RANGED * self.search.means.pairs
        found = None
        if prices is not None and prices.by_rows:
            found = near_joins(self.instance, self.k, prices, pairs, self.done)
        if found is None:
            self.trade()
            return
        candidates = build_candidates(self.instance, found)
        pattern, left = self.search.rounded(candidates), self.stop.left()
        suited = Annealing.suited(self.instance, self.k)
        pays = float(self.search.price @ self.instance.counts) / (
            self.instance.rows * self.instance.cell
        )
        hot, cold = JOINED_HEAT
        annealing = replace(suited, most=2 * suited.most, heat=(hot * pays, cold * pays))
        seconds = None if left == np.inf else (TRADED * left, 1.0)
        pattern = self.search.improve("annealing", annealing, candidates, pattern, 0, seconds)
        self.offer(Solution.of(self.instance, pattern))
        self.rehouse()

    def trade(self, warmth: float = 1.0) -> None:
        """Let near classes trade rows, from the best so far or from classes of near rows."""
        # prices say who fits; where little heat follows, the start is better without them
        near = self.search.near if self.instance.ranged else self.search.near_at(self.search.price)
        if warmth == 1.0 and not self.done():
            self.offer(Solution.of(self.instance, grown(self.instance, near, self.k)))
        trading = Trading()
        if warmth == 1.0 and self.stop.time_limit is None:
            least = min(ALL_TRADES, PATIENT_TRADES * self.instance.rows)
            trading = replace(trading, least=max(trading.least, least))
        if self.instance.ranged:
            moves = min(WIDE_TRADES, MOST_TRADES / self.instance.rows)
            pays = max(self.progress.best.cost, 1) / (self.instance.rows * self.instance.cell)
            heat = RANGED_HEAT[0], min(RANGED_HEAT[1], AS_PAID * pays)
            trading = Trading(moves=moves, heat=heat)
        hot, cold = trading.heat
        left, share = self.stop.left(), TRADED if self.search.rebuilds() else 1.0
        share = share if self.search.wide else LOOSELY
        found = replace(trading, heat=(warmth * hot, cold)).run(
            split(self.progress.best, self.k), near, self.k, self.seed,
            None if left == np.inf else (share * left, MOST_TRADING), self.done,
            lambda cost, share: self.tell("trading", share, cost),
        )  # fmt: skip
        self.offer(found)

    def trade_on(self, *turns: Trading) -> None:
        """Let near classes of the best so far trade rows, from little heat, in turns.

        Annealing meets joins among the candidates alone: of intervals many more are good, and
        where rows are few so are more of all patterns than it comes to.
        """
        near = self.search.near_at(self.search.price)
        for trading in turns:
            self.go_on("trading", near, trading.run)

    def repartition(self) -> None:
        """Put near classes of the best so far together anew, where prices are good."""
        if self.done():
            return
        if self.search.rebuilds():
            near = self.search.near_at(self.search.price)
            priced = self.instance.ranged and not self.search.wide and self.stop.time_limit is None
            blocks = PATIENT_BLOCKS if priced else Repartition()
            self.go_on("blocks of rows", near, partial(blocks.run, price=self.search.price))
        elif self.search.wide:
            return
        elif self.loose():
            self.trade()
        elif self.search.trades_on():
            self.trade_on(LUKEWARM)
        elif self.search.priced and not self.instance.plain and self.search.small:
            self.trade_on(WARMER, COOLER)

    def loose(self) -> bool:
        """Whether prices are so far below the release that they miss patterns which it needs."""
        priced = float(self.search.price @ self.instance.counts)
        known = self.search.priced and self.instance.plain
        return known and self.progress.best.cost > LOOSE * priced

    def many(self) -> bool:
        """Whether joins of near rows are annealed: tables of ranges, too large for trades alone."""
        ranged = self.search.wide and suits_spans(self.instance, self.k)
        return ranged and self.search.rebuilds() and self.instance.rows >= MANY

    def go_on(self, stage: str, near: Near, run: Callable[..., Solution]) -> None:
        """Improve the best so far among near classes, in a share of the time left."""
        left = self.stop.left()
        share, factor = (
            (1.0, MOST_PATIENT) if self.search.wide else (self.search.shares.blocks, 1.0)
        )
        found = run(
            split(self.progress.best, self.k), near, k=self.k, seed=self.seed,
            seconds=None if left == np.inf else (share * left, factor), stop=self.done,
            report=lambda cost, share: self.tell(stage, share, cost),
        )  # fmt: skip
        self.offer(found)


@dataclass(frozen=True, kw_only=True)
class Rehousing:
    """Rows that no candidate suits: how classes of these are put together anew, among themselves.

    Annealing chooses among the classes that cost little above their prices.  Where rows are unlike
    all others no such class holds them, and they end in the class of everything, which may be large
    and pays for every column.  Trading needs no list of classes, and these rows are few.  Where no
    such class could be parted there is nothing to gain: fewer rows than that are strangers.

    Attributes
    ----------
    trading: among them.
    most: moves in all.
    """

    trading: Trading = field(default_factory=lambda: Trading(**GENTLE))
    most: float = 3_000_000

    def run(
        self,
        best: Solution,
        price: NDArray[np.float64],
        slack: float,
        k: int,
        seed: int,
        stop: Stop,
        ended: Callable[[], bool],
    ) -> Solution:
        """Return a release that costs no more than ``best``.

        price: float64, shape (distinct,), in units of 1/scale; slack: in the same, what a class of
        k rows may cost above their prices where it is a candidate.
        """
        dear = beyond(best, price, slack, k)
        if not (dear & (best.sizes >= 2 * k)).any():
            return best
        block = np.flatnonzero(dear[best.classes])
        present, _ = best.part(block)
        near = near_rows(present.instance, seed, stop)
        trading = replace(self.trading, moves=min(self.trading.moves, self.most / len(block)))
        found = trading.run(split(present, k), near, k, seed, stop=ended)
        if found.cost >= present.cost:
            return best
        name = best.classes.copy()
        name[block] = len(best.sizes) + found.classes
        return Solution.of(best.instance, name)


def beyond(
    solution: Solution, price: NDArray[np.float64], slack: float, k: int
) -> NDArray[np.bool_]:
    """Tell which classes cost more above the prices of their rows than candidates do."""
    instance = solution.instance
    paid = np.bincount(solution.classes, weights=price[instance.copies])
    return k * (solution.class_costs - paid / solution.sizes) > slack
