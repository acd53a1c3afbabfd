"""The published classes above each new row, the cheapest first."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.tree import Tree
from incrowd.problem.instance import places_in

Ints = NDArray[np.int64]
FAR = np.iinfo(np.int64).max // 4


SERVED = "a table that joins an earlier release"


@dataclass(frozen=True, eq=False)
class Published:
    """The classes of the earlier release that can cover new rows.

    Attributes
    ----------
    levels, nodes: int64, shape (classes, columns): their labels in the new rows' trees.
    values: sensitive values of each class's rows: int32 of shape (rows, attributes).
    """

    levels: Ints
    nodes: Ints
    values: tuple[NDArray[np.int32], ...]


@dataclass(frozen=True, eq=False)
class Covers:
    """The cheapest classes above each row: shape (rows, options), by rising cost.

    ``place`` is −1 and ``cost`` is FAR where there is none.
    """

    cost: Ints
    place: Ints


def covers(
    codes: NDArray[np.integer], trees: tuple[Tree, ...], levels: Ints, nodes: Ints, options: int
) -> Covers:
    """Find the cheapest classes above each row.

    Parameters
    ----------
    codes: shape (rows, columns): leaf codes.
    levels, nodes: shape (classes, columns).  At one vector of levels a row has one class at most,
        so there is one look-up for each vector that occurs.
    """
    rows = len(codes)
    cost = np.full((rows, options + 1), FAR)
    place = np.full((rows, options + 1), -1)
    shapes, of_shape = np.unique(levels, axis=0, return_inverse=True)
    for s, shape in enumerate(shapes):
        members = np.flatnonzero(of_shape.ravel() == s)
        columns = list(zip(trees, shape.tolist(), codes.T, strict=True))
        above = np.column_stack([tree.node[level][code] for tree, level, code in columns])
        price = sum(tree.cost[level][code] for tree, level, code in columns)
        at = places_in(nodes[members], above)
        found = np.where(at >= 0, members[at], -1)
        cost[:, -1] = np.where(found >= 0, price, FAR)
        place[:, -1] = found
        order = np.argsort(cost, axis=1, kind="stable")
        cost = np.take_along_axis(cost, order, axis=1)
        place = np.take_along_axis(place, order, axis=1)
    return Covers(cost[:, :options], np.where(cost < FAR, place, -1)[:, :options])
