"""What the independent checker says of a proof before it is written, where it may say no."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, product
from operator import mul
from pathlib import Path

import numpy as np

from incrowd.bounds.prices import Prices
from incrowd.checker.delimited import Reading
from incrowd.checker.inequality import STEPS
from incrowd.checker.lawful import ENTRIES
from incrowd.checker.limits import BEYOND, effort
from incrowd.checker.verify import Verdict, check
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.problem.problem import Problem
from incrowd.proof.certificate import Certificate, plain_prices
from incrowd.proof.writing import Evidence, write_proof
from incrowd.run.stop import Stop
from incrowd.tables.atomic import scratch
from incrowd.tables.base import FewerRows, Source

Paths = tuple[str | Path, str | Path]  # of the original and the release
EFFORTS = 2**-10, 2**-5, 1.0  # shares of what the checker looks at, one after another
ALIKE = 500  # bounds that differ by less than such a part of the cost are about the same


def priced(evidence: Evidence, known: Certificate) -> Evidence:
    """Return the evidence with a certificate's prices and rules."""
    size = evidence.price_k if known.size is None else known.size
    return replace(evidence, prices=known.prices, pricing=known.rules, price_k=size)


def by_size(known: Certificate) -> bool:
    """Whether the prices are lawful by size of class, which the checker confirms in its own way."""
    return any(rule["rule"] == "sizes" for rule in known.rules)


def confirmed(evidence: Evidence, original: str | Path, released: str | Path) -> Evidence | None:
    """Return the evidence with the bound that the independent checker confirms; None for no."""
    prices, counts = evidence.prices, evidence.solution.instance.counts
    total = prices.total(counts) + prices.charge
    # of charges, which the checker counts itself, nothing is claimed yet
    claim = replace(prices, charge=total) if prices.charge else prices
    verdict = checked(replace(evidence, prices=claim), original, released)
    if not verdict.accepted or not prices.charge:
        return evidence if verdict.accepted else None
    proven = verdict.facts["proven"] - evidence.aside
    return replace(evidence, prices=replace(prices, charge=total - proven * prices.quantum))


def checked(evidence: Evidence, original: str | Path, released: str | Path) -> Verdict:
    """Return what the independent checker says of a proof of this evidence."""
    with scratch() as folder:
        path = folder / "proof"
        write_proof(path, evidence, original, released)
        form = evidence.csv  # of the user's own table
        reading = Reading(form.get("delimiter"), form.get("encoding"), odd_header=True)
        return check(released, original, path, reading=reading)


def within_limits(
    evidence: Evidence,
    problem: Problem,
    original: str | Path,
    released: str | Path,
    seconds: float | None = None,
) -> Evidence:
    """Return the evidence with prices that the checker looks at within its limits.

    The checker may be asked for the same inequalities set by set; else for other prices, and at
    last for none, which prove no bound, while all the rest of the proof can still be verified.
    Prices that prove less come last.  Of those that prove about the same the ones made for the
    evidence do, unless they are looked at quickly.
    ``seconds``: what a search for other prices may take; None: no limit.
    """
    if not may_take_too_long(evidence):
        return evidence
    if (found := looked_at(evidence, EFFORTS[:-1], original, released)) is not None:
        return found
    others = [*easier(evidence, problem, seconds)]
    alike = [other for other in others if proves_about(other, evidence)]
    known = [*alike, evidence, *(other for other in others if other not in alike)]
    forms = (looked_at(one, EFFORTS, original, released) for one in known)
    return next((form for form in forms if form is not None), evidence)


def proves_about(other: Evidence, best: Evidence) -> bool:
    """Whether other prices of the same release prove about as much as the best do.

    Where the best prove it optimal, that is what the others have to prove.
    """
    solution = best.solution
    bounds = [one.prices.bound(solution.instance.counts) for one in (other, best)]
    less = 0 if bounds[1] >= solution.cost else solution.cost // ALIKE
    return bounds[0] >= bounds[1] - less


def looked_at(
    evidence: Evidence, efforts: Sequence[float], original: str | Path, released: str | Path
) -> Evidence | None:
    """Return the form of prices that the checker looks at within shares of its limits; or None.

    Which form takes longer is not known beforehand, so each gets a little of the checker's effort
    before one gets all: the proof is then quick to verify, too.
    """
    for share, form in product(efforts, (evidence, *by_rows(evidence))):
        with effort(share):
            verdict = checked(form, original, released)
        if not str(verdict.reason).endswith(BEYOND):
            return form
    return None


def may_take_too_long(evidence: Evidence) -> bool:
    """Whether the checker may give up on the prices.

    It looks at each row once for each pattern of the first columns, however many these are.  Wide
    tables are priced by groups of columns or by sets of rows for that.
    """
    prices, trees = evidence.prices, evidence.solution.instance.trees
    if prices.wide or not prices.price.any():
        return False
    patterns = sum(accumulate(map(nodes_of, trees), mul))
    return patterns > (ENTRIES if evidence.pricing else STEPS)


def nodes_of(family: Family) -> int:
    """Return what a cell can be shown as at most: a level each, or an interval around it."""
    leaves = len(family.leaves)
    return leaves * leaves if isinstance(family, RangeFamily) else family.levels


def by_rows(evidence: Evidence) -> Iterator[Evidence]:
    """Yield the evidence with prices that the checker looks at set by set, where it can."""
    prices = evidence.prices
    plain = not (evidence.pricing or prices.odd_sets or prices.charge or prices.groups)
    if plain and not prices.by_rows:
        yield replace(evidence, prices=replace(prices, by_rows=True))


def easier(evidence: Evidence, problem: Problem, seconds: float | None) -> Iterator[Evidence]:
    """Yield the evidence with other prices, of the same table, and of releases without caps."""
    evidence = replace(evidence, caps={})
    if evidence.deleted is None and evidence.proven is None:
        size, none = problem.smallest_class, np.zeros_like(evidence.prices.price)
        yield priced(evidence, Certificate(plain_prices(problem, Stop(seconds)), size=size))
        yield priced(evidence, Certificate(Prices(none, 1), size=size))


def dialect_of(source: Source) -> dict[str, str]:
    """Return how a delimited file of a release of this table is to be read."""
    known = getattr(source.source if isinstance(source, FewerRows) else source, "dialect", None)
    if known is None:
        return {}
    form = {"delimiter": known.delimiter, "newline": known.newline}
    return form | ({"encoding": known.encoding} if known.encoding else {})
