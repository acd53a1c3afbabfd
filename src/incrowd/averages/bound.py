"""What no classes of k rows or more can cost less than: prices of rows."""

import numpy as np

from incrowd.averages.search import near_rows
from incrowd.averages.strata import Floats, Points
from incrowd.run.stop import Stop

MARGIN, FAR = 1e-9, 4e-14  # of rounding: a share, and of the square of the farthest coordinate


def pair_prices(points: Points, stop: Stop) -> Floats:
    """Return float64, shape (n,): prices that no class of k rows or more undercuts.

    Claim.  A class T costs at least (1/|T|) Σ d(i, j) over its pairs, d being the sum over the
    columns of squared differences, or of distances where medians are published.  So the row i may
    be charged half the sum of its k − 1 nearest d, over k.
    Argument.  For squares the sum over pairs is |T| times the squares about the mean.  For
    distances |xᵢ − xⱼ| ≤ |xᵢ − m| + |xⱼ − m|.  Each row pays half of its own pairs: at least half
    the sum of its |T| − 1 smallest, over |T|, and that never falls as T grows: the next d is no
    less than the mean of those before.
    """
    if not points.axes:
        return np.zeros(points.count)
    order = np.argsort(points.place[:, 0], kind="stable")
    place = np.ascontiguousarray(points.place[order])
    known = near_rows(place, points.absolute, points.k - 1, stop) if points.k > 1 else None
    price = np.zeros(points.count)
    if known is not None:
        price[order] = known[1].sum(axis=1) / (2 * points.k)
    # what doubles lose is far less: coordinates are right to 2⁻⁵² of themselves
    doubt = FAR * len(points.axes) * (1 + float(np.abs(place).max())) ** 2
    return np.maximum(price * (1 - MARGIN) - doubt, 0)
