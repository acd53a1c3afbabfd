"""Columns that are constant within each person, and show one cell in all rows of a person.

The model ``people`` asks that with ``"alike": true``: each quasi-identifier that has one original
value in all rows of each person has one released cell in them.  With ``"whole": true`` it says
moreover that all quasi-identifiers are such; then all rows of a person are in one class, and the
pricing rule ``whole`` holds: a class has all rows of at least k people.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.checker.models import columns_of, require_lawful
from incrowd.checker.rejection import require, require_none

Ints = NDArray[np.int64]
Cells = tuple[pl.DataFrame, pl.DataFrame, Any, Sequence[str]]
"""Original, released, the original row of each released one (None: the same), the columns."""


def require_obeyed(
    classes: Ints, sensitive: pl.DataFrame | None, models: Sequence[Mapping[str, Any]], cells: Cells
) -> None:
    """Reject the first class that breaks a model, or person whose constant columns differ."""
    secret = pl.DataFrame() if sensitive is None else sensitive
    require_lawful(classes, secret, models)
    for model in models:
        if model.get("alike"):
            whose = secret[list(columns_of(model, secret))].to_struct("person")
            require_alike(whose.rank("dense"), cells, model.get("whole") is True)


def require_alike(person: pl.Series, cells: Cells, whole: bool) -> None:
    """Reject a released cell of a constant column that is not that of the person's first row."""
    original, released, origin, columns = cells
    for column in columns:
        before = original[column] if origin is None else original[column].gather(origin)
        constant = varying(person, before).is_empty()
        require(constant or not whole, "the column is not constant in each person", None, column)
        if constant:
            wrong = varying(person, released[column])
            require_none(wrong, "the person's other rows show another cell here", column)


def varying(person: pl.Series, cell: pl.Series) -> pl.Series:
    """Return the rows whose cell is not that of their person's first row."""
    number = cell.cast(pl.String).rank("dense").fill_null(0).alias("cell")  # a missing cell is one
    frame = pl.DataFrame([person, number])
    first = frame.select(pl.col("cell").first().over("person")).to_series()
    return (first != number).arg_true()


def whole_exceeds(l: int, at: Any) -> Any:  # noqa: E741
    """Whether all rows of l people or more have a positive sum; per group.

    ``at``: the ``Entries`` of ``lawful``; their value is whose each one is.
    """
    e, copies, value, group, _ = at
    width = int(value.max()) + 1
    key, place = np.unique(group * width + value, return_inverse=True)
    worth = np.zeros(len(key), np.int64)
    np.add.at(worth, place, e * copies)
    owner = key // width
    order = np.lexsort((-worth, owner))
    worth, owner = worth[order], owner[order]
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    rank = np.arange(len(owner)) - starts[owner]
    best = np.add.reduceat(np.where((rank < l) | (worth > 0), worth, 0), starts)
    return (best > 0) & (np.bincount(owner) >= l)
