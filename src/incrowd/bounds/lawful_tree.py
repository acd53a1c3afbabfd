"""The prefix-tree search over patterns, cut by what a sensitive model allows.

As ``incrowd.lattice.prefix_tree``, with the dearest lawful mean in place of the k highest prices.
A node may be cut when its bound is too low: the classes below it are among its own, and cost
at least as much.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.diversity import IMPOSSIBLE
from incrowd.bounds.pricing import Pricing, dearest, shares_of
from incrowd.bounds.strides import Strides
from incrowd.bounds.tops import Pad
from incrowd.kernels.jit import inner_kernel, kernel
from incrowd.lattice.cursor import copies_of, enter_root, enter_run, is_closed, next_run
from incrowd.lattice.prefix_tree import (
    NO_SINK,
    OVERFLOW,
    UNLIMITED,
    VISITS_SPENT,
    PrefixTree,
    Sink,
)
from incrowd.problem.instance import Instance

SUPPORT, EMIT, MEASURE = 0, 1, 2


@inner_kernel
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


@inner_kernel
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
    columns = grid.codes.shape[0]
    enter_root(grid, buffers)
    depth, begin, end, cost = next_run(0, 1, grid, buffers)
    while depth >= 0:
        rows = buffers.rows[depth]
        excess = IMPOSSIBLE
        if copies_of(rows, begin, end, grid.counts) >= pr.least[0] and (
            end - begin == buffers.depth[2, depth]
            or is_closed(rows, begin, end, depth, grid, buffers)
        ):
            excess = judge(mode, rows, begin, end, float(cost), margin, u, grid, pr, pad)
        if excess != IMPOSSIBLE:
            state[2] += 1
            if state[2] > visits:
                state[3] = VISITS_SPENT
            if state[3] != 0:
                return
            if depth + 1 < columns:
                depth += 1
                enter_run(depth, begin, end, cost, grid, buffers)
            elif mode == SUPPORT:
                for i in range(begin, end):
                    u[rows[i]] = min(u[rows[i]], float(cost))
            elif mode == EMIT:
                emit(rows, begin, end, cost, reach, u, sink, state)
            else:
                for i in range(begin, end):
                    cut[rows[i]] = max(cut[rows[i]], excess + extra)
        depth, begin, end, cost = next_run(depth, 1, grid, buffers)


class LawfulTree:
    """The search bound to one instance and one model's pricing; one caller at a time."""

    def __init__(self, instance: Instance, pricing: Pricing, pad: Pad) -> None:
        self.instance, self.pricing, self.pad = instance, pricing, pad
        tree = PrefixTree(instance)
        self.grid, self.buffers = tree.grid, tree.buffers
        self.shares = shares_of(pricing)
        self.strides = (
            Strides.even(instance.distinct)
            if self.shares is None
            else Strides.by_caps(self.shares.value, self.shares.caps)
        )

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
