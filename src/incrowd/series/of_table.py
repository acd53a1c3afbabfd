"""``republish``: from a table as it is today, and a history, to the next release."""

from collections import Counter
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any, Unpack

from incrowd.encoding.encoded import coded
from incrowd.errors import InputError
from incrowd.policy.arguments import Arguments, policy_of
from incrowd.policy.base import Policy
from incrowd.policy.derive import derived
from incrowd.policy.file import read_keys
from incrowd.policy.served import require_served
from incrowd.run.stop import Stop
from incrowd.series.asked import Invariance, require_repeated, shape_of
from incrowd.series.damage import require_whole
from incrowd.series.following import Series
from incrowd.series.history import read_history, require_expected, require_same_keys
from incrowd.series.release import CLASS, COUNTERFEITS, Republished
from incrowd.tables.base import Source
from incrowd.tables.files import open_table
from incrowd.tables.whose import ownerless, require_named
from incrowd.text.units import counted


def republish(
    data: Any,
    history: str | Path,
    *,
    m: int = 3,
    k: int = 1,
    counterfeit_weight: float | None = None,
    all_new: bool = False,
    expect_history: str | None = None,
    policy: Policy | str | Path | None = None,
    **asked: Unpack[Arguments],
) -> Republished:
    """Return the next release of a table whose people come, go and change: m-invariance.

    Parameters
    ----------
    data: the table as it is today, one row for each person: a frame or the path of a file.
    history: file of what was published so far; there is none before the first release.
        ``Republished.write`` writes it, with the release.
    m: least number of different sensitive values of a class.
    k: people who stand in all classes of a person, at least; who has fewer is withheld.
    counterfeit_weight: what a counterfeit counts, in suppressed cells; None: as few as can be.
    all_new: whether nobody of an earlier release need be in the table.
    expect_history: ``Republished.history.seal`` of the release before, where it was kept
        elsewhere: a history that was changed since is refused.
    policy, asked: ``person`` and ``sensitive``, one column each, ``qi``, ``id``, ``hierarchies``,
        ``weights``, ``cost``, ``star``, ``na``, ``derive``, ``time_limit`` and ``seed`` as for
        ``incrowd.anonymize``.

    Raises
    ------
    InputError: roles, keys or the history do not fit.
    OutOfScopeError: something is asked that is not served.
    NoLawfulReleaseError: fewer than m sensitive values are known.
    """
    wanted = policy_of("republish", policy, dict(asked))
    question = Invariance(m, k, counterfeit_weight, all_new)
    spoken = {*asked, *(read_keys(policy) if isinstance(policy, str | Path) else ())}
    return republished(open_table(data), wanted, question, history, expect_history, spoken)


def republished(
    source: Source,
    policy: Policy,
    asked: Invariance,
    history: str | Path,
    expected: str | None = None,
    spoken: Container[str] = (),
) -> Republished:
    """Return the next release of a series.

    Parameters
    ----------
    source: the table of today: one row for each person.
    policy: roles, hierarchies, costs; ``person`` names one column, ``sensitive`` one.
    history: file of the releases so far; none yet where there is no such file.
    expected: the hash that the history must have, where it was kept elsewhere.
    spoken: options that the user gave, also at their defaults.

    Raises
    ------
    InputError: roles, keys or the history do not fit.
    OutOfScopeError: something is asked that is not served.
    NoLawfulReleaseError: fewer than m sensitive values are known.
    """
    require_servable(policy)
    source = derived(source, policy.derive, policy.na)
    taken = [name for name in (CLASS, COUNTERFEITS) if name in source.columns]
    if taken:
        raise InputError(
            f"{taken[0]!r} is a column that the release gets: rename that of the table"
        )
    require_keys(source, policy.person)
    table = coded(source, policy)
    names = table.roles
    question = {
        "m": asked.m, "k": asked.k, "person": list(names.person), "qi": list(names.qi),
        "sensitive": list(names.sensitive),
    }  # fmt: skip
    before = read_history(history, question)
    require_expected(history, before, expected)
    require_whole(history, before)
    require_repeated(history, before.asked.get("said", {}), shape_of(policy), spoken)
    keys, values = texts_of(source, names.person[0]), texts_of(source, names.sensitive[0])
    require_rows(keys, values, names.sensitive[0])
    require_same_keys(before, keys, asked.all_new)
    stop = Stop(policy.time_limit, threads=policy.limits[-1])
    series = Series(table, policy, asked, before, keys, values, stop)
    return series.next()


def require_servable(policy: Policy) -> None:
    """Raise for what a series of releases does not serve."""
    if len(policy.person) != 1 or len(policy.sensitive) != 1:
        raise InputError(
            "republish takes one column that names people (--person) and one sensitive column "
            "(--sensitive)"
        )
    require_served(policy, "by republish")


def require_keys(source: Source, person: Sequence[str]) -> None:
    """Raise InputError for rows without a key: the next release could not tell whose they are."""
    for name in (name for name in person if name in source.columns):
        remedy = ": republish has to know who everybody is; fill it in, or leave these rows out"
        require_named(name, ownerless(source, [name]), remedy)


def require_rows(keys: Sequence[str], values: Sequence[str | None], sensitive: str) -> None:
    """Raise InputError for people with several rows, and rows without a sensitive value."""
    several = sum(count > 1 for count in Counter(keys).values())
    if several:
        raise InputError(
            f"{counted(several, 'person has', 'people have')} several rows, of which "
            "republish serves one for each person: keep the latest row of each in the table"
        )
    missing = sum(not value for value in values)
    if missing:
        raise InputError(
            f"{counted(missing, 'row has', 'rows have')} no value in the sensitive column "
            f"{sensitive!r}, which a class counts: fill it in, or leave such rows out"
        )


def texts_of(source: Source, column: str) -> list[str]:
    """Return a column's cells as text."""
    found = source.encode(column)
    return [found.values[code] or "" for code in found.codes.tolist()]
