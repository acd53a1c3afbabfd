"""Minimum-weight subgraphs of the complete graph on the rows, with degrees between two limits.

The linear relaxation is solved on the nearest pairs, the duals price all other pairs, and the
pairs that could still improve join; then the integer program is solved on those that can occur in
a better subgraph.  So the result is optimal over all pairs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.instance import Instance
from incrowd.solvers.base import Context
from incrowd.solvers.fpt.highs import standard_output_kept_clean

Ints = NDArray[np.int64]
START = 6  # nearest pairs of each row to start with


@dataclass(frozen=True, eq=False)
class Factor:
    """A spanning subgraph and what is known about the least weight.

    Attributes
    ----------
    tail, head: int64, shape (edges,), or None when none was found in time.
    bound: a proven lower bound on the weight of every such subgraph.
    finished: whether the subgraph has the least weight (then ``bound`` is its weight).
    """

    tail: Ints | None
    head: Ints | None
    bound: int
    finished: bool


def pair_costs(instance: Instance) -> Ints:
    """int64, shape (rows, rows): cost per row of each pair of copies."""
    copies = instance.copies
    total = np.zeros((instance.rows, instance.rows), np.int64)
    for j, tree in enumerate(instance.trees):
        codes = instance.codes[copies, j]
        undecided = np.ones(total.shape, bool)
        for level in range(tree.levels):
            node = tree.node[level][codes]
            meet = undecided & (node[:, None] == node[None, :])
            total += np.where(meet, tree.cost[level][codes][:, None], 0)
            undecided &= ~meet
    return total


def minimum_factor(weight: Ints, low: int, high: int, context: Context) -> Factor:
    """Find a least-weight subgraph in which every vertex has degree ``low``..``high``.

    Parameters
    ----------
    weight: int64, shape (n, n), symmetric, nonnegative.
    """
    n = len(weight)
    tail, head = np.triu_indices(n, 1)
    cost = weight[tail, head]
    near = np.argsort(weight + np.diag(np.full(n, weight.max() + 1)), axis=1, kind="stable")
    use = np.zeros((n, n), bool)
    use[np.arange(n)[:, None], near[:, : min(START + high, n - 1)]] = True
    use |= use.T
    chosen = use[tail, head]
    while True:
        if context.stop.now():
            return Factor(None, None, 0, False)
        value, reduced = relax(n, tail, head, cost, chosen, low, high, context)
        if value is None:
            if chosen.all():
                return Factor(None, None, 0, False)
            chosen[:] = True
            continue
        violated = ~chosen & (reduced < -1e-7)
        if not violated.any():
            break
        chosen |= violated
    bound = max(0, int(np.ceil(value - 1e-6 * max(1.0, abs(value)))))
    while True:
        edges, proven, finished = whole_factor(n, tail, head, cost, chosen, low, high, context)
        if edges is None:
            if finished and not chosen.all():  # none on these pairs: allow all
                chosen[:] = True
                continue
            return Factor(None, None, bound, False)
        if not finished:
            # Other pairs were priced out by the relaxation only: its bound holds for all.
            return Factor(tail[edges], head[edges], bound, False)
        # A pair outside that occurs in a better subgraph has reduced cost below the gap.
        missing = ~chosen & (reduced < proven - value + 1e-6)
        if proven <= bound or not missing.any():
            return Factor(tail[edges], head[edges], proven, True)
        chosen |= missing


def degree_rows(n: int, tail: Ints, head: Ints) -> Any:
    """Return the sparse incidence matrix, vertices × pairs."""
    from scipy.sparse import coo_array

    edges = np.arange(len(tail))
    ones = np.ones(2 * len(tail))
    places = (np.concatenate([tail, head]), np.concatenate([edges, edges]))
    return coo_array((ones, places), (n, len(tail))).tocsr()


def relax(
    n: int,
    tail: Ints,
    head: Ints,
    cost: Ints,
    chosen: NDArray[np.bool_],
    low: int,
    high: int,
    context: Context,
) -> tuple[float | None, NDArray[np.float64]]:
    """Solve the relaxation on the chosen pairs; return its value and all pairs' reduced costs."""
    from scipy.optimize import linprog
    from scipy.sparse import vstack

    incidence = degree_rows(n, tail[chosen], head[chosen])
    options = {}
    if context.stop.time_limit is not None:
        options["time_limit"] = max(context.stop.left(), 0.01)
    with standard_output_kept_clean():
        found = linprog(
            cost[chosen].astype(np.float64),
            A_ub=vstack([-incidence, incidence]).tocsr(),
            b_ub=np.concatenate([np.full(n, -low), np.full(n, high)]),
            bounds=(0, 1),
            method="highs-ds",
            options=options,
        )
    if found.status != 0:
        return None, np.zeros(len(cost))
    marginals = found.ineqlin.marginals
    dual = marginals[n:] - marginals[:n]
    return float(found.fun), cost - dual[tail] - dual[head]


def whole_factor(
    n: int,
    tail: Ints,
    head: Ints,
    cost: Ints,
    chosen: NDArray[np.bool_],
    low: int,
    high: int,
    context: Context,
) -> tuple[Ints | None, int, bool]:
    """Solve the integer program on the chosen pairs: edges, their weight, whether it finished."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    between: Any = LinearConstraint
    number = np.flatnonzero(chosen)
    options: dict[str, float] = {"mip_rel_gap": 0.0}
    if context.stop.time_limit is not None:
        options["time_limit"] = max(context.stop.left(), 0.01)
    with standard_output_kept_clean():
        found = milp(
            cost[chosen].astype(np.float64),
            integrality=np.ones(len(number)),
            bounds=Bounds(0, 1),
            constraints=between(degree_rows(n, tail[chosen], head[chosen]), low, high),
            options=options,
        )
    if found.x is None:
        return None, 0, found.status == 2
    edges = number[found.x > 0.5]
    return edges, int(cost[edges].sum()), found.status == 0
