"""Holes made in the checker on purpose: a forger worth the name has to find each of them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import polars as pl

from incrowd.checker import (
    alike,
    charges,
    combinations,
    costs,
    crowds,
    deleted,
    delimited,
    dropped,
    files,
    inequality,
    ladder,
    lawful,
    models,
    oddsets,
    packed,
    people,
    published,
    recheck,
    sizes,
    unchanged,
    verify,
)


def lax(*modules: Any, reason: str) -> list[AbstractContextManager[Any]]:
    """Have modules no longer reject for a reason that has these words in it."""

    def of(module: Any) -> Callable[..., None]:
        real = module.require

        def require(truth: bool, why: str, *where: Any, **more: Any) -> None:
            real(truth or reason in why, why, *where, **more)

        return require

    return [patch.object(module, "require", of(module)) for module in modules]


def believing() -> list[AbstractContextManager[Any]]:
    """Believe what a file claims of its cells."""
    return [patch.object(packed, "unclaimed", lambda table: table)]


def smaller(*_: Any, **__: Any) -> list[AbstractContextManager[Any]]:
    """Drop one row more than cut 2 allows."""
    real = inequality.kept

    def kept(
        rows: Any, depth: int, row: Any, starts: Any, cost: Any, k: int, wide: Any = True
    ) -> Any:
        return real(rows, depth, row, starts, cost, k + 1, wide)

    return [patch.object(inequality, "kept", kept)]


def larger() -> list[AbstractContextManager[Any]]:
    """Look at sets of one row more than those that the prices are for."""
    real = crowds.violations
    return [patch.object(crowds, "violations", lambda rows, k, keep=None: real(rows, k + 1, keep))]


def without_sets() -> list[AbstractContextManager[Any]]:
    """Let every class pass beside odd sets."""
    return [patch.object(oddsets.OddSets, "broken", lambda *_: False)]


def shorter() -> list[AbstractContextManager[Any]]:
    """Never look at generalized patterns."""
    real = ladder.tables

    def tables(one: Any) -> Any:
        leaves, node, cost = real(one)
        return leaves, node[:1], cost[:1]

    return [patch.object(verify, "tables", tables)]


def untrue() -> list[AbstractContextManager[Any]]:
    """Let every label pass, those that are no ancestors for nothing."""
    real = recheck.rungs

    def rungs(one: pl.DataFrame) -> pl.DataFrame:
        known = real(one)
        pairs = known.select("leaf").unique().join(known.select("label").unique(), how="cross")
        free = pairs.join(known, on=["leaf", "label"], how="anti", nulls_equal=True)
        return pl.concat([known, free.with_columns(pl.lit(0, pl.Int64).alias("cost"))])

    return [patch.object(recheck, "rungs", rungs)]


def free_charges() -> list[AbstractContextManager[Any]]:
    """Charge nothing for patterns that break the rules."""
    return [patch.object(charges.Charges, "worth", lambda *_: 0)]


def any_size() -> list[AbstractContextManager[Any]]:
    """Never find a dear class of one of the sizes."""

    def exceeds(_: Any, e: Any, rank: Any, copies: Any, value: Any, group: Any) -> Any:
        return np.zeros(int(group[-1]) + 1, bool)

    return [patch.object(sizes.BySize, "exceeds", exceeds)]


def one_more_value() -> list[AbstractContextManager[Any]]:
    """Ask only for classes of one value more than they need."""
    real = lawful.distinct_exceeds

    def exceeds(l: int, k: int, *rest: Any) -> Any:  # noqa: E741
        return real(l + 1, k, *rest)

    return [patch.object(lawful, "distinct_exceeds", exceeds)]


def tight_shares() -> list[AbstractContextManager[Any]]:
    """Let no value fill as much of a class as it may."""
    real = lawful.share_case

    def share_case(size: int, unit: int, shares: Any) -> Any:
        one = real(size, unit, shares)
        return one._replace(cap=np.maximum(one.cap - unit, 0))

    return [patch.object(lawful, "share_case", share_case)]


def all_kept() -> list[AbstractContextManager[Any]]:
    """Take nothing off the bound for rows that may be deleted."""
    return [patch.object(deleted.Kept, "least", lambda _, total, __: max(0, total))]


class Hole(NamedTuple):
    """A hole, and the kind of forgery that finds it: a base and a change."""

    opened: Callable[[], list[AbstractContextManager[Any]]]
    base: str
    change: str


CLIMB = "prices as high as believed"
HOLES: dict[str, Hole] = {
    "what a file claims of its cells is believed": Hole(believing, "k=3", CLIMB),
    "price_k may be larger than any class": Hole(
        lambda: lax(combinations, reason="the prices are for larger"), "k=3", CLIMB
    ),
    "a bound above what is proven": Hole(
        lambda: lax(verify, reason="the prices prove"), "hierarchies", "coarser"
    ),
    "another cost": Hole(lambda: lax(recheck, reason="as claimed"), "k=3", "number"),
    "groups of columns overlap": Hole(
        lambda: lax(files, reason="groups of columns name one twice"), "k=3", CLIMB
    ),
    "prices of a combination for any k": Hole(
        lambda: lax(combinations, reason="the prices are for larger"), "combinations, apart", CLIMB
    ),
    "any pricing rule": Hole(lambda: lax(lawful, reason="imply no such"), "distinct", CLIMB),
    "one row too many is cut": Hole(smaller, "k=3", CLIMB),
    "sets of one row too many": Hole(larger, "k=3", CLIMB),
    "odd sets are never tried": Hole(without_sets, "pairs", CLIMB),
    "charges are free": Hole(free_charges, "t", CLIMB),
    "sizes of class are never asked": Hole(any_size, "t", CLIMB),
    "classes of one value more": Hole(one_more_value, "distinct", CLIMB),
    "shares smaller than they may be": Hole(tight_shares, "alpha", CLIMB),
    "only patterns of values": Hole(shorter, "hierarchies", CLIMB),
    "a label for two nodes": Hole(
        lambda: lax(ladder, reason="one label for two"), "hierarchies", "two nodes alike"
    ),
    "two costs of a node": Hole(
        lambda: lax(ladder, reason="two costs"), "hierarchies", "two costs"
    ),
    "costs that fall": Hole(
        lambda: lax(ladder, reason="falls towards"), "hierarchies", "two costs"
    ),
    "any root": Hole(lambda: lax(published, reason="not the star"), "hierarchies", "another root"),
    "hierarchies without a name": Hole(
        lambda: lax(published, reason="names no hierarchy"), "hierarchies", "hierarchies"
    ),
    "people by any column": Hole(
        lambda: lax(people, reason="names people is not left out"), "k=3", "other people"
    ),
    "rows of nobody": Hole(
        lambda: lax(people, reason="do not say whose"), "nobody, own", "people otherwise"
    ),
    "any pseudonyms": Hole(
        lambda: [patch.object(people, "require_pseudonyms", lambda *_: None)],
        "pseudonyms",
        "pseudonyms",
    ),
    "rows that pseudonyms link": Hole(
        lambda: lax(people, reason="pseudonyms link rows"), "pseudonyms", "pseudonyms"
    ),
    "records of one person": Hole(
        lambda: [patch.object(models, "require_shared", lambda *_: None)],
        "people",
        "people otherwise",
    ),
    "constant columns differ": Hole(
        lambda: [patch.object(alike, "require_none", lambda *_: None)], "alike", "other classes"
    ),
    "columns vary that are said to be constant": Hole(
        lambda: lax(alike, reason="not constant"), "alike", "people otherwise"
    ),
    "more rows deleted than may be": Hole(
        lambda: lax(deleted, reason="are deleted, and"), "deleted", "deleted rows"
    ),
    "deletions leave the bound as it was": Hole(all_kept, "deleted", "prices as high as believed"),
    "rows left out of lawful tables": Hole(
        lambda: lax(dropped, reason="lawful whole"), "hierarchies", "rows left out"
    ),
    "more rows left out than the fewest": Hole(
        lambda: lax(dropped, reason="would do"), "rows left out", "rows left out"
    ),
    "cells within quotes or not": Hole(
        lambda: lax(delimited, reason="in two ways"), "k=3", "delimited text"
    ),
    "line ends within a cell": Hole(
        lambda: lax(delimited, reason="line ends within"), "k=3", "line ends in cells"
    ),
    "any row map": Hole(lambda: lax(recheck, dropped, reason="row map"), "k=3", "a row twice"),
    "columns of two roles": Hole(
        lambda: lax(verify, reason="exactly one role"), "hierarchies", "role"
    ),
    "kept columns changed": Hole(
        lambda: [patch.object(unchanged, "require_none", lambda *_: None)], "k=3", "cells swapped"
    ),
    "classes of any size": Hole(
        lambda: [patch.object(recheck, "require_size", lambda *_: None)], "k=3", "class parted"
    ),
    "classes of any law": Hole(
        lambda: [patch.object(alike, "require_lawful", lambda *_: None)],
        "distinct",
        "other classes",
    ),
    "untrue cells": Hole(untrue, "hierarchies", "another label"),
    "levels that are none": Hole(
        lambda: [patch.object(costs, "rule_of", lambda *_: "levels")], "ncp", "claims"
    ),
    "keys twice": Hole(lambda: [patch.object(files, "once", dict)], "k=3", "text"),
}
