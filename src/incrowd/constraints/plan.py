"""What a policy's constraints mean for a table: columns by number, rows by mask."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.encoding.encoded import Coded
from incrowd.errors import InputError, no_column
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.policy.base import Policy
from incrowd.policy.cap import Cap
from incrowd.policy.roles import Roles
from incrowd.tables.base import Source


@dataclass(frozen=True, eq=False)
class Limit:
    """A cap on a table.

    Attributes
    ----------
    cap: as it was asked for.
    column: number of the quasi-identifier, or None: all, in the rows of a subgroup.
    inside: bool, shape (rows,): the subgroup; None: all rows.
    cells: number of cells that the cap is a share of.
    """

    cap: Cap
    column: int | None
    inside: NDArray[np.bool_] | None
    cells: int

    @property
    def most(self) -> int:
        """Number of cells that may change."""
        return self.cap.limit(self.cells)

    def count(self, changed: NDArray[np.bool_]) -> int:
        """Return the changed cells; ``changed`` has the shape (rows, quasi-identifiers)."""
        if self.column is not None:
            return int(changed[:, self.column].sum())
        return int(changed[self.inside].sum())


@dataclass(frozen=True, eq=False)
class Plan:
    """Constraints by number of the quasi-identifier."""

    fixed: tuple[int, ...] = ()
    links: tuple[tuple[int, ...], ...] = ()
    limits: tuple[Limit, ...] = ()


def is_constrained(policy: Policy) -> bool:
    """Whether the policy has any constraint."""
    return bool(policy.fixed or policy.linked or policy.caps)


def plan_of(table: Coded, policy: Policy) -> Plan:
    """Return the constraints of a policy on a table.

    Raises
    ------
    InputError: a constraint names a column that it cannot constrain, or contradicts another.
    """
    source = table.source
    require_columns(policy, table.roles, source.columns)
    place, trees = {name: j for j, name in enumerate(table.roles.qi)}, table.instance.trees
    for name in (name for names in policy.linked for name in names):
        tree = trees[place[name]]
        if isinstance(tree, RangeFamily):
            raise InputError(
                f"linked: column {name!r} has a range; columns are linked level by level, and a "
                f"range has none: leave it out (--hierarchy {name}=none), or do not link it"
            )
        if tree.levels > 2 and policy.caps:
            raise InputError(
                f"linked: column {name!r} has a hierarchy, and caps are not served with that: "
                f"leave it out (--hierarchy {name}=none), or do not link it"
            )
    return Plan(
        tuple(place[name] for name in table.roles.qi if name in policy.fixed),
        tuple(tuple(place[name] for name in names) for names in policy.linked),
        tuple(_limit(cap, source, place) for cap in policy.caps if isinstance(cap, Cap)),
    )


def require_columns(policy: Policy, roles: Roles, columns: Sequence[str]) -> None:
    """Raise InputError unless fixed, linked and capped columns may be that."""
    linked = [name for names in policy.linked for name in names]
    capped = [cap.column for cap in policy.caps if isinstance(cap, Cap) and cap.value is None]
    asked = {"fixed": policy.fixed, "linked": linked, "caps": capped}
    for what, names in asked.items():
        for name in names:
            if name not in columns:
                raise no_column(what, name, columns)
            if name not in roles.qi:
                raise InputError(
                    f"{what}: column {name!r} is not a quasi-identifier, so it is never changed "
                    "anyway"
                )
    for names in policy.linked:
        if len(names) < 2:
            raise InputError("linked: each list names at least two columns: city,zip")
    for name in linked:
        if linked.count(name) > 1:
            raise InputError(
                f"linked: column {name!r} is named twice; link all of them in one list"
            )
        if name in policy.fixed:
            raise InputError(
                f"column {name!r} is both fixed and linked, so none of those linked to it could "
                "ever change: name them all as fixed, or do not link it"
            )


def _limit(cap: Cap, source: Source, place: dict[str, int]) -> Limit:
    if cap.value is None:
        return Limit(cap, place[cap.column], None, source.rows)
    if cap.column not in source.columns:
        raise no_column("caps", cap.column, source.columns)
    inside = source.encode(cap.column).shows(cap.value)
    if not inside.any():
        raise InputError(f"caps: no row is among {cap.name}")
    return Limit(cap, None, inside, int(inside.sum()) * len(place))
