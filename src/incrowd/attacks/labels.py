"""The labels of a release, looked up in the hierarchies; rows with the same ones are a class."""

import numpy as np

from incrowd.errors import InputError
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import places_among
from incrowd.kernels.types import Ints
from incrowd.tables.base import Table

OTHER = "the other release"
HOW = {"the release": "--hierarchy, --star", OTHER: "a policy file, --other-policy"}


def labels_of(
    release: Table, trees: tuple[Family, ...], called: str = "the release"
) -> tuple[Ints, Ints]:
    """Return level and node of each released cell, int64 of shape (rows, columns).

    Raises
    ------
    InputError: a label is no value and no ancestor of one.
    """
    levels = np.zeros((release.rows, len(trees)), np.int64)
    nodes = np.zeros_like(levels)
    for j, tree in enumerate(trees):
        column = release.encode(tree.column)
        place = places_among(tree, column.values)
        known = [place.get(text, (-1, -1)) for text in column.values]
        both = np.array(known or [(0, 0)], np.int64)[column.codes].reshape(-1, 2)
        strange = np.flatnonzero(both[:, 0] < 0)
        if len(strange):
            raise InputError(
                f"{called}, row {strange[0] + 1}, column {tree.column!r}: the cell is neither a "
                "value of the original nor one of its ancestors; name the hierarchies "
                f"and the mark of suppressed cells it was made with ({HOW[called]})"
            )
        levels[:, j], nodes[:, j] = both[:, 0], both[:, 1]
    return levels, nodes


def classes_of(levels: Ints, nodes: Ints) -> tuple[Ints, Ints]:
    """Return the different labels in order, levels and then nodes, and each row's place."""
    labels, place = np.unique(np.column_stack([levels, nodes]), axis=0, return_inverse=True)
    return labels.astype(np.int64), place.ravel().astype(np.int64)
