"""Which rows go where in a fractional release: the other side of the prices.

The prices are the dual of the linear program over lawful classes.  Near the best of them, the
supergradient of F is what a fractional release leaves uncovered: pattern p holds as many rows as
have p for their worst excess, in the proportions of its dearest lawful class.  The mean of these
over many small steps about the optimum covers every row almost exactly, and so comes close to the
program's own solution (Barahona and Anbil, The volume algorithm, Mathematical
Programming 87, 2000).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.lawful_price import LawfulBoxes
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.rounds import Stop, no_stop
from incrowd.lattice.emission import Emission, new_sink


@dataclass(frozen=True, kw_only=True)
class LawfulShares:
    """Averages steps about the best prices.

    Attributes
    ----------
    iterations: steps, the first quarter of which does not count.
    rate: step, in mean prices.
    pairs, patterns: budget of (row, pattern) pairs and patterns kept in memory.
    """

    iterations: int = 300
    rate: float = 0.004
    pairs: int = 6_000_000
    patterns: int = 1_000_000

    def emission(
        self, tree: LawfulTree, price: NDArray[np.float64], margin: float
    ) -> tuple[Emission, float]:
        """List the patterns that prices within ``margin`` violate; return them and the margin.

        ``margin`` is in units of 1/scale, and becomes smaller where the budget is.
        """
        sink = new_sink(self.patterns, self.pairs)
        margin, patterns = LawfulBoxes(tree, 0).listed(price, margin, sink)
        return sink.first(patterns), margin

    def run(
        self,
        tree: LawfulTree,
        emission: Emission,
        centre: NDArray[np.float64],
        width: float,
        counts: NDArray[np.int64],
        stop: Stop = no_stop,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how many copies each pair carries (float64, pairs), and the prices at the end.

        ``counts`` (int64, distinct, ≥ 1): copies to be covered of each row; rows that no pattern of
        the emission lists do not count.
        """
        mean = max(float(np.abs(centre) @ counts) / float(counts.sum()), 1e-9)
        step = min(self.rate * mean, width / 4)
        ascent = tree.ascent(emission, len(emission.cost), counts)
        return ascent.shares(centre, width, self.iterations, step, stop)
