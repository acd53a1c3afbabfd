"""``attack``: from a release, its original and other people to findings."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.attacks.advice import advised
from incrowd.attacks.catalog import Attack, chosen
from incrowd.attacks.findings import Finding, Findings
from incrowd.attacks.people import HELD_OUT, held_out, release_like, require_others
from incrowd.attacks.reading import Tables, scene_of
from incrowd.attacks.scene import Scene
from incrowd.attacks.whose import rows_shared
from incrowd.errors import InputError, NoLawfulReleaseError, did_you_mean, quoted
from incrowd.kernels.types import Ints
from incrowd.policy import Policy
from incrowd.policy.derive import columns_of, derived
from incrowd.tables.base import Source, Table
from incrowd.tables.files import is_release, open_table
from incrowd.text.units import counted

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
    other: Any = None,
    other_policy: Policy | str | Path | None = None,
    register: Any = None,
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
    other: another release about the same people, for the attack by composition.
    other_policy: what ``other`` was made with; None: as the first, unless ``other`` is a
        ``Release``, which knows.
    register: people of whom an attacker has some of the quasi-identifiers, a row for each, those of
        the table among them.  An identifier in both tables says who is who.
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
    if is_release(release):
        require_unsaid(given, policy)
    wanted = chosen([attacks] if isinstance(attacks, str) else attacks)
    asked = read_policy(policy) or Policy(**given)
    tables = tables_of(release, original, people, asked, proof, other, other_policy, register)
    return attacked(tables, wanted, require or {}, seed, bool(attacks))


def require_unsaid(given: Mapping[str, Any], policy: Any) -> None:
    """Raise InputError where a Release, which knows how it was made, is given that once more."""
    unsaid = Policy()
    said = [name for name, value in given.items() if value and value != getattr(unsaid, name)]
    if said or policy is not None:
        names = ", ".join(said or ["policy"])
        raise InputError(f"a Release knows {names}; leave it out, or attack its .data")


def read_policy(policy: Policy | str | Path | None) -> Policy | None:
    """Return the policy that was given as a value or as a file."""
    return policy if policy is None or isinstance(policy, Policy) else Policy.read(policy)


def tables_of(
    release: Any,
    original: Any,
    people: Any,
    policy: Policy,
    proof: str | Path | None,
    other: Any = None,
    other_policy: Policy | str | Path | None = None,
    register: Any = None,
) -> Tables:
    """Open what was given."""
    if other_policy is not None and (other is None or is_release(other)):
        lacks = "none is given" if other is None else "a Release knows how it was made"
        raise InputError(f"other_policy (--other-policy) is of another release (--other); {lacks}")
    table, rows = _opened(release)
    if rows is not None:
        if original is not None:
            raise InputError("a Release knows its original; give the released frame beside another")
        if getattr(release, "existing", None) is not None:
            raise InputError("rows added to an earlier release have no original at hand")
        before, policy, roles, proof = release.source, release.policy, release.roles, None
    elif original is None:
        raise InputError("original, the table the release was made from, is not given")
    else:
        before = derived(open_table(original), policy.derive, policy.na)
        roles = policy.roles(before.columns)
    second_policy = read_policy(other_policy)
    second, second_rows = (None, None) if other is None else _opened_beside(before, other)
    return Tables(
        release=table,
        original=before,
        people=None if people is None else derived(open_table(people), policy.derive, policy.na),
        policy=policy,
        roles=roles,
        proof=proof,
        rows=rows,
        register=None if register is None else derived_there(open_table(register), policy),
        other=second,
        other_rows=second_rows,
        other_policy=getattr(other, "policy", None) if is_release(other) else second_policy,
    )


def derived_there(register: Source, policy: Policy) -> Source:
    """Return a register with the derived columns of which it has what they are made of."""
    made = columns_of(policy.derive).items()
    there = {name: policy.derive[name] for name, of in made if of in register.columns}
    return derived(register, there, policy.na)


def _opened(release: Any) -> tuple[Table, Ints | None]:
    """Open a release; also say which row is whose, where it is a Release, which knows."""
    if not is_release(release):
        return open_table(release), None
    order = release.edit.order
    return release.table, np.arange(release.rows) if order is None else order


def _opened_beside(before: Table, other: Any) -> tuple[Table, Ints | None]:
    """Open another release; a Release knows the rows of its own table, which may be another."""
    table, rows = _opened(other)
    shared = None
    if rows is not None and not hasattr(other, "existing"):
        shared = rows_shared(before, other.source)
    return table, None if shared is None else shared[rows]


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
    InputError: ``named``, and an attack needs a sensitive column; or one that has a limit cannot be
        made; see also ``attack``.
    """
    roles = tables.roles
    limits = limits_of(require, wanted)
    wanted = possible(tables, wanted, {one.name for one in wanted} if named else {*require})
    if tables.people is not None:
        require_others(tables.original, tables.people, roles)
    asked = {one.name for one in wanted} if named else limits
    plain = scene_of(tables)
    chance = np.random.default_rng(seed)
    outside, wanted, notes = controlled(tables, plain.seen.broken, wanted, chance, asked)
    halves = plain if outside is tables else scene_of(outside)
    plain = halves if outside.original is tables.original else plain
    notes = [*plain.notes, *notes]
    found = []
    single = {id(each): one_row_each(each, seed) for each in (halves, plain)}
    for one in wanted:
        scene = halves if one.people else plain
        for number, column in enumerate(roles.sensitive if one.secret else (None,)):
            known = single[id(scene)] if one.one_row else scene
            found.append(finding(one, known, number, column, scene is not plain, limits, seed))
    advice = advised(found, {one.name: one.family for one in wanted})
    return Findings(found=tuple(found), notes=tuple(notes), advice=advice, seed=seed)


def one_row_each(scene: Scene, seed: int) -> Scene:
    """Return the scene with one row of each person, where people have several."""
    if scene.members.whose is None:
        return scene
    return scene.one_row_each(np.random.default_rng([seed, *b"rows"]))


def possible(tables: Tables, wanted: Sequence[Attack], asked: Collection[str]) -> list[Attack]:
    """Return the attacks that can be made.

    Parameters
    ----------
    asked: names of attacks that have to be made, and of families of which one has to be.

    Raises
    ------
    InputError: one of these cannot: a limit would seem kept.
    """
    lacks = (
        (
            "secret",
            not tables.roles.sensitive,
            "guesses a sensitive column; name one (--sensitive)",
        ),
        ("register", tables.register is None, "needs a register (--register)"),
        ("other", tables.other is None, "needs another release of the same people (--other)"),
        (
            "of_rows",
            bool(tables.roles.person),
            "thinks of models of rows; it is not served where people are counted (--person)",
        ),
    )
    for needs, lacking, how in lacks:
        unable = [one for one in wanted if lacking and getattr(one, needs)]
        wanted = [one for one in wanted if one not in unable]
        gone = {one.family for one in unable} - {one.family for one in wanted}
        missed = [one.name for one in unable if one.name in asked or one.family in gone & {*asked}]
        if missed:
            raise InputError(f"{', '.join(missed)}: {how}")
    return list(wanted)


def controlled(
    tables: Tables,
    broken: int,
    wanted: Sequence[Attack],
    rng: np.random.Generator,
    asked: Collection[str],
) -> tuple[Tables, list[Attack], list[str]]:
    """Return the tables with other people, and a release of those, where attacks need them.

    Also the attacks that can be made then, and what to say.  ``broken``: classes of the release
    that its rules forbid.  Another release made by the rules would then seem safer than this one.

    Raises
    ------
    InputError: one whose name is in ``asked`` cannot.
    """
    notes, wanted = [], [*wanted]
    try:
        if tables.people is None and any(one.people for one in wanted):
            require_ruled(broken)
            tables = halved(tables, rng)
            notes.append(HELD_OUT)
    except NoLawfulReleaseError as error:
        wanted = without([one for one in wanted if one.people], wanted, asked, error)
        notes.append(f"Not made are attacks that need people who are not in the table: {error}.")
    try:
        if any(one.shadow for one in wanted):
            shadow, rows = release_like(tables)
            tables = replace(tables, shadow=shadow, shadow_rows=rows)
    except NoLawfulReleaseError as error:
        wanted = without([one for one in wanted if one.shadow], wanted, asked, error)
        notes.append(f"Not made: {error}.")
    return tables, wanted, notes


def require_ruled(broken: int) -> None:
    """Raise NoLawfulReleaseError where a release was not made by the rules that are given."""
    if broken:
        raise NoLawfulReleaseError(
            f"the release has {counted(broken, 'class', 'classes')} that k or the models forbid, "
            "so one made anew by them from half of the original would tell nothing of it; give the "
            "k and models that it was made with, or other people (--people)"
        )


def without(
    unable: Sequence[Attack], wanted: Sequence[Attack], asked: Collection[str], why: Exception
) -> list[Attack]:
    """Return the attacks but those that cannot be made; raise InputError if one of them has to be.

    A limit would seem kept otherwise.
    """
    missed = [one.name for one in unable if one.name in asked]
    if missed:
        raise InputError(f"{', '.join(missed)}: {why}")
    return [one for one in wanted if one not in unable]


def halved(tables: Tables, rng: np.random.Generator) -> Tables:
    """Return the tables in which half of the original is held out."""
    if not hasattr(tables.original, "edited"):
        raise NoLawfulReleaseError("the original cannot be halved; give other people (--people)")
    released, inside, outside = held_out(tables.original, tables.policy, rng)  # pyright: ignore
    return Tables(
        release=released,
        original=inside,
        people=outside,
        policy=tables.policy,
        roles=tables.roles,
        rows=np.arange(inside.rows),
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
    outcome, other = one.run(scene, number, chance), scene.other if one.other else None
    guessed = scene.approximate or (other is not None and other.approximate)
    hang_together = one.family == "linkage" and scene.members.whose is not None
    return Finding(
        name=one.name,
        column=column,
        knows=one.knows,
        against=one.against,
        outcome=outcome,
        held_out=held,
        approximate=guessed and (one.whose or hang_together),
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
            raise InputError(f"require {name}: a share from 0 to 1, not {quoted(limit)}")
        hit = [one for one, family in made.items() if name in (one, family)]
        if not hit:
            raise InputError(
                f"require: no attack that is made is called {name!r}{did_you_mean(name, made)}"
            )
        limits |= dict.fromkeys(hit, float(limit))
    return limits
