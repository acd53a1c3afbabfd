"""Combinations of quasi-identifiers that each have a k of their own: counted, and bounded.

A model ``{"model": "combination", "k": 5, "columns": […]}`` asks that what a row shows in these
columns at least k rows show.

Claim by rows.  Let a choice of levels be open to a row if, in each combination, at least k rows of
the original have the row's labels at these levels.  Whatever a row is released as is open to it,
for the rows that show the same have that label above them, and each label stands for one set of
values.  So a release costs at least the sum over rows of the cheapest choice that is open.

Claim by prices.  Prices of some of a combination's columns, which obey the inequality of
``inequality`` for its k there, sum to no more than the cells of these columns cost: rows that agree
in the combination agree in them.  Parts must not share a column.

Combinations that share columns, directly or by others, are a cluster.  Clusters share no cell, so
their bounds add up; of each the better claim counts.  See docs/how-to/combinations.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from incrowd.checker import files
from incrowd.checker.inequality import Ints
from incrowd.checker.ladder import tables
from incrowd.checker.models import least_class, least_size
from incrowd.checker.recheck import classes_of, require_size
from incrowd.checker.rejection import RejectedError, require

KIND = "combination"
MOST_CHOICES = 4096  # of levels, of one combination and of the columns that several share
MOST_OF_ALL = 16 * MOST_CHOICES  # of all combinations together; proofs need half of them
NEVER = 1 << 60


class Crowd(NamedTuple):
    """Columns, and how many rows have to agree in them."""

    columns: tuple[str, ...]
    k: int


class Part(NamedTuple):
    """Columns that are priced alone: the name of their prices, and the size of class."""

    prices: str
    columns: list[str]
    k: int


class Coded(NamedTuple):
    """A column of the original: leaf codes, int64 of shape (rows,), and its labels and costs.

    node, cost: int64, shape (levels, leaves).
    """

    leaf: Ints
    node: Ints
    cost: Ints


def crowds_of(models: Sequence[Mapping[str, Any]], qi: Sequence[str]) -> list[Crowd]:
    """Return the combinations, and all quasi-identifiers where these have a k as well.

    None where no combination is named.  Rejected is one of no or other columns than
    quasi-identifiers, of a column twice, or without a whole k of 1 or more.
    """
    found = []
    for model in models:
        if model.get("model") != KIND:
            continue
        columns: Any = model.get("columns")
        k: Any = model.get("k")
        fine = isinstance(columns, list) and bool(columns) and all(c in qi for c in columns)
        fine = fine and len(set(columns)) == len(columns)
        require(fine, "a combination is not one of quasi-identifiers, each once")
        require(type(k) is int and k >= 1, "a combination's k is not a whole number ≥ 1")
        found.append(Crowd(tuple(columns), k))
    whole = least_size(models)
    if found and whole > 1:
        found.append(Crowd(tuple(qi), whole))
    return found


def counted(
    proof: files.Proof,
    released: pl.DataFrame,
    models: Sequence[Mapping[str, Any]],
    sensitive: pl.DataFrame,
    ranges: Mapping[str, Any],
) -> tuple[list[Crowd], list[Part]]:
    """Return the combinations, each counted in the release, and what is priced alone."""
    qi = released.columns
    crowds = crowds_of(models, qi)
    require_crowds(released, crowds)
    return crowds, parts_of(proof, released, models, sensitive, ranges)


def require_crowds(released: pl.DataFrame, crowds: Sequence[Crowd]) -> None:
    """Reject the first row that too few rows agree with in a combination of columns."""
    for crowd in crowds:
        try:
            require_size(classes_of(released, crowd.columns), crowd.k)
        except RejectedError as no:
            names = ", ".join(name.removeprefix(files.MARK) for name in crowd.columns)
            reason = no.reason.replace("its class has", "its group has")
            raise RejectedError(f"{reason} in the combination {names}", no.row) from None


def parts_of(
    proof: files.Proof,
    released: pl.DataFrame,
    models: Sequence[Mapping[str, Any]],
    sensitive: pl.DataFrame,
    ranges: Mapping[str, Any],
) -> list[Part]:
    """Return what is priced alone, for which size of class; reject sizes larger than asked for.

    Rows that are too few for two classes are one in every lawful release, unless some may be
    deleted.
    """
    qi, rows = released.columns, released.height
    crowds, groups = crowds_of(models, qi), files.groups_of(proof, qi)
    ks = proof.facts.get("group_k") or [proof.facts["price_k"]] * len(groups)
    fine = isinstance(ks, list) and len(ks) == len(groups)
    fine = fine and all(type(k) is int and k >= 1 for k in ks)
    require(fine, "the proof does not say for which k its groups of columns are priced")
    parts = [
        Part(prices, list(columns), k) for (prices, columns), k in zip(groups, ks, strict=True)
    ]
    larger = "the prices are for larger classes than asked"
    if not crowds:
        least = least_class(models, sensitive)
        if least <= rows < 2 * least and "delete_rows" not in proof.facts:
            least = rows
        sizes = [proof.facts["price_k"], *ks]  # rules go by the former, whatever the groups do
        require(max(sizes) <= least, larger)
        return parts
    plain = {str(model.get("model")) for model in models} <= {KIND, "k-anonymity"}
    plain = plain and not ranges and not proof.facts.get("pricing") and not proof.sets.height
    require(plain, "combinations go with no other models, rules, odd sets or ranges")
    require(all(part.k <= most_of(part.columns, crowds) for part in parts), larger)
    return parts


def most_of(columns: Sequence[str], crowds: Sequence[Crowd]) -> int:
    """Return the largest k of a combination that has these columns; 0 where none has them all."""
    return max((crowd.k for crowd in crowds if {*columns} <= {*crowd.columns}), default=0)


def clusters(crowds: Sequence[Crowd]) -> list[list[Crowd]]:
    """Return the combinations by clusters."""
    found: list[list[Crowd]] = []
    for crowd in crowds:
        near = [one for one in found if any({*c.columns} & {*crowd.columns} for c in one)]
        found = [one for one in found if one not in near]
        found.append([c for one in near for c in one] + [crowd])
    return found


def total_of(
    totals: Sequence[int],
    crowds: Sequence[Crowd],
    parts: Sequence[Part],
    cells: pl.DataFrame,
    ladders: Mapping[str, pl.DataFrame],
    quantum: int,
) -> int:
    """Return what every release costs at least, in units of 1/(scale·quantum).

    Parameters
    ----------
    totals: what the prices of the parts sum to.
    cells: of the original, as text.
    """
    if not crowds:
        return sum(totals)
    found, left = 0, [MOST_OF_ALL]
    for cluster in clusters(crowds):
        mine = {column for crowd in cluster for column in crowd.columns}
        by_prices = sum(x for x, part in zip(totals, parts, strict=True) if {*part.columns} & mine)
        found += max(by_prices, by_rows(cluster, cells, ladders, left) * quantum)
    return found


def by_rows(
    cluster: Sequence[Crowd],
    cells: pl.DataFrame,
    ladders: Mapping[str, pl.DataFrame],
    left: list[int],
) -> int:
    """Return the sum over rows of the cheapest open choice; 0 where there are too many to try.

    ``left``: how many may be tried in all, counted down.
    """
    columns = list(dict.fromkeys(c for crowd in cluster for c in crowd.columns))
    coded = {column: coded_of(cells[column], ladders[column]) for column in columns}
    shared = [c for c in columns if sum(c in crowd.columns for crowd in cluster) > 1]
    some = (shared, *(crowd.columns for crowd in cluster))
    choices = [prod(len(coded[c].node) for c in names) for names in some]
    if max(choices) > MOST_CHOICES:
        return 0
    left[0] -= sum(choices[1:])
    if left[0] < 0:
        return 0
    own = [dict(own_costs(crowd, shared, coded)) for crowd in cluster]
    best = np.full(cells.height, NEVER)
    for levels in product(*(range(len(coded[c].node)) for c in shared)):
        at = dict(zip(shared, levels, strict=True))
        total = sum((coded[c].cost[up][coded[c].leaf] for c, up in at.items()), np.int64(0))
        for crowd, costs in zip(cluster, own, strict=True):
            total = total + costs[tuple(at[c] for c in crowd.columns if c in at)]
        best = np.minimum(best, total)
    lacking = bool((best >= NEVER // 8).any())
    require(not lacking, "fewer rows than a combination's k")
    return sum(best.tolist())


def own_costs(
    crowd: Crowd, shared: Sequence[str], coded: Mapping[str, Coded]
) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Yield levels of the columns that are shared, and what the others then cost each row."""
    both = [c for c in crowd.columns if c in shared]
    alone = [c for c in crowd.columns if c not in shared]
    rows = len(coded[crowd.columns[0]].leaf)
    for fixed in product(*(range(len(coded[c].node)) for c in both)):
        best = np.full(rows, NEVER // 8)
        for free in product(*(range(len(coded[c].node)) for c in alone)):
            levels = dict(zip([*both, *alone], [*fixed, *free], strict=True))
            cost = np.zeros(rows, np.int64)
            for c, up in zip(alone, free, strict=True):
                cost += coded[c].cost[up][coded[c].leaf]
            labels = {c: coded[c].node[up][coded[c].leaf] for c, up in levels.items()}
            size = pl.DataFrame(labels).select(pl.len().over(list(labels)).cast(pl.Int64))
            enough = size.to_series().to_numpy() >= crowd.k
            best = np.where(enough, np.minimum(best, cost), best)
        yield fixed, best


def coded_of(cells: pl.Series, ladder: pl.DataFrame) -> Coded:
    """Return a column's cells as codes, with what they may show."""
    leaf, node, cost = tables(ladder)
    codes = pl.DataFrame({"leaf": leaf.cast(pl.String), "code": np.arange(len(leaf))})
    found = pl.DataFrame({"leaf": cells.cast(pl.String)}).join(
        codes, on="leaf", how="left", nulls_equal=True, maintain_order="left"
    )
    return Coded(found["code"].cast(pl.Int64).to_numpy(), node, cost)
