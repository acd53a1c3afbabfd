"""A constrained problem as ordinary problems: one part for each group of equal fixed values.

*Fixed* columns are never changed exactly when no class holds two of their values, so the optimum
is the sum of the optima of the groups of rows with equal fixed values, and bounds add up.
*Linked* columns are one column whose values are the tuples and whose star costs as much as all of
theirs: it stays exactly when all of them do.  Neither loses anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.constraints.plan import Plan
from incrowd.encoding.encoded import Coded
from incrowd.errors import NoLawfulReleaseError
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.problem.instance import from_codes, row_order
from incrowd.problem.problem import Problem

Ints = NDArray[np.int64]


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


@dataclass(frozen=True, eq=False)
class Part:
    """One part.

    Attributes
    ----------
    rows: int64: the table's rows in it.
    problem: its problem.
    copy_of_row: int64, shape (len(rows),): the copy that each of them became.
    """

    rows: Ints
    problem: Problem
    copy_of_row: Ints


def whole_table(table: Coded) -> Group:
    """Return the sensitive values of all rows, in the table's order."""
    instance = table.instance
    values = instance.sensitive_codes[instance.copies[table.copy_of_row]]
    return Group(values, instance.sensitive_sizes)


def groups_of(table: Coded, plan: Plan) -> list[Ints]:
    """Return the rows of each group of equal fixed values; one group when nothing is fixed."""
    rows = len(table.leaves)
    if not plan.fixed or not rows:
        return [np.arange(rows, dtype=np.int64)]
    keys = table.leaves[:, list(plan.fixed)]
    order = row_order(keys)
    ordered = keys[order]
    new = np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1
    return [np.sort(group) for group in np.split(order, new)]


def require_lawful_groups(table: Coded, plan: Plan, groups: Sequence[Ints]) -> None:
    """Raise unless each group is lawful as one class; then a lawful release exists.

    All models here are closed under union, so a group that is unlawful as a whole has no lawful
    partition.

    Raises
    ------
    NoLawfulReleaseError: names the fixed columns and the number of rows, never a value.
    """
    model = table.model
    if not plan.fixed or not len(table.leaves) or not model.closed_under_union:
        return
    member = np.empty(len(table.leaves), np.int64)
    for i, rows in enumerate(groups):
        member[rows] = i
    broken = ~model.lawful_classes(Classes(member, whole_table(table)))
    if broken.any():
        lost = int(np.bincount(member)[broken].sum())
        names = ", ".join(repr(table.roles.qi[j]) for j in plan.fixed)
        models = model.in_words(table.roles.attributes)
        raise NoLawfulReleaseError(
            f"fixed {names}: {lost:,} rows lie in {int(broken.sum()):,} groups of equal values "
            f"(of {len(groups):,}) that break {models} even as one class, so no lawful release "
            "leaves these columns unchanged; fix fewer columns, or generalize them beforehand"
        )


def parts_of(table: Coded, plan: Plan, trees: Sequence[Tree]) -> list[Part]:
    """Return the parts, fewest rows first; ``trees`` with the costs to use."""
    whole = whole_table(table)
    groups = sorted(groups_of(table, plan), key=len)
    return [_part(table, plan, trees, rows, whole) for rows in groups]


def _part(table: Coded, plan: Plan, trees: Sequence[Tree], rows: Ints, whole: Group) -> Part:
    linked = {j for link in plan.links for j in link}
    leaves = table.leaves[rows]
    codes, columns = [], []
    for j, tree in enumerate(trees):
        if j not in plan.fixed and j not in linked:
            found = restricted(tree, leaves[:, j])
            codes.append(found[0])
            columns.append(found[1])
    for link in plan.links:
        found = joined([trees[j] for j in link], leaves[:, list(link)])
        codes.append(found[0])
        columns.append(found[1])
    if not columns:  # all is fixed: a column in which all rows agree
        found = restricted(trees[plan.fixed[0]], leaves[:, plan.fixed[0]])
        codes, columns = [found[0]], [found[1]]
    secret = whole.values[rows] if whole.values.shape[1] else None
    instance, copy_of_row = from_codes(
        np.column_stack(codes), tuple(columns), secret, table.instance.scale
    )
    if plan.fixed:
        problem = PartProblem(instance, table.model, table.roles.attributes, whole)
        return Part(rows, problem, copy_of_row)
    return Part(rows, Problem(instance, table.model, table.roles.attributes), copy_of_row)


def restricted(tree: Tree, leaves: NDArray[np.int32]) -> tuple[NDArray[np.int32], Tree]:
    """Return a column's codes renumbered, and its tree over the values that occur."""
    used, codes = np.unique(leaves, return_inverse=True)
    if len(used) == len(tree.leaves):
        return leaves, tree
    labels, node = [], []
    for names, ids in zip(tree.labels, tree.node, strict=True):
        kept, renumbered = np.unique(ids[used], return_inverse=True)
        labels.append(tuple(names[i] for i in kept))
        node.append(renumbered.ravel().astype(np.int32))
    nodes, cost = np.vstack(node), np.ascontiguousarray(tree.cost[:, used])
    return codes.ravel().astype(np.int32), replace(
        tree, labels=tuple(labels), node=nodes, cost=cost
    )


def joined(trees: Sequence[Tree], leaves: NDArray[np.int32]) -> tuple[NDArray[np.int32], Tree]:
    """Return linked columns as one: a code per tuple, and its tree of height 1."""
    tuples, codes = np.unique(leaves, axis=0, return_inverse=True)
    weight = sum(tree.dearest for tree in trees)
    names = tuple(str(i) for i in range(len(tuples)))
    name = "+".join(tree.column for tree in trees)
    return codes.ravel().astype(np.int32), Tree.suppression(name, names, weight)
