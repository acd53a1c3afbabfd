"""The cheapest runs that make up sorted numbers, each of k or more: a shortest path.

Claim 1.  Let w(a, b) be the squares of the numbers a … b − 1 about their mean, or their distances
from their median.  For a ≤ b ≤ c ≤ d, w(a, c) + w(b, d) ≤ w(a, d) + w(b, c).

*Proof.*  Let m be the centre of the run from a to d, n that of the run from b to c (for b = c it is
m).  Say m ≤ n; otherwise turn the order round.  The numbers from c on are n or more, so nearer to n
than to m.  Take m for the run from a to c, and n for the run from b to d: together they pay no more
than the right side, and their own centres are cheaper still. ∎

So with b = c no run of 2k numbers or more is cheaper than two, and there is no need for an end to
them.  And of two starts the later one, once it is no dearer, stays so: the starts that are best
for some end form a queue, each from a place on that is found by doubling and halving.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import Any

Cost = Callable[[int, int], Any]


def shortest(rising: Sequence[Fraction], k: int, kind: str) -> Fraction:
    """Return the least spread of runs of k numbers or more that make up all of them.

    ``kind``: ``"median"``, of distances; or another, of squares.
    """
    whole, unit = in_units(rising)
    spread = spread_of([x - whole[0] for x in whole], kind == "median")
    best: list[Any] = [0] + [None] * len(rising)
    starts: list[tuple[int, int]] = []  # and the end from which on each is the best
    first = 0

    def paid(start: int, end: int) -> Any:
        return best[start] + spread(start, end)

    for end in range(k, len(rising) + 1):
        if best[end - k] is not None:
            queue(starts, first, end - k, end, len(rising), paid)
        while first + 1 < len(starts) and starts[first + 1][1] <= end:
            first += 1
        best[end] = paid(starts[first][0], end)
    return Fraction(best[-1]) / (unit if kind == "median" else unit * unit)


def in_units(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return numbers as whole ones, and how many of their unit are 1: sums are a tenth the work."""
    unit = lcm(*{x.denominator for x in numbers})
    return [x.numerator * (unit // x.denominator) for x in numbers], unit


def spread_of(whole: Sequence[int], distances: bool) -> Cost:
    """Return what tells the spread of a run from its first number to before another."""
    one = [*accumulate([0, *whole])]  # whole numbers of any length, which numpy's are not
    two = [*accumulate([0, *(x * x for x in whole)])]

    def from_median(start: int, end: int) -> int:
        half = (end - start) // 2
        return one[end] - one[end - half] - one[start + half] + one[start]

    def about_mean(start: int, end: int) -> Fraction:
        return two[end] - two[start] - Fraction((one[end] - one[start]) ** 2, end - start)

    return from_median if distances else about_mean


def queue(
    starts: list[tuple[int, int]], first: int, new: int, end: int, last: int, paid: Cost
) -> None:
    """Put a start behind those that are best for earlier ends; drop those that never will be.

    ``first``: of the starts, that which is best now; ``end``, ``last``: of the ends that are left.
    """
    while len(starts) > first:
        old, begin = starts[-1]
        low = max(begin, end)
        if paid(new, low) <= paid(old, low):
            if begin < end:  # it was the best so far
                starts.append((new, end))
                return
            starts.pop()
            continue
        step = 1
        while low + step <= last and paid(new, low + step) > paid(old, low + step):
            low, step = low + step, 2 * step
        high = min(low + step, last + 1)
        while high - low > 1:
            middle = (low + high) // 2
            better = paid(new, middle) <= paid(old, middle)
            low, high = (low, middle) if better else (middle, high)
        if high <= last:
            starts.append((new, high))
        return
    starts.append((new, end))
