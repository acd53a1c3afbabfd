"""Walking the tree of prefixes: one group of rows, one node per column, one column per depth.

At depth j the rows of a group are sorted by their code in column j, so that the rows below a node
are a run; each level of the column's tree is one scan over runs.  Where the column's nodes are
intervals they are runs as well, overlapping ones: *windows*.  A caller asks for the next run
with ``next_run`` and, if it wants to see what lies below, calls ``enter``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.problem.instance import NodeTables
from incrowd.problem.join import span_cost

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


class Buffers(NamedTuple):
    """Scratch of one walk: a row buffer per depth, where it stands, and the sorting space.

    depth: int64 (5, columns + 1): level, place in the rows, number of rows, cost so far, levels to
        go through.  Of a column with intervals the end of the last window stands in the level's
        place, and its beginning in the place.
    span: int64 (2, columns + 1): least and greatest code of that window.
    beside: int64 (columns + 1,): see ``incrowd.bounds.range_windows``.
    """

    rows: NDArray[np.int32]
    depth: NDArray[np.int64]
    span: NDArray[np.int64]
    beside: NDArray[np.int64]
    key: NDArray[np.int64]
    spare: NDArray[np.int32]
    tally: NDArray[np.int64]


def cheapest_nodes(tables: NodeTables) -> NDArray[np.int64]:
    """Return what the cheapest node of each column and level costs; shape (columns, levels)."""
    least = np.zeros((len(tables.levels), int(tables.levels.max(initial=1))), np.int64)
    for j, levels in enumerate(tables.levels.tolist()):
        for level in range(levels):
            begin = tables.start[j] + level * tables.width[j]
            least[j, level] = tables.cost[begin : begin + tables.width[j]].min()
    return least


def new_buffers(columns: int, rows: int, codes: int) -> Buffers:
    """Allocate scratch for tables of so many rows, whose columns have at most ``codes`` codes."""
    return Buffers(
        np.empty((columns + 1, rows), np.int32),
        np.zeros((5, columns + 1), np.int64),
        np.zeros((2, columns + 1), np.int64),
        np.zeros(columns + 1, np.int64),
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


@inner_kernel
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


@inner_kernel
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


@inner_kernel
def enter(depth: int, n: int, cost: int, grid: Any, buffers: Any) -> None:
    """Start on the next column with the rows ``buffers.rows[depth][:n]``, which pay ``cost``."""
    level, place, size, paid, levels = buffers.depth
    level[depth] = 0
    place[depth] = 0
    size[depth] = n
    paid[depth] = cost
    levels[depth] = grid.tables.levels[depth]
    sort_rows(buffers.rows[depth], n, grid.codes[depth], buffers)


@inner_kernel
def enter_root(grid: Any, buffers: Any) -> None:
    """Start the walk with all rows."""
    distinct = grid.codes.shape[1]
    for i in range(distinct):
        buffers.rows[0, i] = i
    enter(0, distinct, 0, grid, buffers)


@inner_kernel
def enter_run(depth: int, begin: int, end: int, cost: int, grid: Any, buffers: Any) -> None:
    """Start on the column ``depth`` with a run of the one before."""
    rows = buffers.rows[depth - 1]
    child = buffers.rows[depth]
    for i in range(begin, end):
        child[i - begin] = rows[i]
    enter(depth, end - begin, cost, grid, buffers)


@inner_kernel
def same_code(rows: Any, at: int, n: int, code: Any) -> int:
    """Return where the run of the code that ``rows[at]`` has ends."""
    c = code[rows[at]]
    while at < n and code[rows[at]] == c:
        at += 1
    return at


@inner_kernel
def next_window(depth: int, grid: Any, buffers: Any) -> tuple[int, int, int]:
    """Step to the next window of a column with intervals; return (begin, end, cost).

    A begin of −1 ends the column.  Windows begin and end at codes that some row has.  Left out are
    those of which a wider one costs as much.
    """
    tables = grid.tables
    level, place, size, _, _ = buffers.depth
    rows = buffers.rows[depth]
    code = grid.codes[depth]
    n = size[depth]
    at = tables.ranged[depth]
    while place[depth] < n:
        begin = place[depth]
        end = level[depth]
        low = code[rows[begin]]
        like = begin > 0 and end > begin  # the window from the code before would cost as much
        like = like and tables.down[at + code[rows[begin - 1]]] == tables.down[at + low]
        if end >= n or like:  # no wider window begins here
            place[depth] = same_code(rows, begin, n, code)
            level[depth] = place[depth]
            continue
        high = code[rows[end]]
        end = same_code(rows, end, n, code)
        cost = span_cost(depth, low, high, tables)
        if high > tables.reach[at + low]:
            if begin > 0:  # the star holds all rows
                level[depth] = n
                continue
            end = n
        while end < n and code[rows[end]] <= tables.reach[at + low]:
            if span_cost(depth, low, code[rows[end]], tables) > cost:
                break
            end = same_code(rows, end, n, code)
        level[depth] = end
        buffers.span[0, depth] = low
        buffers.span[1, depth] = code[rows[end - 1]]
        return begin, end, cost
    return -1, 0, 0


@inner_kernel
def skip_wider(depth: int, buffers: Any) -> None:
    """Leave out the windows that begin where the last did and are wider."""
    buffers.depth[0, depth] = buffers.depth[2, depth]


@inner_kernel
def next_run(depth: int, unit: int, grid: Any, buffers: Any) -> tuple[int, int, int, int]:
    """Step to the next run, here or further up; return (depth, begin, end, cost).

    A depth of −1 ends the walk.  Costs of nodes are multiplied by ``unit``.  Runs that lie in one
    child of their node are left out: the child's run has the same rows and costs no more.
    """
    tables = grid.tables
    level, place, size, paid, levels = buffers.depth
    while depth >= 0:
        if tables.ranged[depth] >= 0:
            begin, end, wide = next_window(depth, grid, buffers)
            if begin < 0:
                depth -= 1
                continue
            return depth, begin, end, paid[depth] + unit * wide
        n = size[depth]
        begin = place[depth]
        if begin >= n:
            level[depth] += 1
            place[depth] = 0
            if level[depth] >= levels[depth]:
                depth -= 1
            continue
        rows = buffers.rows[depth]
        code = grid.codes[depth]
        base = tables.start[depth] + level[depth] * tables.width[depth]
        first = base + code[rows[begin]]
        node = tables.node[first]
        end = begin + 1
        while end < n and tables.node[base + code[rows[end]]] == node:
            end += 1
        place[depth] = end
        if level[depth] > 0:
            below = base - tables.width[depth]
            if tables.node[below + code[rows[begin]]] == tables.node[below + code[rows[end - 1]]]:
                continue
        return depth, begin, end, paid[depth] + unit * tables.cost[first]
    return -1, 0, 0, 0


def share_walked(buffers: Buffers, deepest: int = 2) -> float:
    """Return about what share of a walk is done, by where it stands in the first columns.

    All levels of a column count alike, and rows within a level; what is left out, as done.
    """
    level, place, size, _, levels = buffers.depth
    within = 1.0
    for depth in range(min(deepest, level.size - 2), -1, -1):
        rows, most = float(size[depth]), float(levels[depth])
        below = (1.0 - within) * float(size[depth + 1])
        if rows and most:
            within = (float(level[depth]) + (float(place[depth]) - below) / rows) / most
            within = min(1.0, max(0.0, within))
    return within if size[0] else 0.0


@inner_kernel
def copies_of(rows: Any, begin: int, end: int, counts: Any) -> int:
    """Count the copies of ``rows[begin:end]``."""
    total = 0
    for i in range(begin, end):
        total += counts[rows[i]]
    return total


@inner_kernel
def is_closed(rows: Any, begin: int, end: int, depth: int, grid: Any, buffers: Any) -> bool:
    """Whether the rows reach into two children of every chosen inner node of earlier columns.

    And of intervals into all for which they pay.
    """
    tables = grid.tables
    level = buffers.depth[0]
    for j in range(depth):
        if tables.ranged[j] >= 0:
            code = grid.codes[j]
            low = code[rows[begin]]
            high = low
            for i in range(begin + 1, end):
                low = min(low, code[rows[i]])
                high = max(high, code[rows[i]])
            chosen = span_cost(j, buffers.span[0, j], buffers.span[1, j], tables)
            if span_cost(j, low, high, tables) < chosen:
                return False
            continue
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
