"""Rows that no candidate suits: classes of these are put together anew, among themselves.

Annealing chooses among the classes that cost little above their prices.  Where rows are unlike all
others no such class holds them, and they end in the class of everything, which may be large and
pays for every column.  Trading needs no list of classes (``trading.py``), and these rows are few.
Where no such class could be parted there is nothing to gain: fewer rows than that are strangers.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.engine.class_blocks import split
from incrowd.solvers.engine.near import near_rows
from incrowd.solvers.engine.trading import Trading

# from little heat: what annealing knew of these rows should not melt
GENTLE: Any = {"moves": 600, "least": 20_000, "heat": (0.3, 0.02), "bisects": 0.1}


@dataclass(frozen=True, kw_only=True)
class Rehousing:
    """How such rows are put together anew.

    Attributes
    ----------
    trading: among them.
    most: moves in all.
    """

    trading: Trading = field(default_factory=lambda: Trading(**GENTLE))
    most: float = 3_000_000

    def run(
        self,
        best: Solution,
        price: NDArray[np.float64],
        slack: float,
        k: int,
        seed: int,
        stop: Stop,
        ended: Callable[[], bool],
    ) -> Solution:
        """Return a release that costs no more than ``best``.

        price: float64, shape (distinct,), in units of 1/scale; slack: in the same, what a class of
        k rows may cost above their prices where it is a candidate.
        """
        dear = beyond(best, price, slack, k)
        if not (dear & (best.sizes >= 2 * k)).any():
            return best
        block = np.flatnonzero(dear[best.classes])
        present, _ = best.part(block)
        near = near_rows(present.instance, seed, stop)
        trading = replace(self.trading, moves=min(self.trading.moves, self.most / len(block)))
        found = trading.run(split(present, k), near, k, seed, stop=ended)
        if found.cost >= present.cost:
            return best
        name = best.classes.copy()
        name[block] = len(best.sizes) + found.classes
        return Solution.of(best.instance, name)


def beyond(
    solution: Solution, price: NDArray[np.float64], slack: float, k: int
) -> NDArray[np.bool_]:
    """Tell which classes cost more above the prices of their rows than candidates do."""
    instance = solution.instance
    paid = np.bincount(solution.classes, weights=price[instance.copies])
    return k * (solution.class_costs - paid / solution.sizes) > slack
