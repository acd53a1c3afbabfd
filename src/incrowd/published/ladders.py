"""Trees as the plain data that the independent checker reads."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from incrowd.checker.ladder import validated
from incrowd.checker.ranges import Intervals
from incrowd.checker.rejection import RejectedError
from incrowd.errors import VerificationError
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.tree import Tree


def ladder_of(tree: Family) -> pl.DataFrame:
    """Return the tree as a ladder: ``leaf, level, label, cost``, see ``incrowd.checker.ladder``.

    Of a column with intervals only the values and the star; ``ranges_of`` says the rest.
    """
    if isinstance(tree, RangeFamily):
        flat = Tree.suppression(tree.column, tree.leaves, tree.dearest)
        tree = replace(flat, labels=(tree.leaves, (tree.star,)))
    leaves = len(tree.leaves)
    labels = [
        names[node] for names, row in zip(tree.labels, tree.node, strict=True) for node in row
    ]
    return pl.DataFrame(
        {
            "leaf": pl.Series(list(tree.leaves) * tree.levels, dtype=pl.String),
            "level": np.repeat(np.arange(tree.levels, dtype=np.int64), leaves),
            "label": pl.Series(labels, dtype=pl.String),
            "cost": tree.cost.ravel().astype(np.int64),
        }
    )


def ladders_of(trees: tuple[Family, ...]) -> dict[str, pl.DataFrame]:
    """Return the ladders of all trees by column name, validated by the checker.

    Raises
    ------
    VerificationError: a hierarchy is no tree.
    """
    try:
        return {tree.column: validated(ladder_of(tree), tree.column) for tree in trees}
    except RejectedError as error:
        raise VerificationError(f"the re-check of the release: {error}") from None


def ranges_of(trees: tuple[Family, ...]) -> dict[str, Intervals]:
    """Return the intervals of the columns that have them, as the checker works them out."""
    return {
        tree.column: Intervals(stated(tree), ladder_of(tree), tree.column, tree.spared)
        for tree in trees
        if isinstance(tree, RangeFamily)
    }


def stated(family: RangeFamily) -> dict[str, Any]:
    """Return the rule of a column with intervals, as a proof states it."""
    return {name: value for name, value in family.rule.items() if name != "rule"}
