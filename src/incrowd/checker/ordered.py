"""The ordered distance of a class and the table, from the values of the class alone.

Let C(j) count the table's rows up to the j-th value, N of them all, and H(j) those of a class of n
rows.  The distance is Σ |N·H(j) − n·C(j)| over N·n·(V − 1), V values.  Between two values of the
class H stays, and C does not fall: so terms change their sign once, and sums of C give the rest.
"""

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any

from incrowd.checker.rejection import require


class Places(list[Any]):
    """An order of values with what the table has of each.

    Attributes
    ----------
    place: of each value.  up_to: C, one after the other; sums: of these, from 0.
    """

    def __init__(self, order: Any, table: Mapping[tuple[Any], int]) -> None:
        require(isinstance(order, list), "the model does not list the values")
        self.place = {value: at for at, value in enumerate(order)}
        fine = len(order) == len(table) == len(self.place)
        fine = fine and all(value in self.place for (value,) in table)
        require(fine, "the model lists other values")
        super().__init__(order)
        self.up_to = list(accumulate(table[(value,)] for value in order))
        self.sums = list(accumulate(self.up_to, initial=0))

    def moved(self, group: Mapping[tuple[Any], int]) -> int:
        """Return Σ |N·H(j) − n·C(j)| for a class, its values counted."""
        rows, n = self.up_to[-1], sum(group.values())
        steps = sorted((self.place[value], count) for (value,), count in group.items())
        ends, total, height = [0, *(at for at, _ in steps), len(self)], 0, 0
        for (first, last), count in zip(pairwise(ends), [0, *(c for _, c in steps)], strict=True):
            height += count
            level = rows * height
            cut = bisect_right(self.up_to, level // n, first, last)  # from there on C is above
            below, above = cut - first, last - cut
            inside = self.sums[last] - 2 * self.sums[cut] + self.sums[first]
            total += level * (below - above) + n * inside
        return total
