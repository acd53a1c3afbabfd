"""A minimum-weight subgraph with all degrees 2, by matchings, in polynomial time.

docs/explanation/polynomial.md proves the reduction.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from incrowd.linear.blossom import UNIT, perfect_matching
from incrowd.solvers.approx.factors import Factor, Ints
from incrowd.solvers.base import Context

Edge = tuple[int, int]
MOST = 8_000  # vertices of which all pairs fit into a gigabyte


def matched_cycles(weight: Ints, context: Context) -> Factor:
    """Find a least-weight subgraph in which every vertex has degree 2, no edge taken twice.

    Each vertex has two ports; a perfect matching of the ports takes edges, at first as often as it
    likes.  An edge that it takes twice gets a gadget, which can be taken once, and it is matched
    again, until it takes none twice: then no lighter subgraph exists.

    Parameters
    ----------
    weight: int64, shape (n, n), n ≥ 3, symmetric, nonnegative.
    """
    n = len(weight)
    apart = weight + np.diag(np.full(n, int(weight.max()) + 1))
    nearest = apart.argmin(axis=1).tolist()
    once = list(dict.fromkeys((min(u, v), max(u, v)) for u, v in enumerate(nearest)))
    bound = 0
    while 2 * (n + len(once)) <= MOST and not context.stop.now():
        context.tell("cycles", bound=bound)
        found = perfect_matching(with_gadgets(weight, once), context.stop.over)
        if found is None:
            break
        bound = found.total // UNIT
        edges = taken(found.mate, n, once)
        twice = {edge for edge, times in Counter(edges).items() if times > 1}
        if not twice:
            return Factor(np.array(edges, np.int64), bound, True)
        once += sorted(twice)
    return Factor(None, bound, False)


def with_gadgets(weight: Ints, once: list[Edge]) -> Ints:
    """int64: the costs of a matching of ports 2u, 2u + 1 and of two vertices for each gadget.

    Gadget uv: its first vertex goes with a port of u for the edge's weight, its second with one of
    v for nothing; when the edge is not taken the two go together for nothing.
    """
    n = len(weight)
    size = 2 * (n + len(once))
    missing = 1 + 2 * n * int(weight.max(initial=0))
    cost = np.full((size, size), missing, np.int64)
    ports = weight + np.diag(np.full(n, missing))
    for u, v in once:
        ports[u, v] = ports[v, u] = missing
    cost[: 2 * n, : 2 * n] = np.repeat(np.repeat(ports, 2, axis=0), 2, axis=1)
    for number, (u, v) in enumerate(once):
        first = 2 * (n + number)
        cost[first, first + 1] = cost[first + 1, first] = 0
        cost[first, 2 * u : 2 * u + 2] = cost[2 * u : 2 * u + 2, first] = weight[u, v]
        cost[first + 1, 2 * v : 2 * v + 2] = cost[2 * v : 2 * v + 2, first + 1] = 0
    return cost


def taken(mate: NDArray[np.int32], n: int, once: list[Edge]) -> list[Edge]:
    """The edges that a matching of ports and gadgets takes, each as often as it does."""
    edges = [(p // 2, q // 2) for p, q in enumerate(mate[: 2 * n].tolist()) if p < q < 2 * n]
    for number, edge in enumerate(once):
        first = 2 * (n + number)
        if mate[first] != first + 1:
            edges.append(edge)
    return edges
