"""A minimum-weight subgraph of the complete graph on the rows with all degrees 2.

The linear relaxation is solved on the nearest pairs, the duals price all other pairs, and the
pairs that could still improve join; then the integer program is solved on the pairs that can occur
in a better subgraph.  So the result is optimal over all pairs.  What so many branches leave open
goes to matchings, which take polynomial time: docs/explanation/polynomial.md proves that reduction.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.linear.blossom import UNIT, perfect_matching
from incrowd.linear.highs import branched, model_of, optimum, run_until
from incrowd.run.silence import standard_output_kept_clean
from incrowd.solvers.approx.factors import Factor, Ints
from incrowd.solvers.base import Context

Edge = tuple[int, int]
MOST_MATCHED = 8_000  # vertices of which all pairs fit into a gigabyte
START = 8  # nearest pairs of each row to start with
ITERATIONS = 200_000  # of the simplex method for one relaxation


def minimum_cycles(weight: Ints, context: Context, branches: int) -> Factor:
    """Find a least-weight subgraph in which every vertex has degree 2.

    Parameters
    ----------
    weight: int64, shape (n, n), n ≥ 3, symmetric, nonnegative.
    branches: of the integer program, before matchings take over; 0 leaves it out.
    """
    fast = programmed(weight, context, branches) if branches else Factor(None, 0, False)
    if fast.finished or context.stop.now():
        return fast
    sure = matched_cycles(weight, context)
    if sure.finished:
        return sure
    return replace(fast, bound=max(fast.bound, sure.bound))


def programmed(weight: Ints, context: Context, branches: int) -> Factor:
    """Find it by the integer program, as far as so many branches go."""
    n = len(weight)
    near = np.argsort(weight + np.diag(np.full(n, weight.max() + 1)), axis=1, kind="stable")
    use = np.zeros((n, n), bool)
    use[np.arange(n)[:, None], near[:, : min(START, n - 1)]] = True
    tail, head = np.triu_indices(n, 1)
    pairs = Pairs(n, tail, head, weight[tail, head], (use | use.T)[tail, head])
    while True:
        relaxed = None if context.stop.now() else relax(pairs, context)
        if relaxed is None:
            if context.stop.now() or pairs.chosen.all():
                return Factor(None, 0, False)
            pairs.chosen[:] = True  # no subgraph on these pairs: allow all
            continue
        value, reduced = relaxed
        violated = ~pairs.chosen & (reduced < -1e-7)
        if not violated.any():
            break
        pairs.chosen |= violated
    # Dual feasible for all pairs.
    bound = max(0, int(np.ceil(value - 1e-6 * max(1.0, abs(value)))))
    while True:
        edges, weighs, finished = whole_factor(pairs, context, branches)
        if edges is None:
            if finished and not pairs.chosen.all():
                pairs.chosen[:] = True
                continue
            return Factor(None, bound, False)
        both = np.stack([tail[edges], head[edges]], axis=1)
        if not finished:
            # Other pairs were priced out by the relaxation only: its bound holds for all.
            return Factor(both, bound, weighs <= bound)
        # A pair outside that occurs in a better subgraph has reduced cost below the gap.
        missing = ~pairs.chosen & (reduced < weighs - value + 1e-6)
        if weighs <= bound or not missing.any():
            return Factor(both, weighs, True)
        pairs.chosen |= missing


@dataclass(eq=False)
class Pairs:
    """All pairs of vertices, and those in use."""

    n: int
    tail: Ints
    head: Ints
    cost: Ints
    chosen: NDArray[np.bool_]

    def model(self, whole: bool) -> Any:
        """Return the program on the chosen pairs."""
        tail, head = self.tail[self.chosen], self.head[self.chosen]
        edges = np.arange(len(tail))
        places = (np.concatenate([tail, head]), np.concatenate([edges, edges]))
        matrix: Any = scipy.sparse.coo_array((np.ones(2 * len(tail)), places), (self.n, len(tail)))
        two = np.full(self.n, 2.0)
        cost = self.cost[self.chosen]
        return model_of(matrix.tocsc(), cost, np.ones(len(cost)), two, two, whole)


def relax(pairs: Pairs, context: Context) -> tuple[float, NDArray[np.float64]] | None:
    """Solve the relaxation on the chosen pairs: value, and the reduced costs of all pairs."""
    with standard_output_kept_clean():
        model = pairs.model(whole=False)
        model.setOptionValue("simplex_iteration_limit", ITERATIONS)
        found = optimum(model) if run_until(model, context.stop) else None
    if found is None:
        return None
    return found.value, pairs.cost - found.y[pairs.tail] - found.y[pairs.head]


def whole_factor(pairs: Pairs, context: Context, branches: int) -> tuple[Ints | None, int, bool]:
    """Solve the integer program on the chosen pairs: edges, their weight, whether it finished."""
    number = np.flatnonzero(pairs.chosen)
    with standard_output_kept_clean():
        model = pairs.model(whole=True)
        model.setOptionValue("mip_rel_gap", 0.0)
        model.setOptionValue("mip_max_nodes", branches)
        found = branched(model, context.stop)
    if found.x is None:
        return None, 0, found.finished
    edges = number[found.x > 0.5]
    return edges, int(pairs.cost[edges].sum()), found.finished


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
    while 2 * (n + len(once)) <= MOST_MATCHED and not context.stop.now():
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
