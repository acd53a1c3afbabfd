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

from incrowd.checker.rejection import require

COLUMNS = ("leaf", "level", "label", "cost")
MOST_LEVELS = 1000


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
    leaf, level = pl.col("leaf"), pl.col("level")
    tops = int(ladder["level"].max()) + 1  # type: ignore[arg-type]
    must(tops <= MOST_LEVELS, f"has more than {MOST_LEVELS} levels")
    must(int(ladder["level"].min()) == 0, "does not start at level 0")  # type: ignore[arg-type]
    must(not ladder.select("leaf", "level").is_duplicated().any(), "has a value twice at a level")
    must(ladder.height == ladder["leaf"].n_unique() * tops, "lacks a level for some value")
    ladder = ladder.sort("level", "leaf", nulls_last=True)
    base = ladder.filter(level == 0)
    must(
        base.select(leaf.eq_missing(pl.col("label")).all()).item(),
        "does not start with the value itself",
    )
    must(ladder.filter(level == tops - 1)["label"].n_unique() == 1, "has more than one root")
    cost = ladder["cost"].to_numpy().reshape(tops, -1)
    must(bool(((cost >= 0) & (cost < 2**40)).all()), "has a cost below 0 or of 2^40 or more")
    must(bool((np.diff(cost, axis=0) >= 0).all()), "has a cost that falls towards the root")
    up = ladder.with_columns(pl.col("label").shift(-base.height).alias("parent"))
    nodes = up.group_by("level", "label").agg(pl.len().alias("size"), pl.col("parent").n_unique())
    must(bool((nodes.filter(level < tops - 1)["parent"] == 1).all()), "has two parents for a node")
    names = ladder.group_by("label").agg(leaf.n_unique().alias("leaves"), pl.col("cost").n_unique())
    must(bool((names["cost"] == 1).all()), "has two costs for one node")
    sizes = nodes.join(names, on="label", nulls_equal=True)
    must(bool((sizes["size"] == sizes["leaves"]).all()), "has one label for two different nodes")
    return ladder


def rungs(ladder: pl.DataFrame) -> pl.DataFrame:
    """Return ``leaf, label, cost``: what releasing the leaf as that label costs."""
    return ladder.group_by("leaf", "label").agg(pl.col("cost").min())


def tables(ladder: pl.DataFrame) -> tuple[pl.Series, NDArray[np.int64], NDArray[np.int64]]:
    """Return the leaves, and node ids and costs, int64 of shape (levels, leaves).

    Levels that part the leaves like the one below are left out: they cost no less.
    """
    leaves = ladder.filter(pl.col("level") == 0)["leaf"]
    shape = (-1, max(1, len(leaves)))
    node = ladder["label"].rank("dense").fill_null(0).cast(pl.Int64).to_numpy().reshape(shape)
    parts = ladder.group_by("level").agg(pl.col("label").n_unique()).sort("level")["label"]
    new = np.diff(parts.to_numpy(), prepend=len(leaves) + 1) != 0
    return leaves, node[new], ladder["cost"].to_numpy().reshape(shape)[new]
