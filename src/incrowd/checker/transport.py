"""Optimal transport between two small distributions, in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise


def least_work(surplus: Sequence[int], distance: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return the least Σ flow·distance that carries every surplus (> 0) to the shortages (< 0).

    Along shortest augmenting paths (Bellman and Ford; no potentials, nothing rounds).
    """
    left = list(surplus)
    sources = [v for v, s in enumerate(left) if s > 0]
    sinks = [v for v, s in enumerate(left) if s < 0]
    flow = {(a, b): 0 for a in sources for b in sinks}
    while any(left):
        far = {a: Fraction(0) for a in sources if left[a]}
        parent: dict[int, int] = {}
        changed = True
        while changed:
            changed = False
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
    return sum((f * distance[a][b] for (a, b), f in flow.items()), Fraction(0))
