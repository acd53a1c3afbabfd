"""Prices of releases that leave columns alone: fixed, linked and capped ones.

Such a table falls into parts, in each of which linked columns are one and changed cells under a cap
cost more: prices of the parts are prices of the whole, of which the checker asks only what such a
release may do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.bounds.prices import Prices, WeightedSet
from incrowd.constraints.solving import Parted
from incrowd.kernels.types import Ints
from incrowd.problem.problem import Problem
from incrowd.proof.certificate import Certificate, certificate, price_of_one_class
from incrowd.proof.confirm import Paths, confirmed, priced, within_limits
from incrowd.proof.writing import Evidence
from incrowd.run.stop import Stop

if TYPE_CHECKING:
    from incrowd.published.base import Published


def under_constraints(
    evidence: Evidence,
    release: "Published",
    sizes: Mapping[str, int],
    stop: Stop,
    paths: Paths,
) -> Evidence | None:
    """Return the evidence with a bound of releases under the same constraints; None without one.

    Parameters
    ----------
    sizes: number of values of each sensitive column.
    paths: of the original and the release, as files.
    """
    policy, solved, problem = release.policy, release.solved, release.coded.problem
    if not isinstance(solved, Parted):
        return None
    if evidence.unchecked or evidence.deleted is not None:
        return None
    known = joined(problem, solved, evidence.models, sizes, stop, bool(policy.fixed))
    if known is None:
        return None
    linked = tuple(tuple(names) for names in policy.linked)
    columns = [tree.column for tree in problem.instance.trees]
    unit = known.prices.quantum // solved.fine
    caps = {columns[one.column]: (one.most, one.price * unit) for one in solved.dearer}
    evidence = replace(evidence, fixed=tuple(policy.fixed), linked=linked, caps=caps)
    found = within_limits(priced(evidence, known), problem, *paths, stop.time_limit)
    return confirmed(found, *paths)


def joined(
    problem: Problem,
    solved: Parted,
    models: Sequence[Mapping[str, Any]],
    sizes: Mapping[str, int],
    stop: Stop,
    fixed: bool,
) -> Certificate | None:
    """Return the certificates of the parts as one of the whole; None where they are of two kinds.

    Prices are rounded down to one unit for all, which breaks no inequality.  A part of too few rows
    for two classes, where columns are fixed, is priced at what it costs; not beside odd sets.
    """
    parts = [part for part, _ in solved.parts]
    find = partial(certificate, models=models, sizes=sizes, by_size=False, stop=stop)
    whole = [price_of_one_class(part.instance) if fixed and part.one_class else None
             for part in parts]  # fmt: skip
    others = [find(*one) for one, known in zip(solved.parts, whole, strict=True) if known is None]
    if any(one.prices.odd_sets for one in others):
        whole, others = [None] * len(parts), [find(*one) for one in solved.parts]
    if parts[0].instance.codes is problem.instance.codes:  # nothing is fixed or linked
        return others[0]._replace(prices=in_own_units(others[0].prices, solved))
    # prices for all classes are ones for lawful classes, whatever the rules of these
    rules, left = max((one.rules for one in others), key=len, default=()), iter(others)
    prices = [(next(left) if known is None else known).prices for known in whole]
    quantum, size = max(one.quantum for one in prices), problem.smallest_class
    alike = all(one.rules in (rules, ()) and one.size is None for one in others)
    alike = alike and all(part.smallest_class == size for part in parts)
    by_rows = any(one.by_rows for one in prices)
    odd = [one for one in prices if one.odd_sets]
    alike = alike and not any(one.groups or one.charge for one in prices)
    alike = alike and not any(quantum % one.quantum for one in odd)
    if not alike or (by_rows and (odd or rules)):
        return None
    price, sets = np.zeros(problem.instance.distinct, np.int64), []
    for part, own, at in zip(parts, prices, copies_of(parts, solved.place), strict=True):
        scaled = np.array([int(p) * quantum // own.quantum for p in own.price], np.int64)
        price[problem.instance.copies[at]] = scaled[part.instance.copies]
        sets += [
            WeightedSet(at[one.copies], int(one.weight) * quantum // own.quantum, one.modulus)
            for one in own.odd_sets
        ]
    together = Prices(price, quantum, odd_sets=tuple(sets), by_rows=by_rows)
    return Certificate(in_own_units(together, solved), rules)


def in_own_units(prices: Prices, solved: Parted) -> Prices:
    """Return prices of the parts in the costs of the table, less what changed cells pay on top."""
    charge = prices.charge + solved.paid * prices.quantum
    return replace(prices, quantum=prices.quantum * solved.fine, charge=charge)


def copies_of(parts: Sequence[Problem], place: Ints) -> list[Ints]:
    """Return of each part, int64 of shape (its copies,), which copy of the whole each was."""
    ends = np.cumsum([part.instance.rows for part in parts])
    return np.split(np.argsort(place), ends[:-1])
