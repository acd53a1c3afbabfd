"""The people of the control: given, or held out of the table; nobody may be in both."""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from incrowd._api import release_of
from incrowd.attacks.reading import Tables
from incrowd.errors import InputError, NoLawfulReleaseError
from incrowd.policy.base import Policy
from incrowd.policy.roles import Roles
from incrowd.run.stop import Stop
from incrowd.tables.base import Source, Table, texts
from incrowd.tables.fewer import FewerRows
from incrowd.tables.whose import owners
from incrowd.text.units import counted

HELD_OUT = (
    "No other people were given (--people): half of the original was held out as the control, and "
    "what is attacked with it is a release of the other half, made anew by the same rules."
)
Ints = NDArray[np.int64]
SIGMAS = 4  # of chance, beyond which people who look the same are the same


def require_others(original: Table, people: Table, roles: Roles) -> None:
    """Raise InputError when the other people are, in part, those of the table.

    By their identifiers, where both tables have them.  Else by the rows that agree in all columns:
    strangers may look the same, about as many as rows of the table have a double in it.
    """
    shared = [name for name in original.columns if name in people.columns]
    keys = [(name,) for name in roles.id if name not in roles.person]
    keys += [roles.person] if roles.person else []
    named = [names for names in keys if all(name in shared for name in names)]
    for names in named:
        mine, theirs = (texts(table, names).drop_nulls() for table in (original, people))
        mine.columns = theirs.columns = [str(j) for j in range(len(names))]
        met = theirs.join(mine.unique(), on=theirs.columns, how="semi").height
        if met:
            raise InputError(
                f"{met:,} of the other people bear an identifier ({'+'.join(names)!r}) of the "
                "table: the control has to be of people who are not in it"
            )
    if named or not shared or not people.rows or not original.rows:
        return
    met, expected = meeting(original, people, shared)
    if met > expected + SIGMAS * sqrt(expected) + SIGMAS:
        raise InputError(
            f"{met:,} of the {people.rows:,} other people agree with a row of the table in all "
            f"columns, where chance makes about {expected:,.0f}: the control has to be of people "
            "who are not in the table"
        )


def meeting(original: Table, people: Table, shared: Sequence[str]) -> tuple[int, float]:
    """Return how many people equal a row of the table, and how many strangers would."""
    mine, theirs = texts(original, shared), texts(people, shared)
    mine.columns = theirs.columns = [str(j) for j in range(len(shared))]
    rows = mine.group_by(mine.columns).len("rows")
    met = theirs.join(rows, on=theirs.columns, how="semi", nulls_equal=True).height
    doubled = int(rows.filter(rows["rows"] > 1)["rows"].sum())
    return met, doubled / mine.height * theirs.height


def held_out(
    original: Source, policy: Policy, rng: np.random.Generator
) -> tuple[Table, Table, Table]:
    """Return a release of half of a table, that half, and the other half.

    Raises
    ------
    InputError: the table is too small to be halved.
    """
    if original.rows // 2 < 2 * policy.k:
        raise InputError(
            f"the original has {counted(original.rows, 'row')}, too few to hold half of them out "
            "as the control; give other people (--people)"
        )
    kept, out = halves(original, policy, rng)
    inside, outside = FewerRows(original, kept), FewerRows(original, out)
    return _released(inside, replace(policy, order="keep")), inside, outside


def halves(original: Source, policy: Policy, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the rows of half of the people, by lot, and those of the others; both ascending."""
    names = policy.roles(original.columns).person
    whose = owners(original, names).codes if names else np.arange(original.rows)
    people = rng.permutation(int(whose.max(initial=-1)) + 1)
    if len(people) // 2 < 2 * policy.k:
        raise InputError(
            f"the original has {len(people)} people, too few to hold half of them out as the "
            "control; give other people (--people)"
        )
    inside = np.isin(whose, people[: len(people) // 2])
    return np.flatnonzero(inside), np.flatnonzero(~inside)


def release_like(tables: Tables) -> Table:
    """Return a release of the other people, made by the same rules, in their order.

    Raises
    ------
    InputError: no release of them can obey the model.
    """
    people, roles = tables.people, tables.roles
    assert people is not None
    needed = (*roles.qi, *roles.sensitive, *roles.person)
    rest = [name for name in people.columns if name not in needed]
    again = replace(
        tables.policy, qi=roles.qi, sensitive=roles.sensitive, keep=(), id=rest, order="keep",
        person=roles.person,
    )  # fmt: skip
    try:
        return _released(people, again)  # pyright: ignore[reportArgumentType]
    except NoLawfulReleaseError as error:
        raise InputError(
            f"downcoding makes a release of the other people ({people.rows:,}), and {error}; give "
            "more of them (--people), or name the attacks without it (--attack)"
        ) from None


def _released(source: Source, policy: Policy) -> Table:

    return release_of(source, policy, stop=Stop(*policy.limits)).table
