"""The cheapest transport of a class's surplus to its shortages: ``transport`` for a search.

A search asks a million times a minute.  Most classes are lawful by far, told by a transport to the
nearest places in turn, or not at all, told by a potential of an earlier class: for any g with
|g(v) − g(w)| ≤ distance(v, w), no transport costs less than −Σ excess·g (Kantorovich and
Rubinstein).  In between the cheapest transport decides, and leaves its own potential behind.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, lean_kernel

FAR = 2**62
KEPT = 32  # potentials
SCRATCH = 5  # numbers per value, besides the flow and the potentials


def scratch(values: int) -> NDArray[np.int64]:
    """Return room for ``transport_above`` over so many values."""
    return np.zeros(1 + values * (values + SCRATCH + KEPT), np.int64)


@lean_kernel
def transport_above(
    part: NDArray[np.int64],
    rows: int,
    table_rows: int,
    table: NDArray[np.int64],
    unit: int,
    distance: NDArray[np.int64],
    near: NDArray[np.int64],
    budget: int,
    pad: NDArray[np.int64],
) -> int:
    """Return what it costs to carry every surplus h·N − n·C to shortages.

    0 when the least Σ flow·distance is at most ``budget``; else it or a number between the two,
    which depends on the classes met before.

    Parameters
    ----------
    part, table: int64, shape (values,), the histograms h and C.
    unit: the largest distance.
    distance: int64, row by row.
    near: int64, row by row: all values, the nearest first.
    pad: what ``scratch`` returns, used for no other metric before.
    """
    values = len(part)
    rest = pad[1 + values * (values + KEPT) :]
    excess = rest[:values]
    left = 0
    for v in range(values):
        excess[v] = part[v] * table_rows - rows * table[v]
        left += max(0, excess[v])
    if left * unit <= budget:
        return 0
    kept = pad[1 + values * values :]
    most = foreseen(excess, kept)
    if most > budget:
        return most
    flow = pad[1 : 1 + values * values]
    if by_turns(excess, distance, near, budget, rest[values : 2 * values]):
        return 0
    price, far = rest[values : 2 * values], rest[2 * values : 3 * values]
    parent, gives = rest[3 * values : 4 * values], rest[4 * values : 5 * values]
    for v in range(values):
        gives[v] = excess[v] > 0
        price[v] = 0
    for x in range(values * values):
        flow[x] = 0
    moved = 0
    while left > 0:
        end = reach(excess, gives, distance, flow, price, far, parent)
        amount = carry(end, excess, gives, flow, parent)
        moved += amount * price[end]  # a path starts at price 0
        left -= amount
        if moved + left * unit <= budget:
            return 0
    at = pad[0]
    pad[0] = (at + 1) % KEPT
    keep(price, gives, distance, kept[at * values : (at + 1) * values])
    return moved


@inner_kernel
def foreseen(excess: NDArray[np.int64], kept: NDArray[np.int64]) -> int:
    """Return the most that the potentials kept promise a transport to cost."""
    values = len(excess)
    most = 0
    for at in range(KEPT):
        found = 0
        for v in range(values):
            found -= excess[v] * kept[at * values + v]
        most = max(most, found)
    return most


@inner_kernel
def by_turns(
    excess: NDArray[np.int64],
    distance: NDArray[np.int64],
    near: NDArray[np.int64],
    budget: int,
    lacks: NDArray[np.int64],
) -> bool:
    """Whether it is enough to carry each surplus to the nearest places that still lack some."""
    values = len(excess)
    spare = budget
    for v in range(values):
        lacks[v] = max(0, -excess[v])
    for v in range(values):
        left = max(0, excess[v])
        for x in range(values * v, values * (v + 1)):
            if left == 0 or spare < 0:
                break
            w = near[x]
            amount = min(left, lacks[w])
            left -= amount
            lacks[w] -= amount
            spare -= amount * distance[values * v + w]
    return bool(spare >= 0)


@inner_kernel
def keep(
    price: NDArray[np.int64],
    gives: NDArray[np.int64],
    distance: NDArray[np.int64],
    potential: NDArray[np.int64],
) -> None:
    """Turn prices, which hold from surplus to shortage only, into a potential: the same there."""
    values = len(price)
    for v in range(values):
        potential[v] = FAR
        for w in range(values):
            if gives[w]:
                potential[v] = min(potential[v], price[w] + distance[w * values + v])


@inner_kernel
def reach(
    excess: NDArray[np.int64],
    gives: NDArray[np.int64],
    distance: NDArray[np.int64],
    flow: NDArray[np.int64],
    price: NDArray[np.int64],
    far: NDArray[np.int64],
    parent: NDArray[np.int64],
) -> int:
    """Return the nearest value that lacks rows, ``parent`` of all on the way there; raise prices.

    Dijkstra's method on the dense graph; ``gives``: surplus at first.  Settled values have
    ``parent`` + ``values`` + 1 there until the end.
    """
    values = len(excess)
    settled = values + 1
    for v in range(values):
        far[v] = 0 if excess[v] > 0 else FAR
        parent[v] = -1
    while True:
        node = -1
        for v in range(values):
            if parent[v] < values and far[v] < FAR and (node < 0 or far[v] < far[node]):
                node = v
        here = far[node] + price[node]
        parent[node] += settled
        if excess[node] < 0:
            break
        for v in range(values):
            if parent[v] >= values or gives[v] == gives[node]:
                continue
            if gives[node]:
                now = here + distance[node * values + v] - price[v]
            elif flow[v * values + node] > 0:
                now = here - distance[v * values + node] - price[v]
            else:
                continue
            if now < far[v]:
                far[v] = now
                parent[v] = node
    for v in range(values):
        price[v] += min(far[v], far[node])
        if parent[v] >= values:
            parent[v] -= settled
    return node


@inner_kernel
def carry(
    end: int,
    excess: NDArray[np.int64],
    gives: NDArray[np.int64],
    flow: NDArray[np.int64],
    parent: NDArray[np.int64],
) -> int:
    """Send as much as a path allows; return how much."""
    values = len(excess)
    amount = -excess[end]
    v = end
    while parent[v] >= 0:
        if gives[v]:  # its flow to the value before is taken back
            amount = min(amount, flow[v * values + parent[v]])
        v = parent[v]
    amount = min(amount, excess[v])
    excess[v] -= amount
    excess[end] += amount
    v = end
    while parent[v] >= 0:
        if gives[v]:
            flow[v * values + parent[v]] -= amount
        else:
            flow[parent[v] * values + v] += amount
        v = parent[v]
    return amount
