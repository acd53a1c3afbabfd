"""The labels of a tree: where each stands, and which of them a cell shows."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.hierarchy.tree import Tree


def with_star(tree: Tree, star: str) -> Tree:
    """Write the root as ``star``."""
    if tree.labels[-1] == (star,):
        return tree
    for labels in tree.labels[:-1]:
        if star in labels:
            raise InputError(
                f"column {tree.column!r}: a label of its hierarchy equals {star!r}, the chosen "
                "mark of a suppressed cell; choose another one with --star"
            )
    return replace(tree, labels=(*tree.labels[:-1], (star,)))


def labels_by_level(tree: Tree) -> tuple[tuple[str | None, ...], NDArray[np.int32]]:
    """Return the labels above the leaves, and int32 of shape (levels, leaves): index into them.

    −1 where the label is the leaf itself: level 0, and the padding of shallow leaves.
    """
    names: dict[str | None, int] = {}
    ids = np.full(tree.node.shape, -1, np.int32)
    leaves = np.array([*tree.leaves, ""], dtype=object)[:-1]
    for level in range(1, tree.levels):
        numbers = [names.setdefault(label, len(names)) for label in tree.labels[level]]
        label = np.array([*tree.labels[level], ""], dtype=object)[:-1][tree.node[level]]
        same = np.array(label == leaves, bool)
        ids[level] = np.where(same, -1, np.array(numbers, np.int32)[tree.node[level]])
    return tuple(names), ids


def moved(tree: Tree) -> NDArray[np.bool_]:
    """bool, shape (levels, leaves): whether a leaf released at a level reads differently."""
    return labels_by_level(tree)[1] >= 0


def places_of(tree: Tree) -> dict[str | None, tuple[int, int]]:
    """Return label → (level, node), the lowest level for a label that repeats."""
    place: dict[str | None, tuple[int, int]] = {}
    for level in range(tree.levels - 1, -1, -1):
        for node, label in enumerate(tree.labels[level]):
            place[label] = (level, node)
    return place
