"""Raise price bounds beyond the linear program, over the whole table or region by region."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.region import Ground, OddSet, Region
from incrowd.jit import kernel
from incrowd.patterns.prefix_tree import Emission
from incrowd.patterns.topk import top_k, top_k_buffers
from incrowd.solution import Solution
from incrowd.solvers.engine.candidates import transpose

TIGHT = 0.25  # reduced cost, in cells, up to which a pattern links its rows to a region
PAYS = 0.03  # share of what a region has gained that three more rounds must add


class Lifted(NamedTuple):
    """Lifted prices and odd sets with tolls (distinct rows, toll), in the units of costs.

    They hold up to rounding for the classes of ``lists``: see ``certificate``.
    """

    lists: Emission
    price: NDArray[np.float64]
    sets: list[OddSet]


@kernel
def plain_worth(
    lists: Any, price: Any, counts: Any, k: int, value: Any, weight: Any, member: Any
) -> Any:
    """float64, shape (patterns,): the k highest prices of each pattern less k·cost."""
    worth = np.full(lists.cost.size, -1e300)
    for p in range(lists.cost.size):
        rows = lists.rows
        total, entries = top_k(
            rows, lists.offset[p], lists.offset[p + 1], price, counts, k, value, weight, member
        )
        if entries >= 0:
            worth[p] = total - k * lists.cost[p]
    return worth


@kernel
def grow_region(
    seed: int, size: int, lists: Any, row_offset: Any, row_patterns: Any, tight: Any, score: Any
) -> Any:
    """Return up to ``size`` distinct rows around ``seed``, linked by tight patterns.

    score: float64, shape (distinct,): comes and goes zero.
    """
    chosen = np.empty(size, np.int64)
    listed = np.empty(score.size, np.int64)
    listed[0] = seed
    score[seed] = 1.0
    n = 1
    count = 0
    while count < size:
        best = -1
        for z in range(n):
            if score[listed[z]] > 0 and (best < 0 or score[listed[z]] > score[best]):
                best = listed[z]
        if best < 0:
            break
        chosen[count] = best
        count += 1
        score[best] = -1e18
        for y in range(row_offset[best], row_offset[best + 1]):
            p = row_patterns[y]
            if not tight[p]:
                continue
            length = lists.offset[p + 1] - lists.offset[p]
            for i in range(lists.offset[p], lists.offset[p + 1]):
                s = lists.rows[i]
                if score[s] == 0.0:
                    listed[n] = s
                    n += 1
                score[s] += 1.0 / length
    for z in range(n):
        score[listed[z]] = 0.0
    return chosen[:count]


@dataclass(frozen=True, kw_only=True)
class OddSets:
    """How the bound is raised.

    Attributes
    ----------
    size: distinct rows per region.
    rounds: rounds of odd sets per region.
    starts, most: searches per size of set and round; sets added per round.
    room: how far a price may rise within a region, in suppressed cells: patterns that could matter
        only beyond are not looked at.
    """

    size: int = 600
    rounds: int = 30
    starts: int = 500
    most: int = 120
    room: float = 0.3

    def whole(
        self,
        lists: Emission,
        counts: NDArray[np.int64],
        k: int,
        price: NDArray[np.float64],
        cell: float,
        seed: int,
        stop: Callable[[], bool],
    ) -> Lifted:
        """Solve the program of a whole table over the classes of ``lists``; see ``Lifted``."""
        cost = lists.cost / cell
        ceiling = np.full(len(counts), k * float(cost.max(initial=0.0)) + 1.0)
        ground = ground_of(lists._replace(cost=cost), counts, k, ceiling)
        region = Region(ground, np.arange(len(counts)), price / cell, [])
        self.raise_region(region, seed, stop)
        sets = [(rows, toll * cell) for rows, toll in region.sets if toll > 0]
        return Lifted(lists, region.price * cell, sets)

    def around(
        self,
        lists: Emission,
        k: int,
        price: NDArray[np.float64],
        solution: Solution,
        seed: int,
        stop: Callable[[], bool],
    ) -> Lifted:
        """Go from region to region, first where the release pays most above its prices.

        Ends when every class has been in a region that pays above its prices, or at ``stop``.
        """
        instance = solution.instance
        cell, counts = instance.cell, instance.counts
        now = price / cell
        ground = ground_of(lists._replace(cost=lists.cost / cell), counts, k, now + self.room)
        buffers = top_k_buffers(k, np.float64)
        tight = plain_worth(ground.lists, now, counts, k, *buffers) > -TIGHT
        sets: list[OddSet] = []
        seen, score = np.zeros(instance.distinct), np.zeros(instance.distinct)
        by_row = ground.row_offset, ground.row_patterns
        while not stop():
            over = overpaid(solution, now) * (seen == 0)
            start = int(np.argmax(over))
            if over[start] <= 1e-6:
                break
            inside = grow_region(start, self.size, ground.lists, *by_row, tight, score)
            seen[inside] += 1
            seen[start] += 1
            region = Region(ground, inside, now, sets)
            if self.raise_region(region, seed, stop):
                now = region.price
                sets = region.others + [s for s in region.sets if s[1] > 0]
        return Lifted(lists, now * cell, [(rows, toll * cell) for rows, toll in sets])

    def raise_region(self, region: Region, seed: int, stop: Callable[[], bool]) -> bool:
        """Add odd sets while they pay; return whether the region was solved at all."""
        if not region.solve(stop):
            return False
        first = before = region.value()
        for n in range(self.rounds):
            if not region.cut(self.starts, self.most, seed + n) or not region.solve(stop):
                break
            if n % 3 == 2:
                gained = region.value() - first
                if region.value() - before <= PAYS * max(gained, 0.1):
                    break
                before = region.value()
        return True


def ground_of(
    lists: Emission, counts: NDArray[np.int64], k: int, ceiling: NDArray[np.float64]
) -> Ground:
    """Index the patterns by row."""
    row_offset, row_patterns = transpose(lists.offset, lists.rows, len(counts))
    return Ground(lists, row_offset, row_patterns, counts, k, ceiling)


def overpaid(solution: Solution, price: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64, shape (distinct,): what the dearest class of a row pays above its prices, per row.

    ``price`` in cells; rows without a price do not count.
    """
    instance = solution.instance
    copies, classes = instance.copies, solution.classes
    paid = solution.class_costs / instance.cell
    worth = np.bincount(classes, weights=price[copies], minlength=len(paid))
    over = paid - worth / solution.sizes
    found = np.zeros(instance.distinct)
    np.maximum.at(found, copies, over[classes])
    return np.where(price > 1e-9, found, 0.0)
