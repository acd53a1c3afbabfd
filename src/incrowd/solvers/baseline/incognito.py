"""Incognito: all minimal full-domain generalizations (LeFevre, DeWitt, Ramakrishnan 2005)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

from incrowd.hierarchy.family import no_ranges, trees_of
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context, Outcome, Scope, refuse_open_models
from incrowd.solvers.baseline.first import first_release
from incrowd.solvers.baseline.full_domain import FullDomain, Levels

MOST_NODES = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Incognito:
    """Bottom-up search of the lattice of level vectors, subsets of columns first.

    A level vector can hold for some columns only if it holds for each subset of them, and it
    holds if one below it does.  Of the minimal vectors for all columns the release that costs
    least is returned; it is best among full-domain releases only as far as these are compared.

    Attributes
    ----------
    suppression: the largest share of rows that may be suppressed whole.
    """

    suppression: float = 0.0

    id = "incognito"
    guarantee = "none"
    scope = Scope(
        models=("any closed under union",),
        size=f"lattices of {MOST_NODES:,} level vectors, over all subsets of columns",
    )
    source = "LeFevre, DeWitt & Ramakrishnan 2005"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse what the search's pruning does not carry over to, and huge lattices."""
        model = problem.model
        if (open_model := refuse_open_models(problem)) is not None:
            return open_model
        if self.suppression > 0 and not model.size_decides:
            return (
                "with suppressed rows its pruning holds for k-anonymity only, not "
                f"{problem.asked}; use suppression 0, or datafly"
            )
        families, who = problem.instance.trees, "a method that generalizes whole columns"
        if (ranges := no_ranges(families, who)) is not None:
            return ranges
        nodes = prod(tree.levels + 1 for tree in trees_of(families, who))
        if nodes > MOST_NODES:
            return f"its lattices have {nodes:,} nodes, more than {MOST_NODES:,}; use datafly"
        return None

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Search, then compare the minimal vectors' releases."""
        if not problem.lawful_together:
            return Outcome(None)
        view = FullDomain(problem, self.suppression)
        heights = tuple(tree.levels for tree in trees_of(problem.instance.trees, self.id))
        everything = tuple(range(len(heights)))
        holding: dict[tuple[int, ...], set[Levels]] = {(): {()}}
        for size in range(1, len(heights) + 1):
            for columns in combinations(everything, size):
                found = search(view, columns, heights, holding, context)
                if found is None:
                    return Outcome(first_release(problem), 0, context.stop.why())
                holding[columns] = found
            context.tell("lattices", share=size / len(heights))
        best = None
        for levels in sorted(holding[everything], key=sum):
            if any(down in holding[everything] for down in below(levels)):
                continue
            solution = view.release(levels)
            if best is None or solution.cost < best.cost:
                best = solution
            if context.stop.now():
                return Outcome(best, 0, context.stop.why())
        return Outcome(best)


def below(levels: Levels) -> Iterator[Levels]:
    """Yield the vectors that are one level lower in one column."""
    for j, level in enumerate(levels):
        if level:
            yield (*levels[:j], level - 1, *levels[j + 1 :])


def search(
    view: FullDomain,
    columns: tuple[int, ...],
    heights: tuple[int, ...],
    holding: dict[tuple[int, ...], set[Levels]],
    context: Context,
) -> set[Levels] | None:
    """Return the level vectors that hold for ``columns``; None when stopped."""
    found: set[Levels] = set()
    subsets = [(i, (*columns[:i], *columns[i + 1 :])) for i in range(len(columns))]
    nodes = sorted(product(*(range(heights[j]) for j in columns)), key=sum)
    for levels in nodes:
        if any(down in found for down in below(levels)):
            found.add(levels)
        elif all((*levels[:i], *levels[i + 1 :]) in holding[rest] for i, rest in subsets):
            if context.stop.now():
                return None
            if view.holds(columns, levels):
                found.add(levels)
    return found
