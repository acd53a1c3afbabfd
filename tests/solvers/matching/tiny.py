"""Tiny random tables of every kind that the matching solvers serve."""

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.tree import Tree
from incrowd.problem.instance import Instance, from_codes


def random_tree(rng: np.random.Generator, column: int, leaves: int) -> Tree:
    """A tree of 1 to 3 levels above the leaves, with random costs that grow."""
    levels = int(rng.integers(2, 5))
    node = [np.arange(leaves, dtype=np.int32)]
    cost = [np.zeros(leaves, np.int64)]
    for _ in range(levels - 2):
        merge = np.concatenate([[0], np.cumsum(rng.integers(0, 2, int(node[-1][-1])))])
        node.append(merge.astype(np.int32)[node[-1]])
        step = rng.integers(0, 4, int(node[-1][-1]) + 1)
        below = cost[-1].copy()
        for group in range(len(step)):
            inside = node[-1] == group
            below[inside] = below[inside].max() + step[group]
        cost.append(below)
    node.append(np.zeros(leaves, np.int32))
    cost.append(np.full(leaves, int(cost[-1].max()) + int(rng.integers(1, 4)), np.int64))
    labels = tuple(tuple(f"{level}.{i}" for i in np.unique(n)) for level, n in enumerate(node))
    return Tree(f"q{column}", labels, np.vstack(node), np.vstack(cost))


def random_trees(rng: np.random.Generator, kind: str, sizes: list[int]) -> tuple[Tree, ...] | None:
    """Trees for suppression (None), weighted suppression, or hierarchies."""
    if kind == "suppression":
        return None
    if kind == "weights":
        return tuple(
            Tree.suppression(f"q{j}", tuple(str(v) for v in range(s)), int(rng.integers(1, 6)))
            for j, s in enumerate(sizes)
        )
    return tuple(random_tree(rng, j, s) for j, s in enumerate(sizes))


def random_table(
    rng: np.random.Generator, kind: str, rows: int, sensitive: int = 0
) -> tuple[Instance, NDArray[np.int64]]:
    """A table with many ties and duplicates; ``sensitive`` is the number of sensitive values."""
    columns = int(rng.integers(1, 5))
    sizes = [int(s) for s in rng.integers(1, 5, columns)]
    codes = np.stack([rng.integers(0, s, rows) for s in sizes], axis=1)
    values = rng.integers(0, sensitive, rows) if sensitive else None
    return from_codes(codes, random_trees(rng, kind, sizes), values)
