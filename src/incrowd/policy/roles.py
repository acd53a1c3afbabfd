"""Every column of a table in one role."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from incrowd.errors import InputError, listed, no_column, no_quasi_identifier

ROLES = ("qi", "sensitive", "id", "keep")


@dataclass(frozen=True)
class Roles:
    """Every column of a table in exactly one role, each in the table's order.

    ``qi``: changed where needed.  ``sensitive``, ``keep``: published as they are.
    ``id``: left out of the release.  ``pseudonym``: published under pseudonyms.  ``person``: those
    of the last two that together name a person.
    """

    qi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    pseudonym: tuple[str, ...] = ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """What the models' attributes are called: the sensitive columns, then the persons."""
        return (*self.sensitive, "+".join(self.person)) if self.person else self.sensitive

    def published(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns of the release, in the table's order."""
        return tuple(column for column in columns if column not in self.id)


def assign_roles(
    columns: Sequence[str],
    qi: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    id: Sequence[str] = (),
    keep: Sequence[str] = (),
    person: Sequence[str] = (),
    pseudonym: Sequence[str] = (),
) -> Roles:
    """Give every column its role.

    Without ``qi`` every column not named otherwise is a quasi-identifier.  With it, a column left
    without a role is an error: whether it may be published is not ours to guess.  Columns that name
    a person are left out, like other identifiers.

    Raises
    ------
    InputError: an unknown column, one in two roles, one without a role, no quasi-identifier.
    """
    require_unpublished(person, columns, {"qi": qi or (), "sensitive": sensitive, "keep": keep})
    left_out = (*id, *(name for name in person if name not in pseudonym))
    given = (qi or (), sensitive, left_out, keep, pseudonym)
    named = dict(zip((*ROLES, "pseudonym"), given, strict=True))
    role_of: dict[str, str] = {}
    for role, names in named.items():
        for name in dict.fromkeys(names):
            if name not in columns:
                raise no_column(role, name, columns)
            if name in role_of:
                raise InputError(
                    f"column {name!r} is named both {role_of[name]} and {role}; give it one role"
                )
            role_of[name] = role
    left = [column for column in columns if column not in role_of]
    if qi is None:
        role_of |= dict.fromkeys(left, "qi")
    elif left:
        raise InputError(_without_role(left))
    if not columns:
        raise InputError("the table has no columns")
    if "qi" not in role_of.values():
        raise no_quasi_identifier()
    roles = {r: tuple(c for c in columns if role_of[c] == r) for r in named}
    return Roles(**roles, person=tuple(dict.fromkeys(person)))


def require_unpublished(
    person: Sequence[str], columns: Sequence[str], published: Mapping[str, Sequence[str]]
) -> None:
    """Raise InputError for a column of persons that is unknown, or that the release would hold.

    Who sees which rows are one person's knows more than one row of each.
    """
    for name in person:
        if name not in columns:
            raise no_column("person", name, columns)
        for role, names in published.items():
            if name in names:
                raise InputError(
                    f"column {name!r} is named both {role} and person; a column that names people "
                    "is left out of the release, for with it the rows of a person would be linked"
                )
    if len(person) > 1 and "+".join(person) in columns:
        raise InputError("a column is called like the columns of persons together; rename it")


MANY = 12  # columns, that nobody likes to type


def _without_role(left: Sequence[str]) -> str:
    many, shown = len(left) > MANY, listed(left)
    return (
        f"{len(left)} column{'s have' if len(left) > 1 else ' has'} no role: {shown}; name each as "
        "quasi-identifier (--qi), sensitive (--sensitive) or other column to publish unchanged "
        "(--keep), or leave it out of the release (--id)"
        + ("; incrowd init writes all columns into a policy file, to be corrected" if many else "")
        + ('; "" is the column without a name, as in --id ""' if "" in left else "")
    )
