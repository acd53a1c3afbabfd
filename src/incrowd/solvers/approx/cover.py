"""A minimum-weight subgraph with degrees 1 and 2, by one matching, in polynomial time.

docs/explanation/polynomial.md proves the reduction.
"""

import numpy as np

from incrowd.linear.blossom import UNIT, perfect_matching
from incrowd.solvers.approx.factors import Factor, Ints
from incrowd.solvers.base import Context


def minimum_cover(weight: Ints, context: Context) -> Factor:
    """Find a least-weight subgraph in which every vertex has degree 1 or 2.

    Without the limit of 2 that is an edge cover: some vertices are matched, each other one takes
    its lightest edge.  So a pair of vertices costs their edge or both lightest edges.  Where a
    vertex ends up with three edges to others that have no more, the triangle inequality lets two of
    those have an edge of their own instead.

    Parameters
    ----------
    weight: int64, shape (n, n), n ≥ 2, symmetric, nonnegative; triangle inequality.
    """
    n = len(weight)
    apart = weight + np.diag(np.full(n, int(weight.max()) + 1))
    nearest, least = apart.argmin(axis=1), apart.min(axis=1)
    cost = np.minimum(weight, least[:, None] + least[None, :])
    if n % 2:  # one vertex more takes a single one
        cost = np.block([[cost, least[:, None]], [least[None, :], np.zeros((1, 1), np.int64)]])
    found = None if context.stop.now() else perfect_matching(cost, context.stop.over)
    if found is None:
        return Factor(None, 0, False)
    near: list[set[int]] = [set() for _ in range(n)]
    for u, v in enumerate(found.mate[:n].tolist()):
        if v == n or cost[u, v] < weight[u, v]:
            v = int(nearest[u])
        near[u].add(v)
        near[v].add(u)
    edges = np.array(trimmed(near), np.int64)
    bound = found.total // UNIT
    return Factor(edges, bound, int(weight[edges[:, 0], edges[:, 1]].sum()) == bound)


def trimmed(near: list[set[int]]) -> list[tuple[int, int]]:
    """Edges of a cover of no more weight in which every vertex has one edge or two."""
    for u in range(len(near)):
        for v in sorted(near[u]):
            if len(near[u]) > 1 and len(near[v]) > 1:
                near[u].remove(v)
                near[v].remove(u)
    for u in range(len(near)):
        while len(near[u]) > 2:  # then its neighbours have no other edge
            v, w = near[u].pop(), near[u].pop()
            near[v], near[w] = {w}, {v}
    return [(u, v) for u in range(len(near)) for v in sorted(near[u]) if u < v]
