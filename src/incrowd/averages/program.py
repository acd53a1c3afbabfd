"""Prices of rows by a linear program: as much together as all sets of k rows allow.

Prices that are lifted row by row (``lifting.py``) end where no single one can rise, which may be
far below what prices can sum to.  The program is: the greatest sum of prices, none above its box,
of which no k rows have more than they cost as one class.  Its sets are found as they are broken.
It need not be solved exactly: prices are mended, and its optimum is bounded by any dual values.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.averages.boxes import ends_of
from incrowd.averages.lifting import mend
from incrowd.averages.strata import Floats
from incrowd.kernels.halt import halted
from incrowd.kernels.jit import kernel
from incrowd.run.stop import Stop

BOX, LEAST = 3.0, 0.05  # the most that a price may be: times its own, and of the mean price
FIRST = 1.06  # prices to begin with, times their own
STEP, FASTER, MOST_STEP = 0.3, 1.1, 0.9  # a share of the way, and what it grows by
ROUNDS, NEAR = 50, 5e-4  # the share of the sum below which no more is sought
# sets looked at in all.  A row of a set in the program counts as one more in each round, and so do
# BOXES boxes that a row is held against: each takes some 4 µs
LOOKS, BOXES = 6_000_000, 600
SHARE = 15  # no round has more than one in so many: too few rounds gain nothing
STEPS, LEAN = (
    500,
    0.3,
)  # of a round, by averages of which prices go on; how long those of prices are


def programmed(place: Floats, price: Floats, fewer: Floats, stop: Stop) -> Floats:
    """Return prices like those given, no k rows of which cost less, that sum to as much or more.

    Each round tries prices on the way from the best so far to the optimum of the sets found, and
    mends them: prices that are mended are lawful, and the sets that were broken join the program.

    Parameters
    ----------
    place: float64, shape (n, columns), in the order of ``boxes.boxed``.
    price: float64, shape (n,), lawful for sets of k rows.
    fewer: float64, shape (k, n): by b, prices that no b rows undercut, or 0.
    """
    if not price.any():
        return price
    k, left, step, ends = len(fewer), LOOKS, STEP, ends_of(place)
    program = Program.of(price, k)
    trial = np.minimum(FIRST * price, program.box)
    for _ in range(ROUNDS):
        lawful = trial.copy()
        sets, looked = mend(place, ends, lawful, fewer, k, min(left, LOOKS // SHARE), stop.over)
        if looked < 0:
            break
        left -= looked + len(place) * ends.shape[1] // BOXES
        if lawful.sum() > price.sum():
            price, step = lawful, min(step * FASTER, MOST_STEP)
        program = program.with_sets(place, sets)
        left -= program.sets.size
        if left < 0:
            break
        goal = program.nearer(stop)
        if program.most() - price.sum() <= NEAR * price.sum():
            break
        trial = np.clip(price + step * (goal - price), 0, program.box)
    return price


@dataclass(frozen=True, eq=False)
class Program:
    """The sets of rows found so far, and how near they are to the optimum.

    Attributes
    ----------
    box: float64, shape (n,): the most that each price may be.
    own: float64, shape (n,): units in which prices are told apart, all about as far from it.
    sets: int64, shape (sets, k).  cost: float64, shape (sets,): of each as one class.
    share: float64, shape (n,): prices in units of ``own``.
    weight: float64, shape (sets,): dual values, times ``cost`` over the mean of ``own``.
    """

    box: Floats
    own: Floats
    sets: NDArray[np.int64]
    cost: Floats
    share: Floats
    weight: Floats

    @classmethod
    def of(cls, price: Floats, k: int) -> "Program":
        """Return the program without sets."""
        least = LEAST * price.mean()
        # k rows alike cost nothing, and neither do their prices
        box, own = np.where(price > 0, BOX * price + least, 0), price + least
        none = np.zeros(0)
        return cls(box, own, np.zeros((0, k), np.int64), none, price / own, none)

    def with_sets(self, place: Floats, sets: NDArray[np.int64]) -> "Program":
        """Return the program with further sets, each of them once."""
        both = np.concatenate([self.sets, np.sort(sets, axis=1)])
        once = np.sort(np.unique(both, axis=0, return_index=True)[1])
        both, weight = both[once], np.zeros(len(once))
        weight[: len(self.weight)] = self.weight
        apart = place[both] - place[both].mean(axis=1, keepdims=True)
        cost = (apart**2).sum(axis=(1, 2))
        return replace(self, sets=both, cost=cost, weight=weight)

    def nearer(self, stop: Stop) -> Floats:
        """Go on for some steps; return float64, shape (n,): prices near the optimum."""
        balance(self.sets, self.cost, self.own, self.box, self.share, self.weight, stop.over)
        return self.share * self.own

    def most(self) -> float:
        """Return what no prices sum to more than: dual values, and boxes for what they lack."""
        dual = self.weight * self.own.mean() / self.cost
        due = np.bincount(self.sets.ravel(), dual.repeat(self.sets.shape[1]), len(self.box))
        return float(self.weight.sum() * self.own.mean() + self.box @ np.maximum(1 - due, 0))


@kernel
def balance(sets: Any, cost: Any, own: Any, box: Any, share: Any, weight: Any, over: Any) -> None:
    """Replace prices and dual values, in place, by the averages of ``STEPS`` steps from them.

    Prices rise by what they lack, dual values by how far the next prices break a set: the
    primal-dual method of Chambolle and Pock (2011) with the steps of Pock and Chambolle (2011).
    See ``Program`` for the arrays.
    """
    n, unit = len(own), own.mean()
    price, ahead, dual = share.copy(), share.copy(), weight.copy()
    due, held, full = np.zeros(n), np.zeros(n), np.zeros(len(sets))
    for a in range(len(sets)):
        for i in sets[a]:
            held[i] += own[i] / cost[a]
            full[a] += own[i] / cost[a]
            due[i] += own[i] / cost[a] * dual[a]
    share[:] = 0.0
    weight[:] = 0.0
    done = 0
    while done < STEPS and not halted(over):
        done += 1
        for i in range(n):
            new = box[i] / own[i]
            if held[i] > 0:
                risen = price[i] + (own[i] / unit - due[i]) * LEAN / held[i]
                new = min(max(risen, 0.0), new)
            ahead[i] = 2 * new - price[i]
            price[i] = new
            share[i] += new
            due[i] = 0.0
        for a in range(len(sets)):
            paid = 0.0
            for i in sets[a]:
                paid += ahead[i] * own[i]
            dual[a] = max(0.0, dual[a] + (paid / cost[a] - 1) / (LEAN * full[a]))
            weight[a] += dual[a]
            if dual[a] > 0:
                for i in sets[a]:
                    due[i] += dual[a] / cost[a] * own[i]
    share /= max(done, 1)
    weight /= max(done, 1)
