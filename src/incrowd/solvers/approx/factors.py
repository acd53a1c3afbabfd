"""What factor-1-2 and two-factor share: scope, bounds, and from subgraphs to classes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.hierarchy.family import no_widest
from incrowd.kernels.types import Ints
from incrowd.linear.highs import why_ended
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.chain import Level, presolve
from incrowd.solvers.base import Context, Outcome, refuse_other_models
from incrowd.solvers.baseline.first import first_release

MOST_ROWS = 1_500
SIZE = f"{MOST_ROWS:,} rows, copies counted, after the reductions"


@dataclass(frozen=True, eq=False)
class Factor:
    """A spanning subgraph and what is known about the least weight.

    Attributes
    ----------
    edges: int64, shape (edges, 2), or None when none was found in time.
    bound: a proven lower bound on the weight of every such subgraph.
    finished: whether the subgraph has the least weight (then ``bound`` is its weight).
    """

    edges: Ints | None
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


def refuse_factor(problem: Problem, level: Level, k: int, instead: str) -> str | None:
    """Say why a factor method does not serve the problem, with these reductions."""
    rows = presolve(problem, level).problem.instance.rows
    if other := refuse_other_models(problem, f"{k}-anonymity"):
        return other
    if problem.smallest_class != k:
        return f"it serves {k}-anonymity, not {problem.asked}; use forest or engine"
    if rows > MOST_ROWS:
        return f"it weighs all pairs of {rows:,} rows, {MOST_ROWS:,} at most; use {instead}"
    return no_widest(problem.instance.trees, "its ratio")


def by_factor(
    problem: Problem,
    context: Context,
    level: Level,
    halves: tuple[int, int],
    find: Callable[[Ints, Context], Factor],
    cut: Callable[[Instance, list[list[int]]], list[list[int]]],
) -> Outcome:
    """Return the classes into which ``cut`` parts a least factor, and what its weight proves.

    halves: the bound in halves of the weight, with two values a column and without.
    """
    reduced = presolve(problem, level)
    instance = reduced.problem.instance
    if instance.rows < problem.smallest_class:
        return Outcome(None)
    factor = find(pair_costs(instance), context)
    bound = -(-halves[not is_binary(instance)] * factor.bound // 2)
    ended = why_ended(factor.finished, context.stop)
    if factor.edges is None:
        return Outcome(first_release(problem), bound, ended)
    classes = cut(instance, adjacency(instance.rows, factor.edges))
    solution = reduced.lift(from_classes(instance, classes))
    return Outcome(solution, min(bound, solution.cost), ended)


def is_binary(instance: Instance) -> bool:
    """Whether every column holds at most two values, so that a median row exists."""
    return all(len(np.unique(column)) <= 2 for column in instance.codes.T)


def adjacency(rows: int, edges: Ints) -> list[list[int]]:
    """Return the neighbours of each vertex."""
    near: list[list[int]] = [[] for _ in range(rows)]
    for u, v in edges.tolist():
        near[u].append(v)
        near[v].append(u)
    return near


def from_classes(instance: Instance, classes: Sequence[Sequence[int]]) -> Solution:
    """Build a solution from lists of copies."""
    label = np.full(instance.rows, -1, np.int64)
    for number, members in enumerate(classes):
        label[list(members)] = number
    return Solution.of(instance, label)
