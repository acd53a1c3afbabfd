"""``incrowd.verify``: whether a table is a lawful release of another, with or without a proof."""

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Unpack

from incrowd.checker.costs import reduced
from incrowd.checker.rejection import STATEMENT
from incrowd.checker.verify import Verdict, check
from incrowd.errors import InputError, require_one_line
from incrowd.policy.arguments import Arguments, policy_of
from incrowd.policy.base import Policy
from incrowd.policy.derive import derived
from incrowd.policy.file import read_keys
from incrowd.policy.options import documented, taking
from incrowd.policy.table import OPTIONS
from incrowd.policy.veil import by_column
from incrowd.proof.coins import hides_too_few, shown_too_often, without_theorem
from incrowd.proof.held import left_open, not_held, of_nobody
from incrowd.published.verification import COINS, verify_release
from incrowd.run.forks import require_threads_of_polars
from incrowd.tables.base import FewerRows, Source
from incrowd.tables.files import is_release, open_table, read


@dataclass(frozen=True)
class Answer:
    """What ``incrowd.verify`` found; true where the answer is yes.

    Attributes
    ----------
    lawful: whether the answer is yes.
    reasons: why it is no; they name columns and rows, never cells.
    facts: what holds: without a proof rows, classes and smallest_class of a lawful release (and
        ``not_checked``, where a veil is asked for); with
        one, where the checker accepts it, rows, models, roles, costs, gap, optimal,
        ``not_checked``, and in units of 1/``scale`` cost and bound.
    mistaken: with a proof, which files are often not the ones that were meant, if it is no for that
        (``incrowd.checker.rejection``).
    """

    lawful: bool
    reasons: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    mistaken: str | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        """Whether the answer is yes."""
        return self.lawful


@taking(OPTIONS)
@documented(OPTIONS)
def verify(
    release: Any,
    original: Any = None,
    proof: str | Path | None = None,
    *,
    statement: str | Path | None = None,
    policy: Policy | str | Path | None = None,
    spreadsheet_safe: bool = False,
    **asked: Unpack[Arguments],
) -> Answer:
    """Check that ``release`` is a lawful release of ``original``, as ``incrowd verify`` does.

    With a proof an independent checker, which shares no code with the search, takes everything from
    the proof, and counts again: classes, truth of each cell, cost and bound.  What is given beside
    it is held against the proof.  Without a proof the release is held against what is given.

    Parameters
    ----------
    release, original: data frames or paths; with a proof paths, for it states hashes of files.
        What ``anonymize`` returned knows its original and its policy, if none are given.
    proof: what ``incrowd.Release.write_proven`` or ``--proof`` wrote.
    statement: the public statement, held against the proof.
    {options}
    policy: all of these at once, as a value or a policy file; what is given beside it goes before.
    spreadsheet_safe: whether the release was made with ``--spreadsheet-safe``.

    Raises
    ------
    InputError: something given is wrong; says what was found and what is allowed.
    OutOfScopeError: without a proof, the policy asks what only a proof can tell.
    """
    if is_release(release) and proof is None:
        spreadsheet_safe = spreadsheet_safe or release.written is not None
        original, policy = _known(release, original), release.policy if policy is None else policy
        release = release.data
    said = said_in(policy, asked)
    least = {"k": 1} if policy is None and proof is not None else {}  # a proof says its own k
    wanted = policy_of("verify", policy, {**least, **asked})
    if original is None:
        raise InputError("original, the table the release was made from, is not given")
    if proof is None:
        if statement is not None:
            raise InputError("statement goes with proof: it is held against it")
        before = derived(open_table(original), wanted.derive, wanted.na)
        found = verify_release(before, open_table(release), wanted, spreadsheet_safe)
        sizes = {name: getattr(found, name) for name in ("rows", "classes", "smallest_class")}
        left = {"not_checked": [*found.not_checked]} if found.not_checked else {}
        return Answer(found.lawful, found.reasons, sizes | left if found.lawful else {})
    for table in (release, original):
        if not isinstance(table, str | Path):
            raise InputError("a proof is of files: give release and original as paths")
        require_one_line(table)
    require_threads_of_polars()  # the checker knows nothing of this
    try:
        verdict = check(release, original, proof, None, statement)
    except FileNotFoundError as error:
        raise InputError(f"{error.filename}: no such file") from None
    tables = by_proof(verdict, original), by_proof(verdict, release)
    return held(verdict, wanted, said, *tables, spreadsheet_safe)


def _known(release: Any, original: Any) -> Any:
    """Return the table that a release was made from; ``original`` where one is given."""
    if original is not None:
        return original
    if getattr(release, "existing", None) is not None:
        raise InputError("rows added to an earlier release have no original at hand; give it")
    source = release.source
    return source.source if isinstance(source, FewerRows) else source


def held(
    verdict: Verdict,
    policy: Policy,
    said: Set[str],
    original: Callable[[], Source],
    released: Callable[[], Source],
    spreadsheet_safe: bool = False,
) -> Answer:
    """Hold what is asked for against what the checker found, and say what is left open.

    Parameters
    ----------
    policy: what is asked for; said: the names of its options that count.
    original, released: read the two tables, where they are looked at.
    """
    if not verdict.accepted:
        return Answer(False, (str(verdict.reason),), mistaken=verdict.mistaken)
    assert verdict.proof is not None
    mistaken = None
    reasons = list(not_held(verdict.proof, policy, said, original, released))
    if spreadsheet_safe and not verdict.facts["spreadsheet_safe"]:
        reasons.append("the release is not one of --spreadsheet-safe")
    left = left_open(verdict.proof, policy, said)
    if "veil" in verdict.facts:
        reasons += without_theorem(verdict.proof)
        table = released()
        reasons += hides_too_few(verdict.proof, table)
        reasons += shown_too_often(verdict.proof, verdict.facts["veil"], table)
    if policy.veil and "veil" in said:
        other = list(veil_differs(policy, verdict))
        reasons, mistaken = reasons + other, STATEMENT if other else None
        left = left if "veil" in verdict.facts else [COINS, *left]
    facts = told(verdict.facts, left)
    if (nobody := of_nobody(verdict.proof, original)) is not None:
        facts["rows_without_person"] = nobody
    return Answer(not reasons, tuple(reasons), facts, mistaken)


def veil_differs(policy: Policy, verdict: Verdict) -> Iterator[str]:
    """Yield the columns that the statement does not veil as well as is asked; no proof tells."""
    assert verdict.proof is not None and policy.veil
    stated = verdict.facts.get("veil", {})
    for column, chance in by_column(policy.veil, verdict.proof.facts["roles"]["qi"]).items():
        if stated and chance and stated.get(column, inf) > float(1 / chance):
            yield f"the statement's veil has a larger factor for {column!r}, or none"


def told(facts: Mapping[str, Any], left: list[str]) -> dict[str, Any]:
    """Return what was proved, its numbers reduced, and what was not checked."""
    unknown = (
        f"unproven {name}: the checker does not know this model, and nothing here says that a "
        "class obeys it"
        for name in facts["unchecked"]
    )
    coins = ["whether coins hid cells as the statement's veil says"] if "veil" in facts else []
    return reduced(dict(facts)) | {"not_checked": [*unknown, *coins, *left]}


def said_in(policy: Policy | str | Path | None, asked: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the options that are given, one by one or in a policy."""
    if policy is None:
        return frozenset(asked)
    if not isinstance(policy, Policy):
        return frozenset(asked) | read_keys(policy).keys()
    silent = Policy()
    names = (option.name for option in OPTIONS)
    return frozenset(asked) | {n for n in names if getattr(policy, n) != getattr(silent, n)}


def by_proof(verdict: Verdict, path: Any) -> Callable[[], Source]:
    """Return what reads a table in the form that the proof says."""
    form = {} if verdict.proof is None else verdict.proof.facts.get("csv") or {}
    return lambda: read(path, form.get("delimiter"), form.get("encoding"))
