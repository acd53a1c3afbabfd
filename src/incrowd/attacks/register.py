"""A register that the attacker has: named people of whom some of the columns are known.

People of the table are in it as a rule, and others.  Each of its rows is a person.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from incrowd.attacks.labels import classes_of, labels_of
from incrowd.encoding.encoded import require_no_star
from incrowd.errors import HierarchyError, InputError, listed
from incrowd.hierarchy.build import build_trees
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import with_star
from incrowd.kernels.types import Bools, Floats, Ints
from incrowd.policy.base import Policy
from incrowd.policy.roles import Roles
from incrowd.published.fitting import Nodes, fitting
from incrowd.tables.base import Table, texts
from incrowd.text.missing import marks_for

NO_VALUE = (
    "No value of the register's column {!r} stands in the table: if they are written otherwise "
    "there, nobody is found who could be; write them alike."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Register:
    """What a register tells of the members of a release.

    Attributes
    ----------
    columns: the quasi-identifiers that it has.
    people: how many it holds.
    fits: int64, shape (members,): its people who fit the released row of each member.
    right: float64, shape (members,): those of them who are the member.
    inside: float64, shape (members,): whether the member is in it, 1 or 0.
    named: whether an identifier says who is who.  Else as many of the members with the same values
        are taken to be in it as it has people with them; ``right`` and ``inside`` are their share.
    notes: what a reader of the figures should know.
    """

    columns: tuple[str, ...]
    people: int
    fits: Ints
    right: Floats
    inside: Floats
    named: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Known:
    """One column: int64, shape (rows,), leaves of the table's rows and of the register's people.

    Attributes
    ----------
    empty: bool, shape (people,): cells of the register that say nothing.
    starred: bool, shape (released rows,): whether the release shows nothing.
    note: what a reader should know of it.
    """

    tree: Family
    table: Ints
    people: Ints
    empty: Bools
    starred: Bools
    note: str


def register_of(
    register: Table,
    original: Table,
    release: Table,
    policy: Policy,
    roles: Roles,
    members: Ints,
    released: Ints,
    whose: Ints,
) -> Register:
    """Count the people of a register who fit the released row of each member.

    Parameters
    ----------
    members, released, whose: int64, shape (members,): the original row of each, the released row,
        and the person.

    Raises
    ------
    InputError: the register is empty, or has none of the quasi-identifiers.
    """
    names = [name for name in roles.qi if name in register.columns]
    if not register.rows or not names:
        lacks = f"none of the quasi-identifiers {listed(roles.qi)}" if register.rows else "no rows"
        raise InputError(
            f"the register (--register) has {lacks}; it needs a row for each person, and columns "
            "that are called as in the table"
        )
    known = [known_of(name, register, original, release, policy) for name in names]
    levels, nodes = labels_of(release, tuple(one.tree for one in known))
    labels, place = classes_of(levels, nodes)
    starred = np.zeros((len(labels), len(known)), bool)
    starred[place] = np.column_stack([one.starred for one in known])
    cells = [*(one.people for one in known), *(one.empty for one in known)]
    kinds, kind, sizes = np.unique(
        np.column_stack(cells), axis=0, return_inverse=True, return_counts=True
    )
    at, above = fitting_kinds(known, kinds, labels, starred)
    stands = place[released]
    ids = identifiers(register, original, roles)
    if ids:
        row, record = met(texts(original, ids)[members], texts(register, ids))
        key = kind.ravel()[record] * len(labels) + stands[row]
        right = np.bincount(row[np.isin(key, at * len(labels) + above)], minlength=len(members))
        inside = np.bincount(row, minlength=len(members)) > 0
    else:
        table = np.column_stack([one.table for one in known])[members]
        right = inside = likely_in(table, whose, kinds[:, : len(known)], sizes)
    return Register(
        columns=tuple(names),
        people=register.rows,
        fits=np.bincount(above, sizes[at], len(labels)).astype(np.int64)[stands],
        right=right.astype(np.float64),
        inside=inside.astype(np.float64),
        named=bool(ids),
        notes=tuple(one.note for one in known if one.note),
    )


def known_of(name: str, register: Table, original: Table, release: Table, policy: Policy) -> Known:
    """Encode a column of the register as the table's own, with the values of both."""
    mine, theirs, shown = (table.encode(name).compact() for table in (original, register, release))
    for column in (mine, theirs):
        require_no_star(name, column.values, policy.star)
    source = {key: rule for key, rule in policy.sources().items() if key == name}
    both = tuple(dict.fromkeys((*mine.values, *theirs.values)))
    try:
        (tree,), _ = build_trees({name: both}, source, "stars")
    except HierarchyError:  # values of the register alone, which a file or a rule does not know
        (tree,), _ = build_trees({name: mine.values}, source, "stars")
    tree = with_star(tree, policy.star)
    blank = {None, *marks_for(policy.na, name)}
    said = {*theirs.values} - blank
    return Known(
        tree=tree,
        table=mine.among(tree.leaves).astype(np.int64),
        people=theirs.among(tree.leaves).astype(np.int64),
        empty=np.array([text in blank for text in theirs.values])[theirs.codes],
        starred=np.array([text == policy.star for text in shown.values])[shown.codes],
        note=NO_VALUE.format(name) if said and said.isdisjoint(mine.values) else "",
    )


def fitting_kinds(
    known: Sequence[Known], kinds: Ints, labels: Ints, starred: Bools
) -> tuple[Ints, Ints]:
    """Return pairs of a kind of people and a kind of released rows that fits it, int64 both.

    An empty cell fits everything; a value that the hierarchy does not know, a star alone.

    Parameters
    ----------
    kinds: int64, shape (kinds, 2 columns): leaves, and whether cells are empty.
    labels: int64, shape (classes, 2 columns): levels and nodes; starred: (classes, columns).
    """
    width = len(known)
    leaves, empty = kinds[:, :width], kinds[:, width:] > 0
    strange = (leaves < 0) & ~empty
    forms, form = np.unique(np.hstack([empty, strange]), axis=0, return_inverse=True)
    tails, heads = [], []
    for number, (open_, only_star) in enumerate(forms.reshape(len(forms), 2, width)):
        some = np.flatnonzero(form.ravel() == number)
        classes = np.flatnonzero(starred[:, only_star].all(axis=1))
        asked = np.flatnonzero(~open_ & ~only_star)
        if len(asked) and len(classes):
            nodes = Nodes(tuple(known[j].tree for j in asked.tolist()), leaves[np.ix_(some, asked)])
            right = labels[np.ix_(classes, np.append(asked, asked + width))]
            right, which = np.unique(right, axis=0, return_inverse=True)
            right = np.column_stack([np.zeros(len(right), np.int64), right])
            tail, at = fitting(nodes, np.zeros(len(some), np.int64), right)
            tail, head = spread(tail, at, which.ravel())
        else:
            tail = np.repeat(np.arange(len(some)), len(classes))
            head = np.tile(np.arange(len(classes)), len(some))
        tails.append(some[tail])
        heads.append(classes[head])
    return np.concatenate(tails), np.concatenate(heads)


def spread(tail: Ints, at: Ints, which: Ints) -> tuple[Ints, Ints]:
    """Return pairs of ``tail`` and each class that shows what the pair's label does."""
    classes = pl.DataFrame({"at": which, "head": np.arange(len(which))})
    pairs = pl.DataFrame({"at": at, "tail": tail}).join(classes, on="at")
    return pairs["tail"].to_numpy(), pairs["head"].to_numpy()


def identifiers(register: Table, original: Table, roles: Roles) -> list[str]:
    """Return the columns that say who is who in both tables; none: nobody says it."""
    both = {*register.columns} & {*original.columns}
    person = [*roles.person]
    return person if person and both.issuperset(person) else [n for n in roles.id if n in both]


def likely_in(table: Ints, whose: Ints, kinds: Ints, sizes: Ints) -> Floats:
    """float64, shape (members,): share of those with a member's values whom a register may hold.

    Parameters
    ----------
    table: int64, shape (members, columns): their leaves; whose: shape (members,): their persons.
    kinds: int64, shape (kinds, columns): leaves of its people, of whom ``sizes`` have each.
    """
    both = np.unique(np.vstack([table, kinds]), axis=0, return_inverse=True)[1].ravel()
    mine, theirs = both[: len(table)], both[len(table) :]
    pairs = np.unique(np.column_stack([mine, whose]), axis=0)
    size = int(both.max()) + 1
    persons = np.bincount(pairs[:, 0], minlength=size)
    held = np.bincount(theirs, sizes, size)
    return np.minimum(held[mine] / persons[mine], 1)


def met(mine: pl.DataFrame, theirs: pl.DataFrame) -> tuple[Ints, Ints]:
    """Return the rows of two tables that agree in all columns, int64 both; an empty cell never."""
    mine.columns = theirs.columns = names = [str(j) for j in range(mine.width)]
    pairs = mine.with_row_index("mine").join(theirs.with_row_index("theirs"), on=names)
    return pairs["mine"].to_numpy().astype(np.int64), pairs["theirs"].to_numpy().astype(np.int64)
