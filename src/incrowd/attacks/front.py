"""``attack``: from a release, its original and other people to findings; wiring only."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.attacks.catalog import Attack, chosen
from incrowd.attacks.findings import Finding, Findings
from incrowd.attacks.people import HELD_OUT, held_out, require_others
from incrowd.attacks.reading import Tables, scene_of
from incrowd.attacks.scene import Scene
from incrowd.errors import InputError, did_you_mean
from incrowd.policy import Policy
from incrowd.tables.files import open_table

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy
    from incrowd.release import Release

Names = str | Sequence[str]


def attack(
    release: "Release | Any",
    original: Any = None,
    people: Any = None,
    *,
    k: int = 5,
    qi: Names | None = None,
    sensitive: Names = (),
    id: Names = (),
    keep: Names = (),
    hierarchies: "Mapping[str, str | Path | Hierarchy] | None" = None,
    star: str = "*",
    policy: Policy | str | Path | None = None,
    attacks: Names = (),
    require: Mapping[str, float] | None = None,
    proof: str | Path | None = None,
    seed: int = 0,
) -> Findings:
    """Attack a release as somebody would who has only that, and count what succeeds.

    Parameters
    ----------
    release: what ``anonymize`` returned, or the released frame or file.
    original: the table it was made from; None where ``release`` knows it.
    people: people who are not in the table, with the same columns, for the control.  Without any,
        attacks that need them are made on a release of half of the original, made anew, and the
        other half is the control; the findings say so.
    k, qi, sensitive, id, keep, hierarchies, star: what the release was made with, as for
        ``anonymize``; not given for a ``Release``, which knows.
    policy: all of these at once, and more; then none of them is given.
    attacks: names of attacks or families; none: all that the columns allow.
    require: attack or family → the most that its risk may be; see ``Findings.failed``.
    proof: a proof file, which says which released row is whose.
    seed: of all randomness.

    Raises
    ------
    InputError: a column is missing, the release is none of this original, the other people are in
        the table, an attack has no such name or needs a sensitive column.
    """
    given = {
        "k": k, "qi": qi, "sensitive": sensitive, "id": id, "keep": keep,
        "hierarchies": hierarchies or {}, "star": star,
    }  # fmt: skip
    wanted = chosen([attacks] if isinstance(attacks, str) else attacks)
    tables = tables_of(release, original, people, _policy(policy, given), proof)
    return attacked(tables, wanted, require or {}, seed, bool(attacks))


def _policy(policy: Policy | str | Path | None, given: dict[str, Any]) -> Policy:
    if policy is None:
        return Policy(**given)
    return policy if isinstance(policy, Policy) else Policy.read(policy)


def tables_of(
    release: Any, original: Any, people: Any, policy: Policy, proof: str | Path | None
) -> Tables:
    """Open what was given."""
    others = None if people is None else open_table(people)
    if hasattr(release, "edit") and hasattr(release, "source"):  # what anonymize returned
        if original is not None:
            raise InputError("a Release knows its original; give the released frame beside another")
        if getattr(release, "existing", None) is not None:
            raise InputError("rows added to an earlier release have no original at hand")
        order = release.edit.order
        return Tables(
            release=release.table,
            original=release.source,
            people=others,
            policy=release.policy,
            roles=release.roles,
            rows=np.arange(release.rows) if order is None else order,
        )
    if original is None:
        raise InputError("original, the table the release was made from, is not given")
    before = open_table(original)
    return Tables(
        release=open_table(release),
        original=before,
        people=others,
        policy=policy,
        roles=policy.roles(before.columns),
        proof=proof,
    )


def attacked(
    tables: Tables,
    wanted: Sequence[Attack],
    require: Mapping[str, float],
    seed: int,
    named: bool = False,
) -> Findings:
    """Make the attacks; those that guess a sensitive column are left out where there is none.

    Raises
    ------
    InputError: ``named``, and an attack needs a sensitive column; see also ``attack``.
    """
    roles = tables.roles
    limits = limits_of(require, wanted)
    if named and not roles.sensitive and any(one.secret for one in wanted):
        names = ", ".join(one.name for one in wanted if one.secret)
        raise InputError(f"{names}: guesses a sensitive column; name one (--sensitive)")
    wanted = [one for one in wanted if roles.sensitive or not one.secret]
    if tables.people is not None:
        require_others(tables.original, tables.people, roles)
    rng = np.random.default_rng(seed)
    plain = scene_of(tables)
    halves, notes = plain, list(plain.notes)
    if tables.people is None and any(one.people for one in wanted):
        halves = halved(tables, rng)
        notes.append(HELD_OUT)
    found = []
    for one in wanted:
        scene = halves if one.people else plain
        for number, column in enumerate(roles.sensitive if one.secret else (None,)):
            found.append(finding(one, scene, number, column, scene is not plain, limits, seed))
    return Findings(found=tuple(found), notes=tuple(notes), seed=seed)


def halved(tables: Tables, rng: np.random.Generator) -> Scene:
    """Return the scene in which half of the original is held out."""
    if not hasattr(tables.original, "edited"):
        raise InputError("the original cannot be halved; give other people (--people)")
    released, inside, outside = held_out(tables.original, tables.policy, rng)  # pyright: ignore
    return scene_of(
        Tables(
            release=released,
            original=inside,
            people=outside,
            policy=tables.policy,
            roles=tables.roles,
            rows=np.arange(inside.rows),
        )
    )


def finding(
    one: Attack,
    scene: Scene,
    number: int,
    column: str | None,
    held: bool,
    limits: Mapping[str, float],
    seed: int,
) -> Finding:
    """Make one attack, with chance of its own."""
    chance = np.random.default_rng([seed, number, *one.name.encode()])
    return Finding(
        name=one.name,
        column=column,
        knows=one.knows,
        against=one.against,
        outcome=one.run(scene, number, chance),
        held_out=held,
        approximate=scene.approximate and one.whose,
        required=limits.get(one.name),
    )


def limits_of(require: Mapping[str, float], wanted: Iterable[Attack]) -> dict[str, float]:
    """Return attack → the most that its risk may be; its own limit goes before its family's.

    Raises
    ------
    InputError: a limit is no share, or of an attack that is not made.
    """
    limits: dict[str, float] = {}
    made = {one.name: one.family for one in wanted}
    for name, limit in sorted(require.items(), key=lambda pair: pair[0] in made):
        fine = isinstance(limit, int | float) and not isinstance(limit, bool) and 0 <= limit <= 1
        if not fine:
            raise InputError(f"require {name}: a share from 0 to 1, not {limit!r}")
        hit = [one for one, family in made.items() if name in (one, family)]
        if not hit:
            raise InputError(
                f"require: no attack that is made is called {name!r}{did_you_mean(name, made)}"
            )
        limits |= dict.fromkeys(hit, float(limit))
    return limits
