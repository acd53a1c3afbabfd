"""2-anonymity by a minimum [1,2]-factor (Aggarwal et al. 2005, §5).

That is a minimum-weight subgraph with degrees 1 and 2, found by one matching, in polynomial time;
docs/explanation/polynomial.md proves the reduction.
"""

from dataclasses import dataclass

import numpy as np

from incrowd.linear.blossom import UNIT, perfect_matching
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.reduce.chain import Level
from incrowd.solvers.approx.factors import SIZE, Factor, Ints, by_factor, refuse_factor
from incrowd.solvers.base import Context, Outcome, Scope

TIME = "O(n³) for n rows in the worst case, by one matching"


@dataclass(frozen=True, kw_only=True)
class Factor12:
    """Every row gets one or two edges of least total weight w; the components are the classes.

    Components are pairs and paths of three, since any other edge could be left out.  A release
    of pairs and triples yields a [1,2]-factor: for a triple of cost 3d the two lighter of its
    edges, of length at most d each.  So OPT ≥ 3w/2, and the classes cost at most 3w: within 2.
    With two values a column, d is half the triangle: OPT ≥ 2w, and the ratio is 3/2.
    """

    reductions: Level = "all"

    id = "factor-1-2"
    guarantee = "2 (3/2 with two values a column)"
    scope = Scope(models=("2-anonymity",), size=SIZE, time=TIME)
    source = "Aggarwal et al. 2005, §5, Theorem 6"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse other models and large tables."""
        return refuse_factor(problem, self.reductions, 2, "simplex-matching, forest or engine")

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Return the classes, and 2w or 3w/2 as bound."""
        return by_factor(problem, context, self.reductions, (4, 3), minimum_cover, stars)


def stars(_: Instance, near: list[list[int]]) -> list[list[int]]:
    """Leave out edges of weight 0 between vertices of degree 2; return the components."""
    for u, ends in enumerate(near):
        for v in list(ends):
            if len(near[u]) == 2 and len(near[v]) == 2:
                near[u].remove(v)
                near[v].remove(u)
    placed = [False] * len(near)
    classes = []
    for u, ends in enumerate(near):
        centre = u if len(ends) == 2 else ends[0]
        if placed[u] or placed[centre]:
            continue
        if len(ends) == 1 and len(near[centre]) == 1:
            members = [u, centre]
        else:
            members = [centre, *near[centre]]
        for member in members:
            placed[member] = True
        classes.append(members)
    return classes


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
