"""The search: which patterns are open, by branch and bound."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.bounds.odd_sets.pricing import Classes
from incrowd.lattice.emission import Emission
from incrowd.linear.simplex import Simplex
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution
from incrowd.solvers.engine.branching.relaxation import Node, Relaxation, Relaxed

DOUBT = 1e-9  # share of a bound that rounding may have added
WHOLE = 1e-6  # rows that a whole number of them may be off
NEAR_ROOT = 3  # nodes so deep at most choose from more patterns


@dataclass(frozen=True, kw_only=True)
class Branching:
    """How patterns are chosen.

    Attributes
    ----------
    tried: patterns tried on both sides before one is chosen: near the root, and deeper.
    iterations: of the simplex method, for each side tried.
    """

    tried: tuple[int, int] = (16, 4)
    iterations: int = 60

    def run(
        self,
        classes: Classes,
        lifted: Lifted,
        instance: Instance,
        k: int,
        most: int,
        nodes: int,
        seconds: Callable[[], float],
    ) -> tuple[Solution | None, bool]:
        """Find the best release of cost at most ``most`` made of ``classes``.

        Returns
        -------
        the best one found, and whether it is known that there is no better one: not when time or
        ``nodes`` ran out.
        """
        search = Search(self, classes, lifted, instance, k, most, seconds)
        stack = [(0, search.program.node)]
        while stack:
            nodes -= 1
            if nodes < 0 or seconds() <= 0 or search.lost:
                return search.best, False
            depth, node = stack.pop()
            stack += ((depth + 1, child) for child in search.children(node, depth))
        return search.best, not search.lost


def merit(closed: Any, opened: Any) -> Any:
    """Return how good it is to branch where the bound rises by so much on either side."""
    return closed * opened + 1e-3 * (closed + opened)


class Search:
    """One search.

    Attributes
    ----------
    most: the cost that a release may have to be of use.
    lost: whether a node could not be settled.
    """

    def __init__(
        self,
        settings: Branching,
        classes: Classes,
        lifted: Lifted,
        instance: Instance,
        k: int,
        most: int,
        seconds: Callable[[], float],
    ) -> None:
        self.settings, self.instance, self.k = settings, instance, k
        self.lists, self.most, self.seconds = lifted.lists, most, seconds
        self.program = Relaxation(classes, lifted, instance, k)
        self.experience = Experience(len(self.program.names))
        self.best: Solution | None = None
        self.lost = False

    def limit(self) -> float:
        """Return the bound, in cells, above which nothing of use is left."""
        cells = self.most / self.instance.cell
        return cells + DOUBT * max(1.0, abs(cells))

    def children(self, node: Node, depth: int) -> list[Node]:
        """Settle a node, or return what it falls into, the likelier side last."""
        program = self.program
        program.enter(node)
        relaxed = program.solve(self.limit(), self.seconds)
        if relaxed is None:
            self.lost = True
            return []
        if relaxed.x is None:
            return []
        rows, share = program.open_rows(relaxed.x)
        between = (rows > WHOLE) & (rows < self.k - WHOLE)
        if not between.any():
            return self.whole(node, rows)
        usable = node.usable & (relaxed.reduced <= self.limit() - relaxed.bound)
        node = Node(usable, node.opened, program.simplex.basis())
        program.enter(node)
        p, likely_open = self.chosen(np.flatnonzero(between), share, relaxed, depth)
        closed = node._replace(usable=usable & (program.pattern != p))
        opened = node.opened.copy()
        opened[p] = True
        both = [closed, node._replace(opened=opened)]
        return both if likely_open else both[::-1]

    def whole(self, node: Node, rows: NDArray[np.float64]) -> list[Node]:
        """Take the release that publishes the patterns in use, and look for a better one."""
        opened = self.program.names[rows > WHOLE]
        found = dealt(self.lists, opened, self.instance, self.k, self.seconds)
        if found is None or found.cost > self.most:
            self.lost = True  # numerical trouble: claim nothing
            return []
        self.best, self.most = found, found.cost - 1
        return [node]

    def chosen(
        self, between: NDArray[np.int64], share: NDArray[np.float64], relaxed: Relaxed, depth: int
    ) -> tuple[int, bool]:
        """Return the pattern that moves the bound most on both sides, and the better side."""
        room = self.limit() - relaxed.bound
        tried = self.settings.tried[depth >= NEAR_ROOT]
        best, choice = -1.0, (int(between[0]), True)
        for p in self.promising(between, share[between], room)[:tried].tolist():
            closed = self.gain(p, CLOSED, float(share[p]), relaxed)
            if merit(closed, room) <= best:
                continue
            opened = self.gain(p, OPEN, 1 - float(share[p]), relaxed)
            if merit(closed, opened) > best:
                best, choice = merit(closed, opened), (p, opened < closed)
        return choice

    def promising(
        self, between: NDArray[np.int64], share: NDArray[np.float64], room: float
    ) -> NDArray[np.int64]:
        """Order patterns by what earlier tries promise of them, the best first."""
        closed = self.experience.expected(CLOSED, between, share)
        opened = self.experience.expected(OPEN, between, np.maximum(1 - share, 0.0))
        worth = merit(np.minimum(closed, room), np.minimum(opened, room))
        return between[np.argsort(-worth, kind="stable")]

    def gain(self, p: int, side: int, change: float, relaxed: Relaxed) -> float:
        """Guess by how much the bound rises when pattern p is closed, or open; up to the limit.

        ``change``: of its share.
        """
        program = self.program
        program.limit(p, *((1.0, np.inf) if side == OPEN else (0.0, 0.0)))
        value = program.simplex.glance(self.settings.iterations)
        program.limit(p, float(program.node.opened[p]))
        program.simplex.restore(program.node.basis)
        rise = min(max(value - relaxed.bound, 0.0), self.limit() - relaxed.bound)
        self.experience.note(side, p, rise, change)
        return rise


LEAST_CHANGE = 1e-3  # of a share, for a rise per unit to mean something
CLOSED, OPEN = 0, 1


class Experience:
    """Mean rises of the bound per unit, by side and pattern; in cells.

    Attributes
    ----------
    rise, tries: float64, int64, shape (2, patterns): sum of the rises per unit, and their number.
    """

    def __init__(self, patterns: int) -> None:
        self.rise = np.zeros((2, patterns))
        self.tries = np.zeros((2, patterns), np.int64)

    def note(self, side: int, p: int, rise: float, change: float) -> None:
        """Remember what a try told of pattern p, whose share changed by so much."""
        self.rise[side, p] += rise / max(change, LEAST_CHANGE)
        self.tries[side, p] += 1

    def expected(
        self, side: int, patterns: NDArray[np.int64], change: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the rises that patterns promise; float64, shape (patterns,).

        One that was not tried yet promises per unit what all others did on average.
        """
        rise, tries = self.rise[side], self.tries[side]
        usual = float(rise.sum()) / float(tries.sum()) if tries.any() else 1.0
        own = rise[patterns] / np.maximum(tries[patterns], 1)
        return np.where(tries[patterns] > 0, own, usual) * change


def dealt(
    lists: Emission,
    opened: NDArray[np.int64],
    instance: Instance,
    k: int,
    seconds: Callable[[], float],
) -> Solution | None:
    """Deal the rows to the patterns ``opened``, each to at least ``k``; None where that fails.

    The vertices of this program are whole (it is a flow), so the simplex method ends at one.

    Parameters
    ----------
    lists: patterns and the rows that may publish them.
    opened: int64, shape (open patterns,): their numbers in ``lists``, ascending.
    """
    pattern = np.repeat(np.arange(len(lists.cost)), np.diff(lists.offset))
    inside = np.isin(pattern, opened)
    place = np.searchsorted(opened, pattern[inside])
    row = lists.rows[inside].astype(np.int64)
    cost = lists.cost[opened][place] / instance.cell
    n = len(row)
    index = np.stack([row, instance.distinct + place], axis=1).ravel()
    shape = instance.distinct + len(opened), n
    matrix = scipy.sparse.csc_array((np.ones(2 * n), index, 2 * np.arange(n + 1)), shape=shape)
    counts = instance.counts.astype(np.float64)
    lower = np.concatenate([counts, np.full(len(opened), float(k))])
    upper = np.concatenate([counts, np.full(len(opened), np.inf)])
    simplex = Simplex(lower, upper, np.zeros(0))
    simplex.add_columns(cost, matrix)
    point = simplex.solve(seconds)
    if point is None:
        return None
    times = np.rint(point.x).astype(np.int64)
    if (np.bincount(row, times, instance.distinct) != instance.counts).any():
        return None  # numerical trouble
    order = np.argsort(row, kind="stable")
    solution = Solution.of(instance, np.repeat(place[order], times[order]))
    return solution if solution.sizes.min() >= k else None
