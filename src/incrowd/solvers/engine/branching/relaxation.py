"""The linear program of a node: listed classes, odd sets, patterns open or closed.

    minimize Σ_C cost(C)·x_C
    subject to Σ_C |C∩r|·x_C = copies of r, for each row r
               Σ_{C of p} x_C ≥ 1, for each open pattern p
               Σ_C ⌊|C∩S|/q⌋·x_C ≤ ⌊|S|/q⌋, for each odd set S of modulus q

Only the classes that its prices call for are in the program of the simplex method.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.bounds.odd_sets.pricing import Classes, OddSet
from incrowd.linear.simplex import Simplex
from incrowd.problem.instance import Instance

FIRST = 10  # classes per row there from the start
BATCH = 250  # classes that join at a time
MISSED = 1e-7  # cells below its prices, from which on a class is missed


class Node(NamedTuple):
    """What a node holds on to: bool, shapes (classes,) and (patterns,); its parent's basis."""

    usable: NDArray[np.bool_]
    opened: NDArray[np.bool_]
    basis: Any = None


class Relaxed(NamedTuple):
    """An optimum: a proven bound in cells, shares of the classes and their reduced costs.

    ``x`` is None where the bound ended the search for the optimum.
    """

    bound: float
    x: NDArray[np.float64] | None
    reduced: NDArray[np.float64]


class Relaxation:
    """The program over some classes; one node at a time.

    Attributes
    ----------
    pattern: int64, shape (classes,): pattern of each class, numbered 0, 1, …; ``names``: the
        number of each in ``lifted.lists``.
    """

    def __init__(self, classes: Classes, lifted: Lifted, instance: Instance, k: int) -> None:
        cell = instance.cell
        self.counts = instance.counts.astype(np.float64)
        self.size = classes.size
        self.names, self.pattern = np.unique(classes.pattern, return_inverse=True)
        self.cost = classes.size * lifted.lists.cost[classes.pattern] / cell
        self.most_classes = float(self.counts.sum() / k)
        n, rows, patterns = len(classes.size), instance.distinct, len(self.names)
        self.first_set = rows + patterns
        copies = copies_in(classes, instance)
        of = scipy.sparse.csr_array((np.ones(n), (self.pattern, np.arange(n))), shape=(patterns, n))
        parts = [copies, of, groups(lifted.sets, copies)] if lifted.sets else [copies, of]
        self.matrix = scipy.sparse.csc_array(scipy.sparse.vstack(parts, format="csc"))
        caps = np.array([s.most(instance.counts) for s in lifted.sets], np.float64)
        lower = np.concatenate([self.counts, np.zeros(patterns), np.full(len(caps), -np.inf)])
        upper = np.concatenate([self.counts, np.full(patterns, np.inf), caps])
        self.caps = caps
        dear = 2.0 * k * float(lifted.lists.cost.max(initial=0)) / cell + 1.0
        self.simplex = Simplex(lower, upper, np.full(rows + patterns, dear))
        self.node = Node(np.ones(n, np.bool_), np.zeros(patterns, np.bool_))
        self.place = np.full(n, -1)  # in the simplex method's program
        self.listed = np.zeros(0, np.int64)
        penalties = [-s.penalty / cell for s in lifted.sets]
        y = np.concatenate([lifted.price / cell, np.zeros(patterns), penalties])
        self.join(np.argsort(self.cost - self.matrix.T @ y, kind="stable")[: FIRST * rows])

    def join(self, new: NDArray[np.int64]) -> None:
        """Let classes join the program."""
        self.place[new] = len(self.listed) + np.arange(len(new))
        self.listed = np.concatenate([self.listed, new])
        self.simplex.add_columns(self.cost[new], scipy.sparse.csc_array(self.matrix[:, new]))

    def enter(self, node: Node) -> None:
        """Go to a node."""
        changed = np.flatnonzero(node.usable != self.node.usable)
        changed = changed[self.place[changed] >= 0]
        self.simplex.limit_columns(self.place[changed], node.usable[changed])
        for p in np.flatnonzero(node.opened != self.node.opened):
            self.limit(int(p), float(node.opened[p]))
        if node.basis is not None:
            self.simplex.restore(node.basis)
        self.node = node

    def limit(self, p: int, least: float, most: float = np.inf) -> None:
        """Set how many classes pattern p has."""
        self.simplex.limit_row(len(self.counts) + p, least, most)

    def solve(self, limit: float, seconds: Callable[[], float]) -> Relaxed | None:
        """Solve the node at hand, unless its bound exceeds ``limit`` before; None when lost."""
        grown = False
        while True:
            point = self.simplex.solve(seconds, grown)
            if point is None:
                return None
            bound, reduced = self.proven(point.y)
            if bound > limit:
                return Relaxed(bound, None, reduced)
            missed = np.flatnonzero((reduced < -MISSED) & self.node.usable & (self.place < 0))
            if not len(missed):
                x = np.zeros(len(self.cost))
                x[self.listed] = point.x
                return Relaxed(bound, x, reduced)
            self.join(missed[np.argsort(reduced[missed], kind="stable")[:BATCH]])
            grown = True

    def proven(self, duals: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the bound that duals prove for the node, and the reduced costs.

        A release has at most rows/k classes, so what classes fall short of their prices counts
        that often at most.
        """
        rows = len(self.counts)
        price, gift, penalty = np.split(duals, (rows, self.first_set))
        gift = np.where(self.node.opened, np.maximum(gift, 0.0), 0.0)
        penalty = np.minimum(penalty, 0.0)
        reduced = self.cost - self.matrix.T @ np.concatenate([price, gift, penalty])
        short = float(reduced[self.node.usable].min(initial=0.0))
        value = self.counts @ price + gift.sum() + self.caps @ penalty
        return float(value) + self.most_classes * short, reduced

    def open_rows(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how many rows publish each pattern, and in how many classes; float64."""
        rows, share = np.zeros((2, len(self.names)))
        np.add.at(rows, self.pattern, x * self.size)
        np.add.at(share, self.pattern, x)
        return rows, share


def copies_in(classes: Classes, instance: Instance) -> Any:
    """Return how many copies of each distinct row each class holds, rows × classes; sparse."""
    n = len(classes.size)
    column = np.repeat(np.arange(n), classes.size)
    row = classes.rows[classes.taken]
    return scipy.sparse.csc_array((np.ones(len(row)), (row, column)), shape=(instance.distinct, n))


def groups(sets: Sequence[OddSet], matrix: Any) -> Any:
    """Return ⌊|C∩S|/q⌋, sets × classes, from the copies of each row in each class; sparse."""
    column = np.concatenate([s.rows for s in sets])
    row = np.repeat(np.arange(len(sets)), [len(s.rows) for s in sets])
    members = scipy.sparse.csr_array(
        (np.ones(len(row)), (row, column)), shape=(len(sets), matrix.shape[0])
    )
    held = (members @ matrix).tocoo()
    modulus = np.array([s.modulus for s in sets])
    held.data //= modulus[held.coords[0]]
    held.eliminate_zeros()
    return held.tocsr()
