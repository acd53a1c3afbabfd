"""Raise price bounds beyond the linear program over classes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.boxes import RowBoxes
from incrowd.bounds.odd_sets.pricing import OddSet
from incrowd.bounds.odd_sets.program import Program
from incrowd.lattice.emission import Emission
from incrowd.linear.simplex import Simplex
from incrowd.run.stop import Stop

ROUNDS = 12  # of new classes, at most
SHORT = 1e-5  # cells that the bound may fall short of the value
LEAST_PENALTY = 1e-7
NEAR = 1e-6  # share of the bound that is left to add, to end, where prices may rise freely
MOST_SETTLED = 1_500  # distinct rows of tables whose program a simplex method ends
SETTLING = 0.34  # share of the work after which it does
FEW_SEARCHES = 400
FEW_SETTLED = 200_000  # rows of all classes of a program whose end takes a second or so
TURNS = 2  # between two searches for odd sets
BOXES = 3  # of single rows, one after the other
LOOKS = 5  # values of the program whose middle one says where it ends
# of a unit of costs, and of the bound: what a certificate may lose by rounding
LOST, LOST_SHARE = 0.05, 2e-6


def spent(values: list[float], bound: float, unit: float) -> bool:
    """Whether a bound as high as a program's value would prove no more: costs are whole units.

    values: of the program's last turns, of points on their way to its optimum, above it or below.
    bound: what is proven but for rounding.  unit: what costs are multiples of.
    """
    if len(values) < LOOKS:
        return False
    sure = bound / unit * (1 - LOST_SHARE) - LOST
    return ceil(float(np.median(values[-LOOKS:])) / unit) <= ceil(sure)


def in_cells(lists: Emission, cell: float) -> Emission:
    """Return the lists with costs in cells."""
    return lists._replace(cost=lists.cost / cell)


class Lifted(NamedTuple):
    """Lifted prices and odd sets with penalties, in the units of costs.

    They hold up to rounding for the classes of ``lists``: see ``certificate``.
    """

    lists: Emission
    price: NDArray[np.float64]
    sets: list[OddSet]

    def value(self, counts: NDArray[np.int64]) -> float:
        """Return what prices less penalties come to; ``counts``: int64, shape (distinct,)."""
        met = sum(s.penalty * (int(counts[s.rows].sum()) // s.modulus) for s in self.sets)
        return float(self.price @ counts) - met


@dataclass(frozen=True, kw_only=True)
class OddSets:
    """How the bound is raised.

    Attributes
    ----------
    searches: searches per size of set, each time.
    cutting: share of the work, in the last box, in which odd sets are sought; the rest goes to
        exactness.
    steps: of the linear program per turn, before and after that.
    settled: rows of all classes of a program that a simplex method may end.
    near: share of the bound that is left to add, to end, where prices may rise by so much only.
    """

    searches: int = 12_000
    cutting: float = 0.5
    steps: tuple[int, int] = (100, 200)
    settled: float = np.inf
    near: float = 2e-5

    def in_a_hurry(self) -> "OddSets":
        """Return what ends within seconds on a small table."""
        return replace(self, searches=FEW_SEARCHES, settled=FEW_SETTLED)

    def raised(
        self,
        lists: Emission,
        counts: NDArray[np.int64],
        k: int,
        price: NDArray[np.float64],
        room: float | None,
        cell: float,
        seed: int,
        progress: Callable[[int], float],
        report: Callable[[float], None] = lambda share: None,
        stop: Stop | None = None,
        boxes: RowBoxes | None = None,
    ) -> Lifted:
        """Raise ``price`` until ``progress`` (of the turns done) is 1, or nothing is left to do.

        Parameters
        ----------
        lists: the patterns that matter for what is claimed.
        room: how far prices may rise, in cells; None for as far as they will.
        boxes: where prices go on from there, in shares of the work; None where they stay.
        """
        listed = in_cells(lists, cell)
        most = k * float(listed.cost.max(initial=0.0)) + 1.0
        top = np.full(len(counts), most) if room is None else price / cell + room
        program = Program(listed, counts, k, np.minimum(price / cell, top), top, stop)
        searches = min(self.searches, 2 * len(counts))
        few = room is None and len(counts) <= MOST_SETTLED
        near = NEAR if room is None else self.near
        values = list[float]()  # of the turns in which no sets are sought
        left = 0 if boxes is None else BOXES - 1
        last = 1 - (1 - self.cutting) / (left + 1)
        end = 1 / (left + 1)  # of the box at hand
        n = 0
        while (share := progress(n)) < (SETTLING if few else 1.0):
            report(share)
            if boxes is not None and left and share >= end:
                further = boxes.further(program.price, program.top)
                left, end = left - 1, share + (1 - share) / left
                if further is not None:
                    lists = further.lists
                    program.enter(in_cells(lists, cell), further.top)
            cutting = share < last
            new = program.turn(self.steps[not cutting])
            n += 1
            # a value below the bound is that of a point still on its way
            done = abs(program.value - program.bound) < near * program.bound
            if cutting and (done or new == 0 or n % TURNS == 0):
                done = program.cut(searches, searches, seed + n) == 0 and done
            values += [] if cutting else [program.value]
            if left:
                end = share if done and n > TURNS else end
            elif (done and n > TURNS) or (not few and spent(values, program.bound, 1 / cell)):
                break
        if few and program.pool.rows.size <= self.settled:
            settle(program)
        sets = [s._replace(penalty=s.penalty * cell) for s in program.sets]
        return Lifted(lists, program.best_price * cell, sets)


def settle(program: Program) -> None:
    """Take the program to its optimum, as far as there is time: the exact value, few penalties.

    Steps come near the optimum soon and then hover about it.  Where the rows are few a simplex
    method ends what they have begun: from the classes at hand, and those that its prices call for.
    """
    rows, sets = len(program.counts), len(program.members)
    lower = np.concatenate([program.counts, np.full(sets, -np.inf)])
    upper = np.concatenate([np.full(rows, np.inf), program.most])
    simplex = Simplex(lower, upper, program.top)
    for _ in range(ROUNDS):
        known = simplex.columns
        matrix = program.columns(known)
        simplex.add_columns(program.pool.cost[known:], matrix)
        point = simplex.solve(program.stop.left, grown=known > 0)
        if point is None:
            return
        program.price = np.clip(point.y[:rows], 0.0, program.top)
        penalty = np.maximum(-point.y[rows:], 0.0)
        program.penalty = np.where(penalty > LEAST_PENALTY, penalty, 0.0)
        program.pool.share[:], program.value = point.x, point.value
        program.evaluate()
        if program.bound >= program.value - SHORT or program.add_classes() == 0:
            return
