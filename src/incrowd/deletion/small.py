"""A few rows exactly, and with them a larger release: some classes at a time with their neighbours.

``subset-dp`` knows the optimum of every sub-multiset of the rows: the best of those that lack few
enough rows, with the price of these, is the optimum.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.deletion.found import DELETED, Found, Ints, kept_problem
from incrowd.errors import StoppedError
from incrowd.problem.deletion import Deletion
from incrowd.problem.problem import Problem
from incrowd.run.stop import watched
from incrowd.solvers.base import Context, insist
from incrowd.solvers.exact.submultisets import classes_of, work_of
from incrowd.solvers.exact.subset_dp import SubsetDP

FAR = np.iinfo(np.int64).max
MOST = 3**12  # pairs of subsets of a block: 12 rows that all differ
BLOCKS, NEAR = 400, 24  # that are solved; units that are looked at for each
NOISE = (0.0, 0.5, 1.0, 1.0)  # how much farther than they are units may seem, pass by pass
Codes = NDArray[np.int32]


def by_subsets(problem: Problem, deletion: Deletion, context: Context) -> Found:
    """Take the best of all sub-multisets as what is kept.

    Raises
    ------
    StoppedError: time ended before.
    """
    solver = SubsetDP(reductions="none")
    insist(solver, problem)
    with watched(context.stop):
        filled = solver.optima(problem, context)
    if filled is None:
        raise StoppedError(f"method {solver.id!r} ended ({context.stop.why()}) before it was done")
    parts, best, choice = filled
    gone = problem.instance.rows - parts.size.astype(np.int64)
    allowed = (best >= 0) & (gone <= deletion.limit(problem.instance.rows))
    cost = np.where(allowed, best + deletion.price * gone, FAR)
    kept = len(cost) - 1 - int(np.argmin(cost[::-1]))
    classes = classes_of(problem, parts, solver.classes_of(choice, kept))
    return Found(classes, int(cost[kept]), solver.id, "finished")


def by_blocks(problem: Problem, classes: Ints, deletion: Deletion, context: Context) -> Ints:
    """Solve small blocks of a release anew until none gets cheaper; int64, shape (rows,): classes.

    A block begins with a class or a deleted row, the dearest first.  Where no more rows may be
    deleted, the one that would pay the least in a class joins it, with that class; then others,
    those first that cost the least in one class with the first, or, when that no longer helps,
    about the least.
    """
    rng, units = np.random.default_rng(context.seed), Units.of(problem, classes, deletion)
    left, tried = BLOCKS, set[bytes]()
    for noise in NOISE:
        turn = units.order()
        while turn and left > 0 and not context.stop.now():
            block = units.block(turn.pop(), 1 + noise * rng.random(len(units.members)))
            if len(block) < problem.smallest_class or block.tobytes() in tried:
                continue
            tried.add(block.tobytes())
            left -= 1
            found = units.anew(block, context)
            if found is not None:
                units = Units.of(problem, found, deletion)
                turn = units.order()
    return units.classes


@dataclass(frozen=True, eq=False)
class Units:
    """Classes and deleted rows, of which blocks are put together.

    Attributes
    ----------
    number: int64, shape (rows,): the unit of each copy: of its class, or its own if it is deleted.
    members: the copies of each unit.
    low, high: int32, shape (units, columns): the least and the greatest code of each.
    pays: int64, shape (units,): what each pays in all.
    """

    problem: Problem
    classes: Ints
    deletion: Deletion
    number: Ints
    members: list[Ints]
    low: Codes
    high: Codes
    pays: Ints

    @classmethod
    def of(cls, problem: Problem, classes: Ints, deletion: Deletion) -> "Units":
        """Return the units of a release."""
        gone, instance = classes == DELETED, problem.instance
        apart = np.where(gone, classes.max(initial=0) + 1 + np.arange(len(classes)), classes)
        _, number, size = np.unique(apart, return_inverse=True, return_counts=True)
        order = np.argsort(number, kind="stable")
        start = np.cumsum(size) - size
        codes = instance.codes[instance.copies[order]]
        low, high = (end.reduceat(codes, start) for end in (np.minimum, np.maximum))
        pays = size * instance.join_costs(low, high)
        pays[number[gone]] = deletion.price
        members = np.split(order, start[1:])
        return cls(problem, classes, deletion, number, members, low, high, pays)

    @property
    def room(self) -> int:
        """How many more rows may be deleted."""
        return self.deletion.limit(len(self.classes)) - int((self.classes == DELETED).sum())

    def order(self) -> list[int]:
        """Return the units, those whose rows pay the most last."""
        size = np.array([len(member) for member in self.members])
        return np.argsort(self.pays / size, kind="stable").tolist()

    def joined(self, one: int) -> Ints:
        """int64, shape (units,): what a row would pay in one class with a unit."""
        low, high = np.minimum(self.low, self.low[one]), np.maximum(self.high, self.high[one])
        return self.problem.instance.join_costs(low, high)

    def block(self, one: int, factor: NDArray[np.float64]) -> Ints:
        """Return the copies of a unit and of others near it, rising; none of one that is too large.

        factor: float64, shape (units,): how much farther each shall seem than it is.
        """
        copies, held, chosen = self.problem.instance.copies, Counter[int](), list[int]()
        near = np.argsort(self.joined(one) * factor, kind="stable")[:NEAR].tolist()
        for other in [one, *self.spare(), *near]:
            more = held + Counter(copies[self.members[other]].tolist())
            if other not in chosen and work_of(more.values()) <= MOST:
                held = more
                chosen.append(other)
            elif not chosen:
                return np.zeros(0, np.int64)
        return np.sort(np.concatenate([self.members[other] for other in chosen]))

    def spare(self) -> list[int]:
        """Return a deleted row that others could be deleted for, and the class that takes it."""
        gone = np.unique(self.number[self.classes == DELETED]).tolist()
        if self.room > 0 or not gone:
            return []
        size = np.array([len(member) for member in self.members])
        best, pair = np.inf, []
        for one in gone:
            more = self.joined(one) * (size + 1) - self.pays
            more[gone] = FAR
            at = int(np.argmin(more))
            if more[at] < best:
                best, pair = more[at], [one, at]
        return pair

    def anew(self, block: Ints, context: Context) -> Ints | None:
        """Return the classes with the best ones of a block; None if no cheaper, or stopped."""
        inside = np.zeros(len(self.classes), bool)
        inside[block] = True
        before = int(self.pays[np.unique(self.number[block])].sum())
        more = self.room + int((self.classes[block] == DELETED).sum())
        smaller, place = kept_problem(self.problem, inside)
        try:
            best = by_subsets(smaller, replace(self.deletion, most=more), context)
        except StoppedError:
            return None
        if best.bound >= before:
            return None
        new, found = best.classes[place], self.classes.copy()
        found[block] = np.where(new == DELETED, DELETED, new + self.classes.max() + 1)
        return found
