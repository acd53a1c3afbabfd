"""The prefix-tree search over closed patterns.

A pattern is one node per column.  At depth j the rows of a group are sorted by leaf code of
column j; the leaves below a node are a run of codes, so each level of the column's tree is one
scan over runs.  No pattern store, no hash table, one row buffer per depth.

Runs are cut when that is provably safe (every descendant has fewer rows and costs at least as
much, so its k highest prices sum to no more):

- the support is below k;
- no row can profit (mode-dependent, see ``profitable``);
- the pattern is not closed: all its rows lie in one child of a chosen node, so a cheaper pattern
  with the same rows is met elsewhere in the search.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.instance import Instance, NodeTables
from incrowd.jit import lean_kernel
from incrowd.patterns.cursor import (
    Grid,
    copies_of,
    enter_root,
    enter_run,
    is_closed,
    new_buffers,
    next_run,
)
from incrowd.patterns.topk import most_above, top_k, top_k_buffers

SUPPORT, EMIT, REPAIR = 0, 1, 2
OVERFLOW, VISITS_SPENT = 1, 2


class Sink(NamedTuple):
    """Where emitted patterns go: cost and rows of each, as CSR; sizes are the budget."""

    cost: NDArray[np.int64]
    offset: NDArray[np.int64]
    rows: NDArray[np.int32]


class Emission(NamedTuple):
    """Emitted patterns: ``rows[offset[p]:offset[p+1]]`` match p, which costs ``cost[p]``."""

    cost: NDArray[np.int64]
    offset: NDArray[np.int64]
    rows: NDArray[np.int32]


class Slack(NamedTuple):
    """What EMIT lets through: patterns with top-k mean > cost − margin(cost).

    ``margin(cost) = absolute + relative·cost``.  Rows are kept when their price is at least the
    k-th highest minus a window: ``2·margin`` for bounds (``reduced`` False: rows that could enter
    the top k within a box of half-width margin), or whatever keeps the reduced cost of a k-class
    with this row within k·margin (``reduced`` True: candidates for the release).
    """

    absolute: float
    relative: float
    reduced: bool


@lean_kernel
def exceeds(
    rows: Any,
    begin: int,
    end: int,
    price: Any,
    counts: Any,
    k: int,
    cost: Any,
    known: Any,
    pad: Any,
) -> tuple[bool, Any]:
    """Whether the k highest prices sum to more than ``k·cost``, and a bound on that sum.

    ``known``: such a bound from before; ``pad``: the buffers of ``top_k``.
    """
    above, sure = most_above(rows, begin, end, price, counts, k, cost)
    if sure or above <= 0:
        return sure, known
    total, _ = top_k(rows, begin, end, price, counts, k, *pad)
    return total > k * cost, total


@lean_kernel
def profitable(
    mode: int,
    rows: Any,
    begin: int,
    end: int,
    cost: int,
    k: int,
    price: Any,
    counts: Any,
    slack: Any,
    known: Any,
    pad: Any,
) -> tuple[bool, Any]:
    """Whether this run, or anything below it, can still matter; if so, its ``reach``.

    That is a bound on k times the cost of what may matter, beside the slack of EMIT.
    """
    if mode == SUPPORT:
        high = price[rows[begin]]
        for i in range(begin, end):
            high = max(high, price[rows[i]])
        return high > cost, k * high
    if mode == REPAIR:  # integers only: a float would round large prices
        return exceeds(rows, begin, end, price, counts, k, cost, known, pad)
    least = cost - slack.absolute - slack.relative * cost
    return exceeds(rows, begin, end, price, counts, k, least, known, pad)


@lean_kernel
def within_reach(mode: int, reach: Any, cost: int, k: int, slack: Any) -> bool:
    """Whether a pattern of this cost can matter, whatever its rows."""
    if mode == EMIT:
        return reach > k * (cost - slack.absolute - slack.relative * cost)
    return reach > k * cost


@lean_kernel
def leave_out(
    mode: int, depth: int, reach: Any, k: int, unit: int, least: Any, slack: Any, buffers: Any
) -> None:
    """Leave out the levels of this column all of whose nodes cost too much."""
    _, _, _, paid, levels = buffers.depth
    while levels[depth] > 0 and not within_reach(
        mode, reach, paid[depth] + unit * least[depth, levels[depth] - 1], k, slack
    ):
        levels[depth] -= 1


@lean_kernel
def emit(
    rows: Any,
    n: int,
    cost: int,
    k: int,
    price: Any,
    grid: Any,
    slack: Any,
    sink: Any,
    state: Any,
    value: Any,
    weight: Any,
    member: Any,
) -> None:
    """Append one pattern to the sink; ``state`` = (patterns, pairs, visits, trouble)."""
    total, entries = top_k(rows, 0, n, price, grid.counts, k, value, weight, member)
    margin = slack.absolute + slack.relative * cost
    excess = total - k * cost
    if excess + k * margin <= 0:
        return
    window = k * margin + excess if slack.reduced else 2 * margin
    threshold = value[entries - 1] - window
    p = state[0]
    z = state[1]
    if p + 2 >= sink.cost.size or z + n >= sink.rows.size:
        state[3] = OVERFLOW
        return
    for i in range(n):
        if price[rows[i]] >= threshold:
            sink.rows[z] = rows[i]
            z += 1
    sink.cost[p] = cost
    sink.offset[p + 1] = z
    state[0] = p + 1
    state[1] = z


@lean_kernel
def repair(
    rows: Any,
    n: int,
    cost: int,
    k: int,
    price: Any,
    counts: Any,
    state: Any,
    value: Any,
    weight: Any,
    member: Any,
) -> None:
    """Lower integer prices until the k highest sum to at most k·cost (here cost has their unit)."""
    total, entries = top_k(rows, 0, n, price, counts, k, value, weight, member)
    excess = total - k * cost
    tries = 0
    while excess > 0:
        state[0] += 1
        tries += 1
        above = 0
        for j in range(entries):
            if value[j] > cost:
                above += (value[j] - cost) * weight[j]
        for j in range(entries):
            if value[j] > cost:
                over = value[j] - cost
                if tries < 30:
                    # float first: the exact product may not fit 64 bits; one more is always safe
                    over = min(over, np.int64(over * (excess / above)) + 1)
                price[member[j]] -= over
        total, entries = top_k(rows, 0, n, price, counts, k, value, weight, member)
        excess = total - k * cost


@lean_kernel
def act(
    mode: int,
    rows: Any,
    n: int,
    cost: int,
    k: int,
    price: Any,
    grid: Any,
    slack: Any,
    sink: Any,
    state: Any,
    value: Any,
    weight: Any,
    member: Any,
) -> None:
    """Do what the mode does with a complete pattern."""
    if mode == SUPPORT:
        state[0] += 1
        for i in range(n):
            if price[rows[i]] > cost:
                price[rows[i]] = cost
    elif mode == EMIT:
        emit(rows, n, cost, k, price, grid, slack, sink, state, value, weight, member)
    else:
        repair(rows, n, cost, k, price, grid.counts, state, value, weight, member)


@lean_kernel
def search(
    mode: int,
    grid: Any,
    least: Any,
    reach: Any,
    k: int,
    price: Any,
    unit: int,
    slack: Any,
    sink: Any,
    buffers: Any,
    visits: int,
    state: Any,
    value: Any,
    weight: Any,
    member: Any,
) -> None:
    """Walk the prefix tree; costs are multiplied by ``unit`` to match the unit of the prices."""
    columns = grid.codes.shape[0]
    counts = grid.counts
    pad = value, weight, member
    enter_root(grid, buffers)
    depth, begin, end, cost = next_run(0, unit, grid, buffers)
    while depth >= 0:
        rows = buffers.rows[depth]
        worth = within_reach(mode, reach[depth], cost, k, slack) and (
            copies_of(rows, begin, end, counts) >= k
        )
        below = reach[depth]
        if worth:
            worth, below = profitable(
                mode, rows, begin, end, cost, k, price, counts, slack, below, pad
            )
        if worth and (
            end - begin == buffers.depth[2, depth]
            or is_closed(rows, begin, end, depth, grid, buffers)
        ):
            state[2] += 1
            if state[2] > visits:
                state[3] = VISITS_SPENT
            if state[3] != 0:
                return
            if depth + 1 < columns:
                depth += 1
                enter_run(depth, begin, end, cost, grid, buffers)
                reach[depth] = below
                leave_out(mode, depth, below, k, unit, least, slack, buffers)
            else:
                act(
                    mode,
                    rows[begin:end],
                    end - begin,
                    cost,
                    k,
                    price,
                    grid,
                    slack,
                    sink,
                    state,
                    value,
                    weight,
                    member,
                )
        depth, begin, end, cost = next_run(depth, unit, grid, buffers)


NO_SLACK = Slack(0.0, 0.0, False)
NO_SINK = Sink(np.empty(1, np.int64), np.zeros(2, np.int64), np.empty(1, np.int32))
UNLIMITED = 1 << 62


def cheapest_nodes(tables: NodeTables) -> NDArray[np.int64]:
    """Return what the cheapest node of each column and level costs; shape (columns, levels)."""
    least = np.zeros((len(tables.levels), int(tables.levels.max(initial=1))), np.int64)
    for j, levels in enumerate(tables.levels.tolist()):
        for level in range(levels):
            begin = tables.start[j] + level * tables.width[j]
            least[j, level] = tables.cost[begin : begin + tables.width[j]].min()
    return least


class PrefixTree:
    """The search bound to one instance, with its buffers; one caller at a time."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.visits = 0  # of the last search
        tables = instance.tables
        order = np.argsort(tables.levels, kind="stable")  # few levels first: a fifth faster
        columns = (each[order] for each in (tables.start, tables.width, tables.levels))
        tables = NodeTables(tables.node, tables.cost, *columns)
        codes = np.ascontiguousarray(instance.codes.T[order])
        self.grid = Grid(codes, instance.counts, tables)
        self.least = cheapest_nodes(tables)
        codes = int(instance.tables.width.max(initial=1))
        self.buffers = new_buffers(instance.columns, instance.distinct, codes)

    def run(
        self,
        mode: int,
        k: int,
        price: Any,
        unit: int = 1,
        slack: Slack = NO_SLACK,
        sink: Sink = NO_SINK,
        visits: int = UNLIMITED,
    ) -> NDArray[np.int64]:
        """Run one search; return (patterns, pairs, visits, trouble)."""
        state = np.zeros(4, np.int64)
        value, weight, member = top_k_buffers(k, price.dtype)
        search(
            mode,
            self.grid,
            self.least,
            np.full(self.instance.columns, k * price.max(), price.dtype),
            k,
            price,
            unit,
            slack,
            sink,
            self.buffers,
            visits,
            state,
            value,
            weight,
            member,
        )
        self.visits = int(state[2])
        return state
