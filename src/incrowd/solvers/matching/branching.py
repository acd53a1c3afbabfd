"""What odd sets leave open: branch and bound over an explicit list of columns.

Branches in the way of Ryan and Foster (1981): two nodes share a group, or they do not.  Both
sides only take columns away.  Each bound is a sum of integer prices and weights that every column
of the branch obeys, so that no rounding error can cut off an optimum.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.linear.simplex import Simplex
from incrowd.run.stop import Stop
from incrowd.solvers.matching.pool import rows_of
from incrowd.solvers.matching.separation import WHOLE


class Branch(NamedTuple):
    """A node of the search: bool, shape (columns,): which may be used; the basis to go on from."""

    usable: NDArray[np.bool_]
    basis: Any


class Relaxed(NamedTuple):
    """A branch's linear program: ``x`` over all columns, integer slacks, and its bound in costs."""

    x: NDArray[np.float64]
    slack: NDArray[np.int64]
    bound: int


class Relaxation:
    """The linear program over columns of which some may be used; one branch at a time.

    unit: price units in one cost unit.
    """

    def __init__(
        self,
        groups: NDArray[np.int32],
        cost: NDArray[np.int64],
        nodes: int,
        odd_sets: list[NDArray[np.int64]],
        best: int,
        unit: int,
    ) -> None:
        self.cost, self.nodes, self.unit = cost, nodes, unit
        self.matrix = rows_of(groups, nodes, odd_sets)
        self.mean = max(1.0, float(cost.mean()))  # the solver's tolerances are absolute
        rows = nodes + len(odd_sets)
        most = np.concatenate([np.ones(nodes), np.full(len(odd_sets), np.inf)])
        # a row that no column fills makes a branch dearer than the best partition
        self.simplex = Simplex(np.ones(rows), most, np.full(rows, 2.0 * (best + 1) / self.mean))
        self.simplex.add_columns(cost / self.mean, self.matrix)
        self.usable = np.ones(len(cost), np.bool_)

    def enter(self, branch: Branch) -> None:
        """Go to a branch."""
        changed = np.flatnonzero(branch.usable != self.usable)
        self.simplex.limit_columns(changed, branch.usable[changed])
        if branch.basis is not None:
            self.simplex.restore(branch.basis)
        self.usable = branch.usable

    def solve(self, stop: Stop) -> Relaxed | None:
        """Solve the branch at hand; None when it is time to stop, or the solver fails."""
        point = self.simplex.solve(stop.left)
        if point is None:
            return None
        dual = np.round(point.y * (self.mean * self.unit)).astype(np.int64)
        dual[self.nodes :] = np.maximum(dual[self.nodes :], 0)
        slack = self.cost * self.unit - self.matrix.T.astype(np.int64) @ dual
        # every column has a node, so this much less a node leaves none below its price
        less = max(0, -int(slack[self.usable].min(initial=0)))
        total = sum(dual.tolist()) - less * self.nodes
        return Relaxed(point.x, slack + less, -(-total // self.unit))


def branch(
    groups: NDArray[np.int32],
    cost: NDArray[np.int64],
    nodes: int,
    odd_sets: list[NDArray[np.int64]],
    best: int,
    unit: int,
    branches: float,
    stop: Stop,
) -> tuple[bool, NDArray[np.int64] | None]:
    """Find a partition of the nodes into groups that costs less than ``best``.

    Parameters
    ----------
    unit: price units in one cost unit; sums of prices stay far within 64 bits.
    branches: how many may be looked at.

    Returns
    -------
    whether the search was complete, and the columns of the cheapest such partition, or None when
    none was found.
    """
    found: NDArray[np.int64] | None = None
    program = Relaxation(groups, cost, nodes, odd_sets, best, unit)
    stack = [Branch(program.usable, None)]
    while stack:
        branches -= 1
        if branches < 0 or stop.now():
            return False, found
        at = stack.pop()
        program.enter(at)
        relaxed = program.solve(stop)
        if relaxed is None:
            return False, found
        if relaxed.bound >= best:
            continue
        split = pair_to_split(groups, relaxed.x)
        if split is None:
            chosen = np.flatnonzero(relaxed.x > 0.5)
            if not covers(groups[chosen], nodes) or int(cost[chosen].sum()) >= best:
                return False, found  # numerical trouble: claim nothing
            found, best = chosen, int(cost[chosen].sum())
            # The branch itself may hold more: go on below its new bound.
            stack.append(at)
            continue
        # a column whose slack alone exceeds the gap is in no better partition
        usable = at.usable & (relaxed.slack < (best - relaxed.bound + 1) * unit)
        u, v = split
        holds_u, holds_v = (groups == u).any(axis=1), (groups == v).any(axis=1)
        basis = program.simplex.basis()
        stack.append(Branch(usable & ~(holds_u & holds_v), basis))
        stack.append(Branch(usable & (holds_u == holds_v), basis))
    return True, found


def pair_to_split(groups: NDArray[np.int32], x: NDArray[np.float64]) -> tuple[int, int] | None:
    """Two nodes whose columns in common add up most nearly to ½, or None for whole solutions."""
    share: dict[tuple[int, int], float] = {}
    for i in np.flatnonzero(x > WHOLE):
        u, v, w = groups[i].tolist()
        for pair in ((u, v), (u, w), (v, w)):
            if min(pair) >= 0:
                share[pair] = share.get(pair, 0.0) + float(x[i])
    torn = [(abs(s - 0.5), pair) for pair, s in share.items() if WHOLE < s < 1 - WHOLE]
    return min(torn)[1] if torn else None


def covers(groups: NDArray[np.int32], nodes: int) -> bool:
    """Whether the groups hold each node exactly once."""
    member = groups[groups >= 0]
    return len(member) == nodes and len(np.unique(member)) == nodes
