"""Release, original and proof in; verdict out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd.checker import averages, both, combinations, crowds, files, inequality, oddsets
from incrowd.checker.constrained import beside_small, held_by, priced, require_obeyed
from incrowd.checker.costs import ladders_of
from incrowd.checker.deleted import kept
from incrowd.checker.delimited import Reading
from incrowd.checker.dropped import spent
from incrowd.checker.inequality import Ints
from incrowd.checker.lawful import Lawful
from incrowd.checker.models import least_size
from incrowd.checker.people import secrets_of, with_people
from incrowd.checker.published import require_hierarchy, require_statement, said_by
from incrowd.checker.recheck import recheck
from incrowd.checker.rejection import TABLES, RejectedError, require, require_none
from incrowd.checker.unchanged import require_unchanged

MASK = (1 << 32) - 1


@dataclass(frozen=True)
class Verdict:
    """What the checker found.

    Attributes
    ----------
    accepted: whether everything that the proof claims holds.
    reason, row, column: the first violation; rows of the release count from 1.
    mistaken: which files are often not the ones that were meant, where that is why.
    facts: when accepted, what was proved: rows, suppressed_rows, columns (of the release), models,
        roles, deleted_rows (with ``most_deleted`` and ``deletion_price``, where rows may be),
        star, spreadsheet_safe, hierarchies (column → what the proof calls it), costs (what
        they mean, see ``costs.meaning``), constraints (``fixed`` and ``linked`` columns, ``caps``,
        where the bound is of releases that obey them alone), gap, optimal; and in units of
        1/``scale`` (of the proof, see ``costs.reduced``) cost, bound, ``proven`` (what the prices
        prove, at least the bound) and ``most`` (what a release costs in which all is suppressed).
        Not proved is what ``unchecked`` names: models that the release is said to obey, and the
        checker does not know; nor the factors of a ``veil`` that the statement names.
    proof: when accepted, what the proof says.
    """

    accepted: bool
    reason: str | None = None
    row: int | None = None
    column: str | None = None
    mistaken: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    proof: files.Proof | None = None


def check(
    release: str | Path,
    original: str | Path,
    proof: str | Path,
    hierarchies: Mapping[str, str | Path] | None = None,
    statement: str | Path | None = None,
    reading: Reading | None = None,
) -> Verdict:
    """Check a release and its proof against the original table, trusting none of them.

    Truth and cost are those of the proof's own hierarchies; ``hierarchies`` (column → file) has
    them compared with files, ``statement`` has the public statement compared with the proof.
    ``reading`` says how delimited files are to be read, where the proof is not to say it.

    Raises
    ------
    OSError: a file is not there or cannot be read.
    """
    try:
        read = files.read_proof(proof, both.most_rows(original, release))
        facts = proved(Path(release), Path(original), read, reading)
        for column, path in (hierarchies or {}).items():
            require_hierarchy(read, column, files.ended(path, True).read_bytes())
        if statement is not None:
            stated, own = files.ended(statement, True).read_bytes(), Path(proof).read_bytes()
            facts |= require_statement(stated, read, files.sha256(own))
        return Verdict(True, facts=facts, proof=read)
    except RejectedError as no:
        return Verdict(False, str(no), no.row, no.column, no.mistaken)
    except files.NONSENSE as error:
        return Verdict(False, f"the proof makes no sense ({type(error).__name__})")


def proved(release: Path, original: Path, proof: files.Proof, reading: Any) -> dict[str, Any]:
    """Return what the proof proves, or reject it."""
    facts = proof.facts
    roles, models = files.shaped(facts)
    read = both.read_both(original, release, facts, reading)
    try:
        found = compared(read.whole(), *files.marked(proof, roles, models))
    except RejectedError as no:  # where it is says more than that the file is another one
        where = no.row, no.column and no.column.removeprefix(files.MARK)
        mistaken = TABLES if read.other else no.mistaken
        raise RejectedError(read.reason(no.reason), *where, mistaken) from None
    if read.other:
        raise RejectedError(read.strange, mistaken=TABLES)
    said = {**said_by(proof), "unchecked": facts.get("unchecked", [])}
    return {**found, **said, "models": models, "roles": roles}


def compared(
    read: list[pl.DataFrame], proof: files.Proof, roles: dict[str, list[str]], models: Sequence[Any]
) -> dict[str, Any]:
    """Return what original and release prove together with the proof, or reject it."""
    (before, after), facts = read, proof.facts
    _, quantum, _, cost, bound = (facts[name] for name in files.NUMBERS)
    left = kept(before, proof, models)
    before, origin, dropped = left[:3]
    qi, safe = roles["qi"], facts.get("spreadsheet_safe") is True
    require_columns(before, after, origin, roles, safe)
    text = [pl.DataFrame([files.words_of(frame[c]) for c in qi]) for frame in (before, after)]
    text[1] = text[1].select(files.undone(cells) for cells in text[1]) if safe else text[1]
    ladders, ranges, costs = ladders_of(proof, qi, read[0])
    sensitive = secrets_of(before, after, origin, roles, models)
    held = held_by(proof, qi, ranges)
    require_obeyed(held, text[0][origin], text[1], ladders)
    if "averaged" in facts:
        return averages.compared(text, (before, after), origin, proof, (ladders, costs))
    aside = spent(dropped, ladders)
    by: Any = {"origin": origin, "sensitive": sensitive, "models": models, "ranges": ranges}
    classes = recheck(text[0], text[1], ladders, least_size(models), cost - left.paid(aside), **by)
    wrong = np.flatnonzero(classes != proof.rows["class"].cast(pl.Int64).to_numpy()[: len(classes)])
    require_none(wrong, "its class is not the one stated")
    known = combinations.counted(proof, text[1], models, sensitive, ranges)
    law = Lawful(proof, models, with_people(sensitive, models)) if facts.get("pricing") else None
    cells = left.everyone(text[0][origin])
    given = cells, ladders, ranges, law, held
    totals = [price_total(proof, part, given) for part in known[1]]
    total = combinations.total_of(totals, *known, cells, ladders, quantum)
    proven = -((held.paid() - left.least(total, proof)) // quantum) + aside
    require(bound <= proven, f"the prices prove {proven}, not {bound}")
    require(0 <= bound <= cost, "the bound is above the cost, or below 0")
    columns = [name.removeprefix(files.MARK) for name in after.columns]
    found = {"rows": before.height, "columns": columns, "costs": costs, "suppressed_rows": dropped}
    found |= left.told(facts["scale"]) | held.told()
    return found | {"proven": proven, "most": spent(before.height + left.missing, ladders)}


def require_columns(
    before: pl.DataFrame, after: pl.DataFrame, origin: Ints, roles: dict[str, list[str]], safe: bool
) -> None:
    """Every column has one role, identifiers are gone, sensitive and kept columns unchanged."""
    named = [c for names in roles.values() for c in names]
    for column in {*before.columns, *named}:
        once = named.count(column) == 1 and column in before.columns
        require(once, "the original lacks it, or it has not exactly one role", column=column)
    wanted = [c for c in before.columns if c not in roles["id"]]
    for column in after.columns:
        require(column in wanted, "the release must not hold this column", column=column)
    require(after.columns == wanted, "the release lacks a column or has another order")
    rows = (before.height, after.height)
    require(rows[0] == rows[1], f"the release has {rows[1]} rows, the original has {rows[0]}")
    require_unchanged(before, after, origin, roles, safe)


def price_total(proof: files.Proof, part: combinations.Part, given: Any) -> int:
    """Return Σ prices + Σ odd-set weights − charges, or reject prices that break the inequality.

    That is asked in the table of the part's columns alone.  ``given``: the cells of the original,
    in the order of the release; ladders; ranges; a ``Lawful``, or None; constraints.
    """
    cells, ladders, ranges, law, held = given
    quantum, (prices, group, k) = proof.facts["quantum"], part
    price = proof.rows[prices].cast(pl.Int64).to_numpy()
    sets = oddsets.OddSets(proof.sets, len(price))
    total = sum(int(part.sum()) << shift for part, shift in ((price >> 32, 32), (price & MASK, 0)))
    highest = max(int(price.max(initial=0)), -int(price.min(initial=0))) + sets.total
    beyond = highest + 1
    most = sum(max(ladders[column]["cost"].to_list(), default=0) for column in group)
    dearest = most * quantum + beyond * len(held.fixed) + sum(held.more.values())
    plain = sets.mark, k, None, k
    mark, terms, keep, k = (law.mark, law.terms, law.kept, 1) if law else plain
    require(terms * max(highest, dearest) < 2**62, "the numbers exceed 64 bits")
    columns = list(priced(held, group, cells, (ladders, ranges, quantum), beyond))
    leaves, trees = [column[0] for column in columns], [column[1] for column in columns]
    price = price if sets.total else beside_small(held, cells, columns, price, part.k)
    rows = inequality.merged(leaves, price + sets.lift, mark, trees)
    for at, cost in crowds.search_of(proof, law)(rows, k, keep):
        charge = law.charge(rows, at, cost) if law else None
        total -= charge or 0
        broken = charge is None and (
            not sets.total or sets.broken(rows.price[at], rows.copies[at], rows.mark[at], cost, k)
        )
        row = int(rows.first[at[0]]) + 1
        require(not broken, "the prices of this row and others are too high", row)
    return total + sets.total
