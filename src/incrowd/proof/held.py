"""What a verifier asks for, held against a proof that the checker has accepted.

The checker says what is proved: of which roles, models, hierarchies and costs.  Whether that is
what the verifier had in mind is decided here, from what they say: each thing said is held against
the proof, and nothing else is.  A model that is stricter than the one asked for will do.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd.checker.files import Proof, ended
from incrowd.checker.once import KINDS
from incrowd.checker.people import persons
from incrowd.checker.published import require_hierarchy
from incrowd.checker.rejection import RejectedError
from incrowd.constraints.of_release import require_constraints_of
from incrowd.constraints.plan import require_columns
from incrowd.errors import HierarchyError, VerificationError
from incrowd.policy import Policy
from incrowd.policy.base import Roles
from incrowd.policy.deletion import limit_of, read
from incrowd.policy.models import model_of
from incrowd.privacy.combination import Combination
from incrowd.privacy.model import claims_of
from incrowd.proof.costs_asked import (
    averaged_in,
    costs_differ,
    costs_of,
    decimal_in,
    paths_of,
    rule_differs,
    stated_rule,
)
from incrowd.proof.links import links_torn
from incrowd.published.pseudonyms import KEY
from incrowd.tables.base import FewerRows, Source, texts
from incrowd.tables.spreadsheet import undone
from incrowd.text.marks import STAR, own_star
from incrowd.text.missing import marks_for
from incrowd.text.numerals import COMMA
from incrowd.text.paths import names_file

Entry = Mapping[str, Any]
Table = Callable[[], Source]

ROLES = {
    "qi": "quasi-identifiers",
    "sensitive": "sensitive columns",
    "keep": "columns kept unchanged",
    "pseudonym": "columns under pseudonyms",
    "id": "columns left out",
}
MODELS = {"l", "l_kind", "c", "t", "distance", "models"}
OF_PEOPLE = (  # option, what a proof calls it, and words
    ("constant_alike", "alike", "constant columns are generalized alike"),
    ("linked_rows", "linked", "all rows of a person together are shared"),
)
CONSTRAINTS = {"fixed", "linked", "caps"}
COUNTING = ("k-anonymity", "people", "alpha-k")  # their k is a number of rows, at least


def not_held(
    proof: Proof, policy: Policy, said: Set[str], original: Table, released: Table
) -> Iterator[str]:
    """Yield why a proof is not of what is asked for.

    Parameters
    ----------
    policy: what is asked for; said: the names of its arguments that count.
    original, released: read the two tables, where they are looked at.

    Raises
    ------
    InputError: what is asked for makes no sense, or cannot be held against the proof without more.
    """
    yield from roles_differ(proof, policy, said)
    entries = proof.facts["models"]
    known = max((e["k"] for e in entries if e["model"] in COUNTING), default=1)
    if policy.k > known and not policy.person:
        yield f"the proof is of k = {known}, not {policy.k}"
    if said & MODELS:
        asked = models_asked(policy, proof, released)
        missing = [entry for entry in asked if not any(as_strict(e, entry) for e in entries)]
        yield from (f"the proof is not of {in_words(entry)}, nor stricter" for entry in missing)
    if "hierarchies" in said:
        yield from hierarchies_differ(proof, policy)
    yield from rules_differ(proof)
    if said & {"decimal", "hierarchies"}:
        yield from decimals_differ(proof, policy)
    if "na" in said:
        yield from marks_differ(proof, policy)
    if said & {"cost", "weights"}:
        yield from costs_differ(proof, policy, "cost" in said)
    star = proof.facts.get("star", STAR)
    if "star" in said and star != policy.star:
        yield f"a suppressed cell shows {star!r}, not {policy.star!r}"
    dropped = proof.facts.get("suppressed_rows", 0)
    if "delete_rows" not in said:  # as without a proof, where any missing row counts
        dropped += proof.facts.get("deleted_rows", 0)
    if "suppress_rows" in said and "missing_person" not in said:
        dropped += of_nobody(proof, original) or 0
    most = limit_of(policy.suppress_rows, proof.rows.height + proof.facts.get("suppressed_rows", 0))
    if "suppress_rows" in said and dropped > most:
        yield f"{dropped:,} rows are left out, more than {most:,}"
    if "protect" in said:
        yield from combinations_differ(proof, policy)
    if "delete_rows" in said:
        yield from deletions_differ(proof, policy)
    if said & CONSTRAINTS:
        yield from constraints_differ(proof, policy, original(), released())


def of_nobody(proof: Proof, original: Table) -> int | None:
    """Return how many rows are left out since they do not say whose they are; None: none may be."""
    if all(entry.get("missing") != "drop" for entry in proof.facts["models"]):
        return None
    return original().rows - proof.rows.height  # beside people no other row is left out


def combinations_differ(proof: Proof, policy: Policy) -> Iterator[str]:
    """Yield the combinations that the proof does not protect as asked for."""
    entries, qi = proof.facts["models"], tuple(proof.facts["roles"]["qi"])
    stated = [Combination(tuple(e["columns"]), e["k"]) for e in entries
              if e["model"] == "combination"]  # fmt: skip
    stated += [Combination(qi, e["k"]) for e in entries if e["model"] in COUNTING]
    for one in policy.protect:
        if not any(one.within(other) for other in stated):
            yield f"the proof is not of {one.name}"


def deletions_differ(proof: Proof, policy: Policy) -> Iterator[str]:
    """Yield why other rows may be missing than those asked for."""
    stated = proof.facts.get("delete_rows")
    if policy.delete_rows is None or stated is None:
        asks_alike = (policy.delete_rows is None) == (stated is None)
        if proof.rows.height and not asks_alike:  # of a table without rows none can be deleted
            yield "the proof does not delete rows as --delete-rows says"
        return
    asked, scale = read(policy.delete_rows), proof.facts["scale"]
    limit = asked.limit(proof.rows.height)
    if limit is not None and stated["most"] > limit:
        yield f"{stated['most']:,} rows may be deleted, more than {limit:,}"
    stars = (max(costs_of(proof, c).values(), default=0) for c in proof.facts["roles"]["qi"])
    price = sum(stars, Fraction(0)) if asked.price is None else asked.price
    if stated["price"] != price * scale:
        yield "a deleted row has another price in the proof than in --delete-rows"


def roles_differ(proof: Proof, policy: Policy, said: Set[str]) -> Iterator[str]:
    """Yield the roles whose columns are others than those asked for."""
    roles, people = proof.facts["roles"], persons(proof.facts["models"])
    for role, words in ROLES.items():
        asked, stated = set(getattr(policy, role) or ()), set(roles.get(role, ()))
        if role == "id":
            asked |= set(policy.person) - set(roles.get("pseudonym", ()))
            stated -= set(people) - asked if not policy.person else set()
        if role in said and asked != stated:
            yield f"{words} are {listed(roles.get(role, ()))}, not {listed(asked)}"
    if "person" in said and set(people) != set(policy.person):
        yield f"people are told apart by {listed(people)}, not by {listed(policy.person)}"
    stated = {e.get("missing", "error") for e in proof.facts["models"] if e["model"] == "people"}
    if "missing_person" in said and stated != {policy.missing_person}:
        yield f"the proof does not take rows without a person as {policy.missing_person!r} says"
    mine = [e for e in proof.facts["models"] if e["model"] == "people"]
    if "person" in said:
        mine = [entry for entry in mine if {*entry["columns"]} == {*policy.person}]
    known = max((entry["k"] for entry in mine), default=0)
    needed = min(policy.k, max(known, 1)) if "k" in said else max(known, 1)
    for name, key, words in OF_PEOPLE:
        # of linked rows k counts as well: an entry of one person says nothing
        stated = max((entry["k"] for entry in mine if entry.get(key)), default=0)
        if name in said and getattr(policy, name) and stated < needed:
            yield f"the proof does not say that {words}"
    if policy.person and policy.k > known:
        yield f"the proof is of {known} people in every class, not {policy.k}"


def listed(names: Any) -> str:
    """Columns in words."""
    return ", ".join(map(repr, sorted(names))) or "none"


def models_asked(policy: Policy, proof: Proof, released: Table) -> list[Entry]:
    """Return the models that are asked of sensitive columns, as a proof states them.

    Their values are those of the release, where they are what they were.
    """
    table, safe = released(), proof.facts.get("spreadsheet_safe") is True
    columns = {name: table.encode(name) for name in proof.facts["roles"]["sensitive"]}
    secret = {n: undone(c) if safe else c for n, c in columns.items()}
    nobody = {"person": (), "missing_person": "error", "linked_rows": False}  # those are held apart
    model = model_of(replace(policy, **nobody), secret, policy.sources())
    plain, _ = claims_of(model, {name: column.values for name, column in secret.items()})
    asked = [entry for entry in plain if entry["model"] != "k-anonymity"]
    people = {"once": True} if policy.person else {}
    return [entry | people if entry["model"] in KINDS else entry for entry in asked]


def as_strict(stated: Entry, asked: Entry) -> bool:
    """Whether a model that the proof states obliges to all that an asked one does."""
    least, most = ("k", "l"), ("c", "t", "alpha", "beta", "delta")
    columns = [set(e.get("columns", [e.get("column")])) for e in (stated, asked)]
    same = stated["model"] == asked["model"] and columns[0] == columns[1]
    same = same and all(Fraction(stated[n]) >= Fraction(asked[n]) for n in least if n in asked)
    same = same and all(Fraction(stated[n]) <= Fraction(asked[n]) for n in most if n in asked)
    spared = "values" in stated and not set(stated["values"]) >= set(asked.get("values", ()))
    fewer = "values" in stated and "values" not in asked
    distance = ("distance", "order", "levels", "matrix")
    return bool(same and not spared and not fewer) and all(
        stated.get(name) == asked.get(name) for name in (*distance, "once")
    )


def marks_in(proof: Proof, column: str) -> set[str]:
    """Return the texts that a proof takes for missing values of a column."""
    return {*proof.facts["hierarchies"].get(column, {}).get("missing", ())}


def marks_unsaid(proof: Proof, policy: Policy, column: str) -> list[str]:
    """Return what is to be said where a proof takes more texts for missing than is asked for."""
    if marks_in(proof, column) <= {*marks_for(policy.na, column)}:
        return []
    return [f"column {column!r}: values that stand for missing ones are not said (--na)"]


def marks_differ(proof: Proof, policy: Policy) -> Iterator[str]:
    """Yield the columns whose texts of missing values are others than those asked for."""
    for column in proof.facts["roles"]["qi"]:
        yield from marks_unsaid(proof, policy, column)
        stated = marks_in(proof, column)
        asked, paths = {*marks_for(policy.na, column)}, paths_of(proof, column)
        if any(len(paths.get(mark, ())) > 2 for mark in asked - stated):
            yield f"column {column!r}: its hierarchy takes a text of --na for a value like others"


def decimals_differ(proof: Proof, policy: Policy) -> Iterator[str]:
    """Yield the columns whose numbers are read with another mark of decimals than asked for."""
    for column in proof.facts["roles"]["qi"]:
        stated = decimal_in(proof, column)
        if stated is not None and stated != policy.decimal:
            words = "comma" if stated == COMMA else "point"
            yield (
                f"column {column!r}: its numbers are read with a decimal {words} "
                f"(--decimal {stated}), not with {policy.decimal!r}"
            )


def hierarchies_differ(proof: Proof, policy: Policy) -> Iterator[str]:
    """Yield the hierarchies that are others than those asked for: files, or what rules make."""
    sources = policy.sources()
    for column, spec in policy.hierarchies.items():
        place = getattr(sources[column], "path", spec)
        if column not in proof.facts["roles"]["qi"]:
            if column not in proof.facts["roles"]["sensitive"]:  # those are for distances
                yield f"column {column!r} is not a quasi-identifier, so it has no hierarchy"
            continue
        if unsaid := marks_unsaid(proof, policy, column):
            yield from unsaid
        elif isinstance(place, str | Path) and names_file(place):
            try:
                require_hierarchy(proof, column, ended(place, True).read_bytes())
            except RejectedError as no:
                yield str(no)
        elif (how := rule_differs(proof, column, sources[column])) is not None:
            yield f"column {column!r}: {how}"


def rules_differ(proof: Proof) -> Iterator[str]:
    """Yield the columns whose hierarchies are not what the rule makes that the proof calls them.

    Whoever reads the statement reads the rule's text, and not the labels.
    """
    for column in proof.facts["roles"]["qi"]:
        source = stated_rule(proof, column)
        try:
            how = None if source is None else rule_differs(proof, column, source)
        except HierarchyError:  # the rule does not even fit the values
            how = f"its hierarchy is not {source}"
        if how is not None:
            yield f"column {column!r}: {how}, as the proof calls it"


def constraints_differ(
    proof: Proof, policy: Policy, original: Source, released: Source
) -> Iterator[str]:
    """Yield the first fixed, linked or capped column whose cells are not as asked."""
    stated = proof.facts["roles"]
    columns = original.columns
    inside = {role: tuple(c for c in columns if c in stated.get(role, ())) for role in ROLES}
    roles = Roles(**inside)
    require_columns(policy, roles, original.columns)
    origin = proof.rows["original"].cast(pl.Int64).to_numpy()[: released.rows]  # deleted: below
    kept = np.sort(origin)
    source = FewerRows(original, kept) if len(kept) < original.rows else original
    found = texts(released, roles.qi)
    if proof.facts.get("spreadsheet_safe") is True:
        columns = {str(j): undone(released.encode(name)) for j, name in enumerate(roles.qi)}
        cells = {n: pl.Series(c.values, dtype=pl.String)[c.codes] for n, c in columns.items()}
        found = pl.DataFrame(cells)
    try:
        told = replace(policy, star=proof.facts.get("star", STAR))  # what the release shows
        require_constraints_of(source, found, np.searchsorted(kept, origin), roles, told)
    except VerificationError as no:
        yield str(no).removeprefix("the re-check of the release: ")
    else:
        yield from links_torn(proof, policy.linked, found, roles.qi)


def in_words(entry: Entry) -> str:
    """Say which model a proof states; without the values that it lists."""
    told = {n: entry[n] for n in ("k", "l", "c", "t", "alpha", "beta", "delta") if n in entry}
    kind = str(entry["model"])
    columns: Sequence[str] = entry.get("columns", [entry["column"]] if "column" in entry else ())
    of = f" of {listed(columns)}" if columns else ""
    guarded = f", {len(entry['values'])} values guarded" if "values" in entry else ""
    distance = f" ({entry['distance']} distance)" if "distance" in entry else ""
    once = " (each value of a person once)" if "once" in entry else ""
    words: str = {
        "k-anonymity": "{k}-anonymity",
        "people": "{k} people in every class, told apart by",
        "combination": "{k}-anonymity",
        "recursive": "recursive ({c}, {l})-diversity",
        "t-closeness": "{t}-closeness",
        "alpha-k": "({alpha}, {k})-anonymity",
        "basic-beta": "basic {beta}-likeness",
        "enhanced-beta": "enhanced {beta}-likeness",
        "delta-disclosure": "{delta}-disclosure",
    }.get(kind, kind + " {l}-diversity")
    if kind == "people":
        together = ", all their rows together" if entry.get("linked") else ""
        together += ", constant columns alike" if entry.get("alike") else ""
        rules = {"own": "; a row without a person is one of its own", "drop": "; others left out"}
        rule = rules.get(entry.get("missing", ""), "")
        return f"{words.format(**told)} {listed(columns)}{together}{rule}"
    return words.format(**told) + distance + guarded + of + once


def left_open(proof: Proof, policy: Policy, said: Set[str]) -> list[str]:
    """Return what neither the checker nor what is said decides, in words."""
    facts = proof.facts
    names = listed(averaged_in(proof))
    averages = [f"what is true of a single row: cells of {names} are averages of their class"]
    found = [
        *(averages if averaged_in(proof) else ()),
        "whether the original is genuine",
        "whether others know more than the quasi-identifiers",
        "whether the models are enough for the purpose",
    ]
    if facts["roles"].get("pseudonym"):
        found.append(KEY)
    named = [c for c in facts["roles"]["qi"] if c in facts["hierarchies"]]
    named = [c for c in named if "hierarchies" not in said or c not in policy.hierarchies]
    named = [c for c in named if c not in averaged_in(proof)]
    if named:
        found.append(f"whether the hierarchies of {listed(named)} say what is true (--hierarchy)")
    apart = [c for c in averaged_in(proof) if facts["hierarchies"][c].get("missing")]
    if apart and "na" not in said:
        found.append(f"whether texts of {listed(apart)} that count as missing are so (--na)")
    own = [e["column"] for e in facts["models"] if e.get("distance", "equal") != "equal"]
    if own and not said & MODELS:
        found.append(f"whether values of {listed(own)} are as far apart as the proof says (--t)")
    star = facts.get("star", STAR)
    if star != STAR and "star" not in said:
        found.append(f"{own_star(star)} (--star)")
    if policy.derive and "derive" in said:  # the proof is of the table with what is derived
        found.append(f"whether {listed(policy.derive)} is made of other columns as --derive says")
    search = {
        "hold_back",
        "strict",
        "method",
        "reductions",
        "time_limit",
        "gap",
        "spend",
        "seed",
        "threads",
        "order",
    } & said
    if search:
        found.append(f"how the release was searched for ({', '.join(sorted(search))})")
    return found
