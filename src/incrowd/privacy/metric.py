"""Any metric between sensitive values, as a matrix; Earth Mover's Distance by exact transport."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.privacy.classes import LARGEST, Histograms, at_most, product
from incrowd.privacy.distance import Equal, GroundDistance, excess, scale
from incrowd.privacy.law import CARRIED, limit
from incrowd.privacy.numbers import Exact, exact
from incrowd.text.exact import unit_of

Counts = NDArray[np.int64]


class DetourError(InputError):
    """Two values are farther apart than by way of a third: ``places`` of the three, from 0."""

    def __init__(self, one: int, other: int, via: int) -> None:
        self.places = one, other, via
        super().__init__(
            f"distances break the triangle inequality: from {one + 1} to {other + 1} is "
            f"farther than by way of {via + 1}"
        )


@dataclass(frozen=True)
class Metric(GroundDistance):
    """``matrix[v][w]`` is the distance between codes v and w, of diameter 1."""

    matrix: tuple[tuple[Fraction, ...], ...]

    name = "metric"

    @classmethod
    def of(cls, matrix: Sequence[Sequence[Exact]]) -> "Metric":
        """Check a matrix and scale it to diameter 1.

        Raises
        ------
        InputError: not square, a negative entry or a nonzero diagonal, not symmetric, or against
            the triangle inequality (then a ``DetourError``); values are named by their places.
        """
        rows = tuple(tuple(exact(x, "a distance", least=0) for x in row) for row in matrix)
        if not rows or any(len(row) != len(rows) for row in rows):
            raise InputError("a table of distances must have as many columns as rows")
        diameter = max(max(row) for row in rows)
        if diameter:
            rows = tuple(tuple(x / diameter for x in row) for row in rows)
        metric = cls(rows)
        metric.check()
        return metric

    @cached_property
    def unit(self) -> int:
        """The least common denominator of all distances."""
        return unit_of(chain(*self.matrix))

    @cached_property
    def units(self) -> NDArray:
        """int64 (object where too large), shape (values, values): distances in 1/``unit``."""
        whole = [[int(x * self.unit) for x in row] for row in self.matrix]
        return np.array(whole, np.int64 if self.unit < LARGEST // 4 else object)

    @property
    def separates(self) -> bool:
        """Whether different values are at a distance above 0."""
        return self.nearest > 0

    @cached_property
    def nearest(self) -> Fraction:
        """The least distance between two different values; 1 for a single value."""
        return min((x for i, row in enumerate(self.matrix) for x in row[:i]), default=Fraction(1))

    def check(self) -> None:
        """Raise InputError unless the diagonal is 0, the matrix symmetric, the triangle kept."""
        units = self.units
        for at in np.flatnonzero(np.diagonal(units))[:1]:
            raise InputError(f"distances: value {at + 1} is not at distance 0 from itself")
        for i, j in np.argwhere(units != units.T)[:1]:
            raise InputError(
                f"distances are not symmetric: row {i + 1}, column {j + 1} says "
                f"{self.matrix[i][j]}, row {j + 1}, column {i + 1} says {self.matrix[j][i]} "
                "(of the largest distance)"
            )
        for via in range(len(units)):
            over = units > units[:, via, None] + units[None, via, :]
            for i, j in np.argwhere(over)[:1]:
                raise DetourError(int(i), int(j), via)

    def work(self, counts: Counts, table: Counts) -> Fraction:
        """The cheapest transport of surplus to shortage, in integers."""
        if len(self.matrix) != len(table):
            raise InputError(
                f"the metric has {len(self.matrix)} values, "
                f"the sensitive attribute has {len(table)}"
            )
        total = transport(excess(counts, table), self.units)
        return Fraction(total, scale(counts, table) * self.unit)

    def within(self, classes: Histograms, t: Fraction) -> NDArray[np.bool_]:
        """bool, shape (classes,): whether ``work`` is at most ``t``.

        With V the total variation, nearest·V ≤ work ≤ V; transport settles what lies between.
        """
        surplus, mass = Equal().works(classes)
        fits = at_most(surplus, mass, t)
        least = product(surplus, self.nearest.numerator)
        unsure = ~fits & at_most(least, product(mass, self.nearest.denominator), t)
        seen: dict[bytes, bool] = {}
        for i in np.flatnonzero(unsure):
            counts = classes.dense(int(i))
            key = counts.tobytes()
            if key not in seen:
                seen[key] = self.work(counts, classes.table) <= t
            fits[i] = seen[key]
        return fits

    def farthest(self, classes: Histograms) -> Fraction:
        """The largest ``work`` of all classes, those of large total variation first."""
        surplus, mass = Equal().works(classes)
        variation = surplus.astype(float) / mass.astype(float)
        most, seen = Fraction(0), set()
        for i in np.argsort(-variation, kind="stable"):
            if variation[i] < float(most) - 1e-9:
                break
            counts = classes.dense(int(i))
            key = counts.tobytes()
            if key not in seen:
                seen.add(key)
                most = max(most, self.work(counts, classes.table))
        return most

    def lower(self, n: int, table: Counts) -> Fraction:
        """All mass that moves goes at least the least distance."""
        return self.nearest * Equal().lower(n, table)

    def apart(self, values: int) -> tuple[NDArray, int]:
        """The matrix."""
        return self.units, self.unit

    def closest(self, values: int) -> Fraction:
        """Found once."""
        return self.nearest

    def numbers(self, t: Fraction, table: list[int], name: str) -> tuple[int, list[int]]:
        """Then the unit U of distances, C(v), distances in 1/U, of each value others by nearness.

        Where all values are 1 apart, as by equal distance.
        """
        if self.nearest == 1:
            return Equal().numbers(t, table, name)
        rows = sum(table)
        limit(t.denominator * rows * rows * self.unit * 2, name)
        near = np.argsort(self.units, axis=1, kind="stable")
        both = *self.units.ravel().tolist(), *near.ravel().tolist()
        return CARRIED, [t.numerator, t.denominator, rows, self.unit, *table, *both]

    def entry(self, values: Sequence[str | None]) -> dict[str, Any]:
        """The values, and the matrix."""
        matrix = [[str(Fraction(x)) for x in row] for row in self.matrix]
        return {"distance": "metric", "order": list(values), "matrix": matrix}


def transport(excess: Sequence[int], distance: NDArray) -> int:
    """Return the least Σ flow·distance that carries every surplus to shortages.

    Successive shortest paths with potentials (Dijkstra on the dense bipartite graph of surplus
    and shortage places); Python integers throughout, so nothing overflows and nothing rounds.
    Only surplus moves: by the triangle inequality that is no dearer than moving all mass.

    Parameters
    ----------
    excess: surplus (> 0) or shortage (< 0) of each value; sums to 0.
    distance: integers, shape (values, values).
    """
    sources = [v for v, e in enumerate(excess) if e > 0]
    sinks = [v for v, e in enumerate(excess) if e < 0]
    supply = [excess[v] for v in sources]
    demand = [-excess[v] for v in sinks]
    cost = [[int(distance[v, w]) for w in sinks] for v in sources]
    flow = [[0] * len(sinks) for _ in sources]
    price = [0] * (len(sources) + len(sinks))
    while any(supply):
        path = shortest(supply, demand, cost, flow, price)
        amount = min(supply[path[0]], demand[path[-1]])
        backward = list(zip(path[2::2], path[1::2], strict=False))
        amount = min([amount, *(flow[i][j] for i, j in backward)])
        for i, j in zip(path[::2], path[1::2], strict=True):
            flow[i][j] += amount
        for i, j in backward:
            flow[i][j] -= amount
        supply[path[0]] -= amount
        demand[path[-1]] -= amount
    return sum(
        f * c
        for row, costs in zip(flow, cost, strict=True)
        for f, c in zip(row, costs, strict=True)
    )


def shortest(
    supply: list[int],
    demand: list[int],
    cost: list[list[int]],
    flow: list[list[int]],
    price: list[int],
) -> list[int]:
    """Return a shortest augmenting path source, sink, source, …, sink; update ``price``."""
    m, n = len(supply), len(demand)
    unknown = None
    far: list[int | None] = [0 if supply[i] else unknown for i in range(m)] + [unknown] * n
    parent = [-1] * (m + n)
    done = [False] * (m + n)
    while True:
        node, least = -1, 0
        for v in range(m + n):
            d = far[v]
            if not done[v] and d is not None and (node < 0 or d < least):
                node, least = v, d
        done[node] = True
        if node >= m:
            if demand[node - m]:
                break
            arcs = [(i, -cost[i][node - m]) for i in range(m) if flow[i][node - m]]
        else:
            arcs = [(m + j, cost[node][j]) for j in range(n)]
        for v, c in arcs:
            d = least + c + price[node] - price[v]
            old = far[v]
            if not done[v] and (old is None or d < old):
                far[v], parent[v] = d, node
    for v in range(m + n):
        d = far[v]
        price[v] += least if d is None or d > least else d
    path = [node]
    while parent[path[-1]] >= 0:
        path.append(parent[path[-1]])
    path.reverse()
    return [v if v < m else v - m for v in path]
