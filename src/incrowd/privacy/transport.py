"""Exact transport: the cheapest way to carry surplus to shortage, in integers."""

from collections.abc import Sequence

from numpy.typing import NDArray


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
