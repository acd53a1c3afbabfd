"""Minimum-cost perfect matching in a graph (Edmonds 1965), in exact integers and O(n³) steps.

    minimise  Σ cost(e)·x(e)  over perfect matchings x
    =  maximise  Σ price(u) + Σ weight(B)  over prices and odd sets B of weight ≥ 0, where
       price(u) + price(v) + Σ {weight(B) : B holds exactly one of u and v}  ≤  cost(uv).

``incrowd.linear.forest`` has the search, docs/explanation/polynomial.md the proof.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.halt import NEVER, halted
from incrowd.linear.forest import begin, match_all, new_forest

UNIT = 4  # price units in one of cost: with costs times 4 and even prices all changes are whole


@dataclass(frozen=True, eq=False)
class PerfectMatching:
    """A perfect matching of least cost with its proof.

    Attributes
    ----------
    mate: int32, shape (vertices,).
    hat: int64, shape (vertices,): price of each vertex and weights of the sets that hold it, in
        units of 1/``UNIT``.
    sets: laminar sets of an odd number of vertices, int64 arrays, ascending.
    weight: int64, shape (sets,), positive, in units of 1/``UNIT``.
    """

    mate: NDArray[np.int32]
    hat: NDArray[np.int64]
    sets: list[NDArray[np.int64]]
    weight: NDArray[np.int64]

    @property
    def price(self) -> NDArray[np.int64]:
        """int64, shape (vertices,): prices without the weights of the sets."""
        price = self.hat.copy()
        for odd_set, weight in zip(self.sets, self.weight, strict=True):
            price[odd_set] -= weight
        return price

    @property
    def total(self) -> int:
        """Σ prices + Σ weights: no perfect matching costs less, in units of 1/``UNIT``."""
        return int(self.price.sum()) + int(self.weight.sum())


def perfect_matching(
    cost: NDArray[np.int64], word: NDArray[np.int64] = NEVER
) -> PerfectMatching | None:
    """Return a perfect matching of least cost and its proof; None once ``word`` is written.

    Parameters
    ----------
    cost: int64, shape (n, n), n even, symmetric; every pair is an edge, so one that may not be
        taken costs more than all others together.  n·cost stays within 2^58.
    word: what a kernel looks at, see ``incrowd.kernels.halt``.

    Raises
    ------
    ValueError: the number of vertices is odd.
    """
    n = len(cost)
    if n % 2:
        raise ValueError(f"a perfect matching of {n} vertices: their number must be even")
    forest = new_forest(cost)
    if n:
        begin(forest)
        match_all(forest, word)
    if n and halted(word):
        return None
    members: dict[int, list[int]] = {}
    for vertex in range(n):
        item = int(forest.parent[vertex])
        while item >= 0:
            members.setdefault(item, []).append(vertex)
            item = int(forest.parent[item])
    kept = [item for item in sorted(members) if forest.weight[item] > 0]
    sets = [np.array(members[item], np.int64) for item in kept]
    return PerfectMatching(forest.mate, forest.hat, sets, forest.weight[kept])
