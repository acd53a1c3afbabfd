"""What is measured of a table: its columns by role."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from incrowd.errors import InputError, did_you_mean, no_column, no_quasi_identifier, quoted
from incrowd.tables.base import Table

Names = str | Sequence[str]


def of_release(release: Any, qi: Any, sensitive: Any, na: Any) -> tuple[Any, ...]:
    """Return roles, star, marks and frame of a release; what is given goes before its own."""
    roles, policy = release.roles, release.policy
    if roles.person:
        raise InputError(
            "this release counts people, whom its cells do not name: its .fewest_people says how "
            "many the smallest class has; give its .data and qi to count rows"
        )
    if qi is None:
        taken = names_of(sensitive)
        qi = [name for name in roles.qi if name not in taken]
    sensitive = [n for n in roles.sensitive if n not in qi] if sensitive is None else sensitive
    return qi, sensitive, policy.star, policy.na if na is None else na, release.data


def names_of(given: Names | None) -> list[str]:
    """Return what names one column, several or none as a list."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable):
        raise InputError(f"expected a column name or a list of them, not {quoted(given)}")
    return list(given)


def known_columns(role: str, names: Sequence[str], table: Table) -> list[str]:
    """Return names of columns; raise InputError for one that is not there, or is named twice."""
    for name in names:
        if name not in table.columns:
            raise no_column(role, name, table.columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputError(f"{role}: column {twice!r} is named twice")
    return list(names)


def roles_of(
    table: Table, qi: Names | None, *others: Names | None
) -> tuple[list[str], list[str], list[str], list[str]]:
    """Return the columns by role: quasi-identifiers, sensitive, of persons, of households."""
    roles = zip(("sensitive", "person", "group"), others, strict=True)
    secret, named, household = (
        known_columns(role, names_of(given), table) for role, given in roles
    )
    apart = {*secret, *named, *household}
    known = names_of(qi) if qi is not None else [c for c in table.columns if c not in apart]
    known = known_columns("qi", known, table)
    require_apart(known, secret)
    if both := [name for name in named if name in (*known, *secret)]:
        raise InputError(f"column {both[0]!r} names people; it is not measured itself")
    return known, secret, named, household


def require_apart(known: Sequence[str], secret: Sequence[str]) -> None:
    """Raise InputError for a column of two roles, or without quasi-identifiers."""
    both = [name for name in known if name in secret]
    if both:
        raise InputError(f"column {both[0]!r} is named both qi and sensitive; give it one role")
    if not known:
        raise no_quasi_identifier()


def require_named(columns: Sequence[str], **given: Mapping[str, Any] | None) -> None:
    """Raise InputError for what is given of a column that is not measured."""
    for what, mapping in given.items():
        for name in mapping or ():
            if name not in columns:
                hint = did_you_mean(name, columns)
                raise InputError(f"{what}: {name!r} is none of the measured columns{hint}")
