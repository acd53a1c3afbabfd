"""The prefix-tree search over patterns, cut by what a sensitive model allows.

As ``incrowd.patterns.prefix_tree``, with the dearest lawful mean in place of the k highest prices.
A node may be cut when its bound is too low: the classes below it are among its own, and cost
at least as much.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.diversity import IMPOSSIBLE
from incrowd.bounds.pricing import Pricing, dearest
from incrowd.bounds.tops import Pad
from incrowd.instance import Instance
from incrowd.jit import kernel, lean_kernel
from incrowd.patterns.prefix_tree import (
    NO_SINK,
    OVERFLOW,
    UNLIMITED,
    VISITS_SPENT,
    PrefixTree,
    Sink,
    is_closed,
    sort_rows,
)

SUPPORT, EMIT, MEASURE = 0, 1, 2


@lean_kernel
def judge(
    mode: int,
    rows: Any,
    begin: int,
    end: int,
    cost: float,
    margin: float,
    u: Any,
    grid: Any,
    pr: Any,
    pad: Any,
) -> float:
    """Return the excess of the dearest lawful mean over the cost; ``IMPOSSIBLE`` to cut."""
    enough = cost - margin
    high = False
    for i in range(begin, end):
        if u[rows[i]] > enough:
            high = True
            break
    if not high:
        return IMPOSSIBLE
    if mode == SUPPORT:  # any class at all will do: ask with prices that nothing exceeds
        enough = IMPOSSIBLE
    mean, _ = dearest(rows, begin, end, u, grid.counts, enough, pr, pad)
    if mode == SUPPORT:
        return IMPOSSIBLE if mean == IMPOSSIBLE else 0.0
    return IMPOSSIBLE if mean <= enough else mean - cost


@lean_kernel
def emit(
    rows: Any, begin: int, end: int, cost: int, reach: float, u: Any, sink: Any, state: Any
) -> None:
    """Append a pattern with its rows of price ≥ cost − reach."""
    p = state[0]
    z = state[1]
    if p + 2 >= sink.cost.size or z + end - begin >= sink.rows.size:
        state[3] = OVERFLOW
        return
    for i in range(begin, end):
        if u[rows[i]] >= cost - reach:
            sink.rows[z] = rows[i]
            z += 1
    sink.cost[p] = cost
    sink.offset[p + 1] = z
    state[0] = p + 1
    state[1] = z


@kernel
def walk(
    mode: int,
    grid: Any,
    u: Any,
    margin: float,
    reach: float,
    extra: float,
    pr: Any,
    pad: Any,
    cut: Any,
    sink: Any,
    buffers: Any,
    visits: int,
    state: Any,
) -> None:
    """Walk the prefix tree.

    SUPPORT lowers u to the cost of every pattern that a lawful class may have.  EMIT lists the
    patterns whose dearest mean exceeds cost − margin.  MEASURE raises ``cut`` to the excess of
    every violated pattern plus ``extra``.
    """
    tables = grid.tables
    columns, distinct = grid.codes.shape
    counts = grid.counts
    level = np.zeros(columns + 1, np.int64)
    place = np.zeros(columns + 1, np.int64)
    size = np.zeros(columns + 1, np.int64)
    paid = np.zeros(columns + 1, np.int64)
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
        if support < pr.least[0]:
            continue
        if level[depth] > 0:
            below = base - tables.width[depth]
            if tables.node[below + code[rows[begin]]] == tables.node[below + code[rows[end - 1]]]:
                continue
        if end - begin < n and not is_closed(rows, begin, end, depth, level, grid):
            continue
        cost = paid[depth] + tables.cost[base + code[rows[begin]]]
        excess = judge(mode, rows, begin, end, float(cost), margin, u, grid, pr, pad)
        if excess == IMPOSSIBLE:
            continue
        state[2] += 1
        if state[2] > visits:
            state[3] = VISITS_SPENT
        if state[3] != 0:
            return
        if depth + 1 < columns:
            child = buffers.rows[depth + 1]
            for i in range(begin, end):
                child[i - begin] = rows[i]
            depth += 1
            sort_rows(child, end - begin, grid.codes[depth], buffers)
            level[depth] = 0
            place[depth] = 0
            size[depth] = end - begin
            paid[depth] = cost
            continue
        if mode == SUPPORT:
            for i in range(begin, end):
                u[rows[i]] = min(u[rows[i]], float(cost))
        elif mode == EMIT:
            emit(rows, begin, end, cost, reach, u, sink, state)
        else:
            for i in range(begin, end):
                cut[rows[i]] = max(cut[rows[i]], excess + extra)


class LawfulTree:
    """The search bound to one instance and one model's pricing; one caller at a time."""

    def __init__(self, instance: Instance, pricing: Pricing, pad: Pad) -> None:
        self.instance, self.pricing, self.pad = instance, pricing, pad
        tree = PrefixTree(instance)
        self.grid, self.buffers = tree.grid, tree.buffers

    def run(
        self,
        mode: int,
        u: NDArray[np.float64],
        margin: float = 0.0,
        reach: float = np.inf,
        extra: float = 0.0,
        cut: NDArray[np.float64] | None = None,
        sink: Sink = NO_SINK,
        visits: int = UNLIMITED,
    ) -> NDArray[np.int64]:
        """Run one search; return (patterns, pairs, visits, trouble)."""
        state = np.zeros(4, np.int64)
        walk(
            mode, self.grid, u, margin, reach, extra, self.pricing, self.pad,
            np.zeros(1) if cut is None else cut, sink, self.buffers, visits, state,
        )  # fmt: skip
        return state
