"""Whether a published table obeys its constraints, without knowing which row became which."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from incrowd.constraints.levels import torn_rows
from incrowd.constraints.plan import Limit, Plan, plan_of
from incrowd.encoding.encoded import Coded
from incrowd.errors import InputError, listed
from incrowd.hierarchy.family import trees_of
from incrowd.hierarchy.labels import ends, places_among
from incrowd.policy import Policy
from incrowd.tables.base import Column

Mask = NDArray[np.bool_]


def constraints_broken(
    table: Coded, columns: Mapping[str, Column], policy: Policy
) -> Iterator[str]:
    """Yield why a release breaks its links or caps; fixed columns are compared as kept ones are.

    A released cell counts as changed when its text is no value of the original column, or one that
    fewer of the original's cells have.

    Parameters
    ----------
    columns: those of the release, no more rows than the original, each cell an original value or
        one of its ancestors.  Caps are shares of the released cells.

    Raises
    ------
    InputError: a subgroup cannot be told in a release whose rows stand in another order, or of
        which some are left out.
    """
    plan = plan_of(table, policy)
    trees = table.instance.trees
    changed = np.column_stack([columns[tree.column].among(tree.leaves) < 0 for tree in trees])
    for link in plan.links:
        some = np.column_stack([columns[trees[j].column].shows(trees[j].star) for j in link])
        torn = np.flatnonzero(some.any(axis=1) & ~some.all(axis=1))
        how = "suppressed"
        if not len(torn):
            how, own = "generalized", trees_of([trees[j] for j in link], "a link of columns")
            torn = torn_rows([tree.labels for tree in own], [columns[tree.column] for tree in own])
        if len(torn):
            names = listed(trees[j].column for j in link)
            yield (
                f"the linked columns {names} were not {how} together in {len(torn)} rows, "
                f"first in released row {int(torn[0]) + 1}"
            )
    for limit in plan.limits:
        count, cells = under(limit, table, columns, plan, changed)
        if count > limit.cap.limit(cells):
            yield (
                f"{count:,} of {cells:,} cells of {limit.cap.name} were changed, more than "
                "its cap allows"
            )


def under(
    limit: Limit, table: Coded, columns: Mapping[str, Column], plan: Plan, changed: Mask
) -> tuple[int, int]:
    """Return how many of the released cells under a cap were changed, and how many there are."""
    if (j := limit.column) is not None:
        tree, size = table.instance.trees[j], len(table.instance.trees[j].leaves)
        code = columns[tree.column].among(tree.leaves)
        held = (np.bincount(one[one >= 0], minlength=size) for one in (code, table.leaves[:, j]))
        more = int(np.maximum(np.subtract(*held), 0).sum())  # 1 for 1.0, as its interval reads
        return limit.count(changed) + more, len(changed)
    name = limit.cap.column
    free = [tree.column for j, tree in enumerate(table.instance.trees) if j not in plan.fixed]
    if name in columns and name not in free:
        column = columns[name]
        inside = np.array([text == limit.cap.value for text in column.values] or [False])
        cells = changed[inside[column.codes]]
        return int(cells.sum()), cells.size
    if len(changed) < table.source.rows:
        raise InputError(
            f"caps: {limit.cap.name} cannot be told in a release that lacks rows of the original; "
            "verify with the proof (--proof)"
        )
    if not in_order(table, columns):
        raise InputError(
            f"caps: {limit.cap.name} cannot be told in a release whose rows stand in "
            "another order than the original's; release with --order keep to have this checked"
        )
    return limit.count(changed), limit.cells


def in_order(table: Coded, columns: Mapping[str, Column]) -> bool:
    """Whether each released row may be the original row at its place."""
    for name in (*table.roles.sensitive, *table.roles.keep):
        before, after = table.source.encode(name), columns[name]
        if before.values != after.values or (before.codes != after.codes).any():
            return False
    for j, tree in enumerate(table.instance.trees):
        column = columns[tree.column]
        pairs = np.unique(np.column_stack([table.leaves[:, j], column.codes]), axis=0)
        place = places_among(tree, column.values)
        known = [place.get(column.values[code]) for code in pairs[:, 1].tolist()]
        if None in known:
            return False
        level, node = np.array(known, np.int64).reshape(-1, 2).T
        low, end = ends(tree, level, node)
        if ((pairs[:, 0] < low) | (pairs[:, 0] >= end)).any():
            return False
    return True
