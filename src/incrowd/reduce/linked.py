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

from incrowd.hierarchy.family import Family, trees_of
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
        instance = problem.instance
        if not self.links:
            return unchanged(problem)
        columns, trees = self.together(instance.codes, instance.trees)
        secret = None if instance.sensitive is None else instance.sensitive[instance.copies]
        smaller, place = from_codes(columns[instance.copies], trees, secret, instance.scale)

        def lift(solution: Solution) -> Solution:
            return LinkedSolution.of_links(instance, solution.classes[place], self.links)

        return Reduced(Problem(smaller, problem.model, problem.sensitive), lift)

    def together(
        self, codes: NDArray[np.int32], trees: Sequence[Family]
    ) -> tuple[NDArray[np.int32], tuple[Family, ...]]:
        """Return rows with a column for each link, shape (rows, columns), and their trees."""
        found = [(codes[:, j], trees[j]) for j in self.others(len(trees))]
        for link in self.links:
            own = trees_of([trees[j] for j in link], "a link of columns")
            found.append(joined(own, codes[:, list(link)]))
        return np.column_stack([each for each, _ in found]), tuple(tree for _, tree in found)


def joined(trees: Sequence[Tree], codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], Tree]:
    """Return linked columns as one: a code per tuple, and its tree."""
    tuples, of_row = np.unique(codes, axis=0, return_inverse=True)
    at = levels_of(trees)
    levels = range(len(at))

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


def levels_of(trees: Sequence[Tree]) -> list[list[int]]:
    """Return for each level of a link that of each of its columns."""
    return [[max(0, t - lower) for lower in drops(trees)]
            for t in range(max(tree.levels for tree in trees))]  # fmt: skip


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
