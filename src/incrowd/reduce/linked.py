"""Linked columns, suppressed together row by row, are one column.

Its values are the tuples, and a level of it is one of each column, counted down from the star,
which all show at once; a column with fewer levels than others stays as it is below its own.
What a tuple shows costs as much as all of its cells.  So nothing is lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import trees_of
from incrowd.hierarchy.tree import STAR, Tree
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.base import Reduced, unchanged

Links = tuple[tuple[int, ...], ...]
"""Lists of columns, by number, no column twice."""


@dataclass(frozen=True)
class LinkColumns:
    """Put a column for each link behind the others."""

    links: Links
    id = "linked-columns"
    source = "columns that are only suppressed together are one column of tuples"

    def others(self, columns: int) -> list[int]:
        """Return the columns that no link names, in their order; they come first."""
        linked = {j for link in self.links for j in link}
        return [j for j in range(columns) if j not in linked]

    def apply(self, problem: Problem) -> Reduced:
        """Join the columns; rows that differ stay different."""
        instance, kept = problem.instance, self.others(problem.instance.columns)
        if not self.links:
            return unchanged(problem)
        found = [(instance.codes[:, j], instance.trees[j]) for j in kept]
        for link in self.links:
            trees = trees_of([instance.trees[j] for j in link], "a link of columns")
            found.append(joined(trees, instance.codes[:, list(link)]))
        columns = np.column_stack([codes for codes, _ in found])[instance.copies]
        secret = None if instance.sensitive is None else instance.sensitive[instance.copies]
        trees = tuple(tree for _, tree in found)
        smaller, place = from_codes(columns, trees, secret, instance.scale)

        def lift(solution: Solution) -> Solution:
            return LinkedSolution.of_links(instance, solution.classes[place], self.links)

        return Reduced(Problem(smaller, problem.model, problem.sensitive), lift)


def joined(trees: Sequence[Tree], codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], Tree]:
    """Return linked columns as one: a code per tuple, and its tree."""
    tuples, of_row = np.unique(codes, axis=0, return_inverse=True)
    drop = drops(trees)
    levels = range(max(tree.levels for tree in trees))
    at = [[max(0, t - lower) for lower in drop] for t in levels]  # level of each column

    def shown(t: int) -> NDArray[np.int32]:
        each = zip(trees, at[t], tuples.T, strict=True)
        return np.column_stack([tree.node[level][leaf] for tree, level, leaf in each])

    keys = np.column_stack([shown(t) for t in levels])  # the highest level orders first
    order = np.lexsort(keys.T)
    place = np.argsort(order)
    tuples = tuples[order]
    nodes, costs = [], []
    for t in levels:
        new = (np.diff(shown(t), axis=0) != 0).any(axis=1)
        nodes.append(np.concatenate([[0], np.cumsum(new)])[: len(tuples)].astype(np.int32))
        each = zip(trees, at[t], tuples.T, strict=True)
        costs.append(sum(tree.cost[level][leaf] for tree, level, leaf in each))
    labels = [
        tuple(f"{t}:{i}" for i in range(int(n.max(initial=-1)) + 1)) for t, n in enumerate(nodes)
    ]
    name = "+".join(tree.column for tree in trees)
    whole = Tree(name, (*labels[:-1], (STAR,)), np.vstack(nodes), np.vstack(costs))
    return place[of_row.ravel()].astype(np.int32), whole


def drops(trees: Sequence[Tree]) -> list[int]:
    """Return by how many levels each of some linked columns is lower than the highest."""
    highest = max(tree.levels for tree in trees)
    return [highest - tree.levels for tree in trees]


@dataclass(frozen=True, eq=False)
class LinkedSolution(Solution):
    """Classes whose linked columns stand at one level, counted from the star.

    Attributes
    ----------
    links: lists of columns, by number, no column twice.
    """

    links: Links = ()

    @classmethod
    def of_links(
        cls, instance: Instance, classes: NDArray[np.integer], links: Links
    ) -> "LinkedSolution":
        """Build from any class ids, renumbered densely."""
        _, dense = np.unique(np.asarray(classes), return_inverse=True)
        return cls(instance, dense.ravel().astype(np.int64), links)

    @cached_property
    def levels(self) -> NDArray[np.int64]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """int64, shape (classes, columns): levels of the joins, raised where a link asks for it."""
        levels = super().levels.copy()
        for link in self.links:
            columns = list(link)
            lower = np.array(drops(trees_of([self.instance.trees[j] for j in link], "a link")))
            own = levels[:, columns]
            level = np.where(own > 0, own + lower, 0).max(axis=1, keepdims=True)
            levels[:, columns] = np.maximum(level - lower, 0)
        return levels
