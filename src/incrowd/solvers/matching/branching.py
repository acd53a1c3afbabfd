"""What odd sets leave open: branch and bound over an explicit list of columns.

Branches in the way of Ryan and Foster (1981): two nodes share a group, or they do not.  Both
sides only take columns away.  Each bound is a sum of integer prices and weights that every column
of the branch obeys, so that no rounding error can cut off an optimum.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from incrowd.linear.highs import model_of, optimum
from incrowd.run.stop import Stop
from incrowd.solvers.matching.separation import WHOLE

UNIT = 1 << 20


class Relaxed(NamedTuple):
    """A branch's linear program: ``x`` over its columns, and its bound in integers."""

    x: NDArray[np.float64]
    bound: int


def branch(
    groups: NDArray[np.int32],
    cost: NDArray[np.int64],
    nodes: int,
    odd_sets: list[NDArray[np.int64]],
    best: int,
    stop: Stop,
) -> tuple[bool, NDArray[np.int64] | None]:
    """Find a partition of the nodes into groups that costs less than ``best``.

    Returns
    -------
    whether the search was complete, and the columns of the cheapest such partition, or None when
    none was found.
    """
    found: NDArray[np.int64] | None = None
    stack = [np.arange(len(groups))]
    while stack:
        if stop.now():
            return False, found
        columns = stack.pop()
        relaxed = relax(groups[columns], cost[columns], nodes, odd_sets, best)
        if relaxed is None:
            return False, found
        if relaxed.bound >= best:
            continue
        x = relaxed.x
        split = pair_to_split(groups[columns], x)
        if split is None:
            chosen = columns[x > 0.5]
            if not covers(groups[chosen], nodes) or int(cost[chosen].sum()) >= best:
                return False, found  # numerical trouble: claim nothing
            found, best = chosen, int(cost[chosen].sum())
            # The branch itself may hold more: go on below its new bound.
            stack.append(columns)
            continue
        u, v = split
        holds_u = (groups[columns] == u).any(axis=1)
        holds_v = (groups[columns] == v).any(axis=1)
        stack.append(columns[~(holds_u & holds_v)])
        stack.append(columns[holds_u == holds_v])
    return True, found


def relax(
    groups: NDArray[np.int32],
    cost: NDArray[np.int64],
    nodes: int,
    odd_sets: list[NDArray[np.int64]],
    best: int,
) -> Relaxed | None:
    """Solve a branch's linear program; None when the solver fails.

    Each node may also stay alone for more than the best cost, which keeps every branch feasible.
    """
    alone = np.full((nodes, 3), -1, np.int32)
    alone[:, 0] = np.arange(nodes)
    matrix = rows_of(np.concatenate([groups, alone]), nodes, odd_sets)
    price = np.concatenate([cost, np.full(nodes, 4 * best + 4)])
    once = np.ones(nodes + len(odd_sets))
    most = np.concatenate([once[:nodes], np.full(len(odd_sets), np.inf)])
    model = model_of(matrix, price, np.full(len(price), np.inf), once, most)
    model.run()
    point = optimum(model)
    if point is None:
        return None
    dual = np.round(point.y * UNIT).astype(np.int64)
    dual[nodes:] = np.maximum(dual[nodes:], 0)
    slack = price * UNIT - matrix.T.astype(np.int64) @ dual
    dual[:nodes] -= max(0, -int(slack.min()))
    return Relaxed(point.x[: len(groups)], -(-int(dual.sum()) // UNIT))


def rows_of(
    groups: NDArray[np.int32], nodes: int, odd_sets: list[NDArray[np.int64]]
) -> sparse.csc_matrix:
    """Nodes, then odd sets, × columns."""
    member = groups.ravel()
    column = np.repeat(np.arange(len(groups)), 3)[member >= 0]
    member = member[member >= 0]
    cover = sparse.csc_matrix((np.ones(len(member)), (member, column)), shape=(nodes, len(groups)))
    if not odd_sets:
        return cover
    inside = np.zeros((len(odd_sets), nodes))
    for i, odd_set in enumerate(odd_sets):
        inside[i, odd_set] = 1
    odd = sparse.csc_matrix((inside @ cover) % 2)
    return sparse.csc_matrix(sparse.vstack([cover, odd]))


def pair_to_split(groups: NDArray[np.int32], x: NDArray[np.float64]) -> tuple[int, int] | None:
    """Two nodes whose columns in common add up most nearly to ½, or None for whole solutions."""
    share: dict[tuple[int, int], float] = {}
    for i in np.flatnonzero(x > WHOLE):
        u, v, w = groups[i].tolist()
        for pair in ((u, v), (u, w), (v, w)):
            if min(pair) >= 0:
                share[pair] = share.get(pair, 0.0) + float(x[i])
    torn = [(abs(s - 0.5), pair) for pair, s in share.items() if WHOLE < s < 1 - WHOLE]
    return min(torn)[1] if torn else None


def covers(groups: NDArray[np.int32], nodes: int) -> bool:
    """Whether the groups hold each node exactly once."""
    member = groups[groups >= 0]
    return len(member) == nodes and len(np.unique(member)) == nodes
