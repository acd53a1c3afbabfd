"""Which windows of a column with intervals a search for what prices break has to look into.

A group of rows has as many windows as pairs of values, and hardly one in a hundred matters.  Those
that begin at one value are passed from narrow to wide, each row taken in once.  A window matters
for what it has beyond narrower ones, that is for k copies of which one stands at its lower end and
one at its upper end: any others lie in a narrower window, which costs no more, and break that.
"""

from typing import Any

from incrowd.kernels.jit import inner_kernel
from incrowd.lattice.topk import insert_copies, top_k
from incrowd.problem.join import span_cost


@inner_kernel
def next_block(depth: int, low: int, begin: int, n: int, rows: Any, grid: Any) -> tuple[int, Any]:
    """Return where the next wider window from the value ``low`` on ends, and what it costs.

    It takes in ``rows[begin]``, and whatever costs no more; (begin, 0) where no interval holds
    that.
    """
    tables = grid.tables
    code = grid.codes[depth]
    most = tables.reach[tables.ranged[depth] + low]
    cost = span_cost(depth, low, code[rows[begin]], tables)
    end = begin
    while end < n and code[rows[end]] <= most:
        if span_cost(depth, low, code[rows[end]], tables) > cost:
            break
        end += 1
    return end, cost


@inner_kernel
def spare(lower: Any, upper: Any, least: Any, apart: bool) -> Any:
    """Return by how much k copies with both ends fall short of the k dearest.

    ``lower``, ``upper``: the highest prices at the ends, of which no row has both if they are
    ``apart``; ``least``: the least of the k highest prices.
    """
    one = max(least - lower, least - least)
    other = max(least - upper, least - least)
    return one + other if apart else max(one, other)


@inner_kernel
def most_beside(task: Any, depth: int, n: int, counts: Any, buffers: Any, pad: Any) -> Any:
    """Return the sum of the k − 1 highest prices of a group; know it from its first window on."""
    if task.reduced:
        return task.price[0] * 0
    total, entries = top_k(buffers.rows[depth], 0, n, task.price, counts, task.k, *pad)
    return total - pad[0][entries - 1]


@inner_kernel
def taken(
    task: Any, depth: int, begin: int, i: int, end: int, seen: Any, grid: Any, buffers: Any,
    pad: Any,
) -> Any:  # fmt: skip
    """Take rows from ``i`` to ``end`` into the window that begins at ``begin``.

    ``seen`` and the answer: entries of ``top_k`` and copies among them, the highest prices at the
    lower and at the upper end, and whether no row is at both.
    """
    entries, have, lower, upper, apart = seen
    tables, rows, code = grid.tables, buffers.rows[depth], grid.codes[depth]
    at = tables.ranged[depth]
    first = tables.down[at + code[rows[begin]]]
    last = tables.up[at + code[rows[max(i - 1, begin)]]]
    for j in range(i, end):
        row = rows[j]
        price = task.price[row]
        place = at + code[row]
        if tables.down[place] == first:
            lower = max(lower, price)
        if tables.up[place] == last:
            upper = max(upper, price)
        else:
            upper, last = price, tables.up[place]
            apart = tables.down[place] > first
        if have < task.k or price > pad[0][entries - 1]:
            entries, have = insert_copies(price, grid.counts[row], row, task.k, entries, have, *pad)
    return entries, have, lower, upper, apart


@inner_kernel
def breaks(task: Any, cost: Any, seen: Any, pad: Any) -> bool:
    """Whether the dearest k copies of a window may, for lists of candidates wherever they stand."""
    entries, have, lower, upper, apart = seen
    if have < task.k:
        return False
    least = pad[0][entries - 1]
    total = -(have - task.k) * least
    for j in range(entries):
        total += pad[0][j] * pad[1][j]
    if not task.reduced:
        total -= spare(lower, upper, least, apart)
    return total > task.k * (cost - task.margin)


@inner_kernel
def whole_end(depth: int, begin: int, edge: int, rows: Any, grid: Any) -> bool:
    """Whether no row from ``edge`` on belongs to the lower end of windows that begin here."""
    down, code, at = grid.tables.down, grid.codes[depth], grid.tables.ranged[depth]
    return down[at + code[rows[edge]]] > down[at + code[rows[begin]]]


@inner_kernel
def matters(
    task: Any, depth: int, begin: int, end: int, cost: Any, below: Any, grid: Any, buffers: Any,
    pad: Any,
) -> bool:  # fmt: skip
    """Whether a window may matter; if not, step to in front of the next one from here that may.

    ``buffers.depth[0]``, the end of the last window, is moved.  ``below``: a bound on the k highest
    prices of the group.
    """
    level, _, size, paid, _ = buffers.depth
    rows, n = buffers.rows[depth], size[depth]
    if begin == 0:
        buffers.beside[depth] = most_beside(task, depth, n, grid.counts, buffers, pad)
    low = grid.codes[depth][rows[begin]]
    if grid.codes[depth][rows[end - 1]] > grid.tables.reach[grid.tables.ranged[depth] + low]:
        return True  # the star
    edge, price = begin, task.price[rows[begin]]
    seen = (0, 0, price, price, False)
    while True:
        seen = taken(task, depth, begin, edge, end, seen, grid, buffers, pad)
        if breaks(task, cost, seen, pad):
            level[depth] = edge if edge > begin else end
            return edge == begin
        edge = end
        if edge < n:
            end, wide = next_block(depth, low, edge, n, rows, grid)
            cost = paid[depth] + task.unit * wide
        if edge == end:  # no more, or only the star
            break
        most = below
        if begin > 0 and not task.reduced and whole_end(depth, begin, edge, rows, grid):
            # not from the first value on, where the star is, which has no ends
            most = min(most, buffers.beside[depth] + seen[2])
        if most <= task.k * (cost - task.margin):
            edge = n
            break
    level[depth] = edge
    return False
