"""From a release to its proof file and statement: the call behind ``--proof``."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.averages.of_table import QUANTUM, Averaged
from incrowd.bounds.deletion import deletion_prices
from incrowd.bounds.prices import Prices
from incrowd.checker.costs import LEAST_STAR
from incrowd.checker.deleted import OF_CLASSES
from incrowd.checker.limits import MOST_MODELS
from incrowd.driver.solve import Solved
from incrowd.errors import InputError, listed
from incrowd.hierarchy.averages import Averages
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.missing import bare_of
from incrowd.hierarchy.spec import called_like_a_rule
from incrowd.persons.alike import certified
from incrowd.policy.base import Policy
from incrowd.policy.deletion import limit_of
from incrowd.privacy.model import Model, all_of, claims_of
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.proof.certificate import Certificate, certificate, price_of_one_class
from incrowd.proof.confirm import ALIKE, by_size, confirmed, dialect_of, priced, within_limits
from incrowd.proof.constrained import under_constraints
from incrowd.proof.lawful import rules_of_whole
from incrowd.proof.statement import statement
from incrowd.proof.writing import (
    Evidence,
    facts_of,
    ladders_table,
    seal,
    sets_table,
    sha256_of,
    write_proof,
)
from incrowd.run.stop import Stop
from incrowd.tables.base import FewerRows
from incrowd.tables.files import dialect_in, require_readable_names, require_short
from incrowd.tables.native import encode_polars
from incrowd.text.missing import marks_for
from incrowd.text.numerals import POINT
from incrowd.text.paths import names_file

if TYPE_CHECKING:
    from incrowd.deletion.of_table import Deleted
    from incrowd.published.base import Published
    from incrowd.veil.release import Veil


def prove(
    release: "Published",
    original: str | Path,
    released: str | Path,
    file: str | Path | IO[bytes],
    spreadsheet_safe: bool = False,
) -> dict[str, Any]:
    """Write the proof of a release that stands on disk; return the proof's JSON part.

    Parameters
    ----------
    original, released: the files that ``release`` was made from and written to.
    file: where the proof goes: a path, or a binary stream (see ``incrowd.tables.atomic.whole``).

    A model that the checker does not know is named in the proof as unchecked, and the bound is that
    of the other models.

    Raises
    ------
    VerificationError: the independent checker refuses the release.
    InputError: a sensitive column has no text form, which the checker reads it by.
    """
    table, solved = release.coded, release.solved
    problem = table.problem
    require_plain_costs(problem.instance)
    require_checkable(release)
    values = {name: column.values for name, column in table.attributes.items()}
    models, unchecked = claims_of(problem.model, values)
    models = [*models, *combinations_of(release)]
    sizes = {name: len(known) for name, known in values.items()}
    if release.averaged is not None:
        evidence = evidence_of(
            release, table.copy_of_row, problem, models, spreadsheet_safe, released
        )
        return write_averages(file, evidence, release, release.averaged, (original, released))
    stop = Stop(release.policy.time_limit)  # for prices that the search did not look for
    problem, solved = of_checked(problem, solved, unchecked)
    evidence = evidence_of(release, table.copy_of_row, problem, models, spreadsheet_safe, released)
    paths = original, released
    found = under_constraints(evidence, release, sizes, stop, paths)
    if found is None or solved.bound - bound_in(found) > solved.cost // ALIKE:
        find = partial(certificate, problem, solved, models, sizes, stop=stop)
        known = known_of(release, problem, solved, models, find, stop)
        evidence = priced(evidence, known)
        if by_size(known):
            sure = confirmed(evidence, *paths)
            evidence = priced(evidence, find(by_size=False)) if sure is None else sure
        other = within_limits(evidence, problem, *paths, stop.time_limit)
        found = other if found is None else max(found, other, key=bound_in)
    return write_proof(file, found, *paths)


def bound_in(evidence: Evidence) -> int:
    """Return the bound that prices prove, in units of 1/scale; nothing is counted aside."""
    return evidence.prices.bound(evidence.solution.instance.counts)


def known_of(
    release: "Published",
    problem: Problem,
    solved: Solved,
    models: Sequence[Mapping[str, Any]],
    find: Callable[[], Certificate],
    stop: Stop,
) -> Certificate:
    """Return prices that hold for all releases, whatever the constraints.

    Parameters
    ----------
    find: looks for the best ones of an ordinary release.
    stop: when a search for others is to be content with those found so far.
    """
    if release.protected is not None:
        return Certificate(release.protected.least.prices)
    if release.deleted is not None:
        return of_deleted(release.deleted, problem, stop)
    if (whole := rules_of_whole(models)) is not None:
        return Certificate(certified(release.coded, release.k, solved.lawful, stop), whole)
    return price_of_one_class(problem.instance) if problem.one_class else find()


def of_checked(
    problem: Problem, solved: Solved, unchecked: Sequence[Model]
) -> tuple[Problem, Solved]:
    """Return both without models that nobody can check: prices that rest on these prove nothing."""
    if not unchecked:
        return problem, solved
    checked = all_of([part for part in problem.model.parts if part not in unchecked])
    smaller = Problem(problem.instance, checked)
    same = smaller.smallest_class == problem.smallest_class
    return smaller, replace(solved, lawful=None, prices=solved.prices if same else None)


def of_deleted(gone: "Deleted", problem: Problem, stop: Stop) -> Certificate:
    """Return prices for a release of some rows, for classes of any rows of the whole table.

    Parameters
    ----------
    problem: of the rows that are kept, with the models that can be checked.
    stop: when to be content with the prices found so far.
    """
    k = replace(problem, instance=gone.table.instance).smallest_class
    known = gone.prices if k == gone.table.problem.smallest_class else None
    prices = known or deletion_prices(gone.table.instance, k, gone.deletion, stop)[0]
    return Certificate(prices, size=k)


def combinations_of(release: "Published") -> list[dict[str, Any]]:
    """Return the combinations that a release obeys, each as a proof states it."""
    return [
        {"model": "combination", "k": one.k, "columns": list(one.columns)}
        for one in release.policy.protect
    ]


def require_plain_costs(instance: Instance) -> None:
    """Raise InputError where the checker would refuse the units in which costs are counted."""
    dearest = max((tree.dearest for tree in instance.trees), default=0)
    if 0 < dearest < LEAST_STAR * instance.scale:
        raise InputError(
            f"in every column a suppressed cell costs less than {float(LEAST_STAR)}, which a proof "
            "cannot say; make all weights and costs larger by the same factor"
        )


def require_checkable(release: "Published") -> None:
    """Raise InputError for sensitive columns of lists or bytes: the checker reads text.

    And for too long texts, names that it does not read, and too many models.
    """
    asked = len(release.claims.models) + len(release.policy.protect)
    if asked > MOST_MODELS:
        raise InputError(
            f"a proof names at most {MOST_MODELS:,} models and combinations, each model once for "
            f"each sensitive column, and here are {asked:,}; go without a proof"
        )
    kinds = {claim["model"] for claim in release.claims.models} - {*OF_CLASSES}
    if release.deleted is not None and kinds:
        raise InputError(
            f"a proof of deleted rows is not served with {listed(kinds)}, only with "
            f"{', '.join(OF_CLASSES)}; go without a proof"
        )
    take: Callable[..., Any] | None = getattr(release.source, "take", None)
    if take is not None:
        for name in release.roles.sensitive:
            encode_polars(take(name, slice(0)), name)
    require_readable_names(release.source)
    require_short(release.source, release.roles.qi, release.roles.sensitive)


def evidence_of(
    release: "Published",
    copy_of_row: NDArray[np.int64],
    problem: Problem,
    models: Sequence[Mapping[str, Any]],
    spreadsheet_safe: bool,
    released: str | Path,
) -> Evidence:
    """Gather what a proof says of a release in a file; its prices are 0 yet."""
    return Evidence(
        solution=release.solved.solution,
        copy_of_row=copy_of_row,
        order=release.edit.order,
        classes=release.class_of_row,
        roles=release.roles,
        models=models,
        unchecked=release.unchecked,
        prices=Prices(np.zeros(problem.instance.distinct, np.int64), 1),
        price_k=problem.smallest_class,
        csv=dialect_of(release.source) or dialect_in(released, release.edit.columns),
        hierarchies=told_of(release.policy, release.trees),
        spreadsheet_safe=spreadsheet_safe,
        kept=release.source.kept if isinstance(release.source, FewerRows) else None,
        dropped=release.suppressed_rows,
        most_dropped=limit_of(release.policy.suppress_rows, release.rows + release.suppressed_rows),
        aside=0 if release.deleted is not None else release.suppressed_units,
        deleted=release.deleted,
        proven=None if release.protected is None else release.protected.least.bound,
    )


def told_of(policy: Policy, trees: Sequence[Family]) -> dict[str, dict[str, Any]]:
    """Return where each hierarchy comes from, how the numbers are written that it reads, if not
    with a point, and which marks of missing values it does not know, if there are some.
    """
    found: dict[str, dict[str, Any]] = {**origins(policy.hierarchies)}
    for column, source in policy.sources().items():
        mark = getattr(bare_of(source), "decimal", POINT)
        found[column] |= {} if mark == POINT else {"decimal": mark}
    for tree in trees:
        marks = {*marks_for(policy.na, tree.column)} & {*tree.leaves}
        if marks and tree.column in found:
            found[tree.column] |= {"missing": sorted(map(str, marks))}
    return found


def origins(hierarchies: Mapping[str, Any]) -> dict[str, dict[str, str | None]]:
    """Say where each hierarchy comes from: a rule, or a file's bare name and hash.

    One given in memory is called by its kind: its text would list the table's values in public.
    """
    known: dict[str, dict[str, str | None]] = {}
    for column, spec in hierarchies.items():
        place = getattr(spec, "path", spec)
        is_file = isinstance(place, str | Path) and names_file(place)
        path = Path(place if is_file else "")
        told = isinstance(spec, str) or type(spec).__str__ is not object.__str__
        name = f"./{path.name}" if called_like_a_rule(path.name) else path.name
        origin = name if is_file else str(spec) if told else type(spec).__name__
        known[column] = {"origin": origin, "sha256": sha256_of(path) if is_file else None}
    return known


def write_statement(
    facts: Mapping[str, Any], proof: str | Path, file: IO[bytes], veil: "Veil | None" = None
) -> None:
    """Write the public statement of a proof file, of a release with this veil, as JSON."""
    factors = None if veil is None else {name: float(x) for name, x in veil.factors.items()}
    text = json.dumps(statement(facts, proof, factors), indent=1, ensure_ascii=False)
    file.write(text.encode() + b"\n")


def write_averages(
    file: str | Path | IO[bytes],
    evidence: Evidence,
    release: "Published",
    averaged: Averaged,
    paths: tuple[str | Path, str | Path],
) -> dict[str, Any]:
    """Write the proof of a release of averages; return its JSON part.

    Parameters
    ----------
    evidence: of the classes, as of any release.  paths: of the original and the release.
    """
    order = slice(None) if evidence.order is None else evidence.order
    rows = range(release.rows) if evidence.order is None else evidence.order
    tables = {
        "rows.parquet": pl.DataFrame(
            {
                "original": pl.Series(rows, dtype=pl.Int64),
                "class": averaged.classes[order],
                "price": averaged.prices[order],
                **{f"price_of_{b}": averaged.fewer[b][order] for b in sorted(averaged.fewer)},
            }
        ),
        "ladders.parquet": ladders_table(evidence),
        "sets.parquet": sets_table(evidence),
    }
    known = {**evidence.hierarchies, **stated(averaged, evidence.hierarchies)}
    facts = facts_of(replace(evidence, hierarchies=known), *paths)
    facts |= {"averaged": list(averaged.columns), "quantum": QUANTUM}
    facts |= {"sizes": sorted(averaged.fewer)} if averaged.fewer else {}
    facts |= {"cost": release.cost_units, "bound": release.bound_units}
    return seal(file, facts, tables)


def stated(averaged: Averaged, known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a proof says of averaged columns: the rule with its decimals, and apart."""
    return {
        axis.column: {
            **known.get(axis.column, {}),
            "origin": str(Averages(axis.rule.kind, axis.digits)),
            "sha256": None,
            "average": axis.rule.stated(axis.digits),
        }
        for axis in averaged.axes
    }
