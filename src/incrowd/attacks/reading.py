"""From a release, its original and other people to a scene."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.scene import People, Scene, Secret, Seen
from incrowd.attacks.whose import rows_in_order, rows_matched, rows_of_proof
from incrowd.encoding.encoded import require_no_star
from incrowd.errors import InputError
from incrowd.hierarchy.build import build_trees
from incrowd.hierarchy.labels import places_of, with_star
from incrowd.hierarchy.tree import Tree
from incrowd.policy.base import Policy
from incrowd.policy.roles import Roles
from incrowd.published.verification import Nodes, common_keys
from incrowd.tables.base import Column, Table

Ints = NDArray[np.int64]
MATCHED = (
    "The release is shuffled, and several ways of matching its rows to the original's may be "
    "possible: which class a person stands in is one guess of them. Give the proof (--proof) to "
    "have it exactly."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Tables:
    """What is attacked, as tables.

    Attributes
    ----------
    release: the attacked one; original: what it was made from; people: others, or None.
    policy, roles: what it was made with.
    proof: file that says which row is whose, or None.
    rows: int64, shape (released rows,): original row of each released row, where known.
    """

    release: Table
    original: Table
    people: Table | None
    policy: Policy
    roles: Roles
    proof: str | Path | None = None
    rows: Ints | None = None


def scene_of(tables: Tables) -> Scene:
    """Encode the tables alike, and find out which row is whose.

    Raises
    ------
    InputError: a column is missing; the release is none of this original.
    """
    roles, policy = tables.roles, tables.policy
    require_columns("the release", tables.release, (*roles.qi, *roles.sensitive))
    bearers = [tables.original]
    if tables.people is not None:
        require_columns("the other people", tables.people, roles.qi)
        bearers.append(tables.people)
    columns = {name: [table.encode(name) for table in bearers] for name in roles.qi}
    for name, encoded in columns.items():
        for column in encoded:
            require_no_star(name, column.values, policy.star)
    trees = trees_of(columns, policy, roles)
    codes = [
        np.column_stack([leaves(columns[t.column][i], t) for t in trees])
        for i in range(len(bearers))
    ]
    levels, nodes = labels_of(tables.release, trees)
    labels, place = classes_of(levels, nodes)
    secrets, worn = secrets_of(tables, place, len(labels))
    width = len(trees)
    seen = Seen(
        trees=trees,
        levels=labels[:, :width],
        nodes=labels[:, width:],
        sizes=np.bincount(place, minlength=len(labels)).astype(np.int64),
        secrets=secrets,
        k=policy.k,
        l=diversity(policy),
    )
    whose, approximate = rows_of(tables, Nodes(trees, codes[0]), levels, nodes)
    stands = np.full(tables.original.rows, -1)
    stands[whose[whose >= 0]] = place[whose >= 0]
    members = People(codes=codes[0], secrets=worn[0], place=stands)
    members = members.chosen(np.flatnonzero(stands >= 0))  # rows left out are in no release
    others = None if len(bearers) < 2 else People(codes=codes[1], secrets=worn[1])
    notes = (MATCHED,) if approximate else ()
    return Scene(seen=seen, members=members, others=others, approximate=approximate, notes=notes)


def require_columns(what: str, table: Table, names: Sequence[str]) -> None:
    """Raise InputError unless a table has these columns."""
    lost = [name for name in names if name not in table.columns]
    if lost:
        raise InputError(f"{what}: lacks the columns {', '.join(map(repr, lost))}")


def trees_of(columns: dict[str, list[Column]], policy: Policy, roles: Roles) -> tuple[Tree, ...]:
    """Return the hierarchies over the values of all people."""
    values = {
        name: tuple(dict.fromkeys(text for column in encoded for text in column.values))
        for name, encoded in columns.items()
    }
    sources = {n: s for n, s in policy.sources().items() if n not in roles.sensitive}
    trees, _ = build_trees(values, sources, policy.cost, policy.weights)
    return tuple(with_star(tree, policy.star) for tree in trees)


def leaves(column: Column, tree: Tree) -> Ints:
    """int64, shape (rows,): leaf of each cell."""
    place = {value: code for code, value in enumerate(tree.leaves)}
    return np.array([place[value] for value in column.values] or [0], np.int64)[column.codes]


def labels_of(release: Table, trees: tuple[Tree, ...]) -> tuple[Ints, Ints]:
    """Return level and node of each released cell, int64 of shape (rows, columns).

    Raises
    ------
    InputError: a label is no value and no ancestor of one.
    """
    levels = np.zeros((release.rows, len(trees)), np.int64)
    nodes = np.zeros_like(levels)
    for j, tree in enumerate(trees):
        column, place = release.encode(tree.column), places_of(tree)
        known = [place.get(text, (-1, -1)) for text in column.values]
        both = np.array(known or [(0, 0)], np.int64)[column.codes].reshape(-1, 2)
        strange = np.flatnonzero(both[:, 0] < 0)
        if len(strange):
            raise InputError(
                f"the release, row {strange[0] + 1}, column {tree.column!r}: the cell is neither a "
                "value of the original nor one of its ancestors; name the hierarchies it was made "
                "with (--hierarchy), or the mark of suppressed cells (--star)"
            )
        levels[:, j], nodes[:, j] = both[:, 0], both[:, 1]
    return levels, nodes


def classes_of(levels: Ints, nodes: Ints) -> tuple[Ints, Ints]:
    """Return the different labels in order, levels and then nodes, and each row's place."""
    labels, place = np.unique(np.column_stack([levels, nodes]), axis=0, return_inverse=True)
    return labels.astype(np.int64), place.ravel().astype(np.int64)


def secrets_of(tables: Tables, place: Ints, classes: int) -> tuple[tuple[Secret, ...], list[Ints]]:
    """Return what the release says of sensitive columns, and what people bear in them.

    −1 for a value of other people that the release does not know; they all lack a column that
    their table lacks.
    """
    secrets: list[Secret] = []
    bearers = [tables.original, *([] if tables.people is None else [tables.people])]
    worn: list[list[Ints]] = [[] for _ in bearers]
    for name in tables.roles.sensitive:
        column = tables.release.encode(name).compact()
        counts = np.zeros((classes, len(column.values)), np.int64)
        np.add.at(counts, (place, column.codes), 1)
        secrets.append(Secret(column=name, values=column.values, counts=counts))
        number = {text: code for code, text in enumerate(column.values)}
        for i, table in enumerate(bearers):
            if name not in table.columns:
                worn[i].append(np.full(table.rows, -1))
                continue
            cells = table.encode(name)
            codes = [number.get(text, -1) for text in cells.values] or [0]
            worn[i].append(np.array(codes, np.int64)[cells.codes])
    shaped = [
        np.column_stack(columns) if columns else np.zeros((table.rows, 0), np.int64)
        for columns, table in zip(worn, bearers, strict=True)
    ]
    return tuple(secrets), shaped


def rows_of(tables: Tables, original: Nodes, levels: Ints, nodes: Ints) -> tuple[Ints, bool]:
    """int64, shape (released rows,): original row of each, −1 for none; and whether it is a guess.

    Raises
    ------
    InputError: some released row can be no original one's.
    """
    if tables.rows is not None:
        return tables.rows, False
    roles, release = tables.roles, tables.release
    kept = [name for name in (*roles.sensitive, *roles.keep) if name in release.columns]
    pairs = [(tables.original.encode(name), release.encode(name)) for name in kept]
    keys, shown = common_keys(pairs, tables.original.rows, release.rows)
    if tables.proof is not None:
        found = rows_of_proof(tables.proof, release.rows, tables.original.rows)
        mine = Nodes(original.trees, original.leaves[found])
        if not rows_in_order(mine, keys[found], levels, nodes, shown):
            raise InputError(f"{tables.proof}: the proof is not of this release and this original")
        return found, False
    if rows_in_order(original, keys, levels, nodes, shown):
        return np.arange(release.rows), False
    found = rows_matched(original, keys, levels, nodes, shown)
    lost = int((found < 0).sum())
    if lost:
        raise InputError(
            f"{lost:,} released rows can be no row of the original: some cell is neither an "
            "original value nor one of its ancestors, or a column published as it is has changed"
        )
    return found, True


def diversity(policy: Policy) -> int:
    """Return the l that was asked for, 1 without any."""
    from math import floor

    asked = [policy.l, *(getattr(model, "l", None) for model in policy.models)]
    return max((floor(float(l)) for l in asked if l is not None), default=1)  # noqa: E741
