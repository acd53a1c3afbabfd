"""2-anonymity by a minimum [1,2]-factor (Aggarwal et al. 2005, §5)."""

from dataclasses import dataclass

from incrowd.linear.highs import why_ended
from incrowd.problem.problem import Problem
from incrowd.reduce.chain import Level, presolve
from incrowd.solvers.approx.cover import minimum_cover
from incrowd.solvers.approx.factors import (
    SIZE,
    adjacency,
    from_classes,
    is_binary,
    pair_costs,
    refuse_factor,
)
from incrowd.solvers.base import Context, Outcome, Scope
from incrowd.solvers.baseline.first import first_release

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
        rows = presolve(problem, self.reductions).problem.instance.rows
        return refuse_factor(problem, rows, 2, "simplex-matching, forest or engine")

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Return the classes, and 2w or 3w/2 as bound."""
        reduced = presolve(problem, self.reductions)
        instance = reduced.problem.instance
        if instance.rows < 2:
            return Outcome(None)
        factor = minimum_cover(pair_costs(instance), context)
        bound = 2 * factor.bound if is_binary(instance) else -(-3 * factor.bound // 2)
        ended = why_ended(factor.finished, context.stop)
        if factor.edges is None:
            return Outcome(first_release(problem), bound, ended)
        near = adjacency(instance.rows, factor.edges)
        solution = reduced.lift(from_classes(instance, stars(near)))
        return Outcome(solution, min(bound, solution.cost), ended)


def stars(near: list[list[int]]) -> list[list[int]]:
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
