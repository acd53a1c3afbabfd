"""One averaged column: the optimum, by a shortest path (Hansen and Mukherjee 2003)."""

from dataclasses import dataclass
from itertools import accumulate
from math import lcm

import numpy as np

from incrowd.averages.axes import Ints
from incrowd.averages.strata import Points
from incrowd.hierarchy.averages import MEDIAN
from incrowd.run.stop import Stop
from incrowd.solvers.base import Scope


@dataclass(frozen=True, kw_only=True)
class HansenMukherjee:
    """The cheapest classes of one column.

    Claim.  Some optimum has classes of k to 2k − 1 rows that are next to each other in order.
    Argument.  The sorted rows are handed out to the averages in order, as many to each as before:
    neither squares nor distances from these sum to more, and averages of their own make them no
    more either.  A class of 2k rows or more splits in order into two that cost no more.  What is
    left is a shortest path over the places between rows.  Costs are whole numbers here: times the
    least common multiple of the sizes.
    """

    id = "hansen-mukherjee"
    guarantee = "exact"
    scope = Scope(models=("averages of k rows",), hierarchies=False, size="one averaged column")
    source = "Hansen & Mukherjee 2003"

    def refuse(self, points: Points) -> str | None:
        """Refuse several columns."""
        if len(points.axes) <= 1:
            return None
        return "several averaged columns vary; use microaggregation, mdav or v-mdav"

    def run(self, points: Points, seed: int, stop: Stop) -> Ints:
        """Return the class of each row; an optimum unless time is up."""
        if not points.axes:
            return in_order(points.count, points.k)
        axis = points.axes[0]
        numbers = axis.at(points.rows)
        order = sorted(range(points.count), key=numbers.__getitem__)
        rising = [numbers[i] for i in order]
        ends = cheapest(rising, points.k, axis.rule.kind == MEDIAN, stop)
        classes = np.zeros(points.count, np.int64)
        for number, (first, last) in enumerate(zip([0, *ends], ends, strict=False)):
            classes[order[first:last]] = number
        return classes


def in_order(rows: int, k: int) -> Ints:
    """Return classes of k rows or more as the rows come."""
    return np.minimum(np.arange(rows) // k, max(rows // k - 1, 0)).astype(np.int64)


def cheapest(rising: list[int], k: int, absolute: bool, stop: Stop) -> list[int]:
    """Return where the classes end that rising numbers are best cut into; any where time is up.

    Parameters
    ----------
    absolute: count distances from the median, not squares about the mean.
    """
    rows, least = len(rising), rising[0]
    shifted = [x - least for x in rising]  # short numbers are quick
    sums = [0, *accumulate(shifted)]
    times = 1 if absolute else lcm(*range(k, 2 * k))
    factor = [0, *(times // size if size >= k and not absolute else 0 for size in range(1, 2 * k))]
    square = [0, *accumulate(x * x for x in shifted)]
    best: list[int | None] = [0, *([None] * rows)]
    came = [0] * (rows + 1)
    for end in range(k, rows + 1):
        if end % 1024 == 0 and stop.now():
            return [*range(k, rows - k + 1, k), rows]
        for begin in range(max(0, end - 2 * k + 1), end - k + 1):
            before = best[begin]
            if before is None:
                continue
            size = end - begin
            if absolute:
                upper = sums[end] - sums[end - size // 2]
                paid = upper - sums[begin + size // 2] + sums[begin]
            else:
                total = sums[end] - sums[begin]
                paid = factor[size] * (size * (square[end] - square[begin]) - total * total)
            known = best[end]
            if known is None or before + paid < known:
                best[end], came[end] = before + paid, begin
    ends, at = [], rows
    while at:
        ends.append(at)
        at = came[at]
    return ends[::-1]
