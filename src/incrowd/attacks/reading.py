"""From a release, its original and other people to a scene."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from incrowd.attacks.labels import OTHER, classes_of, labels_of
from incrowd.attacks.register import Register, register_of
from incrowd.attacks.scene import Other, People, Scene, Secret, Seen
from incrowd.attacks.whose import rows_in_order, rows_matched, rows_of_proof
from incrowd.encoding.encoded import require_no_star
from incrowd.errors import InputError, listed
from incrowd.hierarchy.build import build_trees
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import with_star
from incrowd.kernels.types import Bools, Ints
from incrowd.policy.base import Policy
from incrowd.policy.models import model_of
from incrowd.policy.protect import asked_of
from incrowd.policy.roles import Roles
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.privacy.combination import Combination
from incrowd.published.fitting import Nodes, common_keys
from incrowd.series.release import COUNTERFEITS
from incrowd.tables.base import Column, Table
from incrowd.tables.whose import owners

STRANGERS = "the table of the other people"
MATCHED = (
    "The release is shuffled, and several ways of matching its rows to the original's may be "
    "possible: which class a person stands in is one guess of them. Give the proof (--proof) to "
    "have it exactly."
)

PEOPLE = (
    "People are counted, of whom each may have several rows. Linkage takes the riskiest row of "
    "each person; a guess of a sensitive value, or an intersection, one row of each, taken by lot; "
    "singling out counts the people whom a description fits. De Finetti, downcoding and "
    "refinement count rows, which hang together more than their intervals say."
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
    shadow: a release of ``people``, made by the same rules, in their order; None without.
    shadow_rows: int64, rising: those of ``people`` who are in it; None: all.
    register: people of whom the attacker has some columns, those of the table among them; or None.
    other: another release about people of the original; None without.
    other_rows: int64, shape (its rows,): as ``rows``.
    other_policy: what ``other`` was made with; None: as ``policy``.
    """

    release: Table
    original: Table
    people: Table | None
    policy: Policy
    roles: Roles
    proof: str | Path | None = None
    rows: Ints | None = None
    shadow: Table | None = None
    shadow_rows: Ints | None = None
    register: Table | None = None
    other: Table | None = None
    other_rows: Ints | None = None
    other_policy: Policy | None = None


def scene_of(tables: Tables) -> Scene:
    """Encode the tables alike, and find out which row is whose.

    Raises
    ------
    InputError: a column is missing; the release is none of this original.
    """
    roles, policy = tables.roles, tables.policy
    require_columns("the release", tables.release, (*roles.qi, *roles.sensitive))
    if not tables.release.rows:
        raise InputError("the release has no rows: there is nothing to attack")
    bearers = [tables.original]
    if tables.people is not None:
        require_columns(STRANGERS, tables.people, roles.qi)
        bearers.append(tables.people)
    trees, codes = encoded(bearers, roles.qi, policy, roles)
    levels, nodes = labels_of(tables.release, trees)
    seen, _ = seen_of(tables, tables.release, trees, levels, nodes)
    worn = [worn_by(table, seen.secrets) for table in bearers]
    whose, approximate = rows_of(tables, Nodes(trees, codes[0]), levels, nodes)
    stands = places(tables.original.rows, whose, classes_of(levels, nodes)[1])
    whose_are = [persons_of(table, roles) for table in bearers]
    if whose_are[0] is not None and not approximate:
        small = persons_in(stands, whose_are[0], len(seen.sizes)) < policy.k
        seen = replace(seen, broken=int(small.sum()))
    members = People(codes=codes[0], secrets=worn[0], place=stands, whose=whose_are[0])
    everybody = np.flatnonzero(stands >= 0)  # rows left out are in no release
    members = members.chosen(everybody)
    others = (
        None if len(bearers) < 2 else People(codes=codes[1], secrets=worn[1], whose=whose_are[1])
    )
    shadow = None if tables.shadow is None else shadow_of(tables, tables.shadow, trees, others)
    other = None if tables.other is None else other_of(tables, tables.other, everybody)
    register = None if tables.register is None else register_in(tables, whose, everybody, members)
    notes = (MATCHED,) if approximate or (other is not None and other.approximate) else ()
    notes += (PEOPLE,) if roles.person else ()
    return Scene(
        seen=seen, members=members, others=others, shadow=shadow, other=other, register=register,
        approximate=approximate, notes=(*notes, *(() if register is None else register.notes)),
    )  # fmt: skip


def register_in(tables: Tables, whose: Ints, rows: Ints, members: People) -> Register:
    """Return what a register tells of the members, whose original and released rows are known."""
    assert tables.register is not None
    persons = np.arange(len(members)) if members.whose is None else members.whose
    released = np.full(tables.original.rows, -1)
    released[whose[whose >= 0]] = np.flatnonzero(whose >= 0)
    return register_of(
        tables.register, tables.original, tables.release, tables.policy, tables.roles,
        rows, released[rows], persons,
    )  # fmt: skip


def persons_of(table: Table, roles: Roles) -> Ints | None:
    """int64, shape (rows,): whose each row is, where people are counted and the table says it."""
    if not roles.person or any(name not in table.columns for name in roles.person):
        return None
    return owners(table, roles.person).codes.astype(np.int64)


def persons_in(stands: Ints, whose: Ints, classes: int) -> Ints:
    """int64, shape (classes,): people with a row in each, from each original row's class."""
    inside = stands >= 0
    pairs = np.unique(np.column_stack([stands[inside], whose[inside]]), axis=0)
    return np.bincount(pairs[:, 0], minlength=classes)


def broken_by(
    asked: Sequence[Combination], trees: tuple[Family, ...], labels: Ints, place: Ints
) -> Bools:
    """bool, shape (classes,): whether too few rows show what it does in columns asked for."""
    at = {tree.column: j for j, tree in enumerate(trees)}
    broken = np.zeros(len(labels), bool)
    for one in asked:
        columns = np.array([at[name] for name in one.columns if name in at], np.int64)
        shown = labels[:, np.append(columns, columns + len(trees))]
        alike = np.unique(shown, axis=0, return_inverse=True)[1].ravel()
        broken |= np.bincount(alike[place], minlength=len(labels))[alike] < one.k
    return broken


def seen_of(
    tables: Tables, release: Table, trees: tuple[Family, ...], levels: Ints, nodes: Ints
) -> tuple[Seen, Ints]:
    """Return a release as everybody sees it, and int64 of shape (its rows,): their classes."""
    labels, place = classes_of(levels, nodes)
    policy, width = tables.policy, len(trees)
    columns = {n: release.encode(n).compact() for n in tables.roles.sensitive}
    secrets = tuple(secret_of(n, column, place, len(labels)) for n, column in columns.items())
    model = None if policy.person else model_of(policy, columns, policy.sources())
    sizes = np.bincount(place, minlength=len(labels)).astype(np.int64)
    asked = asked_of(policy, tables.roles.qi)
    lawful = ~broken_by(asked, trees, labels, place)  # of people a class has no more than rows
    if model is not None and len(labels):
        codes = [np.zeros((release.rows, 0)), *(column.codes for column in columns.values())]
        worn = np.column_stack(codes).astype(np.int32)
        group = Group(worn, tuple(len(column.values) for column in columns.values()))
        lawful &= model.lawful_classes(Classes(place, group))
    seen = Seen(
        trees=trees,
        levels=labels[:, :width],
        nodes=labels[:, width:],
        sizes=sizes,
        secrets=secrets,
        k=policy.k,
        l=diversity(policy),
        model=model,
        broken=int((~lawful).sum()),
    )
    return seen, place


def places(rows: int, whose: Ints, place: Ints) -> Ints:
    """int64, shape (rows,): class of each original row; −1 for one that is not released."""
    stands = np.full(rows, -1)
    stands[whose[whose >= 0]] = place[whose >= 0]
    return stands


def shadow_of(
    tables: Tables, release: Table, trees: tuple[Family, ...], people: People | None
) -> Scene:
    """Return the scene of a release of the other people, in whose order it stands."""
    assert people is not None
    if tables.shadow_rows is not None:
        people = people.chosen(tables.shadow_rows)
    levels, nodes = labels_of(release, trees)
    seen, place = seen_of(tables, release, trees, levels, nodes)
    return Scene(seen=seen, members=replace(people, place=place))


def other_of(tables: Tables, release: Table, members: Ints) -> Other:
    """Return another release with the class of each member in it.

    Its quasi-identifiers are those that its policy names and it has.
    """
    policy, original = tables.other_policy or tables.policy, tables.original
    roles = policy.roles(original.columns)
    secrets, names = tables.roles.sensitive, [name for name in roles.qi if name in release.columns]
    require_columns(OTHER, release, secrets)
    if not names:
        raise InputError(f"{OTHER} has none of the quasi-identifiers")
    if changed := [name for name in secrets if name in names]:
        raise InputError(
            f"{OTHER} changes {listed(changed)}, which is sensitive in the first; an attack by "
            "composition compares values that both publish as they are"
        )
    trees, (codes,) = encoded([original], names, policy, roles)
    levels, nodes = labels_of(release, trees, OTHER)
    seen, place = seen_of(tables, release, trees, levels, nodes)
    kept = replace(tables, release=release, rows=tables.other_rows, roles=roles, proof=None)
    whose, guessed = rows_of(kept, Nodes(trees, codes), levels, nodes, OTHER)
    stands = places(original.rows, whose, place)[members]
    return Other(seen=seen, codes=codes[members], place=stands, approximate=guessed)


HINTS = {
    "the release": " (columns left out on purpose are named with --id)",
    STRANGERS: "; people of whom only some columns are known are a register (--register)",
}


def require_columns(what: str, table: Table, names: Sequence[str]) -> None:
    """Raise InputError unless a table has these columns."""
    lost = [name for name in names if name not in table.columns]
    if lost:
        hint = HINTS.get(what, "")
        raise InputError(f"{what} lacks the column{'s' if lost[1:] else ''} {listed(lost)}{hint}")


def encoded(
    bearers: Sequence[Table], names: Sequence[str], policy: Policy, roles: Roles
) -> tuple[tuple[Family, ...], list[Ints]]:
    """Return the hierarchies of some columns, and int64 of (rows, columns): each table's leaves.

    Raises
    ------
    InputError: a cell of theirs looks like a suppressed one.
    """
    columns = {name: [table.encode(name) for table in bearers] for name in names}
    for name, several in columns.items():
        for column in several:
            require_no_star(name, column.values, policy.star)
    trees = trees_of(columns, policy, roles)
    codes = [
        np.column_stack([columns[t.column][i].among(t.leaves) for t in trees]).astype(np.int64)
        for i in range(len(bearers))
    ]
    return trees, codes


def trees_of(columns: dict[str, list[Column]], policy: Policy, roles: Roles) -> tuple[Family, ...]:
    """Return the hierarchies over the values of all people."""
    values = {
        name: tuple(dict.fromkeys(text for column in encoded for text in column.values))
        for name, encoded in columns.items()
    }
    sources = {n: s for n, s in policy.sources().items() if n not in roles.sensitive}
    found, _ = build_trees(values, sources, policy.cost, policy.weights)
    return tuple(with_star(tree, policy.star) for tree in found)


def secret_of(name: str, column: Column, place: Ints, classes: int) -> Secret:
    """Return what a release says of a sensitive column."""
    counts = np.zeros((classes, len(column.values)), np.int64)
    np.add.at(counts, (place, column.codes), 1)
    return Secret(column=name, values=column.values, counts=counts)


def worn_by(table: Table, secrets: Sequence[Secret]) -> Ints:
    """int64, shape (rows, sensitive columns): what people bear in them.

    −1 for a value that the release does not know; they all lack a column that their table lacks.
    """
    worn = np.full((table.rows, len(secrets)), -1)
    for j, secret in enumerate(secrets):
        if secret.column in table.columns:
            worn[:, j] = table.encode(secret.column).among(secret.values)
    return worn


OF_NOBODY = (
    f"; a column {COUNTERFEITS!r} is there, as incrowd republish adds it: its releases have rows "
    "that belong to nobody, and attack does not serve them"
)


def rows_of(
    tables: Tables, original: Nodes, levels: Ints, nodes: Ints, called: str = "the release"
) -> tuple[Ints, bool]:
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
        added = COUNTERFEITS in release.columns and COUNTERFEITS not in tables.original.columns
        raise InputError(
            f"{called}: {lost:,} released rows cannot be rows of the original: some cell is "
            "neither an original value nor one of its ancestors, or a column published as it is "
            "has changed"
            f"{OF_NOBODY if added else ''}"
        )
    return found, True


def diversity(policy: Policy) -> int:
    """Return the l that was asked for, 1 without any."""
    from math import floor

    asked = [policy.l, *(getattr(model, "l", None) for model in policy.models)]
    return max((floor(float(l)) for l in asked if l is not None), default=1)  # noqa: E741
