"""Prices and odd sets in integers, and what they leave of a group's cost: its slack."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel
from incrowd.solvers.matching.nodes import (
    FAR,
    Grid,
    pair_cost,
    pair_extra,
    triple_cost,
    triple_extra,
)


class Dual(NamedTuple):
    """Prices and odd sets in integers, in units of 1/(scale·unit).

    Attributes
    ----------
    price: int64, shape (nodes,).
    hat: int64, shape (nodes,): price plus the weights of the odd sets that hold the node.
    start, sets: the odd sets of each node as CSR, ascending.
    weight: int64, shape (sets,), nonnegative.
    unit: how many price units make one cost unit.
    """

    price: NDArray[np.int64]
    hat: NDArray[np.int64]
    start: NDArray[np.int64]
    sets: NDArray[np.int64]
    weight: NDArray[np.int64]
    unit: int


def plain(price: NDArray[np.integer]) -> Dual:
    """Prices without odd sets, in units of a cost."""
    price = np.ascontiguousarray(price, dtype=np.int64)
    none = np.zeros(0, np.int64)
    return Dual(price, price, np.zeros(len(price) + 1, np.int64), none, none, 1)


def with_odd_sets(
    price: NDArray[np.integer],
    odd_sets: list[NDArray[np.int64]],
    weight: NDArray[np.integer],
    unit: int,
) -> Dual:
    """Prices with odd sets of nonnegative weight; sets of weight zero are left out."""
    kept = [(np.asarray(s, np.int64), int(w)) for s, w in zip(odd_sets, weight, strict=True) if w]
    n = len(price)
    member = np.concatenate([s for s, _ in kept]) if kept else np.zeros(0, np.int64)
    owner = np.repeat(np.arange(len(kept)), [len(s) for s, _ in kept]) if kept else member
    weights = np.array([w for _, w in kept], np.int64)
    order = np.lexsort((owner, member))
    start = np.concatenate([[0], np.cumsum(np.bincount(member, minlength=n))]).astype(np.int64)
    hat = np.asarray(price, np.int64).copy()
    np.add.at(hat, member, weights[owner])
    sets = np.ascontiguousarray(owner[order], dtype=np.int64)
    return Dual(np.asarray(price, np.int64), hat, start, sets, weights, unit)


@kernel
def shared(dual: Any, u: int, v: int) -> int:
    """Total weight of the odd sets that hold both nodes."""
    total = 0
    i = dual.start[u]
    j = dual.start[v]
    while i < dual.start[u + 1] and j < dual.start[v + 1]:
        if dual.sets[i] == dual.sets[j]:
            total += dual.weight[dual.sets[i]]
            i += 1
            j += 1
        elif dual.sets[i] < dual.sets[j]:
            i += 1
        else:
            j += 1
    return total


@kernel
def shared_by_three(dual: Any, u: int, v: int, w: int) -> int:
    """Total weight of the odd sets that hold all three nodes."""
    total = 0
    for i in range(dual.start[u], dual.start[u + 1]):
        q = dual.sets[i]
        by_v = False
        by_w = False
        for j in range(dual.start[v], dual.start[v + 1]):
            by_v = by_v or dual.sets[j] == q
        for j in range(dual.start[w], dual.start[w + 1]):
            by_w = by_w or dual.sets[j] == q
        if by_v and by_w:
            total += dual.weight[q]
    return total


@kernel
def pair_slack(grid: Any, dual: Any, u: int, v: int, cost: int) -> int:
    """2·cost and extras − prices − weights of the odd sets that hold exactly one of the two."""
    paid = (2 * cost + pair_extra(grid, u, v)) * dual.unit
    return paid - dual.hat[u] - dual.hat[v] + 2 * shared(dual, u, v)


@kernel
def triple_slack(grid: Any, dual: Any, u: int, v: int, w: int, cost: int) -> int:
    """3·cost and extras − prices − weights of the odd sets that hold one or all of the three."""
    both = shared(dual, u, v) + shared(dual, u, w) + shared(dual, v, w)
    paid = (3 * cost + triple_extra(grid, u, v, w)) * dual.unit
    total = paid - dual.hat[u] - dual.hat[v] - dual.hat[w]
    return total + 2 * both - 4 * shared_by_three(dual, u, v, w)


@kernel
def slacks(grid: Any, dual: Any, groups: Any, out: Any) -> None:
    """Write the reduced cost of each group to ``out``, in price units (FAR for a missing host)."""
    for i in range(groups.shape[0]):
        u, v, w = groups[i, 0], groups[i, 1], groups[i, 2]
        if v < 0:
            out[i] = grid.home[u] * dual.unit - dual.hat[u] if grid.home[u] < FAR else FAR
        elif w < 0:
            out[i] = pair_slack(grid, dual, u, v, pair_cost(grid, u, v))
        else:
            out[i] = triple_slack(grid, dual, u, v, w, triple_cost(grid, u, v, w))


def slacks_of(grid: Grid, dual: Dual, groups: NDArray[np.int32]) -> NDArray[np.int64]:
    """int64, shape (groups,): reduced costs, in units of 1/(scale·unit)."""
    out = np.zeros(len(groups), np.int64)
    slacks(grid, dual, groups, out)
    return out
