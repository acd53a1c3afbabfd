"""Minimum-weight subgraphs of the complete graph on the rows, with degrees between two limits.

The linear relaxation is solved on the nearest pairs, the duals price all other pairs, and the
pairs that could still improve join, as do the odd-set inequalities that the relaxation violates;
then the integer program is solved on the pairs that can occur in a better subgraph.  So the result
is optimal over all pairs.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.linear.highs import branched, model_of, optimum, run_until
from incrowd.problem.instance import Instance
from incrowd.run.silence import standard_output_kept_clean
from incrowd.solvers.base import Context

Ints = NDArray[np.int64]
START = 6  # nearest pairs of each row to start with
IDLE_ROUNDS = 3  # rounds of inequalities that do not raise the bound, before branching


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
        low, high = np.minimum.outer(codes, codes), np.maximum.outer(codes, codes)
        total += tree.join_costs(low, high)
    return total


def minimum_factor(weight: Ints, low: int, high: int, context: Context) -> Factor:
    """Find a least-weight subgraph in which every vertex has degree ``low``..``high``.

    Parameters
    ----------
    weight: int64, shape (n, n), symmetric, nonnegative.
    """
    n = len(weight)
    near = np.argsort(weight + np.diag(np.full(n, weight.max() + 1)), axis=1, kind="stable")
    use = np.zeros((n, n), bool)
    use[np.arange(n)[:, None], near[:, : min(START + high, n - 1)]] = True
    tail, head = np.triu_indices(n, 1)
    pairs = Pairs(n, tail, head, weight[tail, head], low, high, (use | use.T)[tail, head])
    bound, idle = 0, 0
    while True:
        relaxed = None if context.stop.now() else relax(pairs, context)
        if relaxed is None:
            if context.stop.now() or pairs.chosen.all():
                return Factor(None, None, bound, False)
            pairs.chosen[:] = True  # no subgraph on these pairs: allow all
            continue
        value, reduced, share = relaxed
        violated = ~pairs.chosen & (reduced < -1e-7)
        if violated.any():
            pairs.chosen |= violated
            continue
        # Dual feasible for all pairs.  Cut while that still raises the bound.
        proven = max(0, int(np.ceil(value - 1e-6 * max(1.0, abs(value)))))
        idle = 0 if proven > bound else idle + 1
        bound = max(bound, proven)
        if idle >= IDLE_ROUNDS or not separate(pairs, share):
            break
    while True:
        edges, weighs, finished = whole_factor(pairs, context)
        if edges is None:
            if finished and not pairs.chosen.all():
                pairs.chosen[:] = True
                continue
            return Factor(None, None, bound, False)
        if not finished:
            # Other pairs were priced out by the relaxation only: its bound holds for all.
            return Factor(tail[edges], head[edges], bound, False)
        # A pair outside that occurs in a better subgraph has reduced cost below the gap.
        missing = ~pairs.chosen & (reduced < weighs - value + 1e-6)
        if weighs <= bound or not missing.any():
            return Factor(tail[edges], head[edges], weighs, True)
        pairs.chosen |= missing


@dataclass(eq=False)
class Pairs:
    """All pairs of vertices, those in use, and the odd-set inequalities found so far.

    For a set U of odd size at least (|U| + 1)/2 edges touch U when every vertex has an edge and
    ``low`` is 1: each edge serves two vertices of U at most.
    """

    n: int
    tail: Ints
    head: Ints
    cost: Ints
    low: int
    high: int
    chosen: NDArray[np.bool_]
    cuts: list[NDArray[np.bool_]] = field(default_factory=list)

    def touches(self, cut: NDArray[np.bool_], which: NDArray[np.bool_] | None = None) -> Any:
        """bool: which pairs (all, or some) have an end in the set."""
        tail, head = (
            (self.tail, self.head) if which is None else (self.tail[which], self.head[which])
        )
        return cut[tail] | cut[head]

    def rows(self) -> tuple[Any, Any, Any]:
        """Return the constraints on the chosen pairs: sparse matrix, least, most."""
        from scipy.sparse import coo_array, vstack

        tail, head = self.tail[self.chosen], self.head[self.chosen]
        edges = np.arange(len(tail))
        places = (np.concatenate([tail, head]), np.concatenate([edges, edges]))
        matrix: Any = coo_array((np.ones(2 * len(tail)), places), (self.n, len(tail)))
        if self.cuts:
            odd = np.array([self.touches(cut, self.chosen) for cut in self.cuts], np.float64)
            matrix = vstack([matrix, coo_array(odd)])
        halves = np.array([(int(cut.sum()) + 1) // 2 for cut in self.cuts], np.float64)
        least = np.concatenate([np.full(self.n, self.low), halves])
        most = np.concatenate([np.full(self.n, self.high), np.full(len(halves), np.inf)])
        return matrix.tocsc(), least, most


def separate(pairs: Pairs, share: NDArray[np.float64]) -> bool:
    """Add the odd components of the fractional edges whose inequality is violated."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if pairs.low != 1:
        return False
    between = (share > 1e-6) & (share < 1 - 1e-6)
    tail, head = pairs.tail[between], pairs.head[between]
    graph = coo_array((np.ones(len(tail)), (tail, head)), (pairs.n, pairs.n))
    number, part = connected_components(graph, directed=False)
    size = np.bincount(part, minlength=number)
    found = False
    for odd in np.flatnonzero((size > 1) & (size % 2 == 1)):
        cut = part == odd
        if share[pairs.touches(cut)].sum() < (size[odd] + 1) // 2 - 1e-6:
            pairs.cuts.append(cut)
            found = True
    return found


def relax(
    pairs: Pairs, context: Context
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]] | None:
    """Solve the relaxation on the chosen pairs: value, all pairs' reduced costs and shares."""
    matrix, least, most = pairs.rows()
    cost = pairs.cost[pairs.chosen]
    with standard_output_kept_clean():
        model = model_of(matrix, cost, np.ones(len(cost)), least, most)
        found = optimum(model) if run_until(model, context.stop) else None
    if found is None:
        return None
    dual, toll = np.split(found.y, [pairs.n])
    reduced = pairs.cost - dual[pairs.tail] - dual[pairs.head]
    for cut, marginal in zip(pairs.cuts, toll, strict=True):
        if marginal > 0:
            reduced = reduced - marginal * pairs.touches(cut)
    share = np.zeros(len(pairs.cost))
    share[pairs.chosen] = found.x
    return found.value, reduced, share


def whole_factor(pairs: Pairs, context: Context) -> tuple[Ints | None, int, bool]:
    """Solve the integer program on the chosen pairs: edges, their weight, whether it finished."""
    number = np.flatnonzero(pairs.chosen)
    matrix, least, most = pairs.rows()
    with standard_output_kept_clean():
        model = model_of(matrix, pairs.cost[number], np.ones(len(number)), least, most, True)
        model.setOptionValue("mip_rel_gap", 0.0)
        found = branched(model, context.stop)
    if found.x is None:
        return None, 0, found.finished
    edges = number[found.x > 0.5]
    return edges, int(pairs.cost[edges].sum()), found.finished
