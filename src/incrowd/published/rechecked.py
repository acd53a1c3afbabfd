"""A release, handed to the independent checker: the one call site."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.averages.of_table import Averaged
from incrowd.checker.averages import columns_of
from incrowd.checker.averages import recheck as recheck_averages
from incrowd.checker.combinations import Crowd, require_crowds
from incrowd.checker.people import named
from incrowd.checker.recheck import classes_of, recheck
from incrowd.checker.rejection import RejectedError
from incrowd.constraints.of_release import require_constraints_of
from incrowd.constraints.plan import is_constrained
from incrowd.errors import VerificationError
from incrowd.policy.base import Policy
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.published.ladders import ladders_of, ranges_of
from incrowd.tables.base import Table, labelled, texts
from incrowd.text.missing import marks_for

if TYPE_CHECKING:
    import polars as pl


def rechecked(release: Any, table: Table) -> NDArray[np.int64]:
    """Return int64, shape (rows,): the class of each row of a released table, by first appearance.

    Raises
    ------
    VerificationError: the table is not what the release claims to be.
    """
    if is_constrained(release.policy):
        found, order = texts(table, release.roles.qi), release.edit.order
        require_constraints_of(release.source, found, order, release.roles, release.policy)
    released = labelled(table, release.roles.qi)
    if release.averaged is not None:
        return averages_checked(release, release.averaged, released)
    # numbers for names: a column called "*" or "^a$" has a meaning of its own in polars
    names = {name: str(j) for j, name in enumerate(release.roles.qi)}
    original = labelled(release.source, release.roles.qi)
    original.columns = released.columns = list(names.values())
    ladders = {names[name]: ladder for name, ladder in ladders_of(release.trees).items()}
    ranges = {names[name]: known for name, known in ranges_of(release.trees).items()}
    try:
        classes = recheck(
            original,
            released,
            ladders,
            release.k,
            release.cost_units - release.suppressed_units,
            origin=release.edit.order,
            sensitive=_sensitive(release),
            models=release.claims.models,
            ranges=ranges,
        )
        asked = [Crowd(tuple(names[c] for c in x.columns), x.k) for x in release.policy.protect]
        require_crowds(released, asked)
    except RejectedError as error:
        raise not_verified(error, release.roles.qi) from None
    _require_unchecked(release, classes)
    return classes


def _require_unchecked(release: Any, classes: NDArray[np.int64]) -> None:
    """Hold the released classes against the models that the checker does not know."""
    if not release.claims.unchecked or not len(classes):
        return
    columns = release.coded.attributes.values()
    values = np.column_stack([np.zeros((len(classes), 0)), *(c.codes for c in columns)])
    moved = values if release.edit.order is None else values[release.edit.order]
    table = Group(moved.astype(np.int32), tuple(len(c.values) for c in columns))
    for part in release.claims.unchecked:
        broken = int((~part.lawful_classes(Classes(classes, table))).sum())
        if broken:
            name = part.called(release.roles.attributes)
            raise VerificationError(f"the re-check of the release: {broken} classes break {name}")


def _sensitive(release: Any) -> "pl.DataFrame | None":
    """The sensitive columns as they are released, for models that look at them."""
    if len(release.model.parts) == 1:
        return None
    found = texts(release.searched, release.roles.sensitive)
    if not release.roles.person:
        return found
    whose = texts(release.source, release.roles.person)
    whose = whose.with_columns(named(whose.get_columns(), release.claims.models))
    moved = whose if release.edit.order is None else whose[release.edit.order]
    return moved if not found.width else found.hstack(moved)


def not_verified(error: RejectedError, names: tuple[str, ...]) -> VerificationError:
    """Return the error of a release that the checker rejects; its columns have numbers."""
    place = "" if error.row is None else f"row {error.row}, "
    if error.column is not None:
        place += f"column {names[int(error.column)]!r}, "
    return VerificationError(f"the re-check of the release: {place}{error.reason}")


def averages_checked(release: Any, averaged: Averaged, after: "pl.DataFrame") -> NDArray[np.int64]:
    """Return the class of each released row, counted on the text; as ``Published.class_of_row``.

    Raises
    ------
    VerificationError: a cell is not the average of its class, or the cost is another.
    """
    policy: Policy = release.policy
    names = {name: str(j) for j, name in enumerate(release.roles.qi)}
    before = labelled(release.source, release.roles.qi)
    before.columns = after.columns = list(names.values())
    rules = {names[axis.column]: axis.rule.stated(axis.digits) for axis in averaged.axes}
    marks = {names[name]: marks_for(policy.na, name) for name in averaged.columns}
    weights = {names[t.column]: Fraction(t.dearest, release.scale) for t in release.trees}
    order = release.edit.order
    classes = averaged.classes if order is None else averaged.classes[order]
    try:
        columns = columns_of(before, rules, marks, weights)
        recheck_averages(
            before, after, columns, release.k, classes, order, release.cost_units, release.scale
        )
    except RejectedError as error:
        raise not_verified(error, release.roles.qi) from None
    return classes_of(after, after.columns)
