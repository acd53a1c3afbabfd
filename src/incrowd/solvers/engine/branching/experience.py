"""What earlier tries tell of a pattern: by how much the bound rises when it is closed, or open.

Pseudo-costs (Benichou et al., Mathematical Programming 1, 1971), from tries alone: a try gives a
rise per unit by which the pattern's share changed.  They say which patterns are worth a try next;
what is chosen is still decided by tries.
"""

import numpy as np
from numpy.typing import NDArray

LEAST_CHANGE = 1e-3  # of a share, for a rise per unit to mean something
CLOSED, OPEN = 0, 1


class Experience:
    """Mean rises of the bound per unit, by side and pattern; in cells.

    Attributes
    ----------
    rise, tries: float64, int64, shape (2, patterns): sum of the rises per unit, and their number.
    """

    def __init__(self, patterns: int) -> None:
        self.rise = np.zeros((2, patterns))
        self.tries = np.zeros((2, patterns), np.int64)

    def note(self, side: int, p: int, rise: float, change: float) -> None:
        """Remember what a try told of pattern p, whose share changed by so much."""
        self.rise[side, p] += rise / max(change, LEAST_CHANGE)
        self.tries[side, p] += 1

    def expected(
        self, side: int, patterns: NDArray[np.int64], change: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the rises that patterns promise; float64, shape (patterns,).

        One that was not tried yet promises per unit what all others did on average.
        """
        rise, tries = self.rise[side], self.tries[side]
        usual = float(rise.sum()) / float(tries.sum()) if tries.any() else 1.0
        own = rise[patterns] / np.maximum(tries[patterns], 1)
        return np.where(tries[patterns] > 0, own, usual) * change
