"""Violated odd sets of a fractional solution.

For a set U of an odd number of nodes, every matching has a group that meets U in an
odd number of nodes (Lemma 5 of the explanation, "Odd sets").  A fractional solution may not; its
violated sets are looked for in each connected component of its fractional columns: exactly up to
16 nodes, by exchange of two nodes beyond, and exactly up to 22 where that finds none.
"""

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel

WHOLE = 1e-6
EXACT, LARGE = 16, 22
MOST = 3  # sets found at a time
SLIGHT = 1e-4  # a violation that is none


def fractional_columns(x: NDArray[np.float64]) -> NDArray[np.int64]:
    """The columns that are neither 0 nor 1."""
    return np.flatnonzero((x > WHOLE) & (x < 1 - WHOLE))


def components(
    groups: NDArray[np.int32], columns: NDArray[np.int64], n: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Connected components of the hypergraph of some columns: (nodes, columns) of each."""
    if not len(columns):
        return []
    chosen = groups[columns]
    second = np.where(chosen[:, 1] >= 0, chosen[:, 1], chosen[:, 0])
    third = np.where(chosen[:, 2] >= 0, chosen[:, 2], second)
    tail = np.concatenate([chosen[:, 0], second])
    head = np.concatenate([second, third])
    graph = scipy.sparse.coo_matrix((np.ones(len(tail), np.int8), (tail, head)), shape=(n, n))
    _, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    nodes = np.unique(np.concatenate([chosen[:, 0], second, third])).astype(np.int64)
    return list(
        zip(
            _split(nodes, label[nodes]), _split(columns, label[chosen[:, 0]]), strict=True
        )
    )  # fmt: skip


def _split(items: NDArray[np.int64], label: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """Split the items by label, in the order of the labels."""
    order = np.argsort(label, kind="stable")
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    return np.split(items[order], cuts)


@kernel
def crossing_all(member: Any, x: Any, k: int) -> Any:
    """Σ x(e) over columns that meet the set in an odd number, for each of the 2^k sets."""
    out = np.zeros(1 << k)
    for s in range(1 << k):
        for i in range(member.size):
            t = member[i] & s
            t ^= t >> 16
            t ^= t >> 8
            t ^= t >> 4
            t ^= t >> 2
            t ^= t >> 1
            if t & 1:
                out[s] += x[i]
    return out


@kernel
def crossing(local: Any, x: Any, inside: Any) -> float:
    """Σ x(e) over columns that meet the set in an odd number of nodes."""
    total = 0.0
    for i in range(local.shape[0]):
        odd = False
        for j in range(3):
            if local[i, j] >= 0 and inside[local[i, j]]:
                odd = not odd
        if odd:
            total += x[i]
    return total


@kernel
def descend(local: Any, x: Any, inside: Any) -> float:
    """Exchange two nodes of a column at a time while that lowers the crossing value."""
    value = crossing(local, x, inside)
    improved = True
    while improved:
        improved = False
        for i in range(local.shape[0]):
            for p in range(3):
                for q in range(p):
                    u, v = local[i, p], local[i, q]
                    if u < 0 or v < 0:
                        continue
                    inside[u] = not inside[u]
                    inside[v] = not inside[v]
                    now = crossing(local, x, inside)
                    if now < value - 1e-9:
                        value = now
                        improved = True
                    else:
                        inside[u] = not inside[u]
                        inside[v] = not inside[v]
    return value


def violated_sets(
    nodes: NDArray[np.int64],
    groups: NDArray[np.int32],
    x: NDArray[np.float64],
    rng: np.random.Generator,
) -> list[NDArray[np.int64]]:
    """Odd sets inside one component whose crossing value is below 1, the worst first.

    ``groups`` and ``x`` are the component's fractional columns.
    """
    k = len(nodes)
    place = {int(u): i for i, u in enumerate(nodes)}
    local = np.array([[place.get(int(u), -1) for u in g] for g in groups], np.int64)
    if k <= EXACT:
        return worst_of_all(nodes, local, x)
    found: dict[bytes, tuple[float, NDArray[np.bool_]]] = {}
    for attempt in range(min(k, 40)):
        inside = np.zeros(k, bool)
        if attempt == 0 and k % 2:
            inside[:] = True
        else:
            inside[rng.integers(k)] = True
        value = descend(local, x, inside)
        if value < 1 - SLIGHT:
            found[inside.tobytes()] = (value, inside)
    if not found and k <= LARGE:  # seconds for each, and few are left by then
        return worst_of_all(nodes, local, x)
    ranked = sorted(found.values(), key=lambda item: item[0])
    return [nodes[inside] for _, inside in ranked[:MOST]]


def worst_of_all(
    nodes: NDArray[np.int64], local: NDArray[np.int64], x: NDArray[np.float64]
) -> list[NDArray[np.int64]]:
    """Return the worst violated odd sets of all; ``local``: columns by number of their nodes."""
    k = len(nodes)
    member = np.zeros(len(local), np.int64)
    for j in range(3):
        has = local[:, j] >= 0
        member[has] |= np.int64(1) << local[has, j]
    value = crossing_all(member, x, k)
    value[np.bitwise_count(np.arange(1 << k)) % 2 == 0] = 2.0
    worst = np.argpartition(value, min(MOST, len(value) - 1))[:MOST]
    worst = worst[np.lexsort((worst, value[worst]))]
    return [nodes[(s >> np.arange(k)) & 1 == 1] for s in worst if value[s] < 1 - SLIGHT]
