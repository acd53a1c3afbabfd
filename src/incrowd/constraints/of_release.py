"""From a release to what the re-check of its constraints takes."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.constraints.plan import rows_with
from incrowd.constraints.recheck import CappedCells, require_constraints
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
            mask = rows_with(source, cap.column, cap.value)
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
