"""Whether a release obeys its constraints: counted on the texts, without the search's code."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.errors import VerificationError, listed
from incrowd.policy.base import Policy
from incrowd.policy.cap import Cap
from incrowd.policy.roles import Roles
from incrowd.tables.base import Source, texts


def require_constraints_of(
    source: Source,
    released: pl.DataFrame,
    order: NDArray[np.int64] | None,
    roles: Roles,
    policy: Policy,
) -> None:
    """Raise VerificationError unless a release of ``source`` obeys the policy's constraints.

    Parameters
    ----------
    released: the released quasi-identifiers as text.
    order: int64, shape (rows,): the original row of each released row; None: the same order.
    """
    # numbers for names: a column called "*" or "^a$" has a meaning of its own in polars
    number = {name: str(j) for j, name in enumerate(roles.qi)}
    original = texts(source, roles.qi)
    original.columns = list(number.values())
    released = released.clone()
    released.columns = list(number.values())
    if order is not None:
        original = original[order]
    caps = []
    for cap in policy.caps:
        assert isinstance(cap, Cap)
        inside = None
        columns = list(number.values())
        if cap.value is None:
            columns = [number[cap.column]]
        else:
            mask = source.encode(cap.column).shows(cap.value)
            inside = pl.Series(mask if order is None else mask[order])
        caps.append(CappedCells(columns, inside, cap.exact_share, cap.name))
    require_constraints(
        original,
        released,
        [number[name] for name in policy.fixed],
        [[number[name] for name in names] for names in policy.linked],
        caps,
        {text: name for name, text in number.items()},
        policy.star,
    )


class CappedCells(NamedTuple):
    """A cap in plain data: the columns, the original rows (None: all), the share, in words."""

    columns: Sequence[str]
    inside: "pl.Series | None"
    share: Fraction
    name: str


def require_constraints(
    original: pl.DataFrame,
    released: pl.DataFrame,
    fixed: Sequence[str],
    linked: Sequence[Sequence[str]],
    caps: Sequence[CappedCells],
    names: Mapping[str, str],
    star: str,
) -> None:
    """Check the released texts against the original ones, row by row.

    Parameters
    ----------
    original, released: the quasi-identifiers as text, rows in the same order.
    names: the frames' column names → those to use in messages.
    star: what a suppressed cell shows.

    Raises
    ------
    VerificationError: names the columns and the first row, never a cell.
    """
    changed = {c: original[c].ne_missing(released[c]) for c in original.columns}
    for column in fixed:
        rows = changed[column].arg_true()
        if len(rows):
            raise VerificationError(
                f"the re-check of the release: row {rows[0] + 1}, column {names[column]!r}: a "
                "fixed cell was changed"
            )
    for link in linked:
        some = pl.DataFrame(
            [released[c].eq_missing(star).alias(str(i)) for i, c in enumerate(link)]
        )
        torn = (some.max_horizontal() != some.min_horizontal()).arg_true()
        if len(torn):
            raise VerificationError(
                f"the re-check of the release: row {torn[0] + 1}: the linked columns "
                f"{listed(names[c] for c in link)} were not suppressed together"
            )
    for cap in caps:
        masks = [changed[c] if cap.inside is None else changed[c] & cap.inside for c in cap.columns]
        count = sum(int(mask.sum()) for mask in masks)
        rows = original.height if cap.inside is None else int(cap.inside.sum())
        if count > cap.share * rows * len(cap.columns):
            raise VerificationError(
                f"the re-check of the release: {count:,} cells of {cap.name} were changed, more "
                "than its cap allows"
            )
