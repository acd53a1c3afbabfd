"""A release before anything is priced: levels of columns from cheap to dear, taking groups of rows.

A *vector* is a level for each column.  Rows that agree at those levels are a group, and one of at
least k copies may become a class.  Vectors come in steps of about equal cost; within a step groups
come by cost and then by size, the smallest first: they leave most to others.  Where the columns
have too many levels between them some levels are left out, and then some vectors.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, kernel, lean_kernel
from incrowd.problem.instance import Instance

MOST_COLUMNS = 16
MOST_VECTORS = 50_000
MOST_WORK = 3_000_000_000  # vectors times distinct rows: some 20 ns for each fiftieth of them
WORK_A_SECOND = 300_000_000  # the same where there is a time limit
LEAST_VECTORS = 600
MOST_MEMBERS = 2_000_000  # rows of all groups that are held at once
STEPS, BANDS = 4, 10  # of a cell's cost: for vectors, and for groups within a step
IN_HASTE = 300  # vectors at most, once time presses
SHARE = 0.5  # of a time limit, after which it does


class Groups(NamedTuple):
    """Groups of at least k copies, in the order in which they were found.

    cost: int64, shape (groups,): what a row pays.  copies: int64, same shape.
    first, rows: distinct rows ``rows[first[g]:first[g + 1]]`` are group g.
    """

    cost: NDArray[np.int64]
    copies: NDArray[np.int64]
    first: NDArray[np.int64]
    rows: NDArray[np.int32]


class Pad(NamedTuple):
    """Scratch: a hash table, and for each group of one vector its first row, copies and place."""

    table: NDArray[np.int64]
    member: NDArray[np.int64]
    head: NDArray[np.int64]
    held: NDArray[np.int64]
    place: NDArray[np.int64]


@inner_kernel
def same(a: int, b: int, vector: Any, codes: Any, tables: Any) -> bool:
    """Whether two rows agree at the levels of a vector."""
    for j in range(vector.size):
        at = tables.start[j] + vector[j] * tables.width[j]
        if tables.node[at + codes[a, j]] != tables.node[at + codes[b, j]]:
            return False
    return True


@inner_kernel
def hashed(r: int, vector: Any, codes: Any, tables: Any) -> Any:
    """Hash the nodes of a row at the levels of a vector."""
    key = np.uint64(1)
    for j in range(vector.size):
        if vector[j] < tables.levels[j] - 1:
            at = tables.start[j] + vector[j] * tables.width[j]
            key += np.uint64(tables.node[at + codes[r, j]])
            key *= np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(32)
    return key


@inner_kernel
def sort_out(
    waiting: Any, vector: Any, stamp: int, codes: Any, counts: Any, tables: Any, pad: Any
) -> int:
    """Tell of each waiting row which group it belongs to; return the number of groups.

    Entries of the table up to ``stamp`` are those of other vectors.
    """
    mask = pad.table.size - 1
    number = 0
    for x in range(waiting.size):
        r = waiting[x]
        at = np.int64(hashed(r, vector, codes, tables) >> np.uint64(8)) & mask
        while pad.table[at] > stamp and not same(
            pad.head[pad.table[at] - stamp - 1], r, vector, codes, tables
        ):
            at = (at + 1) & mask
        if pad.table[at] <= stamp:
            pad.table[at] = stamp + number + 1
            pad.head[number] = r
            pad.held[number] = 0
            pad.place[number] = 0
            number += 1
        g = pad.table[at] - stamp - 1
        pad.member[x] = g
        pad.held[g] += counts[r]
        pad.place[g] += 1
    return number


@inner_kernel
def keep(
    number: int, waiting: Any, vector: Any, k: int, codes: Any, tables: Any, pad: Any, found: int,
    groups: Any,
) -> int:  # fmt: skip
    """Write down the groups of a vector that have k copies; return how many there are in all."""
    end = groups.first[found]
    for g in range(number):
        size = pad.place[g]
        pad.place[g] = -1
        if pad.held[g] >= k:
            pad.place[g] = end
            cost = 0
            for j in range(vector.size):
                at = tables.start[j] + vector[j] * tables.width[j]
                cost += tables.cost[at + codes[pad.head[g], j]]
            groups.cost[found] = cost
            groups.copies[found] = pad.held[g]
            end += size
            found += 1
            groups.first[found] = end
    for x in range(waiting.size):
        g = pad.member[x]
        if pad.place[g] >= 0:
            groups.rows[pad.place[g]] = waiting[x]
            pad.place[g] += 1
    return found


@lean_kernel
def find_groups(
    waiting: Any, vectors: Any, k: int, codes: Any, counts: Any, tables: Any, pad: Any, groups: Any
) -> int:
    """Fill in the groups of at least k waiting copies, vector by vector; return their number."""
    found = 0
    groups.first[0] = 0
    for v in range(len(vectors)):
        stamp = v * waiting.size
        number = sort_out(waiting, vectors[v], stamp, codes, counts, tables, pad)
        found = keep(number, waiting, vectors[v], k, codes, tables, pad, found, groups)
    return found


@kernel
def take(order: Any, groups: Any, k: int, counts: Any, label: Any, number: int) -> int:
    """Make classes of groups in this order, where k copies still wait; return the next number."""
    for g in order:
        left = 0
        for x in range(groups.first[g], groups.first[g + 1]):
            if label[groups.rows[x]] < 0:
                left += counts[groups.rows[x]]
        if left >= k:
            for x in range(groups.first[g], groups.first[g + 1]):
                if label[groups.rows[x]] < 0:
                    label[groups.rows[x]] = number
            number += 1
    return number


def levels_kept(instance: Instance, most: int) -> list[list[int]]:
    """Return levels of each column, of which there are at most so many vectors, or 0 and the root.

    Those go first that cost nearly what their neighbours do, in the columns with most levels.
    """
    mean = [mean_costs(instance, j) for j in range(instance.columns)]
    kept = [list(range(len(costs))) for costs in mean]
    while np.prod([float(len(levels)) for levels in kept]) > most:
        j = max(range(len(kept)), key=lambda column: len(kept[column]))
        levels = kept[j]
        if len(levels) <= 2:
            break
        costs = mean[j][levels]
        del levels[1 + int(np.argmin(costs[2:] - costs[:-2]))]
    return kept


def mean_costs(instance: Instance, column: int) -> NDArray[np.float64]:
    """float64, shape (levels,): what a copy pays on average at each level of a column."""
    tables, codes = instance.tables, instance.codes[:, column]
    copies = np.bincount(codes, weights=instance.counts, minlength=int(tables.width[column]))
    size = int(tables.width[column] * tables.levels[column])
    begin = int(tables.start[column])
    costs = tables.cost[begin : begin + size].reshape(-1, int(tables.width[column]))
    return costs @ copies / instance.rows


def vectors_by_cost(instance: Instance, most: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return vectors by rising mean cost, and that cost; about ``most`` of them, the root too.

    int64, shape (vectors, columns), and float64, shape (vectors,).
    """
    kept = levels_kept(instance, most)
    vectors = np.array(list(product(*kept)), np.int64).reshape(-1, instance.columns)
    cost = np.zeros(len(vectors))
    for j in range(instance.columns):
        cost += mean_costs(instance, j)[vectors[:, j]]
    order = np.argsort(cost, kind="stable")
    thinned = order[:: -(-len(order) // most)]
    if thinned[-1] != order[-1]:
        thinned = np.append(thinned, order[-1])
    return vectors[thinned], cost[thinned]


def steps(
    vectors: NDArray[np.int64], cost: NDArray[np.float64], width: float, hurry: Callable[[], bool]
) -> Iterator[NDArray[np.int64]]:
    """Yield vectors of about equal cost; few more once ``hurry`` says so, but the last."""
    edges = np.flatnonzero(np.diff(np.floor(cost / width + 1e-9), prepend=-1.0, append=np.inf))
    for begin, end in pairwise(edges.tolist()):
        if hurry():
            rest = vectors[begin:]
            yield from rest[:-1][:: -(-len(rest) // IN_HASTE)][:, None]
            yield rest[-1:]
            return
        yield vectors[begin:end]


def by_levels(
    instance: Instance,
    k: int,
    limit: float = np.inf,
    hurry: Callable[[], bool] = lambda: False,
    report: Callable[[float], None] = lambda share: None,
) -> NDArray[np.int64] | None:
    """Return the class of each copy: int64, shape (rows,); None where the table is too wide.

    Needs at least k copies.

    Parameters
    ----------
    limit: seconds that the whole search has.
    hurry: whether to come to an end.
    report: called with the share of the vectors that is done.
    """
    if not 0 < instance.columns <= MOST_COLUMNS:
        return None
    work = min(MOST_WORK, WORK_A_SECOND * limit)
    most = min(MOST_VECTORS, max(LEAST_VECTORS, int(work / instance.distinct)))
    vectors, cost = vectors_by_cost(instance, most)
    label = np.full(instance.distinct, -1, np.int64)
    number = seen = 0
    for step in steps(vectors, cost, instance.cell / STEPS, hurry):
        report(seen / len(vectors))
        seen += len(step)
        while len(step):
            waiting = np.flatnonzero(label < 0)
            if not len(waiting):
                return label[instance.copies]
            some = max(1, MOST_MEMBERS // len(waiting))
            number = take_step(step[:some], waiting, k, instance, label, number)
            step = step[some:]
    left = label < 0
    if left.any():
        enough = int(instance.counts[left].sum()) >= k
        label[left] = number if enough else number - 1
    return label[instance.copies]


def take_step(
    vectors: NDArray[np.int64],
    waiting: NDArray[np.int64],
    k: int,
    instance: Instance,
    label: NDArray[np.int64],
    number: int,
) -> int:
    """Make classes of what waits at some vectors of about equal cost; return the next number."""
    n = len(waiting)
    room = n * len(vectors)
    copies = int(instance.counts[waiting].sum())
    some = min(room, copies // k * len(vectors))
    groups = Groups(
        np.empty(some, np.int64), np.empty(some, np.int64), np.empty(some + 1, np.int64),
        np.empty(room, np.int32),
    )  # fmt: skip
    pad = Pad(np.zeros(1 << (2 * n).bit_length(), np.int64), *np.empty((4, n), np.int64))
    codes, counts, tables = instance.codes, instance.counts, instance.tables
    found = find_groups(waiting, vectors, k, codes, counts, tables, pad, groups)
    band = (groups.cost[:found] * (BANDS / instance.cell)).astype(np.int64)
    order = np.lexsort([groups.copies[:found], band])
    return take(order, groups, k, counts, label, number)
