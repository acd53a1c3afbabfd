"""Releases of averages, handed to the independent checker."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.averages.of_table import Averaged
from incrowd.checker.averages import columns_of, recheck
from incrowd.checker.recheck import classes_of
from incrowd.checker.rejection import RejectedError
from incrowd.errors import VerificationError
from incrowd.policy.base import Policy
from incrowd.tables.base import labelled
from incrowd.text.missing import marks_for

if TYPE_CHECKING:
    import polars as pl


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
        recheck(
            before, after, columns, release.k, classes, order, release.cost_units, release.scale
        )
    except RejectedError as error:
        raise not_verified(error, release.roles.qi) from None
    return classes_of(after, after.columns)
