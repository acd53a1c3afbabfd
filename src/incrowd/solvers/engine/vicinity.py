"""Which classes of a release lie near a class: those that cheap classes would mix with it.

Two classes of a release are neighbours when a class that costs little more than lifted prices pay
(a link) holds rows of both; the way between them is as long as that class is dear.
"""

import heapq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.classes import some_classes
from incrowd.bounds.odd_sets.evaluation import penalty_of
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.bounds.odd_sets.pricing import Classes, PricingProblem
from incrowd.kernels.jit import kernel, lean_kernel
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution

PER_PATTERN = 8  # links
REACH = 1.0  # cells that a link may cost above lifted prices
MOST_LINKS = 1_000_000


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
