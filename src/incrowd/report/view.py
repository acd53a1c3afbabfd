"""What a report may see.

``View`` is what the data's users know anyway or may know: the released table, what was asked of
every class, the cost and the bound.  Everything that could tell a hidden cell, the original above
all, is in ``Inside``; an external report is made from a view without it, so it cannot leak.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import OutOfScopeError, no_column
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.ranges import NUMBERS
from incrowd.hierarchy.template import Template
from incrowd.policy import Policy
from incrowd.privacy.combination import Combination
from incrowd.published.base import Published
from incrowd.report.counts import class_sizes
from incrowd.report.distribution import Bar, compared
from incrowd.report.rules import codes_of, how, priced
from incrowd.tables.base import Column, Table
from incrowd.text.missing import Marks, marks_for
from incrowd.text.numerals import POINT
from incrowd.text.units import Number
from incrowd.text.version import __version__

UNCHANGED = "never changed"
COSTS = ("level", "ncp", "stars")  # others are files or values of the publisher's own


class Curve(Protocol):
    """Cost and bound against k, one point for each; ``incrowd.frontier`` returns one."""

    @property
    def points(self) -> Sequence[Any]:
        """Points with ``k``, cost, bound and gap, by ascending k."""
        ...


class Attacked(Protocol):
    """What attacks on the release found; ``incrowd.attack`` returns one."""

    @property
    def notes(self) -> Sequence[str]:
        """What a reader of the figures should know."""
        ...

    @property
    def advice(self) -> Sequence[str]:
        """What helps against the attacks that did better than chance."""
        ...

    def record(self) -> Mapping[str, Any]:
        """Return ``{"attacks": […]}``, one mapping of plain values for each attack."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Inside:
    """What is for the publisher alone.

    Attributes
    ----------
    release: with the original, the seed, the hierarchies.
    command: how the release was made, as words of a shell; None when it was made from Python.
    input: name of the original's file, and its SHA-256; None for a frame.
    policy_file: text of the policy file, where there is one.
    frontier: cost and bound against k, where given.
    attacks: what attacks on the release found, where given.
    group: column of the original that names households, where given.
    survey_weight: column of the original that says what its rows count for, in place of the
        policy's.
    """

    release: Published
    command: tuple[str, ...] | None = None
    input: tuple[str, str] | None = None
    policy_file: str | None = None
    frontier: Curve | None = None
    attacks: Attacked | None = None
    group: str | None = None
    survey_weight: str | None = None

    @property
    def before(self) -> Table:
        """The original."""
        return self.release.source

    @property
    def policy(self) -> Policy:
        """All that was asked."""
        return self.release.policy

    @cached_property
    def trees(self) -> Mapping[str, Family]:
        """The hierarchies by column."""
        return {tree.column: tree for tree in self.release.trees}

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """int64, shape (classes,): sizes of the original's classes."""
        return class_sizes(self.before, self.release.roles.qi)

    @cached_property
    def crowds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """int64, shape (classes,) each: sizes before and after, in people where they are counted.

        A person counts in each class that holds rows of this person.
        """
        release = self.release
        after = release.people_of_class
        if after is None:
            return self.sizes, np.sort(release.class_sizes)
        return class_sizes(self.before, release.roles.qi, release.owners), np.sort(after)

    @cached_property
    def changed_by_row(self) -> NDArray[np.int64]:
        """int64, shape (rows,): changed cells of each row of the original."""
        total = np.zeros(self.before.rows, np.int64)
        found = self.release.edit.replacements
        for name in self.release.roles.qi:
            if name in found:
                total += found[name].ids >= 0
        return total


@dataclass(frozen=True, eq=False, kw_only=True)
class View:
    """What everybody may see.

    Attributes
    ----------
    after: the released table.
    qi, sensitive, keep: its columns by role; left_out: number of columns that it lacks.
    meanings: by name of a model, what it asks of a class; those that are asked alike once.
    priced: by what generalized cells are priced: ``"level"``, ``"width"``, ``"values"``, ``""``.
    how: by quasi-identifier, the hierarchy in words; weights: the factors other than 1.
    unchecked: models that the independent checker does not know.
    linked: columns suppressed together; caps: number of caps (a cap may name a hidden value).
    changed: changed cells by quasi-identifier.
    method: that ran; in an external report the one that was asked for.
    pseudonyms: its columns under pseudonyms; links_rows: whether all rows of a person together are
        those of k people.
    people: people in the class that has the fewest, where people are counted, else None; in an
        external report what was asked for, unless pseudonyms tell it.
    crowds: int64, shape (classes,): people of each class, where pseudonyms tell them, else None.
    ownerless: rows left out because they do not say whose they are; in an external report 0.
    averaged: columns whose cells are averages of classes, with what is published, in words.
    combinations: of quasi-identifiers that have a k of their own; then no k of all of them holds,
        unless it is one of these.
    deleted: rows that were cheaper to delete, and what each costs; None where none might be.
    suppressed_rows: left out because the table broke the model, each counted as a row of stars.
    earlier: rows that an earlier release published, and that stay as they are.
    codes: published columns whose numbers are codes, and no quantities.
    na: texts that stand for missing values.
    decimal: what stands before the decimals of numbers.
    templates: how the ranges of numbers of a column are written.
    inside: None for an external report.
    """

    name: str
    after: Table
    qi: tuple[str, ...]
    sensitive: tuple[str, ...]
    keep: tuple[str, ...]
    left_out: int
    k: int
    models: tuple[str, ...]
    meanings: Mapping[str, str]
    unchecked: tuple[str, ...]
    how: Mapping[str, str]
    linked: tuple[tuple[str, ...], ...]
    caps: int
    weights: Mapping[str, str]
    cost_name: str
    priced: frozenset[str]
    star: str
    cost: Number
    lower_bound: Number
    gap: float
    cost_fraction: float
    status: str
    method: str
    changed: Mapping[str, int]
    sizes: NDArray[np.int64]
    version: str
    pseudonyms: tuple[str, ...] = ()
    links_rows: bool = False
    people: int | None = None
    crowds: NDArray[np.int64] | None = None
    ownerless: int = 0
    averaged: Mapping[str, str] = field(default_factory=dict)
    combinations: tuple[Combination, ...] = ()
    deleted: tuple[int, Number] | None = None
    suppressed_rows: int = 0
    earlier: int = 0
    codes: frozenset[str] = frozenset()
    na: Marks = ()
    decimal: str = POINT
    templates: Mapping[str, Template] = field(default_factory=dict)
    inside: Inside | None = None

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return self.after.rows

    @property
    def cells(self) -> int:
        """Cells that could have changed."""
        return self.rows * len(self.qi)

    @property
    def published(self) -> tuple[str, ...]:
        """Columns of the release but those of pseudonyms, quasi-identifiers first."""
        return (*self.qi, *self.sensitive, *self.keep)

    def marks(self, name: str) -> tuple[str, ...]:
        """Return the texts that stand for a missing value in a column."""
        return marks_for(self.na, name)

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        """The released columns; without values that no released cell has, for a file's release
        may still list the original's."""
        return {name: self.after.encode(name).compact() for name in self.published}


def view_of(release: Published, name: str, inside: Inside | None) -> View:
    """Return what a report about a release may see; ``inside`` None: what everybody may see."""
    require_whole(release)
    if inside is None and release.veil is not None:
        raise OutOfScopeError(
            "a report or metadata for the public tells the bound, which depends on hidden cells "
            "that the veil keeps; the statement of a proof says what may be said"
        )
    policy, roles, gone = release.policy, release.roles, release.deleted
    crowds = release.people_of_class if {*roles.person} & {*roles.pseudonym} else None
    told = inside is not None or crowds is not None
    return View(
        name=name,
        after=release.table,
        qi=roles.qi,
        sensitive=roles.sensitive,
        keep=roles.keep,
        left_out=len(roles.id),
        k=release.k,
        models=release.models,
        meanings=meanings_of(release),
        unchecked=release.unchecked,
        how={
            name: UNCHANGED if name in policy.fixed else how(policy.hierarchies.get(name))
            for name in roles.qi
        }
        | averages_of(release),
        linked=tuple(tuple(names) for names in policy.linked),
        caps=len(policy.caps),
        weights={name: str(weight) for name, weight in policy.weights.items()},
        cost_name=cost_name(release),
        priced=frozenset(
            priced(policy.hierarchies.get(n)) for n in roles.qi if n not in policy.fixed
        ),
        star=policy.star,
        cost=release.cost,
        lower_bound=release.lower_bound,
        gap=release.gap,
        cost_fraction=release.cost_fraction,
        status=release.status,
        # which method ran tells how many rows are alike
        method=release.method if inside else policy.method_id,
        changed=release.changed,
        sizes=np.sort(release.class_sizes),
        version=__version__,
        pseudonyms=roles.pseudonym,
        links_rows=policy.links_rows,
        # as far as a reader may know; else what was asked for
        people=(release.fewest_people if told else release.k) if roles.person else None,
        crowds=None if crowds is None else np.sort(crowds),
        ownerless=release.rows_without_person if inside else 0,
        averaged=averages_of(release),
        combinations=() if release.protected is None else release.protected.asked,
        deleted=None if gone is None else (len(gone.rows), gone.price),
        suppressed_rows=release.suppressed_rows,
        earlier=getattr(release, "earlier", 0),
        codes=codes_of(policy, (*roles.qi, *roles.sensitive, *roles.keep)),
        na=policy.na,
        decimal=policy.decimal,
        templates={
            tree.column: tree.shown
            for tree in release.trees
            if isinstance(tree, RangeFamily) and tree.rule["kind"] == NUMBERS
        },
        inside=inside,
    )


def bars_of(
    release: Published, before: Mapping[str, Column], after: Mapping[str, Column]
) -> dict[str, list[Bar]]:
    """Return the distributions of quasi-identifiers, by name, before and after.

    Parameters
    ----------
    before, after: columns of the original and of the release; others may be among them.
    """
    policy, codes = release.policy, codes_of(release.policy, release.roles.qi)
    return {
        tree.column: compared(
            *(before[tree.column], after[tree.column], policy.star, tree),
            *(marks_for(policy.na, tree.column), policy.decimal, tree.column in codes),
        )
        for tree in release.trees
        if tree.column in before
    }


def averages_of(release: Published) -> dict[str, str]:
    """Return the columns whose cells are averages, with what is published of each class."""
    found = () if release.averaged is None else release.averaged.axes
    return {axis.column: f"the {axis.published}, of its class" for axis in found}


def cost_name(release: Published) -> str:
    """Return what a changed cell costs: by which rule, where its name tells nothing."""
    if release.averaged is not None:
        return "averages"
    return release.policy.cost if release.policy.cost in COSTS else "given by the publisher"


def meanings_of(release: Published) -> dict[str, str]:
    """Return what the models ask of a class, by their names."""
    names = release.model.names(release.roles.attributes)
    parts = zip(names, release.model.parts, strict=True)
    return {name: part.meaning for name, part in parts if part.meaning}


def require_whole(release: Published) -> None:
    """Raise OutOfScopeError for rows added to an earlier release: its original is not at hand."""
    if getattr(release, "existing", None) is not None:
        raise OutOfScopeError(
            "reports, figures and metadata of rows added to an earlier release need that one's "
            "original and proof: release.whole(original, proof) has them; incrowd measure "
            "describes the union without"
        )


def require_group(release: Published, group: str) -> None:
    """Raise InputError for households by no column of the original.

    Raises
    ------
    OutOfScopeError: combinations of columns have a k of their own: there are no classes.
    """
    if release.protected is not None:
        raise OutOfScopeError("group is not served with protect, whose rows have no classes")
    if group not in release.source.columns:
        raise no_column("group", group, release.source.columns)
