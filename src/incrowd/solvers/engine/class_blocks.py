"""Large neighbourhoods over classes: blocks put together anew near lifted prices.

With lifted prices and odd sets nearly all classes of a good release cost what their rows pay; the
gap sits in a few that cost more.  Around each of these the release is put together anew, from the
classes that cost little above their prices.  Annealing does not find such exchanges: they change
many classes at once.

Two classes of a release are neighbours when a class that costs little more than lifted prices pay
(a link) holds rows of both; the way between them is as long as that class is dear.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.classes import some_classes
from incrowd.bounds.odd_sets.evaluation import penalty_of
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.bounds.odd_sets.pricing import Classes, OddSet, PricingProblem
from incrowd.kernels.jit import kernel, lean_kernel
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution
from incrowd.solvers.engine.branching.tree import Branching

PER_PATTERN = 8  # links
REACH = 1.0  # cells that a link may cost above lifted prices
MOST_LINKS = 1_000_000
HOP = 0.05  # cells that a link is longer than it is dear, on average
MOST_CLASSES = 20_000  # per block
NODES = 20  # of branching, per block
BRANCHING = Branching(tried=(2, 1), iterations=20)  # rather many blocks than proofs


class Links(NamedTuple):
    """Classes that cost little, by row.

    rows: int64, shape (links, 2k − 1): distinct rows of each, −1 for none.
    length: float64, shape (links,): cells above lifted prices.
    first, of_row: int64: links ``of_row[first[r]:first[r + 1]]`` hold distinct row r.
    """

    rows: NDArray[np.int64]
    length: NDArray[np.float64]
    first: NDArray[np.int64]
    of_row: NDArray[np.int64]


class Layout(NamedTuple):
    """A release by class and by row.

    copies, first: int64: copies ``copies[first[c]:first[c + 1]]`` are class c.
    rows: int64, shape (rows,): the distinct row of each entry of ``copies``.
    classes: int64, shape (rows,): the class of each copy.
    first_copy: int64: copies ``first_copy[r]:first_copy[r + 1]`` are of distinct row r.
    """

    copies: NDArray[np.int64]
    first: NDArray[np.int64]
    rows: NDArray[np.int64]
    classes: NDArray[np.int64]
    first_copy: NDArray[np.int64]

    @classmethod
    def of(cls, solution: Solution) -> "Layout":
        """Index a solution."""
        copies, starts = solution.order
        first = np.append(starts, len(copies)).astype(np.int64)
        instance = solution.instance
        rows = instance.copies[copies]
        return cls(copies, first, rows, solution.classes, instance.first_copy)


@lean_kernel
def excess_of(rows: Any, cost: Any, ones: Any, pr: Any, above: Any) -> None:
    """Fill ``above`` with what classes cost above their prices and penalties.

    ``rows``: distinct rows, shape (classes, n), −1 after the last; ``ones``: shape (n,).
    """
    for j in range(len(rows)):
        size = 0
        above[j] = cost[j]
        while size < rows.shape[1] and rows[j, size] >= 0:
            above[j] -= pr.price[rows[j, size]]
            size += 1
        above[j] += penalty_of(rows[j], ones, size, pr.penalties)


def above_lifted(
    rows: NDArray[np.int64], cost: NDArray[np.int64], problem: PricingProblem
) -> NDArray[np.float64]:
    """Return what classes cost above lifted prices and penalties: float64, shape (classes,).

    ``rows``: int64, shape (classes, n), distinct rows, −1 after the last; ``cost`` is that of all
    rows together.
    """
    above = np.empty(len(rows))
    ones = np.ones(rows.shape[1], np.int64)
    excess_of(rows, cost, ones, problem, above)
    return above


def links_of(lifted: Lifted, instance: Instance, k: int) -> Links:
    """List a few classes of small reduced cost for every pattern."""
    lists, cell = lifted.lists, instance.cell
    room = min(MOST_LINKS, PER_PATTERN * len(lists.cost))
    found = Classes.room(room, k)
    problem = PricingProblem.of(lists, instance.counts, k, lifted.price, lifted.sets)
    found = found.first(some_classes(problem, REACH * cell, PER_PATTERN, found))
    rows, size = found.padded, found.size
    length = above_lifted(rows, size * lists.cost[found.pattern], problem) / cell
    row = rows[found.taken]
    order = np.argsort(row, kind="stable")
    first = np.searchsorted(row[order], np.arange(instance.distinct + 1)).astype(np.int64)
    return Links(rows, length, first, np.repeat(np.arange(len(size)), size)[order])


@kernel
def near(start: int, most: int, layout: Any, links: Any, hop: Any) -> Any:
    """Return the nearest classes to ``start``, itself first, until they hold ``most`` rows.

    hop: float64, shape (links,): what each link adds to a way.
    """
    away = np.full(layout.first.size - 1, np.inf)
    away[start] = 0.0
    heap = [(0.0, start)]
    taken = np.empty(layout.first.size - 1, np.int64)
    n = 0
    rows = 0
    while heap and rows < most:
        distance, c = heapq.heappop(heap)
        if distance > away[c]:
            continue
        away[c] = -1.0  # taken
        taken[n] = c
        n += 1
        rows += layout.first[c + 1] - layout.first[c]
        for i in range(layout.first[c], layout.first[c + 1]):
            r = layout.rows[i]
            for z in range(links.first[r], links.first[r + 1]):
                link = links.of_row[z]
                further = distance + hop[link]
                for y in range(links.rows.shape[1]):
                    other = links.rows[link, y]
                    if other < 0:
                        break
                    for j in range(layout.first_copy[other], layout.first_copy[other + 1]):
                        there = layout.classes[j]
                        if further < away[there]:
                            away[there] = further
                            heapq.heappush(heap, (further, there))
    return taken[:n].copy()


def split(solution: Solution, k: int) -> Solution:
    """Split classes of 2k rows and more into classes of at least k, which cost no more."""
    layout = Layout.of(solution)
    sizes = solution.sizes
    place = np.arange(len(layout.copies)) - np.repeat(layout.first[:-1], sizes)
    part = np.minimum(place // k, np.repeat(np.maximum(sizes // k, 1) - 1, sizes))
    name = np.empty(len(place), np.int64)
    name[layout.copies] = layout.classes[layout.copies] * len(place) + part
    return Solution.of(solution.instance, name)


def padded(layout: Layout, classes: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return the distinct rows of some classes: int64, shape (classes, width), −1 for none."""
    at = layout.first[classes][:, None] + np.arange(width)
    inside = at < layout.first[classes + 1][:, None]
    return np.where(inside, layout.rows[np.where(inside, at, 0)], -1)


def restricted(lists: Emission, counts: NDArray[np.int64]) -> Emission:
    """Return the patterns of the rows that have copies, with these rows alone."""
    pattern = np.repeat(np.arange(len(lists.cost)), np.diff(lists.offset))
    inside = counts[lists.rows] > 0
    kept, first = np.unique(pattern[inside], return_index=True)
    offset = np.append(first, inside.sum()).astype(np.int64)
    return Emission(lists.cost[kept], offset, lists.rows[inside])


class Neighbourhood:
    """A release, and blocks of its classes.

    Attributes
    ----------
    best: the release so far, in classes of k to 2k − 1 rows.
    above: float64, shape (classes,): cells that each costs above lifted prices.
    names: int64, shape (classes,): equal for equal classes.
    """

    def __init__(self, settings: "ClassBlocks", lifted: Lifted, k: int) -> None:
        self.settings, self.lifted, self.k = settings, lifted, k
        distinct = len(lifted.price)
        counts = np.full(distinct, 2 * k - 1)  # the most, for which scratch is allocated
        self.problem = PricingProblem.of(lifted.lists, counts, k, lifted.price, lifted.sets)
        counts[:] = 0  # then those of a block
        self.keys = np.random.default_rng(distinct).integers(1, 2**62, distinct, np.int64)

    def enter(self, best: Solution) -> None:
        """Take a release."""
        self.best, instance = best, best.instance
        self.layout = Layout.of(best)
        every = padded(self.layout, np.arange(len(best.sizes)), 2 * self.k - 1)
        costs = best.sizes * best.class_costs
        self.above = above_lifted(every, costs, self.problem) / instance.cell
        self.names = np.add.reduceat(self.keys[self.layout.rows], self.layout.first[:-1])

    def offered(self, present: Solution, rows: NDArray[np.int64]) -> tuple[Classes, Lifted]:
        """Return classes for the block, its own among them, and lifted prices over them."""
        k, instance, lifted = self.k, present.instance, self.lifted
        counts = np.zeros(len(self.keys), np.int64)
        counts[rows] = instance.counts
        lists = restricted(lifted.lists, counts)
        room = min(MOST_CLASSES, self.settings.most * len(lists.cost))
        found = Classes.room(room, k)
        slack = self.settings.slack * instance.cell
        problem = self.problem._replace(lists=lists, counts=counts)
        found = found.first(some_classes(problem, slack, self.settings.most, found))
        number = np.full(len(counts), -1)
        number[rows] = np.arange(len(rows))
        own, sizes = Layout.of(present), present.sizes
        mine = padded(own, np.arange(len(sizes)), 2 * k - 1)
        classes = Classes(
            np.concatenate([found.pattern, len(lists.cost) + np.arange(len(sizes))]),
            np.concatenate([found.size, sizes]),
            np.concatenate([number[found.padded], mine]),
        )
        lists = Emission(
            np.concatenate([lists.cost, present.class_costs]),
            np.concatenate([lists.offset, lists.offset[-1] + own.first[1:]]),
            np.concatenate([number[lists.rows], own.rows]).astype(np.int32),
        )
        return classes, Lifted(lists, lifted.price[rows], self.sets_of(rows, number, instance))

    def sets_of(
        self, rows: NDArray[np.int64], number: NDArray[np.int64], part: Instance
    ) -> list[OddSet]:
        """Return what the odd sets hold of these rows, by their ``number`` in the part."""
        first, by_row, *_ = self.problem.penalties
        concerned = np.unique(np.concatenate([by_row[first[r] : first[r + 1]] for r in rows]))
        sets = []
        for one in (self.lifted.sets[j] for j in concerned):
            members = number[one.rows]
            sets.append(one._replace(rows=members[members >= 0]))
        return [s for s in sets if s.most(part.counts)]

    def solved(self, classes: NDArray[np.int64], seconds: Callable[[], float]) -> Solution:
        """Put these classes' rows together anew; return the better release."""
        inside = np.isin(self.best.classes, classes)
        block = np.flatnonzero(inside)
        present, rows = self.best.part(block)
        problem = *self.offered(present, rows), present.instance, self.k, present.cost - 1
        found, _ = BRANCHING.run(*problem, NODES, seconds)
        if found is None:
            return self.best
        name = self.best.classes.copy()
        name[block] = len(self.best.sizes) + found.classes
        return split(Solution.of(self.best.instance, name), self.k)


@dataclass(frozen=True, kw_only=True)
class ClassBlocks:
    """Re-solve blocks around classes that cost more than their rows pay.

    Attributes
    ----------
    sizes: rows per block, one round each.
    slack: cells above lifted prices up to which classes are offered to a block.
    most: classes offered per pattern, the dearest first.
    least: cells above lifted prices from which on a class starts a block.
    seconds: per block.
    """

    sizes: tuple[int, ...] = (150, 300, 450, 600)
    slack: float = 2.5
    most: int = 20
    least: float = 0.3
    seconds: float = 3.0

    def run(
        self,
        best: Solution,
        lifted: Lifted,
        k: int,
        seed: int,
        seconds_left: Callable[[], float],
        stop: Callable[[], bool] = lambda: False,
        report: Callable[[int], None] = lambda cost: None,
    ) -> Solution:
        """Go through the rounds; return a release that costs no more than ``best``."""
        links = links_of(lifted, best.instance, k)
        at = Neighbourhood(self, lifted, k)
        at.enter(split(best, k))
        rng = np.random.default_rng([seed, 11])
        for size in self.sizes:
            hop = links.length + HOP * (0.5 + rng.random(len(links.length)))
            self.round(at, size, links, hop, seconds_left, stop, report)
        return at.best

    def round(
        self,
        at: Neighbourhood,
        size: int,
        links: Links,
        hop: NDArray[np.float64],
        seconds_left: Callable[[], float],
        stop: Callable[[], bool],
        report: Callable[[int], None],
    ) -> None:
        """Start a block of ``size`` rows at every class that pays too much, the worst first."""
        tried: set[int] = set()
        while not stop():
            due = np.flatnonzero(at.above > self.least)
            due = due[[int(name) not in tried for name in at.names[due]]]
            if not len(due):
                return
            worst = int(due[np.argmax(at.above[due])])
            tried.add(int(at.names[worst]))
            block = near(worst, size, at.layout, links, hop)
            end = max(0.0, seconds_left() - self.seconds)
            better = at.solved(block, lambda end=end: seconds_left() - end)
            if better is not at.best:
                at.enter(better)
                report(better.cost)
