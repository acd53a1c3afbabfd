"""How far the prices of single rows may rise in a program with odd sets.

One box for all rows is as wide as the patterns in it are few.  Few prices want to go far, though:
those that stand at its border go on, twice as far, and the others leave them room.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.listing import within
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.lattice.emission import Emission

FARTHER, NEARER = 2.0, 0.5  # times as far, for prices at their top and for others
NEAREST, FARTHEST = 0.03, 0.6  # cells
AT_TOP = 1e-4
DOUBT = 1e-9  # in the units of prices
SHRINKING, SHRINKINGS = 0.7, 6  # of boxes with too many patterns


class Box(NamedTuple):
    """The patterns that matter below a top for each price, in cells, float64, (distinct,)."""

    lists: Emission
    top: NDArray[np.float64]


class RowBoxes:
    """Boxes of a length for each row, one after the other.

    Attributes
    ----------
    reach: float64, shape (distinct,): how far prices may rise, in cells.
    most: pairs of a row and a pattern in one box.
    """

    def __init__(self, tree: PrefixTree, k: int, room: float, most: int) -> None:
        self.tree, self.k, self.most = tree, k, most
        self.reach = np.full(tree.instance.distinct, room)

    def further(self, price: NDArray[np.float64], top: NDArray[np.float64]) -> Box | None:
        """Return the next box; None where it has no room or time ends.

        price, top: float64, shape (distinct,): where prices stand in the box at hand, and its top.
        """
        far = np.minimum(FARTHER * self.reach, max(FARTHEST, float(self.reach.max())))
        near = np.maximum(NEARER * self.reach, np.minimum(NEAREST, self.reach))
        self.reach = np.where(price > top - AT_TOP, far, near)
        for _ in range(SHRINKINGS):
            top = price + self.reach
            cells = self.tree.instance.cell
            lists = within(self.tree, top * cells, self.k, DOUBT, self.most)
            if lists is not None:
                return Box(lists, top)
            if self.tree.stop.now():
                break
            self.reach *= SHRINKING
        return None
