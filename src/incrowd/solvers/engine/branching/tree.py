"""The search: which patterns are open, by branch and bound."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.bounds.odd_sets.pricing import Classes
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution
from incrowd.solvers.engine.branching.dealing import dealt
from incrowd.solvers.engine.branching.experience import CLOSED, OPEN, Experience
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
        self,
        between: NDArray[np.int64],
        share: NDArray[np.float64],
        relaxed: Relaxed,
        depth: int,
    ) -> tuple[int, bool]:
        """Return the pattern that moves the bound most on both sides, and the better side."""
        room = self.limit() - relaxed.bound
        tried = self.settings.tried[depth >= NEAR_ROOT]
        best, choice = -1.0, (int(between[0]), True)
        for p in self.promising(between, share[between], room)[:tried].tolist():
            closed = self.gain(p, CLOSED, share[p], relaxed)
            if merit(closed, room) <= best:
                continue
            opened = self.gain(p, OPEN, 1 - share[p], relaxed)
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
