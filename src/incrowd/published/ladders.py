"""Trees as the plain data that the independent checker reads."""

import numpy as np
import polars as pl

from incrowd.hierarchy.tree import Tree


def ladder_of(tree: Tree) -> pl.DataFrame:
    """Return the tree as a ladder: ``leaf, level, label, cost``, see ``incrowd.checker.ladder``."""
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


def ladders_of(trees: tuple[Tree, ...]) -> dict[str, pl.DataFrame]:
    """Return the ladders of all trees by column name."""
    return {tree.column: ladder_of(tree) for tree in trees}
