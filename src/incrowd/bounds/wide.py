"""Prices of tables that are too wide to be priced by patterns.

By sets of near rows (``incrowd.bounds.row_sets``) where the search for these ends in time: the same
inequalities, so the same bound as a narrow table has.  Else by groups of columns
(``incrowd.bounds.column_groups``).  Where columns are generalized to intervals, by spans
(``incrowd.bounds.span_prices``).

Rounds.  They begin from the prices of neighbours.  The sets are listed that prices within a margin
of the present ones break, and the ascent among them (``incrowd.bounds.ascent``) moves within it.
The margin grows while prices run to its border and few sets are listed, and falls where they stay.
At the end prices are rounded down, and lowered until a search finds no set that breaks them.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.ascent import Ascent
from incrowd.bounds.closed_sets import ClosedSets
from incrowd.bounds.column_groups import group_prices
from incrowd.bounds.neighbours import neighbour_prices
from incrowd.bounds.price import LARGEST, quantum_for, rounded_down
from incrowd.bounds.prices import Prices, better
from incrowd.bounds.rounds import Report, no_report
from incrowd.bounds.row_sets import ROOM, WORD
from incrowd.bounds.span_prices import span_prices, suits_spans
from incrowd.bounds.thermometer import marks_at_most
from incrowd.lattice.emission import new_sink
from incrowd.problem.instance import Instance
from incrowd.run.stop import Stop

LONGEST = 4_000_000_000  # steps of one search: a quarter of a minute or so
LONG = 2_000_000_000  # the same while no list of sets has come to its end
MOST = 24_000_000_000  # steps of all
LARGE = 1_000_000_000  # pairs of rows: 31,000 rows
WORDS = 2  # of bits that a row takes; searches whose rows take more are shorter by as much
ROUNDS, ITERATIONS = 40, 300
MARGIN, LEAST = 0.15, 0.003  # of the mean price: the first margin, and the last
WIDER, NARROWER = 1.6, 0.7
# of the way that prices went in a round, a margin at most: so far ahead the next one begins
AHEAD = 0.7
REST = 0.35  # of the margin, where prices hardly move
TRIES = 3  # margins tried before sets are given up
SETS, PAIRS = (100_000, 600_000), 12_000_000  # listed at once, at least and at most
SETS_EACH = 20  # for each row, between these
FEW, FEW_EACH = 20_000, 4  # sets, in all or for each row: the margin may grow
SMALL, SHORTER = 6, 4  # up to such a k; of larger sets so much fewer are listed: each takes longer
SELDOM = 10  # searches that a certificate is worth
HALF = 0.5  # of the time, after which groups of columns are asked where no set was listed yet


def wide_prices(
    instance: Instance, k: int, stop: Stop, share: float = 1.0, report: Report = no_report
) -> Prices:
    """Return prices of a table that is too wide to be priced by patterns.

    Parameters
    ----------
    stop: the budget, of whose time limit the prices may have used a ``share`` when they are found.
    report: called with the bound so far, in units of 1/scale, and the share that is done.
    """
    if suits_spans(instance, k):
        return span_prices(instance, k, stop, share, report)
    found, raised = row_prices(instance, k, stop, share, report)
    if found is not None and raised:
        return found
    return better(found, group_prices(instance, k, stop, share, report), instance.counts)


def row_prices(
    instance: Instance, k: int, stop: Stop, share: float = 1.0, report: Report = no_report
) -> tuple[Prices | None, bool]:
    """Return the best prices that sets of near rows give, and whether rounds raised them.

    None where the search for these sets would be too long.  Parameters as of ``wide_prices``.
    """
    columns = sum(marks_at_most(tree) for tree in instance.trees)
    rows, words = instance.distinct, -(-columns // WORD)
    large = rows * rows > LARGE or rows * k * words > ROOM or rows * columns > ROOM
    if k < 2 or instance.rows < k or large:
        return None, False
    effort = max(1, words // WORDS)
    rounds = RowRounds(ClosedSets(instance, k), instance.counts, stop, share, report, effort)
    start = neighbour_prices(rounds.sets.sheet, k, rounds.late)
    if start is None or not rounds.begin(start):
        return None, False
    rounds.run(start.astype(np.float64))
    return rounds.prices, rounds.raised


class RowRounds:
    """Rounds of listing sets and ascent.

    Attributes
    ----------
    best: the best certified prices so far, in units of 1/quantum.
    raised: whether they are better than those that the rounds began from.
    rising: whether prices have not come to rest yet.
    tried: the prices that were certified last.
    effort: how many times as long as usual a step takes: intervals are read as many columns.
    """

    def __init__(
        self,
        sets: ClosedSets,
        counts: NDArray[np.int64],
        stop: Stop,
        share: float,
        report: Report,
        effort: int,
    ) -> None:
        self.effort = effort
        self.sets, self.counts, self.stop, self.report = sets, counts, stop, report
        self.end = np.inf if stop.time_limit is None else share * stop.time_limit
        most = min(max(SETS[0], SETS_EACH * len(counts)), SETS[1])
        few, shorter = max(FEW, FEW_EACH * len(counts)), 1 if sets.k <= SMALL else SHORTER
        self.sink, self.few = new_sink(most // shorter, PAIRS), few // shorter
        self.steps, self.listed, self.raised = 0, False, False
        self.rising, self.tried = True, np.zeros(0)

    def begin(self, start: NDArray[np.int64]) -> bool:
        """Take prices that hold, in units of 1/scale; return whether there is something to do."""
        mean = float(start @ self.counts) / float(self.counts.sum())
        self.quantum = quantum_for(mean)
        self.best, self.mean = start * self.quantum, mean
        if not mean or self.sets.k * self.sets.dearest * self.quantum > LARGEST:
            return False
        self.report(self.prices.bound(self.counts), 0.0)
        return True

    @property
    def prices(self) -> Prices:
        """The best certified prices so far."""
        return Prices(self.best, self.quantum, by_rows=True)

    def late(self) -> bool:
        """Whether the prices' share of the time is over; half of it, while no set was listed."""
        end = self.end if self.listed else self.end * HALF
        return self.stop.now() or self.stop.elapsed() > end

    def run(self, u: NDArray[np.float64]) -> None:
        """Raise prices u round by round, and certify what came of it."""
        margin, checked = MARGIN * self.mean, self.steps
        moved = np.zeros_like(u)
        for n in range(ROUNDS):
            begun = self.stop.elapsed()
            last, u, width = u, np.maximum(u + AHEAD * moved, 0.0), margin
            margin, found = self.sets_within(u, margin)
            if found is None:
                u = last
                break
            listing = self.stop.elapsed() - begun
            rate, before = (margin / 8, margin / 40), u
            ascent = Ascent(self.sink, found, self.counts, self.sets.k, threads=self.stop.threads)
            _, u = ascent.run(u, margin, ITERATIONS, rate, self.late)
            moved = np.clip(u - last, -margin, margin) if margin == width else np.zeros_like(u)
            spent = self.stop.elapsed() - begun
            if self.steps - checked > SELDOM * self.sets.steps:  # for whoever ends the run
                checked = self.steps
                self.certify(u, n / ROUNDS)
            if self.stop.elapsed() + spent + 2 * listing > self.end:
                break
            if float(np.abs(u - before).mean()) < margin / 4:
                self.rising, margin = False, margin * REST
                if margin < LEAST * self.mean:
                    break
        self.certify(u, 1.0)

    def sets_within(self, u: NDArray[np.float64], margin: float) -> tuple[float, int | None]:
        """List the sets that prices within a margin of u break, with a smaller one if need be.

        Or a larger one, as long as few sets are listed and prices have not come to rest.  Returns
        the margin and their number; None where the search is too long.
        """
        tries = 0
        while tries < (ROUNDS if self.listed else TRIES):
            up = np.ceil((u + margin) * self.quantum).astype(np.int64)
            most = (LONGEST if self.listed else LONG) // self.effort
            most = min(most, MOST // self.effort - self.steps)
            self.sets.slack = int(2 * margin * self.quantum)
            found = self.sets.listed(up, self.quantum, self.late, most, self.sink)
            self.steps += self.sets.steps
            if self.late() or self.steps >= MOST // self.effort:
                break
            if found is None:
                self.rising, tries = False, tries + 1
                margin *= NARROWER
            elif self.rising and found < self.few and margin < self.sets.dearest:
                margin *= WIDER
            else:
                self.listed = True
                return margin, found
        return margin, None

    def certify(self, u: NDArray[np.float64], share: float) -> None:
        """Keep prices u, lowered until they hold, if they prove more."""
        if u is not self.tried:
            self.tried = u
            self.keep(u)
        self.report(self.prices.bound(self.counts), share)

    def keep(self, u: NDArray[np.float64]) -> None:
        """Round prices down, and lower them until a search finds no set that breaks them."""
        _, price = rounded_down(u, self.counts, self.quantum)
        certified = self.sets.certified(price, self.quantum, self.stop.now)
        if certified is not None and certified @ self.counts > self.best @ self.counts:
            self.best, self.raised = certified, True
