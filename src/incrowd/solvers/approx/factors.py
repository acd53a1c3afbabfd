"""What factor-1-2 and two-factor share: scope, bounds, and from subgraphs to classes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import no_widest
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.base import refuse_other_models

Ints = NDArray[np.int64]
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


def refuse_factor(problem: Problem, rows: int, k: int, instead: str) -> str | None:
    """Say why a factor method does not serve the problem; ``rows`` are those after presolve."""
    other = refuse_other_models(problem, f"{k}-anonymity")
    if other is not None:
        return other
    if problem.smallest_class != k:
        return f"it serves {k}-anonymity, not {problem.asked}; use forest or engine"
    if rows > MOST_ROWS:
        return f"it weighs all pairs of {rows:,} rows, {MOST_ROWS:,} at most; use {instead}"
    return no_widest(problem.instance.trees, "its ratio")


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
