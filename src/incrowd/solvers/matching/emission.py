"""What the walk does with a complete pattern: append groups, check them, or note a distance."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.halt import halted
from incrowd.kernels.jit import inner_kernel, kernel
from incrowd.solvers.matching.dual import pair_slack, triple_slack
from incrowd.solvers.matching.nodes import pair_cost, triple_cost


class Sink(NamedTuple):
    """Where groups go.

    Attributes
    ----------
    groups: int32, shape (capacity, 3).
    state: int64, shape (2,): groups used so far, least slack met.
    halt: see ``incrowd.kernels.halt``.
    """

    groups: NDArray[np.int32]
    state: NDArray[np.int64]
    halt: NDArray[np.int64]


@inner_kernel
def merge_runs(source: Any, target: Any, n: int, width: int, hat: Any) -> None:
    """Merge neighbouring runs of ``width`` rows each, by falling price; equals stay in order."""
    for begin in range(0, n, 2 * width):
        middle = min(begin + width, n)
        end = min(begin + 2 * width, n)
        a = begin
        b = middle
        for z in range(begin, end):
            if b >= end or (a < middle and hat[source[a]] >= hat[source[b]]):
                target[z] = source[a]
                a += 1
            else:
                target[z] = source[b]
                b += 1


@kernel
def merge_sort(rows: Any, n: int, hat: Any) -> None:
    """Sort ``rows[:n]`` stably by falling price; numba's own takes four seconds to compile."""
    spare = np.empty(n, rows.dtype)
    width = 1
    while width < n:
        merge_runs(rows, spare, n, width, hat)
        merge_runs(spare, rows, n, 2 * width, hat)
        width *= 4


@kernel
def shuffle_and_sort(rows: Any, n: int, hat: Any, random: Any) -> None:
    """Order nodes by falling price, equals at random."""
    for i in range(n - 1, 0, -1):
        random[0] = (random[0] * 1103515245 + 12345) & 0x7FFFFFFF
        j = (random[0] >> 8) % (i + 1)
        rows[i], rows[j] = rows[j], rows[i]
    if n <= 40:
        for i in range(1, n):
            row = rows[i]
            h = hat[row]
            j = i - 1
            while j >= 0 and hat[rows[j]] < h:
                rows[j + 1] = rows[j]
                j -= 1
            rows[j + 1] = row
        return
    merge_sort(rows, n, hat)


@kernel
def put(sink: Any, u: int, v: int, w: int) -> bool:
    """Append one group, nodes ascending; False when the sink is full."""
    used = sink.state[0]
    if used >= sink.groups.shape[0]:
        return False
    low, high = min(u, v), max(u, v)
    if w < 0:
        sink.groups[used, 0], sink.groups[used, 1], sink.groups[used, 2] = low, high, -1
    else:
        sink.groups[used, 0] = min(low, w)
        sink.groups[used, 1] = max(low, min(high, w))
        sink.groups[used, 2] = max(high, w)
    sink.state[0] = used + 1
    return True


@kernel
def emit_pairs(
    rows: Any, n: int, cost: int, grid: Any, dual: Any, slack: int, limit: int, sink: Any
) -> None:
    """Append pairs of slack < ``slack`` whose join is this pattern, at most ``limit``."""
    two = 2 * cost * dual.unit - slack
    hat = dual.hat
    given = 0
    for d in range(1, n):
        if hat[rows[0]] + hat[rows[d]] <= two:
            return
        if halted(sink.halt):
            return
        for i in range(n - d):
            u, v = rows[i], rows[i + d]
            if hat[u] + hat[v] <= two:
                break
            if grid.color[u] == grid.color[v]:
                continue
            if pair_slack(grid, dual, u, v, cost) < slack and pair_cost(grid, u, v) == cost:
                if given >= limit or not put(sink, u, v, -1):
                    return
                given += 1


@kernel
def emit_triples(
    rows: Any, n: int, cost: int, grid: Any, dual: Any, slack: int, limit: int, sink: Any
) -> None:
    """Append triples of slack < ``slack`` whose join is this pattern, at most ``limit``."""
    three = 3 * cost * dual.unit - slack
    hat = dual.hat
    color = grid.color
    given = 0
    for span in range(2, n):
        if hat[rows[0]] + hat[rows[1]] + hat[rows[span]] <= three:
            return
        for i in range(n - span):
            u, w = rows[i], rows[i + span]
            if hat[u] + hat[rows[i + 1]] + hat[w] <= three or halted(sink.halt):
                break
            for j in range(i + 1, i + span):
                v = rows[j]
                if hat[u] + hat[v] + hat[w] <= three:
                    break
                if color[u] == color[v] or color[u] == color[w] or color[v] == color[w]:
                    continue
                if triple_slack(grid, dual, u, v, w, cost) < slack:
                    if triple_cost(grid, u, v, w) != cost:
                        continue
                    if given >= limit or not put(sink, u, v, w):
                        return
                    given += 1


@kernel
def emit_neighbors(
    rows: Any, n: int, cost: int, grid: Any, reach: Any, per: int, sink: Any, random: Any
) -> None:
    """Append up to ``per`` random partners at this cost for each node whose reach allows it."""
    for i in range(n):
        u = rows[i]
        if reach[u] < cost:
            continue
        given = 0
        for _ in range(3 * per):
            random[0] = (random[0] * 1103515245 + 12345) & 0x7FFFFFFF
            v = rows[(random[0] >> 8) % n]
            if grid.color[u] != grid.color[v] and pair_cost(grid, u, v) == cost:
                put(sink, u, v, -1)
                given += 1
                if given == per:
                    break


@kernel
def check(rows: Any, n: int, cost: int, grid: Any, dual: Any, triples: bool, sink: Any) -> None:
    """Lower ``sink.state[1]`` to the least slack of any pair or triple that could be negative."""
    hat = dual.hat
    color = grid.color
    for i in range(n):
        u = rows[i]
        for j in range(i + 1, n):
            v = rows[j]
            if halted(sink.halt):
                return
            pair = hat[u] + hat[v]
            alone = not triples or pair + hat[v] <= 3 * cost * dual.unit
            if pair <= 2 * cost * dual.unit and alone:
                break
            if color[u] == color[v]:
                continue
            if pair > 2 * cost * dual.unit:
                sink.state[1] = min(sink.state[1], pair_slack(grid, dual, u, v, cost))
            if alone:
                continue
            for k in range(j + 1, n):
                w = rows[k]
                if pair + hat[w] <= 3 * cost * dual.unit:
                    break
                if color[u] != color[w] and color[v] != color[w]:
                    sink.state[1] = min(sink.state[1], triple_slack(grid, dual, u, v, w, cost))


@kernel
def nearest(rows: Any, n: int, cost: int, color: Any, reach: Any) -> None:
    """Lower the reach of each node that has a partner in this pattern to its cost."""
    for i in range(1, n):
        if color[rows[i]] != color[rows[0]]:
            for j in range(n):
                reach[rows[j]] = min(reach[rows[j]], cost)
            return
