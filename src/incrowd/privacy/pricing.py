"""Pricing problems as plain data: how dear can the mean price of a lawful class be?

A model states a relaxation of itself on one attribute; ``incrowd.bounds.pricing`` answers it for
the rows of any pattern.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.base import Group
from incrowd.privacy.close_counts import close_counts

LARGEST = 24  # rows up to which all falling counts are tried: 1,575 of them
Counts = NDArray[np.int64]
CAPPED, DISTINCT, VARIATION, POTENTIAL, WHOLE, RANKED = range(6)
SIZES = 6
SLACK = 1e-9
RANKED_SIZES = 8  # of a law that only the counts decide, asked one by one
LARGEST_K = LARGEST - RANKED_SIZES + 1
MOST_COUNTS = 300  # histograms of one size that t-closeness prices one by one


class Part(NamedTuple):
    """One pricing problem: its kind, attribute, numbers and how many copies of a value it keeps.

    ``data`` may be an array (float64): the distances of 3,000 values are nine million numbers.
    """

    kind: int
    attribute: int
    data: list[float] | NDArray[np.float64]
    depth: list[int]

    def key(self) -> tuple[Any, ...]:
        """What only equal problems have in common."""
        data = np.asarray(self.data, np.float64).tobytes()
        return self.kind, self.attribute, data, (*self.depth,)

    def implies(self, other: "Part") -> bool:
        """Whether all that obeys this one obeys ``other``; False also where that is not known."""
        if self.key() == other.key():
            return True
        if (self.kind, self.attribute) != (other.kind, other.attribute):
            return False
        one, two = (np.asarray(part.data, np.float64) for part in (self, other))
        if self.kind == DISTINCT:
            return bool((one >= two).all())
        if self.kind != CAPPED or one.shape != two.shape or (one[:2] != two[:2]).any():
            return False
        cases, of_each = int(one[0]), 1 + 2 * len(self.depth)
        one, two = (data[3:].reshape(cases, of_each) for data in (one, two))
        tighter = np.hsplit(two - one, [1, 1 + len(self.depth)])
        return not tighter[0].any() and bool((tighter[1] >= 0).all() and (tighter[2] <= 0).all())


def distinct_part(l: int, k: int, a: int, table: Group) -> Part:  # noqa: E741
    """Distinct l-diversity with at least k rows."""
    return Part(DISTINCT, a, [float(l), float(max(k, l))], [1] * table.sizes[a])


def whole_part(k: int, a: int) -> Part:
    """At least k values with all their rows, where each distinct row has a value of its own."""
    return Part(WHOLE, a, [float(k)], [1])


def frequency_part(l: int, k: int, a: int, values: int) -> Part:  # noqa: E741
    """Frequency l-diversity with at least k rows: two sizes are enough."""
    least = max(k, l)
    even = l * (-(-least // l))
    sizes = sorted({(least, least // l), (even, even // l)})
    data = [float(len(sizes)), 0.0, 0.0]
    for size, cap in sizes:
        data += [float(size), *[float(cap)] * values, *[0.0] * values]
    return Part(CAPPED, a, data, [even // l] * values)


def shares_part(a: int, k: int, data: Sequence[int]) -> Part:
    """Shares as a law has them: ``incrowd.privacy.law.shares``."""
    unit, values = data[0], len(data) // 2
    caps = [data[1 + v] / unit for v in range(values)]
    lows = [data[1 + values + v] / unit for v in range(values)]
    return capped_part(k, a, caps, lows, None)


def capped_part(
    k: int, a: int, caps: list[float], lows: list[float], exact: list[tuple[int, int]] | None
) -> Part:
    """Caps and lows as shares; ``exact`` are caps in copies, the same for all values, by size.

    The relaxation for at least k rows comes first, then sizes k, k + 1, …, then the relaxation
    for all that are larger.
    """

    def relaxed(size: int) -> list[float]:
        high = [min(float(size), cap * size + SLACK * size) for cap in caps]
        low = [max(0.0, y * size - SLACK * size) for y in lows]
        return [float(size), *high, *low]

    sizes = [relaxed(k)]
    for i, size in enumerate(range(k, k + SIZES)):
        high = [floor(min(1.0, cap) * size + SLACK * size) for cap in caps]
        if exact is not None:
            high = [min(h, exact[i][1]) for h in high]
        low = [ceil(max(0.0, y * size - SLACK * size)) for y in lows]
        sizes.append([float(size), *map(float, high), *map(float, low)])
    sizes.append(relaxed(k + SIZES))
    must = sum(y > 2 * SLACK for y in lows)
    data = [float(len(sizes)), 1.0, float(must)]
    for size in sizes:
        for v in range(len(caps)):
            if lows[v] <= 2 * SLACK:
                size[1 + len(caps) + v] = 0.0
        data += size
    depth = [
        max(1, *(ceil(max(size[1 + v], size[1 + len(caps) + v])) for size in sizes))
        for v in range(len(caps))
    ]
    return Part(CAPPED, a, data, depth)


def ranked_part(
    k: int, a: int, table: Group, cap: float, fits: Callable[[Counts, Counts], bool]
) -> Part | None:
    """A law that only the counts decide, and that evening them out never breaks.

    ``fits`` says of counts whether it allows them in a table; ``cap`` bounds a value's share.  Such
    a law allows the counts that the most uneven lawful ones majorize: of those, the j largest
    counts sum to at most as much as theirs, for each j.  The relaxation for at least k rows comes
    first, then these for sizes k, k + 1, …, then the relaxation for all that are larger.  None
    where classes are too large for that.
    """
    if k > LARGEST_K:
        return None
    values, whole = table.sizes[a], table.histograms[a]

    def lawful(counts: Sequence[int]) -> bool:
        return fits(np.array(counts), whole)

    def relaxed(size: int) -> list[float]:
        return [float(size), 2.0, (min(1.0, cap) + SLACK) * size, float(size)]

    cases = [relaxed(k)]
    for size in range(k, k + RANKED_SIZES):
        for shape in most_uneven(size, values, lawful):
            cases.append([float(size), float(len(shape)), *map(float, accumulate(shape))])
    cases.append(relaxed(k + RANKED_SIZES))
    depth = max(1, *(ceil(case[2]) for case in cases))
    return Part(RANKED, a, [float(len(cases)), *(x for c in cases for x in c)], [depth] * values)


def variation_part(
    within: float, t: Fraction | None, k: int, a: int, counts: list[int], sizes: int
) -> Part:
    """Total variation of at most ``within``; ``sizes`` of class one by one.

    ``t`` is None where total variation is not the distance itself.
    """
    quota = [c / sum(counts) for c in counts]
    depth = [ceil((k + sizes) * (q + within)) + 1 for q in quota]
    lists = listed_counts(t, k, sizes, counts)
    return Part(VARIATION, a, [float(k), within, float(sizes), *quota, *lists], depth)


def listed_counts(t: Fraction | None, k: int, sizes: int, counts: list[int]) -> list[float]:
    """Where the histograms of each size stand and how many they are (−1: too many), then they.

    ``t`` is None where total variation is not the distance itself: then none are listed.
    """
    where: list[float] = []
    lists: list[float] = []
    for size in range(k, k + sizes):
        listed = None if t is None else close_counts(counts, t, size, MOST_COUNTS)
        first = 3 + len(counts) + 2 * sizes + len(lists)
        where += [float(first), -1.0 if listed is None else float(len(listed))]
        lists += [float(h) for one in listed or () for h in one]
    return where + lists


def most_uneven(
    size: int, values: int, lawful: Callable[[Sequence[int]], bool]
) -> list[tuple[int, ...]]:
    """Return the lawful falling counts of ``size`` rows, at most ``LARGEST``, of ``values`` values.

    Without those that others of them majorize (Marshall and Olkin 1979): entropy and recursive
    diversity allow whatever lawful counts majorize.
    """
    found: list[tuple[int, ...]] = []
    for shape in falling(size, size, values):  # what majorizes another comes before it
        if not any(majorizes(other, shape) for other in found) and lawful(shape):
            found.append(shape)
    return found


def falling(rows: int, largest: int, values: int) -> Iterator[tuple[int, ...]]:
    """Yield all falling counts of so many rows, in falling lexicographic order."""
    if rows == 0:
        yield ()
        return
    for first in range(min(rows, largest), 0, -1):
        if first * values < rows:
            break
        for rest in falling(rows - first, first, values - 1):
            yield first, *rest


def majorizes(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether the j largest of falling counts sum to at least as much, for each j."""
    tops = [*accumulate(one)]
    tops += tops[-1:] * (len(other) - len(one))
    return all(x >= y for x, y in zip(tops, accumulate(other), strict=False))
