"""Classes under row prices, in flat arrays that moves change in place; kernels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel
from incrowd.kernels.types import Ints
from incrowd.problem.instance import NodeTables
from incrowd.problem.join import meet, span_cost


class Costs(NamedTuple):
    """What a class costs: trees, links and prices.

    tables: the trees; fine: what one unit of their costs is here.
    link: int64, shape (columns,): number of the column's link, −1 for none.
    by_column: int64, shape (columns,): price of a changed cell.
    by_row: int64, shape (rows,): price of each of a row's changed cells.
    """

    tables: NodeTables
    fine: int
    link: Ints
    by_column: Ints
    by_row: Ints


class Crowd(NamedTuple):
    """The classes, changed in place.

    codes: int32, shape (rows, columns); group: int64, shape (rows,), rows of different groups may
    not meet.  member: int64, shape (rows,): class of each row.  Per class: size, weight (sum of its
    rows' prices), value (cost); low, high: int32, shape (classes, columns).  head, after, before:
    its rows as a linked list.
    """

    codes: NDArray[np.int32]
    group: Ints
    member: Ints
    size: Ints
    weight: Ints
    value: Ints
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    head: Ints
    after: Ints
    before: Ints
    free: Ints
    free_count: Ints


def new_crowd(codes: NDArray[np.int32], group: Ints, member: Ints, k: int) -> Crowd:
    """Return the arrays for these classes (dense ids), values not yet worked out.

    There is room for as many classes of k rows as the table can hold.
    """
    rows, classes = len(codes), int(member.max()) + 1
    spare = rows // k + 1 - classes
    order = np.argsort(member, kind="stable")
    starts = np.searchsorted(member[order], np.arange(classes))
    after, before = np.full(rows, -1, np.int64), np.full(rows, -1, np.int64)
    same = member[order][1:] == member[order][:-1]
    after[order[:-1][same]] = order[1:][same]
    before[order[1:][same]] = order[:-1][same]
    low = np.minimum.reduceat(codes[order], starts).astype(np.int32)
    high = np.maximum.reduceat(codes[order], starts).astype(np.int32)
    nobody = np.zeros((spare, codes.shape[1]), np.int32)
    return Crowd(
        np.ascontiguousarray(codes, np.int32),
        group,
        member.copy(),
        np.bincount(member, minlength=classes + spare).astype(np.int64),
        np.zeros(classes + spare, np.int64),
        np.zeros(classes + spare, np.int64),
        np.vstack([low, nobody]),
        np.vstack([high, nobody]),
        np.concatenate([order[starts], np.full(spare, -1)]).astype(np.int64),
        after,
        before,
        np.arange(classes, classes + spare + rows, dtype=np.int64),
        np.array([spare], np.int64),
    )


@kernel
def value_of(
    low: NDArray[np.int32], high: NDArray[np.int32], size: int, weight: int, costs: Costs
) -> int:
    """What a class of ``size`` rows between these codes costs, prices included."""
    tables = costs.tables
    columns = len(low)
    level = np.zeros(columns, np.int64)
    for j in range(columns):
        if tables.ranged[j] >= 0:
            level[j] = 1 if low[j] != high[j] else 0
        else:
            at = meet(j, low[j], high[j], int(tables.start[j]), tables)
            level[j] = (at - tables.start[j]) // tables.width[j]
    total = 0
    for j in range(columns):
        if level[j] == 0 and costs.link[j] >= 0:
            for i in range(columns):
                if costs.link[i] == costs.link[j] and level[i] > 0:
                    level[j] = 1
        if level[j] > 0:
            if tables.ranged[j] >= 0:
                cost = span_cost(j, low[j], high[j], tables)
            else:
                cost = tables.cost[tables.start[j] + level[j] * tables.width[j] + low[j]]
            total += size * int(cost * costs.fine + costs.by_column[j]) + weight
    return total


@kernel
def revalue(crowd: Crowd, costs: Costs) -> None:
    """Work out weight and value of every class at these prices."""
    crowd.weight[:] = 0
    for r in range(len(crowd.member)):
        crowd.weight[crowd.member[r]] += costs.by_row[r]
    for c in range(len(crowd.size)):
        if crowd.size[c] > 0:
            crowd.value[c] = value_of(
                crowd.low[c], crowd.high[c], int(crowd.size[c]), int(crowd.weight[c]), costs
            )


@kernel
def bounds_without(
    crowd: Crowd, c: int, out: int, low: NDArray[np.int32], high: NDArray[np.int32]
) -> None:
    """Write the least and largest codes of class c without row ``out`` (another one is there)."""
    columns = len(low)
    uniform = True
    for j in range(columns):
        low[j], high[j] = crowd.low[c, j], crowd.high[c, j]
        uniform = uniform and low[j] == high[j]
    if uniform:
        return
    row = int(crowd.head[c])
    first = True
    while row >= 0:
        if row != out:
            for j in range(columns):
                code = crowd.codes[row, j]
                if first or code < low[j]:
                    low[j] = code
                if first or code > high[j]:
                    high[j] = code
            first = False
        row = int(crowd.after[row])


@kernel
def widen(crowd: Crowd, row: int, low: NDArray[np.int32], high: NDArray[np.int32]) -> None:
    """Let codes reach from ``low`` to ``high`` over a row."""
    for j in range(len(low)):
        low[j] = min(low[j], crowd.codes[row, j])
        high[j] = max(high[j], crowd.codes[row, j])


@kernel
def put(crowd: Crowd, row: int, c: int) -> None:
    """Take a row out of its class's list and put it into that of class c."""
    old = int(crowd.member[row])
    if crowd.before[row] >= 0:
        crowd.after[crowd.before[row]] = crowd.after[row]
    else:
        crowd.head[old] = crowd.after[row]
    if crowd.after[row] >= 0:
        crowd.before[crowd.after[row]] = crowd.before[row]
    crowd.after[row], crowd.before[row] = crowd.head[c], -1
    if crowd.head[c] >= 0:
        crowd.before[crowd.head[c]] = row
    crowd.head[c] = row
    crowd.member[row] = c


@kernel
def set_class(
    crowd: Crowd,
    c: int,
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    size: int,
    weight: int,
    value: int,
) -> None:
    """Write what is known of a class."""
    crowd.low[c], crowd.high[c] = low, high
    crowd.size[c], crowd.weight[c], crowd.value[c] = size, weight, value
