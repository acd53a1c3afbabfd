"""The prefix-tree search over closed patterns.

A pattern is one node per column.  At depth j the rows of a group are sorted by leaf code of
column j; the leaves below a node are a run of codes, so each level of the column's tree is one
scan over runs.  No pattern store, no hash table, one row buffer per depth.

Runs are cut when that is provably safe (every descendant has fewer rows and costs at least as
much, so its k highest prices sum to no more):

- the support is below k;
- no row can profit (mode-dependent, see ``profitable``), or the pattern already costs more than the
  rows of the group above could pay, for which whole levels of a column are left out;
- the pattern is not closed: all its rows lie in one child of a chosen node, so a cheaper pattern
  with the same rows is met elsewhere in the search.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.cursor import (
    Grid,
    copies_of,
    enter_root,
    enter_run,
    is_closed,
    new_buffers,
    next_run,
)
from incrowd.lattice.topk import most_above, top_k, top_k_buffers
from incrowd.problem.instance import Instance, NodeTables

SUPPORT, EMIT, REPAIR = 0, 1, 2
OVERFLOW, VISITS_SPENT = 1, 2


class Sink(NamedTuple):
    """Where emitted patterns go: cost and rows of each, as CSR; sizes are the budget."""

    cost: NDArray[np.int64]
    offset: NDArray[np.int64]
    rows: NDArray[np.int32]


def new_sink(patterns: int, pairs: int) -> Sink:
    """Allocate room for so many patterns and (row, pattern) pairs."""
    return Sink(
        np.empty(patterns, np.int64), np.zeros(patterns + 1, np.int64), np.empty(pairs, np.int32)
    )


class Emission(NamedTuple):
    """Emitted patterns: ``rows[offset[p]:offset[p+1]]`` match p, which costs ``cost[p]``."""

    cost: NDArray[np.int64]
    offset: NDArray[np.int64]
    rows: NDArray[np.int32]


class Slack(NamedTuple):
    """What EMIT lets through: patterns with top-k mean > cost − margin.

    Rows are kept when their price is at least the k-th highest minus a window: ``2·margin`` for
    bounds (``reduced`` False: rows that could enter the top k within a box of half-width margin),
    or whatever keeps the reduced cost of a k-class with this row within k·margin (``reduced`` True:
    candidates for the release).
    """

    margin: float
    reduced: bool


class Task(NamedTuple):
    """What a search is for.

    mode: SUPPORT, EMIT or REPAIR.  price: int64 or float64 (distinct,), changed unless EMIT; costs
    are multiplied by ``unit`` to match it.  slack, sink: of EMIT.
    """

    mode: int
    k: int
    price: Any
    unit: int
    slack: Slack
    sink: Sink
    visits: int


@inner_kernel
def exceeds(
    task: Any, rows: Any, begin: int, end: int, counts: Any, cost: Any, known: Any, pad: Any
) -> tuple[bool, Any]:
    """Whether the k highest prices sum to more than ``k·cost``, and a bound on that sum.

    ``known``: such a bound from before; ``pad``: the buffers of ``top_k``.
    """
    above, sure = most_above(rows, begin, end, task.price, counts, task.k, cost)
    if sure or above <= 0:
        return sure, known
    total, _ = top_k(rows, begin, end, task.price, counts, task.k, *pad)
    return total > task.k * cost, total


@inner_kernel
def profitable(
    task: Any, rows: Any, begin: int, end: int, counts: Any, cost: int, known: Any, pad: Any
) -> tuple[bool, Any]:
    """Whether this run, or anything below it, can still matter; if so, its ``reach``.

    That is a bound on k times the cost of what may matter, beside the slack of EMIT.
    """
    if task.mode == SUPPORT:
        high = task.price[rows[begin]]
        for i in range(begin, end):
            high = max(high, task.price[rows[i]])
        return high > cost, task.k * high
    if task.mode == REPAIR:  # integers only: a float would round large prices
        return exceeds(task, rows, begin, end, counts, cost, known, pad)
    least = cost - task.slack.margin
    return exceeds(task, rows, begin, end, counts, least, known, pad)


@inner_kernel
def within_reach(task: Any, reach: Any, cost: int) -> bool:
    """Whether a pattern of this cost can matter, whatever its rows."""
    if task.mode == EMIT:
        return reach > task.k * (cost - task.slack.margin)
    return reach > task.k * cost


@inner_kernel
def leave_out(task: Any, depth: int, reach: Any, least: Any, buffers: Any) -> None:
    """Leave out the levels of this column all of whose nodes cost too much."""
    _, _, _, paid, levels = buffers.depth
    while levels[depth] > 0 and not within_reach(
        task, reach, paid[depth] + task.unit * least[depth, levels[depth] - 1]
    ):
        levels[depth] -= 1


@inner_kernel
def emit(task: Any, rows: Any, counts: Any, cost: int, state: Any, pad: Any) -> None:
    """Append one pattern to the sink; ``state`` = (patterns, pairs, visits, trouble)."""
    k, price, slack, sink = task.k, task.price, task.slack, task.sink
    n = rows.size
    total, entries = top_k(rows, 0, n, price, counts, k, *pad)
    excess = total - k * cost
    if excess + k * slack.margin <= 0:
        return
    window = k * slack.margin + excess if slack.reduced else 2 * slack.margin
    threshold = pad[0][entries - 1] - window
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


@inner_kernel
def repair(task: Any, rows: Any, counts: Any, cost: int, state: Any, pad: Any) -> None:
    """Lower integer prices until the k highest sum to at most k·cost (here cost has their unit)."""
    k, price = task.k, task.price
    value, weight, member = pad
    total, entries = top_k(rows, 0, rows.size, price, counts, k, *pad)
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
        total, entries = top_k(rows, 0, rows.size, price, counts, k, *pad)
        excess = total - k * cost


@inner_kernel
def act(task: Any, rows: Any, counts: Any, cost: int, state: Any, pad: Any) -> None:
    """Do what the mode does with a complete pattern."""
    if task.mode == SUPPORT:
        state[0] += 1
        for row in rows:
            if task.price[row] > cost:
                task.price[row] = cost
    elif task.mode == EMIT:
        emit(task, rows, counts, cost, state, pad)
    else:
        repair(task, rows, counts, cost, state, pad)


@lean_kernel
def search(
    task: Any, grid: Any, least: Any, buffers: Any, reach: Any, state: Any, pad: Any
) -> None:
    """Walk the prefix tree.

    ``least``: see ``cheapest_nodes``; ``reach`` (per column): of the group at hand.
    """
    counts = grid.counts
    enter_root(grid, buffers)
    depth, begin, end, cost = next_run(0, task.unit, grid, buffers)
    while depth >= 0:
        rows = buffers.rows[depth]
        below = reach[depth]
        worth = within_reach(task, below, cost) and copies_of(rows, begin, end, counts) >= task.k
        if worth:
            worth, below = profitable(task, rows, begin, end, counts, cost, below, pad)
        if worth and (
            end - begin == buffers.depth[2, depth]
            or is_closed(rows, begin, end, depth, grid, buffers)
        ):
            state[2] += 1
            if state[2] > task.visits:
                state[3] = VISITS_SPENT
            if state[3] != 0:
                return
            if depth + 1 < reach.size:
                depth += 1
                enter_run(depth, begin, end, cost, grid, buffers)
                reach[depth] = below
                leave_out(task, depth, below, least, buffers)
            else:
                act(task, rows[begin:end], counts, cost, state, pad)
        depth, begin, end, cost = next_run(depth, task.unit, grid, buffers)


NO_SLACK = Slack(0.0, False)
NO_SINK = new_sink(1, 1)
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
        task = Task(mode, k, price, unit, slack, sink, visits)
        reach = np.full(self.instance.columns, k * price.max(), price.dtype)
        pad = top_k_buffers(k, price.dtype)
        search(task, self.grid, self.least, self.buffers, reach, state, pad)
        self.visits = int(state[2])
        return state
