"""The people of the control: given, or held out of the table; nobody may be in both."""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import polars as pl

from incrowd._api import release_of
from incrowd.attacks.reading import Tables
from incrowd.errors import InputError, NoLawfulReleaseError
from incrowd.kernels.types import Ints
from incrowd.policy.base import Policy
from incrowd.policy.roles import Roles
from incrowd.run.stop import Stop
from incrowd.tables.base import FewerRows, Source, Table, texts
from incrowd.tables.whose import owners
from incrowd.text.units import counted

HELD_OUT = (
    "No other people were given (--people): half of the original was held out as the control, and "
    "what is attacked with it is a release of the other half, made anew by the same rules."
)
OR = "first, or give them as what an attacker knows (--register)"
SIGMAS = 4  # of chance, beyond which people who look the same are the same


def require_others(original: Table, people: Table, roles: Roles) -> None:
    """Raise InputError when the other people are, in part, those of the table.

    By their identifiers, where both tables have them.  Else by the rows that agree in all columns:
    strangers may look the same, about as many as rows of the table have a double in it.  Also when
    there is nobody.
    """
    if not people.rows:
        raise InputError("the table of the other people (--people) has no rows below its header")
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
                f"table: the control has to be of people who are not in it; leave those out {OR}"
            )
    if named or not shared or not people.rows or not original.rows:
        return
    mine, theirs = numbers_of_each(original, people, shared)
    met, expected = meeting(mine, theirs)
    each, usual, wide = in_common(mine, theirs)
    if met > expected + SIGMAS * sqrt(expected) + SIGMAS:
        told = f"{met:,} of the {people.rows:,} other people agree with a row of the table"
        chance = expected
    elif each > usual + SIGMAS * wide:
        told = f"{each:,} of the {people.rows:,} other people have a row of the table to themselves"
        told, chance = f"{told} that agrees", usual
    else:
        return
    raise InputError(
        f"{told} in all columns, where chance makes about {chance:,.0f}: the control has to be of "
        f"people who are not in the table; leave those who are out of --people {OR}"
    )


def numbers_of_each(original: Table, people: Table, shared: Sequence[str]) -> tuple[Ints, Ints]:
    """Return int64, shape (different rows,): how often the table and the people have each row."""
    mine, theirs = texts(original, shared), texts(people, shared)
    mine.columns = theirs.columns = names = [str(j) for j in range(len(shared))]
    both = pl.concat([mine.with_columns(table=1), theirs.with_columns(table=0)])
    found = both.group_by(names).agg(rows=pl.col("table").sum(), all=pl.len())
    rows = found["rows"].to_numpy().astype(np.int64)
    return rows, found["all"].to_numpy().astype(np.int64) - rows


def meeting(mine: Ints, theirs: Ints) -> tuple[int, float]:
    """Return how many people equal a row of the table, and how many strangers would."""
    return int(theirs[mine > 0].sum()), mine[mine > 1].sum() / mine.sum() * theirs.sum()


def in_common(mine: Ints, theirs: Ints) -> tuple[int, float, float]:
    """Return how many people have an equal row of the table each; and its mean and spread by lot.

    By lot: all rows of both were thrown together and dealt anew, each to the table with the share
    that it has of all.  So a small table with few values is told from itself as well.
    """
    share = mine.sum() / (mine.sum() + theirs.sum())
    mean = spread = 0.0
    for size, often in zip(*np.unique(mine + theirs, return_counts=True), strict=True):
        dealt = np.arange(size + 1)
        ways = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, size + 1)))])
        odds = ways[-1] - ways - ways[::-1] + dealt * np.log(share) + dealt[::-1] * np.log1p(-share)
        chances, met = np.exp(odds), np.minimum(dealt, size - dealt)
        here = float(chances @ met)
        mean, spread = mean + often * here, spread + often * float(chances @ (met - here) ** 2)
    return int(np.minimum(mine, theirs).sum()), mean, sqrt(spread)


def held_out(
    original: Source, policy: Policy, rng: np.random.Generator
) -> tuple[Table, Table, Table]:
    """Return a release of half of a table, its rows as they were, and the other half.

    Rows of the first half that the release leaves out are in none of the three.

    Raises
    ------
    NoLawfulReleaseError: the table is too small to be halved, or its half has no release.
    """
    if original.rows // 2 < 2 * policy.k:
        raise NoLawfulReleaseError(
            f"the original has {counted(original.rows, 'row')}, too few to hold half of them out "
            "as the control; give other people (--people)"
        )
    kept, out = halves(original, policy, rng)
    inside, outside = FewerRows(original, kept), FewerRows(original, out)
    left = [name for name in policy.pseudonym if name not in policy.person]
    again = replace(policy, order="keep", id=(*policy.id, *left), **unnamed(policy))
    try:
        released, kept = _released(inside, again)
        return released, FewerRows(inside, kept), outside
    except NoLawfulReleaseError:
        raise NoLawfulReleaseError(
            "with half of the original held out as the control, the rules allow no release of the "
            "other half; give other people (--people)"
        ) from None


def halves(original: Source, policy: Policy, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the rows of half of the people, by lot, and those of the others; both ascending."""
    names = policy.roles(original.columns).person
    whose = owners(original, names).codes if names else np.arange(original.rows)
    people = rng.permutation(int(whose.max(initial=-1)) + 1)
    if len(people) // 2 < 2 * policy.k:
        raise NoLawfulReleaseError(
            f"the original has {len(people)} people, too few to hold half of them out as the "
            "control; give other people (--people)"
        )
    inside = np.isin(whose, people[: len(people) // 2])
    return np.flatnonzero(inside), np.flatnonzero(~inside)


def release_like(tables: Tables) -> tuple[Table, Ints]:
    """Return a release of the other people by the same rules, in their order, and who is in it.

    Raises
    ------
    NoLawfulReleaseError: no release of them can obey the model.
    """
    people, roles = tables.people, tables.roles
    assert people is not None
    needed = (*roles.qi, *roles.sensitive, *roles.person)
    rest = [name for name in people.columns if name not in needed]
    again = replace(
        tables.policy, qi=roles.qi, sensitive=roles.sensitive, keep=(), id=rest, order="keep",
        person=roles.person, **unnamed(tables.policy),
    )  # fmt: skip
    try:
        return _released(people, again)  # pyright: ignore[reportArgumentType]
    except NoLawfulReleaseError:
        raise NoLawfulReleaseError(
            f"downcoding needs a release of the other people ({counted(people.rows, 'row')}), of "
            "whom the rules allow none; give more of them (--people)"
        ) from None


def unnamed(policy: Policy) -> dict[str, Any]:
    """Return what is asked in place of pseudonyms: their law alone, without a key to read or make.

    No attack reads pseudonyms.
    """
    return {"pseudonym": {}, "linked_rows": policy.links_rows}


def _released(source: Source, policy: Policy) -> tuple[Table, Ints]:
    """Return a release, and int64, rising: the rows of ``source`` that it has."""
    release = release_of(source, policy, stop=Stop(*policy.limits))
    kept, inner = np.arange(release.rows), release.source
    while inner.rows < source.rows:
        assert isinstance(inner, FewerRows)
        kept, inner = inner.kept[kept], inner.source
    return release.table, kept
