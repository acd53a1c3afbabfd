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
from incrowd.patterns.topk import top_k, top_k_buffers

SUPPORT, EMIT, REPAIR = 0, 1, 2
OVERFLOW, VISITS_SPENT = 1, 2
FEW = 24  # rows sorted by insertion
DIGIT_BITS = 8


class Grid(NamedTuple):
    """The instance as the search reads it.

    codes: int32 (columns, distinct), one contiguous row per column, in search order.
    counts: int64 (distinct,).  tables: trees in the same column order.
    """

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    tables: NodeTables


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


class Buffers(NamedTuple):
    """Scratch of one search: a row buffer and four numbers per depth, and the sorting space."""

    rows: NDArray[np.int32]
    depth: NDArray[np.int64]
    key: NDArray[np.int64]
    spare: NDArray[np.int32]
    tally: NDArray[np.int64]


def new_buffers(columns: int, rows: int, codes: int) -> Buffers:
    """Allocate scratch for tables of so many rows, whose columns have at most ``codes`` codes."""
    return Buffers(
        np.empty((columns + 1, rows), np.int32),
        np.zeros((4, columns + 1), np.int64),
        np.empty(FEW, np.int64),
        np.empty(rows, np.int32),
        np.empty(2 << max(codes, 128).bit_length(), np.int64),
    )


@lean_kernel
def sort_rows(rows: Any, n: int, code: Any, buffers: Any) -> None:
    """Sort ``rows[:n]`` stably by code: insertion for few, else by counting digits."""
    if n <= FEW:
        insert_rows(rows, n, code, buffers.key)
        return
    low = code[rows[0]]
    high = low
    for i in range(n):
        c = code[rows[i]]
        low = min(low, c)
        high = max(high, c)
    if low == high:
        return
    bits = 1
    while (high - low) >> bits:
        bits += 1
    step = bits if 1 << bits <= 16 * n else DIGIT_BITS
    for shift in range(0, bits, step):
        count_rows(rows, n, code, low, shift, (1 << step) - 1, buffers)


@lean_kernel
def insert_rows(rows: Any, n: int, code: Any, key: Any) -> None:
    """Sort by insertion."""
    for i in range(n):
        key[i] = code[rows[i]]
    for i in range(1, n):
        row = rows[i]
        k = key[i]
        j = i - 1
        while j >= 0 and key[j] > k:
            rows[j + 1] = rows[j]
            key[j + 1] = key[j]
            j -= 1
        rows[j + 1] = row
        key[j + 1] = k


@lean_kernel
def count_rows(rows: Any, n: int, code: Any, low: int, shift: int, mask: int, buffers: Any) -> None:
    """Sort by the digit ``(code − low) >> shift & mask``, counting how often each occurs."""
    tally = buffers.tally
    spare = buffers.spare
    for i in range(mask + 2):
        tally[i] = 0
    for i in range(n):
        tally[(((code[rows[i]] - low) >> shift) & mask) + 1] += 1
    for i in range(mask + 1):
        tally[i + 1] += tally[i]
    for i in range(n):
        digit = ((code[rows[i]] - low) >> shift) & mask
        spare[tally[digit]] = rows[i]
        tally[digit] += 1
    for i in range(n):
        rows[i] = spare[i]


@lean_kernel
def is_closed(rows: Any, begin: int, end: int, depth: int, level: Any, grid: Any) -> bool:
    """Whether the rows reach into two children of every chosen inner node of earlier columns."""
    tables = grid.tables
    for j in range(depth):
        if level[j] == 0:
            continue
        base = tables.start[j] + (level[j] - 1) * tables.width[j]
        code = grid.codes[j]
        first = tables.node[base + code[rows[begin]]]
        spread = False
        for i in range(begin + 1, end):
            if tables.node[base + code[rows[i]]] != first:
                spread = True
                break
        if not spread:
            return False
    return True


@lean_kernel
def profitable(
    mode: int,
    rows: Any,
    begin: int,
    end: int,
    cost: int,
    grid: Any,
    k: int,
    price: Any,
    slack: Any,
    value: Any,
    weight: Any,
    member: Any,
) -> bool:
    """Whether this run, or anything below it, can still matter."""
    if mode == SUPPORT:
        for i in range(begin, end):
            if price[rows[i]] > cost:
                return True
        return False
    if mode == REPAIR:  # integers only: a float would round large prices
        high = False
        for i in range(begin, end):
            if price[rows[i]] > cost:
                high = True
                break
        if not high:
            return False
        total, _ = top_k(rows, begin, end, price, grid.counts, k, value, weight, member)
        return total > k * cost
    margin = slack.absolute + slack.relative * cost
    high = False
    for i in range(begin, end):
        if price[rows[i]] > cost - margin:
            high = True
            break
    if not high:
        return False
    total, _ = top_k(rows, begin, end, price, grid.counts, k, value, weight, member)
    return total > k * cost - k * margin


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
    tables = grid.tables
    columns, distinct = grid.codes.shape
    counts = grid.counts
    level, place, size, paid = buffers.depth
    level[0] = place[0] = paid[0] = 0
    for i in range(distinct):
        buffers.rows[0, i] = i
    size[0] = distinct
    sort_rows(buffers.rows[0], distinct, grid.codes[0], buffers)
    depth = 0
    while depth >= 0:
        n = size[depth]
        begin = place[depth]
        if begin >= n:
            level[depth] += 1
            place[depth] = 0
            if level[depth] >= tables.levels[depth]:
                depth -= 1
            continue
        rows = buffers.rows[depth]
        code = grid.codes[depth]
        base = tables.start[depth] + level[depth] * tables.width[depth]
        node = tables.node[base + code[rows[begin]]]
        end = begin
        support = 0
        while end < n and tables.node[base + code[rows[end]]] == node:
            support += counts[rows[end]]
            end += 1
        place[depth] = end
        if support < k:
            continue
        if level[depth] > 0:
            below = base - tables.width[depth]
            if tables.node[below + code[rows[begin]]] == tables.node[below + code[rows[end - 1]]]:
                continue
        cost = paid[depth] + unit * tables.cost[base + code[rows[begin]]]
        if not profitable(
            mode, rows, begin, end, cost, grid, k, price, slack, value, weight, member
        ):
            continue
        if end - begin < n and not is_closed(rows, begin, end, depth, level, grid):
            continue
        state[2] += 1
        if state[2] > visits:
            state[3] = VISITS_SPENT
        if state[3] != 0:
            return
        if depth + 1 == columns:
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
            continue
        child = buffers.rows[depth + 1]
        for i in range(begin, end):
            child[i - begin] = rows[i]
        depth += 1
        sort_rows(child, end - begin, grid.codes[depth], buffers)
        level[depth] = 0
        place[depth] = 0
        size[depth] = end - begin
        paid[depth] = cost


NO_SLACK = Slack(0.0, 0.0, False)
NO_SINK = Sink(np.empty(1, np.int64), np.zeros(2, np.int64), np.empty(1, np.int32))
UNLIMITED = 1 << 62


class PrefixTree:
    """The search bound to one instance, with its buffers; one caller at a time."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.visits = 0  # of the last search
        self.grid = Grid(np.ascontiguousarray(instance.codes.T), instance.counts, instance.tables)
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
