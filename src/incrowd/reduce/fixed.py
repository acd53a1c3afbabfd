"""Fixed columns take a table apart: into the groups of rows whose values in them are equal.

They are never changed exactly when no class holds two of their values, so the optimum is the sum of
the groups' optima, and bounds add up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import Family
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.kernels.types import Ints
from incrowd.privacy.base import Group
from incrowd.problem.instance import from_codes, row_order
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.base import Split


@dataclass(frozen=True, eq=False)
class PartGroup(Group):
    """The sensitive values of a part's rows; the histograms are those of the whole table.

    Models that compare a class with the table (t-closeness, …) mean the table, not the part.
    """

    whole: Group = field(default_factory=lambda: Group(np.zeros((0, 0), np.int32)))

    @property
    def histograms(self) -> tuple[Ints, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """One int64 histogram of the whole table for each sensitive attribute."""
        return self.whole.histograms


@dataclass(frozen=True, eq=False)
class PartProblem(Problem):
    """Some rows of a table under its model; ``whole``: the sensitive values of all rows."""

    whole: Group = field(default_factory=lambda: Group(np.zeros((0, 0), np.int32)))

    @property
    def table(self) -> Group:
        """The part's sensitive values, to be compared with the whole table's."""
        instance = self.instance
        values = instance.sensitive_codes[instance.copies]
        return PartGroup(values, self.whole.sizes, self.whole)

    def group(self, copies: NDArray[np.integer]) -> Group:
        """The sensitive values of some copies."""
        instance = self.instance
        return Group(instance.sensitive_codes[instance.copies[copies]], self.whole.sizes)


@dataclass(frozen=True)
class FixColumns:
    """Split a problem by its fixed columns, and leave these out of the parts."""

    fixed: tuple[int, ...]
    id = "fixed-columns"
    source = "no class may hold two values of a fixed column"

    def apply(self, problem: Problem) -> Split:
        """Return the parts, fewest rows first."""
        instance = problem.instance
        if not self.fixed or not instance.rows:
            return Split((problem,), lambda solutions: solutions[0])
        group = groups_of(instance.codes, self.fixed)[instance.copies]
        order = np.argsort(group, kind="stable")
        members = sorted(np.split(order, np.flatnonzero(np.diff(group[order])) + 1), key=len)
        whole = problem.table
        parts = [self.part(problem, copies, whole) for copies in members]

        def lift(solutions: Sequence[Solution]) -> Solution:
            classes, start = np.empty(instance.rows, np.int64), 0
            for copies, (_, place), solution in zip(members, parts, solutions, strict=True):
                classes[copies] = solution.classes[place] + start
                start += len(copies)
            return Solution.of(instance, classes)

        return Split(tuple(part for part, _ in parts), lift)

    def part(self, problem: Problem, copies: Ints, whole: Group) -> tuple[Problem, Ints]:
        """Return the problem of some copies, and int64: the copy that each becomes there."""
        instance = problem.instance
        rows = instance.copies[copies]
        free = [j for j in range(instance.columns) if j not in self.fixed]
        columns = [  # where all are fixed one is kept, in which the part's rows agree
            restricted(instance.trees[j], instance.codes[rows, j]) for j in free or self.fixed[:1]
        ]
        codes = np.column_stack([codes for codes, _ in columns])
        secret = None if instance.sensitive is None else instance.sensitive[rows]
        trees = tuple(tree for _, tree in columns)
        smaller, place = from_codes(codes, trees, secret, instance.scale)
        return PartProblem(smaller, problem.model, problem.sensitive, whole), place


def groups_of(codes: NDArray[np.int32], fixed: Sequence[int]) -> Ints:
    """int64, shape (rows,): the group of equal fixed values that each row is in, from 0."""
    group = np.zeros(len(codes), np.int64)
    if fixed and len(codes):
        keys = codes[:, list(fixed)]
        order = row_order(keys)
        group[order[1:]] = np.cumsum((keys[order[1:]] != keys[order[:-1]]).any(axis=1))
    return group


def restricted(tree: Family, leaves: NDArray[np.int32]) -> tuple[NDArray[np.int32], Family]:
    """Return a column's codes renumbered, and its tree over the values that occur."""
    used, codes = np.unique(leaves, return_inverse=True)
    if len(used) == len(tree.leaves):
        return leaves, tree
    if isinstance(tree, RangeFamily):
        return codes.ravel().astype(np.int32), tree.of_leaves(used)
    labels, node = [], []
    for names, ids in zip(tree.labels, tree.node, strict=True):
        kept, renumbered = np.unique(ids[used], return_inverse=True)
        labels.append(tuple(names[i] for i in kept))
        node.append(renumbered.ravel().astype(np.int32))
    nodes, cost = np.vstack(node), np.ascontiguousarray(tree.cost[:, used])
    return codes.ravel().astype(np.int32), replace(
        tree, labels=tuple(labels), node=nodes, cost=cost
    )
