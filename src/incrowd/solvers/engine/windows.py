"""Candidate patterns from sorted windows: where there are too many to enumerate.

In a table sorted by some order of its columns, neighbours agree on long prefixes.  The join of
each stretch with just enough copies is a candidate; the rows near it that match join in.  A few
random column orders give every row some good company, at the cost of a sort each.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance, row_order
from incrowd.problem.join import in_span, span_cost
from incrowd.run.stop import Stop


@kernel
def window_join(order: Any, begin: int, end: int, codes: Any, tables: Any, span: Any) -> int:
    """Fill ``span`` with the extreme codes of ``order[begin:end]``; return their join's cost."""
    cost = 0
    for j in range(tables.levels.size):
        low = codes[order[begin], j]
        high = low
        for i in range(begin + 1, end):
            c = codes[order[i], j]
            low = min(low, c)
            high = max(high, c)
        span[0, j] = low
        span[1, j] = high
        cost += span_cost(j, low, high, tables)
    return cost


@kernel
def matches(row: int, codes: Any, tables: Any, span: Any) -> bool:
    """Whether ``row`` lies below the join of the span."""
    for j in range(tables.levels.size):
        if not in_span(j, span[0, j], span[1, j], codes[row, j], tables):
            return False
    return True


@kernel
def scan_windows(
    order: Any,
    stride: int,
    reach: int,
    k: int,
    codes: Any,
    counts: Any,
    tables: Any,
    cost: Any,
    offset: Any,
    rows: Any,
    patterns: int,
    pairs: int,
) -> Any:
    """Append one pattern per window; return the new (patterns, pairs)."""
    span = np.empty((2, tables.levels.size), np.int64)
    n = order.size
    begin = 0
    while begin < n:
        end = begin
        copies = 0
        while end < n and copies < k:
            copies += counts[order[end]]
            end += 1
        if copies < k or patterns + 2 >= cost.size or pairs + 2 * reach + end - begin > rows.size:
            break
        cost[patterns] = window_join(order, begin, end, codes, tables, span)
        for i in range(max(0, begin - reach), min(n, end + reach)):
            inside = begin <= i < end
            if inside or matches(order[i], codes, tables, span):
                rows[pairs] = order[i]
                pairs += 1
        patterns += 1
        offset[patterns] = pairs
        begin += stride
    return patterns, pairs


def window_emission(
    instance: Instance, k: int, orders: int, seed: int, stop: Stop | None = None
) -> Emission:
    """Return patterns from windows over ``orders`` random column orders; fewer when time is up."""
    rng = np.random.default_rng([seed, 11])
    stride = max(1, k // 2)
    reach = 2 * k
    room = orders * (instance.distinct // stride + 2)
    cost = np.empty(room + 2, np.int64)
    offset = np.zeros(room + 3, np.int64)
    rows = np.empty(room * (k + 2 * reach) + 2 * reach + k, np.int32)
    patterns = pairs = 0
    for turn in range(orders):
        if turn and stop is not None and stop.now():  # of millions of rows each takes seconds
            break
        columns = rng.permutation(instance.columns)
        order = row_order(instance.codes[:, columns[::-1]])
        patterns, pairs = scan_windows(
            order,
            stride,
            reach,
            k,
            instance.codes,
            instance.counts,
            instance.tables,
            cost,
            offset,
            rows,
            patterns,
            pairs,
        )
    return Emission(cost[:patterns], offset[: patterns + 1], rows[:pairs])


def sorted_classes(instance: Instance, k: int) -> NDArray[np.int64]:
    """Return a lawful solution at once: stretches of at least k copies of the sorted table.

    int64, shape (copies,): class of each copy.  Needs at least k copies.  Columns of ranges are
    sorted by last: neighbours in one of many numbers share nothing else, and in the others all.
    """
    columns = np.argsort(instance.tables.ranged >= 0, kind="stable")
    order = np.lexsort(instance.codes[:, columns].T[::-1])
    copies = instance.counts[order]
    label = np.zeros(instance.distinct, np.int64)
    current = held = 0
    for position, n in enumerate(copies.tolist()):
        label[order[position]] = current
        held += n
        if held >= k:
            current += 1
            held = 0
    if held and current:
        label[label == current] = current - 1
    return label[instance.copies]
