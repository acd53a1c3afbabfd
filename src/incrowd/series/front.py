"""``republish``: from Python."""

from pathlib import Path
from typing import Any, Unpack

from incrowd.policy.arguments import Arguments, policy_of
from incrowd.policy.base import Policy
from incrowd.series.asked import Asked
from incrowd.series.of_table import republished
from incrowd.series.release import Republished
from incrowd.tables.files import open_table


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
    question = Asked(m, k, counterfeit_weight, all_new)
    return republished(open_table(data), wanted, question, history, expect_history)
