"""Optimal transport between two small distributions, in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from incrowd.checker.limits import require_within
from incrowd.checker.rejection import require

MOST_VALUES, FEW = 1000, 200  # of a metric; of one whose numbers take more than 61 bits
MOST_BITS, LARGEST_UNIT = 10_000, 2**61


class Scaled(NamedTuple):
    """Distances in whole numbers: ``unit`` times what they are."""

    unit: int
    far: Sequence[Sequence[int]]

    @classmethod
    def of(cls, distance: Sequence[Sequence[Fraction]]) -> "Scaled":
        """Return distances in the largest unit in which they are whole."""
        unit = lcm(*{x.denominator for row in distance for x in row})
        return cls(unit, [[int(x * unit) for x in row] for row in distance])


def checked_metric(
    distance: Sequence[Sequence[Fraction]], values: int
) -> Sequence[Sequence[Fraction]]:
    """Return distances between so many values, or reject what is no metric of diameter 1."""
    fine = len(distance) == values and all(len(row) == values for row in distance)
    require(fine and all(x >= 0 for row in distance for x in row), "the distances fit no metric")
    largest = max((x for row in distance for x in row), default=0)
    none = largest == 0 and values < 2  # all at 0, any class would be close
    require(none or largest == 1, "the distances are not fractions of the largest one")
    unit = 1
    for denominator in {x.denominator for row in distance for x in row}:
        unit = lcm(unit, denominator)
        small = (
            values <= (MOST_VALUES if unit < LARGEST_UNIT else FEW)
            and unit.bit_length() <= MOST_BITS
        )
        require_within(small, "the distances are of too many values, or too fine")
    kind = np.int64 if unit < LARGEST_UNIT else object
    d = np.array([[int(x * unit) for x in row] for row in distance], kind).reshape(values, values)
    require(bool((d == d.T).all() and not d.diagonal().any()), "the distances are not symmetric")
    short = all((d <= d[:, v : v + 1] + d[v]).all() for v in range(values))
    require(short, "the distances break the triangle inequality")
    return distance


def least_work(
    surplus: Sequence[int], distance: Sequence[Sequence[Any]], tries: list[int] | None = None
) -> Any:
    """Return the least Σ flow·distance that carries every surplus (> 0) to the shortages (< 0).

    Along shortest augmenting paths (Bellman and Ford; no potentials, nothing rounds).

    ``distance``: whole numbers, or fractions.
    ``tries``: how many pairs of a source and a sink may be looked at, counted down.
    """
    left = list(surplus)
    sources = [v for v, s in enumerate(left) if s > 0]
    sinks = [v for v, s in enumerate(left) if s < 0]
    flow = {(a, b): 0 for a in sources for b in sinks}
    while any(left):
        far: dict[int, Any] = {a: 0 for a in sources if left[a]}
        parent: dict[int, int] = {}
        changed = True
        while changed:
            changed = False
            if tries is not None:
                tries[0] -= len(flow)
                require_within(tries[0] >= 0, "the distances of a class take too long to add up")
            for (a, b), carried in flow.items():
                if a in far and (b not in far or far[a] + distance[a][b] < far[b]):
                    far[b], parent[b], changed = far[a] + distance[a][b], a, True
                if carried and b in far and (a not in far or far[b] - distance[a][b] < far[a]):
                    far[a], parent[a], changed = far[b] - distance[a][b], b, True
        path = [min((b for b in sinks if left[b]), key=far.__getitem__)]
        while path[-1] in parent:
            path.append(parent[path[-1]])
        steps = list(pairwise(reversed(path)))  # source → sink → source → … → sink
        amount = min(left[path[-1]], -left[path[0]], *(flow[b, a] for a, b in steps[1::2]))
        for i, (a, b) in enumerate(steps):
            flow[(a, b) if i % 2 == 0 else (b, a)] += amount if i % 2 == 0 else -amount
        left[path[-1]] -= amount
        left[path[0]] += amount
    return sum((f * distance[a][b] for (a, b), f in flow.items()), 0)
