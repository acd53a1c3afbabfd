"""A model as pricing problems: how dear can the mean price of a lawful class be?

``pricing_of`` turns a model into arrays once; ``dearest`` answers for the rows of any pattern by
the smallest answer of its parts: a class has to obey all of them, so each part's bound holds.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.closeness import variation
from incrowd.bounds.diversity import capped, distinct
from incrowd.bounds.potential import potential
from incrowd.bounds.ranked import ranked
from incrowd.bounds.top_copies import Pad, fill_top_copies, new_pad
from incrowd.bounds.whole import whole
from incrowd.kernels.apart import address_of, apart
from incrowd.kernels.jit import lean_kernel
from incrowd.privacy.law import strictest
from incrowd.privacy.pricing import CAPPED, DISTINCT, RANKED, VARIATION, WHOLE, Part
from incrowd.problem.problem import Problem

COMMON = (CAPPED, DISTINCT)
LEAST_SIZES = 8  # sizes of class that t-closeness may price one by one


class Pricing(NamedTuple):
    """Pricing problems in flat arrays.

    Problem o looks at ``value[attribute[o]]`` (shape (distinct,)); its numbers stand in ``data``
    from ``first[o]``; per value it keeps the copies that ``start[start_first[o] + v]`` and the
    next entry bound.  least: int64, shape (1,): rows of the smallest lawful class.  rare: the
    address of the kernel that answers problems of kinds that few models have; 0 if there are none.
    """

    least: NDArray[np.int64]
    kind: NDArray[np.int64]
    attribute: NDArray[np.int64]
    first: NDArray[np.int64]
    data: NDArray[np.float64]
    start_first: NDArray[np.int64]
    start: NDArray[np.int64]
    value: NDArray[np.int32]
    rare: int


def pricing_of(problem: Problem, sizes: int = 0) -> tuple[Pricing, Pad]:
    """Return the pricing problems of a model, and scratch for them.

    ``sizes``: how many sizes of class t-closeness by equal distance prices one by one, which takes
    several times longer and proves a little more.
    A model that asks for a number of rows only becomes distinct 1-diversity of a constant.
    """
    table, k = problem.table, problem.smallest_class
    found = problem.model.pricing(table, k, sizes)
    return assembled(problem, found, k)


def assembled(problem: Problem, found: Sequence[Part], k: int) -> tuple[Pricing, Pad]:
    """Put pricing problems for classes of at least k rows into arrays, with scratch for them."""
    table, instance = problem.table, problem.instance
    found = strictest(found)
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
        np.concatenate([np.asarray(part.data, np.float64) for part in found]),
        np.cumsum([0] + [len(start) for start in starts]).astype(np.int64),
        np.concatenate(starts).astype(np.int64),
        values,
        0 if all(part.kind in COMMON for part in found) else address_of(rare_answer, RARELY),
    )
    depth = max(int(start[-1]) for start in starts)
    return pricing, new_pad(instance.distinct, max([1, *table.sizes]), depth, k)


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


def sizes_that_pay(problem: Problem) -> int:
    """For how many sizes of class pricing one by one proves more: those that whole rows spoil."""
    return max(LEAST_SIZES, problem.model.uneven_sizes(problem.table, problem.smallest_class))


@lean_kernel
def answer(
    o: int, rows: Any, begin: int, end: int, u: Any, counts: Any, enough: float, pr: Any, pad: Any
) -> Any:
    """Return (dearest mean of pricing problem o, number of weights in ``pad``)."""
    data = pr.data[pr.first[o] : pr.first[o + 1]]
    start = pr.start[pr.start_first[o] : pr.start_first[o + 1]]
    value = pr.value[pr.attribute[o]]
    kind = pr.kind[o]
    if kind != WHOLE:
        fill_top_copies(rows, begin, end, u, counts, value, start, pad)
    if kind == CAPPED:
        return capped(start, data, enough, pad)
    if kind == DISTINCT:
        return distinct(rows, begin, end, u, counts, start, data, pad)
    given = kind, rows, begin, end, u, counts, value, start, data, enough, pad
    return answer_at(pr.rare, given)


@lean_kernel
def rare_answer(
    kind: int, rows: Any, begin: int, end: int, u: Any, counts: Any, value: Any, start: Any,
    data: Any, enough: float, pad: Any,
) -> Any:  # fmt: skip
    """As ``answer``, for kinds that few models have."""
    if kind == VARIATION:
        return variation(start, data, enough, pad)
    if kind == RANKED:
        return ranked(start, data, enough, pad)
    if kind == WHOLE:
        return whole(rows, begin, end, u, counts, data, pad)
    return potential(rows, begin, end, u, counts, value, start, data, pad)


CODES, COUNTS, PRICES = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0)
RARELY = (0.0, 0), (
    0, CODES, 0, 0, PRICES, COUNTS, CODES, COUNTS, PRICES, 0.0, new_pad(1, 1, 1, 1),
)  # fmt: skip
answer_at = apart(rare_answer, RARELY)


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
