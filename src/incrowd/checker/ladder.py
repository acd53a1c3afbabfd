"""Ladders: what each value of a column may become, and at what cost.

A ladder is a plain polars frame with one row per rung:

    leaf   String, null = missing   the value in the original table
    level  integer                  0 (the value itself) … top (the root)
    label  String, null = missing   the text released at that level
    cost   integer                  what the cell then pays, in units of 1/scale
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.checker.limits import MOST_LEVELS
from incrowd.checker.rejection import require

COLUMNS = ("leaf", "level", "label", "cost")


def validated(ladder: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the ladder in canonical types and order, or reject it.

    A ladder is lawful when every leaf has one rung at each level 0..top; level 0 is the leaf
    itself; all leaves meet in one root; leaves that share a label at a level share all
    later labels (a tree); a label has one cost, at whatever levels; costs never fall on the way
    up; and no label names two different sets of leaves, so that the released text alone says
    which node is meant.
    """

    def must(truth: bool, reason: str) -> None:
        require(truth, f"the hierarchy {reason}", column=column)

    must(tuple(ladder.columns) == COLUMNS, f"lacks one of the columns {', '.join(COLUMNS)}")
    must(
        ladder["level"].dtype.is_integer() and ladder["cost"].dtype.is_integer(),
        "has levels or costs that are not whole numbers",
    )
    text = pl.col("leaf", "label").cast(pl.String)
    ladder = ladder.with_columns(text, pl.col("level", "cost").cast(pl.Int64))
    must(ladder["level"].null_count() + ladder["cost"].null_count() == 0, "has an empty number")
    if not ladder.height:
        return ladder
    tops = int(ladder["level"].max()) + 1  # type: ignore[arg-type]
    must(tops <= MOST_LEVELS, f"has more than {MOST_LEVELS} levels")
    must(int(ladder["level"].min()) == 0, "does not start at level 0")  # type: ignore[arg-type]
    must(not ladder.select("leaf", "level").is_duplicated().any(), "has a value twice at a level")
    must(ladder.height == ladder["leaf"].n_unique() * tops, "lacks a level for some value")
    ladder = ladder.sort("level", "leaf", nulls_last=True)
    n = ladder.height // tops
    must(ladder["leaf"][:n].equals(ladder["label"][:n]), "does not start with the value itself")
    node, cost = (part.reshape(tops, n) for part in (nodes(ladder), ladder["cost"].to_numpy()))
    must(bool((node[-1] == node[-1, 0]).all()), "has more than one root")
    must(bool(((cost >= 0) & (cost < 2**40)).all()), "has a cost below 0 or of 2^40 or more")
    must(bool((np.diff(cost, axis=0) >= 0).all()), "has a cost that falls towards the root")
    # which node at which level
    at, place = np.unique(node + np.arange(tops)[:, None] * (node.max() + 1), return_inverse=True)
    must(decided(place.reshape(tops, n)[:-1], node[1:]), "has two parents for a node")
    must(decided(node, cost), "has two costs for one node")
    below = np.bincount(np.unique(node * n + np.arange(n)) // n)  # leaves of each label
    must(bool(below[at % len(below)].sum() == node.size), "has one label for two different nodes")
    return ladder


def nodes(ladder: pl.DataFrame) -> NDArray[np.int64]:
    """int64, shape (rungs,): a number of each label; 0 where it is missing."""
    return ladder["label"].rank("dense").fill_null(0).cast(pl.Int64).to_numpy()


def decided(key: NDArray[np.int64], value: NDArray[np.int64]) -> bool:
    """Whether equal keys (int64, from 0, of few gaps) have equal values (int64)."""
    last = np.zeros(key.max(initial=0) + 1, np.int64)
    last[key] = value
    return bool((last[key] == value).all())


def rungs(ladder: pl.DataFrame) -> pl.DataFrame:
    """Return ``leaf, label, cost``: what releasing the leaf as that label costs."""
    return ladder.group_by("leaf", "label").agg(pl.col("cost").min())


def every_level(ladder: pl.DataFrame) -> tuple[pl.Series, NDArray[np.int64], NDArray[np.int64]]:
    """Return the leaves, and node ids and costs, int64 of shape (levels, leaves)."""
    leaves = ladder.filter(pl.col("level") == 0)["leaf"]
    shape = (-1, max(1, len(leaves)))
    return leaves, nodes(ladder).reshape(shape), ladder["cost"].to_numpy().reshape(shape)


def tables(ladder: pl.DataFrame) -> tuple[pl.Series, NDArray[np.int64], NDArray[np.int64]]:
    """Return the same without levels that part the leaves like the one below.

    They cost no less.
    """
    leaves, node, cost = every_level(ladder)
    parts = ladder.group_by("level").agg(pl.col("label").n_unique()).sort("level")["label"]
    new = np.diff(parts.to_numpy(), prepend=len(leaves) + 1) != 0
    return leaves, node[new], cost[new]
