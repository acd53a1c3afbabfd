"""The table as matching nodes: which copies of which rows have to find a partner."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel
from incrowd.problem.instance import Instance, NodeTables
from incrowd.problem.join import join_cost, span_cost
from incrowd.problem.solution import Solution

FAR = 1 << 60
NOTHING = np.zeros((0, 0), np.int64)


class Grid(NamedTuple):
    """The nodes as kernels read them.

    Attributes
    ----------
    codes: int32, shape (columns, nodes): leaf codes, the widest column first.
    tables: the trees in the same column order.
    color: int32, shape (nodes,): two nodes may share a class only if their colors differ.
        The sensitive value; without one, every node has its own color.
    home: int64, shape (nodes,): cost of leaving the node to a row that takes any one guest
        (see ``reduction``); FAR where there is none.
    extra: int64, shape (columns, nodes), even and nonnegative: what a node pays beside when its
        class changes a column, which breaks ties by a fixed order; no columns for none.
    """

    codes: NDArray[np.int32]
    tables: NodeTables
    color: NDArray[np.int32]
    home: NDArray[np.int64]
    extra: NDArray[np.int64] = NOTHING


@dataclass(frozen=True, eq=False)
class Nodes:
    """What has to be matched.

    A *group* is a row of three int32: three nodes, two and −1, or one and −1, −1 (a node that
    goes to its host); nodes ascend.

    Attributes
    ----------
    instance: the table.
    copy: int64, shape (nodes,): the copy that each node stands for.
    hosts: int64: the distinct rows that are no nodes and can take guests.
    grid: what kernels read.
    """

    instance: Instance
    copy: NDArray[np.int64]
    hosts: NDArray[np.int64]
    grid: Grid

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.copy)

    def solution(self, groups: NDArray[np.int32]) -> Solution:
        """Return a release that costs at most what the groups cost.

        Guests of the same host pair up; one that is left takes a copy of the host; the host's
        other copies form a class.
        """
        instance = self.instance
        guests = groups[groups[:, 1] < 0, 0]
        groups = groups[groups[:, 1] >= 0]
        classes = -1 - instance.copies
        member = groups.ravel()
        ids = np.repeat(np.arange(len(groups)), 3)
        classes[self.copy[member[member >= 0]]] = ids[member >= 0]
        waiting: dict[int, int] = {}
        for guest, host in zip(guests.tolist(), self.host_of(guests).tolist(), strict=True):
            if host in waiting:
                classes[self.copy[guest]] = classes[self.copy[waiting.pop(host)]]
            else:
                waiting[host] = guest
                classes[self.copy[guest]] = len(groups) + guest
        for host, guest in waiting.items():
            classes[instance.first_copy[host]] = classes[self.copy[guest]]
        return Solution.of(instance, classes)

    def host_of(self, guests: NDArray[np.int32]) -> NDArray[np.int64]:
        """int64: the nearest host of each node."""
        instance = self.instance
        none = np.zeros(0, np.int64)
        rows = np.ascontiguousarray(instance.codes.T)
        grid = Grid(rows, instance.tables, np.zeros(0, np.int32), none)
        out = np.zeros(len(guests), np.int64)
        nearest_host(grid, instance.copies[self.copy[guests]], self.hosts, out)
        return out


def grid_of(
    instance: Instance,
    rows: NDArray[np.int64],
    color: NDArray[np.int32] | None = None,
    home: NDArray[np.int64] | None = None,
    extra: NDArray[np.int64] = NOTHING,
) -> Grid:
    """Return distinct rows (repeated as they come) in the form that kernels read.

    ``extra``: see ``Grid``, its columns as they stand in the instance.
    """
    # intervals, of which there are most, last
    order = np.lexsort((-instance.tables.width, instance.tables.ranged >= 0))
    trees = tuple(instance.trees[j] for j in order)
    tables = Instance(instance.codes[:, order], instance.counts, trees).tables
    if color is None:
        color = np.arange(len(rows), dtype=np.int32)
    if home is None:
        home = np.full(len(rows), FAR)
    codes = np.ascontiguousarray(instance.codes[rows][:, order].T, dtype=np.int32)
    extra = np.ascontiguousarray(extra[order] if extra.size else extra)
    return Grid(codes, tables, np.ascontiguousarray(color, dtype=np.int32), home, extra)


@kernel
def bounded_cost(grid: Any, u: int, v: int, most: int) -> int:
    """Cost per row of the join of two nodes, or FAR as soon as it exceeds ``most``."""
    total = join_cost(grid.codes[:, u], grid.codes[:, v], grid.tables, most)
    return total if total <= most else FAR


@kernel
def pair_cost(grid: Any, u: int, v: int) -> int:
    """Cost per row of the join of two nodes."""
    return bounded_cost(grid, u, v, FAR)


@kernel
def triple_cost(grid: Any, u: int, v: int, w: int) -> int:
    """Cost per row of the join of three nodes."""
    tables = grid.tables
    total = 0
    for j in range(grid.codes.shape[0]):
        a = grid.codes[j, u]
        b = grid.codes[j, v]
        c = grid.codes[j, w]
        low = min(a, b, c)
        high = max(a, b, c)
        if low != high:
            total += span_cost(j, low, high, tables)
    return total


@kernel
def pair_extra(grid: Any, u: int, v: int) -> int:
    """What both nodes of a pair pay beside."""
    total = 0
    for j in range(grid.extra.shape[0]):
        if grid.codes[j, u] != grid.codes[j, v]:
            total += grid.extra[j, u] + grid.extra[j, v]
    return total


@kernel
def triple_extra(grid: Any, u: int, v: int, w: int) -> int:
    """What the three nodes of a triple pay beside."""
    total = 0
    for j in range(grid.extra.shape[0]):
        if grid.codes[j, u] != grid.codes[j, v] or grid.codes[j, u] != grid.codes[j, w]:
            total += grid.extra[j, u] + grid.extra[j, v] + grid.extra[j, w]
    return total


@kernel
def group_costs(grid: Any, groups: Any, out: Any) -> None:
    """Write what each group costs to ``out``: size × cost of the join and extras, or of a host."""
    for i in range(groups.shape[0]):
        u, v, w = groups[i, 0], groups[i, 1], groups[i, 2]
        if v < 0:
            out[i] = grid.home[u]
        elif w < 0:
            out[i] = 2 * pair_cost(grid, u, v) + pair_extra(grid, u, v)
        else:
            out[i] = 3 * triple_cost(grid, u, v, w) + triple_extra(grid, u, v, w)


@kernel
def nearest_host(grid: Any, guests: Any, hosts: Any, out: Any) -> None:
    """Write the cheapest partner of each guest among the hosts to ``out``."""
    for i in range(guests.size):
        least = FAR
        for host in hosts:
            cost = pair_cost(grid, guests[i], host)
            if cost < least:
                least = cost
                out[i] = host


def costs_of(grid: Grid, groups: NDArray[np.int32]) -> NDArray[np.int64]:
    """int64, shape (groups,): what each group costs, in units of 1/scale."""
    out = np.zeros(len(groups), np.int64)
    group_costs(grid, groups, out)
    return out
