"""The linear program over classes, with odd sets: columns and sets are added as they are missed.

The prices may rise up to a top each: then only patterns matter that could be broken below it, and
what a row is worth beyond is not sought.
"""

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.evaluation import Found, excesses, lower_all, neighbours, penalized
from incrowd.bounds.odd_sets.pricing import (
    Classes,
    OddSet,
    Penalties,
    PricingProblem,
    charged,
    new_pad,
    penalties_of,
    widest,
)
from incrowd.bounds.odd_sets.primal_dual import scaled, solve
from incrowd.bounds.odd_sets.separation import Fractional, broken_sets
from incrowd.kernels.halt import halted
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.emission import Emission
from incrowd.lattice.topk import top_k_buffers
from incrowd.run.stop import Stop

LEAST = 0.01  # share of a class that matters in a fractional release
CHEAPER = 1e-9  # cells by which a class costs less than it was thought to
GONE = 0  # the name of a class that stands again as a cheaper one
TRIES = 50_000  # per pattern
PATIENCE = 2  # searches that an odd set may stay without a penalty
USELESS = 0.3  # cells above its prices, from which on an unused class is dropped
RISES = (0.02, 0.1, 0.3)  # cells; classes that such prices would call for are there first
MOST_NEW = 200_000  # classes per turn
TINY = 1e-4
MOST_HELD = 40_000_000  # rows of all classes of a program: 160 MB


@lean_kernel
def count_entries(rows: Any, penalties: Any, start: Any) -> None:
    """Fill ``start[j + 1]`` with the entries of column j and those before."""
    for j in range(len(rows)):
        count = 0
        for z in range(rows.shape[1]):
            r = rows[j, z]
            if r < 0:
                break
            count += 1
            for i in range(penalties.first[r], penalties.first[r + 1]):
                s = penalties.sets[i]
                penalties.held[s] += 1
                count += penalties.held[s] % penalties.modulus[s] == 0
        forget(j, rows, penalties)
        start[j + 1] = start[j] + count


@lean_kernel
def fill_entries(
    rows: Any, penalties: Any, distinct: int, start: Any, middle: Any, index: Any
) -> None:
    """Fill the entries: each copy's row, and from ``middle[j]`` on each set, ⌊|C∩S|/q⌋ times."""
    for j in range(len(rows)):
        at = start[j]
        for z in range(rows.shape[1]):
            if rows[j, z] < 0:
                break
            index[at] = rows[j, z]
            at += 1
        middle[j] = at
        for z in range(at - start[j]):
            r = rows[j, z]
            for i in range(penalties.first[r], penalties.first[r + 1]):
                s = penalties.sets[i]
                penalties.held[s] += 1
                if penalties.held[s] % penalties.modulus[s] == 0:
                    index[at] = distinct + s
                    at += 1
        forget(j, rows, penalties)


@inner_kernel
def forget(j: int, rows: Any, penalties: Any) -> None:
    """Set to zero what class j has counted."""
    for z in range(rows.shape[1]):
        r = rows[j, z]
        if r < 0:
            break
        for i in range(penalties.first[r], penalties.first[r + 1]):
            penalties.held[penalties.sets[i]] = 0


class Pool:
    """Classes, each once, with their costs and how much of each is used.

    Attributes
    ----------
    rows: int32, shape (classes, 2k − 1): distinct row of each copy, ascending, then −1.
    cost: float64, shape (classes,): cells of the whole class.
    share: float64, shape (classes,).
    """

    def __init__(self, distinct: int, k: int) -> None:
        self.rows = np.zeros((0, 2 * k - 1), np.int32)
        self.cost, self.share = np.zeros(0), np.zeros(0)
        self.keys = np.zeros(0, np.int64)
        # sums of random names tell classes apart; two that share a sum would only be one less
        self.names = np.random.default_rng(distinct).integers(1, 2**62, distinct + 1, np.int64)
        self.names[-1] = 0  # absent

    def add(self, rows: NDArray[np.int64], cost: NDArray[np.float64]) -> int:
        """Add the classes that are new, or cheaper than before; return how many.

        A class that is met in a wide pattern may lie in a narrow one as well, which costs less.
        """
        order = np.argsort(cost, kind="stable")  # of equal classes the cheapest comes first
        rows, cost = rows[order], cost[order]
        keys = self.names[rows].sum(axis=1)
        _, first = np.unique(keys, return_index=True)
        _, here, there = np.intersect1d(keys[first], self.keys, return_indices=True)
        cheaper = cost[first[here]] < self.cost[there] - CHEAPER
        self.keys[there[cheaper]] = GONE
        first = np.delete(first, here[~cheaper])
        new = rows[first].astype(np.int32)
        last = np.iinfo(np.int32).max
        new = np.sort(np.where(new < 0, last, new), axis=1)
        self.rows = np.concatenate([self.rows, np.where(new == last, -1, new)])
        self.cost = np.concatenate([self.cost, cost[first]])
        self.share = np.concatenate([self.share, np.zeros(len(first))])
        self.keys = np.concatenate([self.keys, keys[first]])
        return len(first)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop the other classes."""
        for name in ("rows", "cost", "share", "keys"):
            setattr(self, name, getattr(self, name)[kept])

    def entries(
        self, penalties: Penalties, distinct: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """Return the columns: where each starts and turns to sets; rows of the table, then sets."""
        start, middle = np.zeros(len(self.rows) + 1, np.int64), np.zeros(len(self.rows), np.int64)
        count_entries(self.rows, penalties, start)
        index = np.zeros(start[-1], np.int32)
        fill_entries(self.rows, penalties, distinct, start, middle, index)
        return start, middle, index

    def fractional(self) -> Fractional:
        """Return the fractional release."""
        used = np.flatnonzero(self.share > LEAST)
        return Fractional.of(self.rows[used], self.share[used])


class Program:
    """The program of a table, and the best bound so far; everything is in cells.

    Attributes
    ----------
    price, penalty: the dual point at hand, per distinct row and per set of ``members``.
    value: the program's value there, of which bounds may fall short.
    bound: the best bound so far; ``best_price`` and ``sets``: what proves it for the patterns at
        hand, up to rounding.
    stop: ends searches; then nothing is proven that was not before.
    """

    def __init__(
        self,
        lists: Emission,
        counts: NDArray[np.int64],
        k: int,
        price: NDArray[np.float64],
        top: NDArray[np.float64],
        stop: Stop | None = None,
    ) -> None:
        self.stop = stop or Stop()
        self.counts, self.k = counts, k
        self.price, self.penalty = price.copy(), np.zeros(0)
        self.members: list[OddSet] = []
        self.idle = np.zeros(0, np.int64)  # searches without a penalty, per set
        self.buffers = top_k_buffers(k, np.float64)
        self.pool = Pool(len(counts), k)
        self.pace = np.ones(2)
        self.bound, self.value = -np.inf, np.inf
        self.best_price, self.sets = price, list[OddSet]()
        self.index()
        self.enter(lists, top)
        self.look_ahead()

    def enter(self, lists: Emission, top: NDArray[np.float64]) -> None:
        """Take what could be broken below this top; sets, classes and the bound stay.

        The best prices so far hold for all patterns, whichever box they were found in.  Classes
        that higher prices would call for are met soon: to look ahead again makes turns twice as
        long, and the bound no better.
        """
        self.lists, self.top = lists, top
        self.found, self.spare = (Found.new(len(lists.cost), self.k) for _ in range(2))
        self.pad = new_pad(widest(lists, self.counts, self.k), self.k)
        self.evaluate()

    def index(self) -> None:
        """Index the sets by row."""
        self.by_row = penalties_of(self.members, len(self.counts))
        self.most = np.array([s.most(self.counts) for s in self.members], np.float64)

    def pricing(self, price: NDArray[np.float64]) -> PricingProblem:
        """Return what classes are worth under ``price`` and the penalties at hand."""
        penalties = charged(self.by_row, self.penalty)
        limits = TRIES, self.stop.over
        return PricingProblem(
            self.lists, self.counts, self.k, price, penalties, self.pad, 1, *limits
        )

    def find(self) -> None:
        """Fill ``found`` at the dual point at hand."""
        excesses(self.pricing(self.price), self.buffers, self.found)

    def evaluate(self) -> None:
        """Take the bound of the dual point at hand; ``found`` keeps what stands in its way."""
        self.find()
        price = self.price.copy()
        lower_all(self.pricing(price), self.buffers, self.found, self.spare)
        if halted(self.stop.over):
            return
        bound = float(self.counts @ price) - float(self.most @ self.penalty)
        if bound > self.bound:
            self.bound, self.best_price = bound, price
            pairs = zip(self.members, self.penalty.tolist(), strict=True)
            self.sets = [s._replace(penalty=t) for s, t in pairs if t > 0]

    def add_classes(self) -> int:
        """Add the classes of ``found`` and classes like them; return how many are new."""
        room = Classes.room(min(MOST_NEW, len(self.lists.cost) * 4 * self.k), self.k)
        problem = self.pricing(self.price)
        new = self.add(room.first(neighbours(problem, self.found, room)))
        if len(self.members):
            new += self.add(room.first(penalized(problem, self.found, room)))
        return new

    def add(self, classes: Classes) -> int:
        """Add some classes, unless there is no room left; return how many are new."""
        if self.pool.rows.size > MOST_HELD:
            return 0
        cost = classes.size * self.lists.cost[classes.pattern]
        return self.pool.add(classes.padded, cost.astype(np.float64))

    def look_ahead(self) -> None:
        """Add the classes that somewhat higher prices would call for."""
        price = self.price
        for rise in RISES:
            self.price = np.minimum(price + rise, self.top)
            self.find()
            self.add_classes()
        self.price = price

    def turn(self, steps: int) -> int:
        """Move on, take a bound, and add the classes that are missed; return how many."""
        entries = self.pool.entries(self.by_row, len(self.counts))
        least = np.concatenate([self.counts.astype(np.float64), -self.most])
        top = np.concatenate([self.top, np.full(len(self.members), np.inf)])
        program = scaled(*entries, self.pool.cost, least, top)
        y = np.concatenate([self.price, self.penalty])
        point = solve(program, self.pool.share, y, self.pace, steps)
        self.pool.share, y = point.x, point.y
        self.price, self.penalty = y[: len(self.counts)], y[len(self.counts) :]
        self.value = float(least @ y)
        self.slack = self.pool.cost - point.ky
        self.evaluate()
        return self.add_classes()

    def columns(self, first: int) -> "scipy.sparse.csc_array":
        """Return the classes from ``first`` on: copies of each row, and what each set counts."""
        start, _, index = self.pool.entries(self.by_row, len(self.counts))
        start, index = start[first:] - start[first], index[start[first] :].astype(np.int64)
        shape = len(self.counts) + len(self.members), len(start) - 1
        matrix = scipy.sparse.csc_array((np.ones(len(index)), index, start), shape=shape)
        matrix.sum_duplicates()
        return matrix

    def cut(self, starts: int, most: int, seed: int) -> int:
        """Add odd sets that the fractional release breaks; return how many are new.

        Idle sets and classes that are far too dear go.
        """
        self.idle = np.where(self.penalty > TINY, 0, self.idle + 1)
        kept = np.flatnonzero(self.idle < PATIENCE)
        self.members = [self.members[i] for i in kept]
        known = {s.name() for s in self.members}
        fractional = self.pool.fractional()
        found = broken_sets(fractional, self.counts, self.k, starts, most, seed)
        new = [s for s in found if s.name() not in known]
        self.members += new
        fresh = np.zeros(len(new))
        self.idle = np.concatenate([self.idle[kept], fresh.astype(np.int64)])
        self.penalty = np.concatenate([self.penalty[kept], fresh])
        used = self.pool.share > TINY
        used[: len(self.slack)] |= self.slack < USELESS
        used[len(self.slack) :] = True  # added since
        self.pool.keep(used)
        self.index()
        return len(new)
