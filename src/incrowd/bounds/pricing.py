"""A model as pricing problems: how dear can the mean price of a lawful class be?

``pricing_of`` turns a model into arrays once; ``dearest`` answers for the rows of any pattern by
the smallest answer of its parts: a class has to obey all of them, so each part's bound holds.
"""

from fractions import Fraction
from math import ceil, floor, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.closeness import variation
from incrowd.bounds.diversity import capped, distinct
from incrowd.bounds.lawful_counts import close_counts, uneven_sizes
from incrowd.bounds.potential import potential
from incrowd.bounds.tops import Pad, new_pad
from incrowd.kernels.jit import lean_kernel
from incrowd.privacy.all_of import parts
from incrowd.privacy.attribute import PerAttribute
from incrowd.privacy.base import Group
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distance import Equal, Hierarchical, Ordered
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.laws import SHARES, numbers
from incrowd.privacy.metric import Metric
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.problem import Problem

CAPPED, DISTINCT, VARIATION, POTENTIAL = range(4)
SIZES = 6
SLACK = 1e-9
LEAST_SIZES, MOST_SIZES = 8, 16  # sizes of class that t-closeness may price one by one
MOST_COUNTS = 300  # histograms of one size that t-closeness prices one by one


class Pricing(NamedTuple):
    """Pricing problems in flat arrays.

    Problem o looks at ``value[attribute[o]]`` (shape (distinct,)); its numbers stand in ``data``
    from ``first[o]``; per value it keeps the copies that ``start[start_first[o] + v]`` and the
    next entry bound.  least: int64, shape (1,): rows of the smallest lawful class.
    """

    least: NDArray[np.int64]
    kind: NDArray[np.int64]
    attribute: NDArray[np.int64]
    first: NDArray[np.int64]
    data: NDArray[np.float64]
    start_first: NDArray[np.int64]
    start: NDArray[np.int64]
    value: NDArray[np.int32]


class Part(NamedTuple):
    """One pricing problem: its kind, attribute, numbers and how many copies of a value it keeps."""

    kind: int
    attribute: int
    data: list[float]
    depth: list[int]


def pricing_of(problem: Problem, sizes: int = 0) -> tuple[Pricing, Pad]:
    """Return the pricing problems of a model, and scratch for them.

    ``sizes``: how many sizes of class t-closeness by equal distance prices one by one, which takes
    several times longer and proves a little more.
    A model that asks for a number of rows only becomes distinct 1-diversity of a constant.
    """
    table, k = problem.table, problem.smallest_class
    found: list[Part] = []
    for part in parts(problem.model):
        if isinstance(part, DisjointDiversity):
            found += [distinct_part(part.l, k, a, table) for a in part.columns(table)]
        elif isinstance(part, PerAttribute):
            for a in part.attributes(table):
                found += parts_of(part, k, a, table, sizes)
    return assembled(problem, found, k)


def assembled(problem: Problem, found: list[Part], k: int) -> tuple[Pricing, Pad]:
    """Put pricing problems for classes of at least k rows into arrays, with scratch for them."""
    table, instance = problem.table, problem.instance
    found = list({str(part): part for part in found}.values())
    if not found:
        found = [Part(DISTINCT, len(table.sizes), [1.0, float(k)], [1])]
    values = np.zeros((len(table.sizes) + 1, instance.distinct), np.int32)
    values[:-1] = instance.sensitive_codes.T
    starts = [np.concatenate([[0], np.cumsum(part.depth)]) for part in found]
    pricing = Pricing(
        np.array([k], np.int64),
        np.array([part.kind for part in found], np.int64),
        np.array([part.attribute for part in found], np.int64),
        np.cumsum([0] + [len(part.data) for part in found]).astype(np.int64),
        np.array([x for part in found for x in part.data], np.float64),
        np.cumsum([0] + [len(start) for start in starts]).astype(np.int64),
        np.concatenate(starts).astype(np.int64),
        values,
    )
    depth = max(int(start[-1]) for start in starts)
    return pricing, new_pad(instance.distinct, max([1, *table.sizes]), depth, k)


def parts_of(part: PerAttribute, k: int, a: int, table: Group, sizes: int) -> list[Part]:
    """Return the pricing problems of one model on one attribute."""
    counts = [int(c) for c in table.histograms[a]]
    if isinstance(part, DistinctDiversity):
        return [distinct_part(part.l, k, a, table)]
    if isinstance(part, FrequencyDiversity):
        return [frequency_part(part.l, k, a, len(counts))]
    if isinstance(part, EntropyDiversity):
        cap = entropy_share(float(part.l), sum(c > 0 for c in counts))
        caps = [(s, floor(cap * s + SLACK)) for s in range(k, k + SIZES)]
        return [
            distinct_part(ceil(part.l), k, a, table),
            capped_part(k, a, [cap] * len(counts), [0.0] * len(counts), caps),
        ]
    if isinstance(part, RecursiveDiversity):
        cap = min(1.0, float(part.c / (1 + part.c) if part.l > 1 else part.c))
        caps = [(s, recursive_cap(part.c, part.l, s)) for s in range(k, k + SIZES)]
        return [
            distinct_part(part.l, k, a, table),
            capped_part(k, a, [cap] * len(counts), [0.0] * len(counts), caps),
        ]
    if isinstance(part, TCloseness):
        return closeness_parts(part, k, a, counts, sizes)
    kind, data = numbers(part, counts)
    assert kind == SHARES
    unit, values = data[0], len(counts)
    caps = [data[1 + v] / unit for v in range(values)]
    lows = [data[1 + values + v] / unit for v in range(values)]
    return [capped_part(k, a, caps, lows, None)]


class Shares(NamedTuple):
    """What shares of a class each value may have: float64, shape (values,), both of them.

    value: int32, shape (distinct,): the value of each row.
    """

    value: NDArray[np.int32]
    caps: NDArray[np.float64]
    lows: NDArray[np.float64]


def shares_of(pricing: Pricing) -> Shares | None:
    """Return the shares that a model allows, where those of one attribute are all it asks for.

    The largest of the sizes comes last, as a relaxation of all that are larger; no size lets a
    value have a larger share than there.
    """
    if len(pricing.kind) != 1 or pricing.kind[0] != CAPPED or pricing.data[1] == 0:
        return None
    sizes, values = int(pricing.data[0]), pricing.start_first[1] - 1
    last = 3 + (sizes - 1) * (1 + 2 * values)
    caps, lows = pricing.data[last + 1 :].reshape(2, values) / pricing.data[last]
    return Shares(pricing.value[pricing.attribute[0]], caps, lows)


def distinct_part(l: int, k: int, a: int, table: Group) -> Part:  # noqa: E741
    """Distinct l-diversity with at least k rows."""
    return Part(DISTINCT, a, [float(l), float(max(k, l))], [1] * table.sizes[a])


def frequency_part(l: int, k: int, a: int, values: int) -> Part:  # noqa: E741
    """Frequency l-diversity with at least k rows: two sizes are enough."""
    least = max(k, l)
    even = l * (-(-least // l))
    sizes = sorted({(least, least // l), (even, even // l)})
    data = [float(len(sizes)), 0.0, 0.0]
    for size, cap in sizes:
        data += [float(size), *[float(cap)] * values, *[0.0] * values]
    return Part(CAPPED, a, data, [even // l] * values)


def capped_part(
    k: int,
    a: int,
    caps: list[float],
    lows: list[float],
    exact: list[tuple[int, int]] | None,
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


def entropy_share(l: float, values: int) -> float:  # noqa: E741
    """The largest share that a value can have in a class of entropy ≥ log l, rounded up.

    With share p the entropy is at most that of p and of 1 − p spread evenly over the others.
    """
    if values < 2 or l <= 1:
        return 1.0

    def entropy(p: float) -> float:
        return -p * log(p) - (1 - p) * log((1 - p) / (values - 1))

    low, high = 1 / values, 1 - 1e-12
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if entropy(middle) >= log(l) else (low, middle)
    return min(1.0, high + 1e-6)


def recursive_cap(c: Fraction, l: int, size: int) -> int:  # noqa: E741
    """The largest count in a class of this size: r₁ + c·(r₁ + l − 2) < c·size for l ≥ 2."""
    most = c * size if l == 1 else c * (size - l + 2) / (1 + c)
    return max(0, ceil(most) - 1)


def closeness_parts(part: TCloseness, k: int, a: int, counts: list[int], sizes: int) -> list[Part]:
    """t-closeness: by total variation, by a potential, or both."""
    rows, values = sum(counts), len(counts)
    quota = [c / rows for c in counts]
    distance, found = part.distance, []
    t = float(part.t)
    matrix = None if isinstance(distance, Equal) else distances(distance, values)
    nearest = 1.0 if matrix is None else float((matrix + np.eye(values) * 9).min())
    if nearest > 0 and t / nearest < 1:
        listed = None if nearest < 1 else part.t
        found.append(variation_part(t / nearest + SLACK, listed, k, a, counts, sizes))
    if matrix is not None:
        data = [float(k), t + SLACK, *quota, *matrix.ravel().tolist()]
        found.append(Part(POTENTIAL, a, data, [1] * values))
    return found


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


def sizes_that_pay(problem: Problem) -> int:
    """For how many sizes of class pricing one by one proves more: those that whole rows spoil."""
    table, k = problem.table, problem.smallest_class
    found = LEAST_SIZES
    for part in parts(problem.model):
        if isinstance(part, TCloseness) and isinstance(part.distance, Equal):
            for a in part.attributes(table):
                counts = [int(c) for c in table.histograms[a]]
                uneven = uneven_sizes(counts, part.t, k, Fraction(1, 3), MOST_SIZES)
                found = max(found, uneven)
    return found


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


def distances(distance: Any, values: int) -> NDArray[np.float64]:
    """float64, shape (values, values): the ground distance."""
    if isinstance(distance, Ordered):
        rank = distance.rank(values)
        return np.abs(np.subtract.outer(rank, rank)) / max(values - 1, 1)
    if isinstance(distance, Hierarchical):
        levels = distance.below_root(values)
        apart = sum((np.not_equal.outer(node, node).astype(float) for node in levels), 0.0)
        return np.asarray(apart + np.zeros((values, values))) / max(len(levels), 1)
    assert isinstance(distance, Metric)
    return np.array([[float(x) for x in row] for row in distance.matrix])


@lean_kernel
def answer(
    o: int, rows: Any, begin: int, end: int, u: Any, counts: Any, enough: float, pr: Any, pad: Any
) -> Any:
    """Return (dearest mean of pricing problem o, number of weights in ``pad``)."""
    data = pr.data[pr.first[o] : pr.first[o + 1]]
    start = pr.start[pr.start_first[o] : pr.start_first[o + 1]]
    value = pr.value[pr.attribute[o]]
    kind = pr.kind[o]
    if kind == CAPPED:
        return capped(rows, begin, end, u, counts, value, start, data, enough, pad)
    if kind == DISTINCT:
        return distinct(rows, begin, end, u, counts, value, start, data, enough, pad)
    if kind == VARIATION:
        return variation(rows, begin, end, u, counts, value, start, data, enough, pad)
    return potential(rows, begin, end, u, counts, value, start, data, enough, pad)


@lean_kernel
def dearest(
    rows: Any, begin: int, end: int, u: Any, counts: Any, enough: float, pr: Any, pad: Any
) -> Any:
    """Return (bound on the mean price of lawful classes, which problem says so).

    Stops at the first answer that is at most ``enough``.
    """
    best = 1e300
    which = -1
    for o in range(pr.kind.size):
        mean, _ = answer(o, rows, begin, end, u, counts, enough, pr, pad)
        if mean < best:
            best = mean
            which = o
        if best <= enough:
            break
    return best, which
