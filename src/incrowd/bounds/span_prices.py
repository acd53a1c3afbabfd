"""Prices of a table whose columns are generalized to intervals and too many for patterns.

Rounds as of ``incrowd.bounds.rounds`` from the prices of neighbours, a box of prices listing the
sets of near rows (``incrowd.bounds.span_sets``) that one of its points breaks.  The unit is the
mean price.  At the end prices are rounded down, and lowered until a search finds no set that breaks
them; then those of rows far from all others are raised (``incrowd.bounds.far_rows``).  Sets listed
at once take at most some 300 MB, lists of rows as much; what takes more room is left to groups of
columns.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.ascent import Ascent
from incrowd.bounds.far_rows import FarRows, far_rows
from incrowd.bounds.price import LARGEST, PriceBound, quantum_for, rounded_down
from incrowd.bounds.prices import Prices
from incrowd.bounds.rounds import Report, ascend, no_report
from incrowd.bounds.row_sets import ROOM
from incrowd.bounds.span_sets import SpanSets
from incrowd.bounds.strides import Reach, Strides
from incrowd.bounds.support import in_reach
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance
from incrowd.run.stop import Stop

LISTED, FEW_LISTED = 40, 400_000  # sets for each row, and on small tables
MOST_LISTED, MOST_ENTRIES = 4_000_000, 40_000_000  # sets, and rows of all sets
SCHEDULE = PriceBound(
    rounds=24, iterations=60, margin=(0.4, 0.006), rate=(0.08, 0.001), worth=np.inf
)
# on few rows more rounds, down to smaller boxes: prices differ more there, and rounds take no time
FEW_ROWS, LONGER = 2_000, replace(SCHEDULE, rounds=60, margin=(0.4, 0.001), rate=(0.08, 0.0001))
# times as far as others the price of a row with far neighbours goes, where rows are many: of rows
# that are farther by far sets are too many, and ``far_rows`` raises them
FARTHEST = 4.0
LIFTS = (2.0, 1.4, 1.0)  # times the prices of neighbours to begin from, until sets are few enough
STEPS = 1_000_000_000  # of one search: some 20 s
TRIES = 12  # boxes per round
# rows of intervals in reach among which no support search is begun, in all; and where spans serve,
# intervals that hold a row: of 74 ages all intervals are 2,775
MOST_IN_REACH, MOST_OF_A_ROW = 500_000_000, 8_000


def suits_spans(instance: Instance, k: int) -> bool:
    """Whether sets of near rows are found by spans, and their search has room.

    Not where a widest interval is given, which is left to columns of marks.
    """
    ranges = [tree for tree in instance.trees if isinstance(tree, RangeFamily)]
    straight = bool(ranges) and all(tree.straight for tree in ranges)
    return straight and 2 <= k <= instance.rows and instance.distinct * k <= ROOM


def spans_prove_more(instance: Instance, k: int) -> bool:
    """Whether prices by spans are worth a try beside those of patterns: rows are few.

    There prices have far to go from those of support, and boxes of spans go by what each row pays.
    """
    return instance.distinct <= FEW_ROWS and suits_spans(instance, k)


def in_many_intervals(instance: Instance, k: int, price: NDArray[np.int64]) -> bool:
    """Whether rows are in so many intervals that sets of near rows are asked in place of patterns.

    In nearly continuous columns more intervals are in reach than rows.  ``price``: what each row
    pays at most, as for ``in_reach``.
    """
    most = MOST_IN_REACH
    if suits_spans(instance, k):
        most = min(most, MOST_OF_A_ROW * instance.rows)
    return in_reach(instance, price) > most


def span_prices(
    instance: Instance,
    k: int,
    stop: Stop,
    share: float = 1.0,
    report: Report = no_report,
    start: NDArray[np.int64] | None = None,
) -> Prices:
    """Return prices by sets of near rows; parameters as of ``wide_prices``.

    Prices of 0, which prove nothing, where the time ends before those of neighbours are found.
    ``start``: these, where they are known.
    """
    end = np.inf if stop.time_limit is None else share * stop.time_limit
    boxes = SpanBoxes(SpanSets(instance, k), instance, lambda: stop.now() or stop.elapsed() > end)
    start = boxes.sets.neighbours(boxes.late) if start is None else start
    if start is None:
        return Prices(np.zeros(instance.distinct, np.int64), 1)
    mean = float(start @ instance.counts) / instance.rows
    quantum = boxes.quantum = quantum_for(mean)
    best = Prices(start * quantum, quantum, by_rows=True)
    report(best.bound(instance.counts), 0.0)
    if not mean or k * boxes.sets.dearest * quantum > LARGEST:
        return best
    # who is far from all others pays for a whole class
    farthest = np.inf if instance.distinct <= FEW_ROWS else FARTHEST
    boxes.strides = Strides(np.clip(start / mean, 1.0, farthest))
    u = ascended(boxes, start, report)
    if boxes.rounds:
        _, price = rounded_down(u, instance.counts, quantum)
        certified = boxes.sets.certified(price, quantum, stop.now)
        if certified is not None and certified @ instance.counts > best.price @ instance.counts:
            best = Prices(certified, quantum, by_rows=True)
    if k * k * boxes.sets.dearest * quantum > LARGEST:  # a row's price may be that of a class
        return best
    far = FarRows(boxes.sets, stop.now).raised(best.price, quantum, far_rows(start, mean))
    return Prices(far, quantum, by_rows=True)


def ascended(boxes: "SpanBoxes", start: NDArray[np.int64], report: Report) -> NDArray[np.float64]:
    """Return prices after rounds from those of neighbours, lifted as far as sets are few enough."""
    u = start.astype(np.float64)
    for lift in LIFTS:
        if not boxes.rounds and not boxes.late():
            if lift == LIFTS[-1]:
                boxes.strides = Strides.even(len(start))
            lifted = start.astype(np.float64) * lift
            u = ascend(boxes.schedule, boxes, lifted, boxes.late, report)
    return u


class SpanBoxes:
    """Boxes of prices, and the sets of near rows that their points break.

    Attributes
    ----------
    late: tells whether the time for prices is over.
    quantum: prices are compared in units of 1/quantum.
    rounds: ascents made so far.
    strides: how far each row's price goes.
    reach: and how much farther in a round, on few rows; on many it would make too many sets.
    """

    def __init__(self, sets: SpanSets, instance: Instance, late: Callable[[], bool]) -> None:
        self.sets, self.instance, self.late = sets, instance, late
        self.quantum, self.rounds = 1, 0
        self.strides = Strides.even(instance.distinct)
        self.reach = Reach(instance.distinct) if instance.distinct <= FEW_ROWS else None
        most = min(max(FEW_LISTED, LISTED * instance.distinct), MOST_LISTED, MOST_ENTRIES // sets.k)
        schedule = LONGER if instance.distinct <= FEW_ROWS else SCHEDULE
        self.schedule = replace(schedule, pairs=most * sets.k, patterns=most)

    def unit(self, u: NDArray[np.float64]) -> float:
        """Return the mean price."""
        return float(u @ self.instance.counts) / self.instance.rows

    def listed(
        self, u: NDArray[np.float64], width: float, sink: Emission
    ) -> tuple[float, int] | None:
        """List all sets that some point within ``width`` of u breaks, shrinking it to fit."""
        far = self.strides.of_row * (1.0 if self.reach is None else self.reach.up)
        for _ in range(TRIES):
            up = np.ceil((u + width * far) * self.quantum).astype(np.int64)
            found = self.sets.listed(up, self.quantum, self.late, STEPS, sink)
            if found is not None:
                return width, found
            if self.late():
                break
            width *= 0.7
        return None

    def moved(self, way: NDArray[np.float64], width: float) -> None:
        """Let prices that run to the border of their box go farther."""
        if self.reach is not None:
            self.reach.moved(way / (width * self.strides.of_row))

    def walked(self) -> float:
        """Return about what share of the list at hand is done."""
        return self.sets.walked

    def ascent(self, lists: Emission, patterns: int, rounds: int) -> Ascent:
        """Return the ascent over these sets."""
        self.rounds += 1
        counts, k, strides = self.instance.counts, self.sets.k, self.strides
        return Ascent(lists, patterns, counts, k, strides=strides, reach=self.reach)
