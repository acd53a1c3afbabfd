"""The walk's searches by going through pairs: for tables with many columns, and for ranges.

The number of patterns grows exponentially with the columns, the number of pairs does not.  A
triple of slack < t holds a pair of slack < ⅔·t in lifted prices (Lemma 4c of the explanation), so
triples are looked for from such pairs.

Nodes lie in blocks that agree in a few columns.  Two nodes cost at least what their blocks do in
these columns, so most pairs of blocks are passed over whole.  ``blocks`` below is: int32, shape
(nodes,), the block of each node; int64, shape (blocks + 1,), where each begins in the rows; int64,
shape (blocks, blocks), the least cost; int32, shape (nodes,), the rows, by block and falling price;
int64, shape (blocks,), the highest price in each.
"""

from typing import Any

import numpy as np

from incrowd.kernels.halt import halted
from incrowd.kernels.jit import kernel
from incrowd.problem.join import join_cost
from incrowd.solvers.matching.dual import pair_slack, triple_slack
from incrowd.solvers.matching.emission import put
from incrowd.solvers.matching.nodes import FAR, bounded_cost, triple_cost


@kernel
def blocks_apart(heads: Any, tables: Any, out: Any) -> None:
    """Write the cost of each pair of rows, of the columns of ``tables``, to ``out``."""
    for a in range(heads.shape[0]):
        for b in range(a):
            cost = join_cost(heads[a], heads[b], tables, FAR)
            out[a, b] = cost
            out[b, a] = cost


@kernel
def scan_nearest(grid: Any, reach: Any, blocks: Any, word: Any) -> None:
    """Lower each node's reach to the cost of its cheapest partner of another color."""
    of, start, apart, rows, _ = blocks
    count = apart.shape[0]
    most = np.full(count, FAR)
    for far in range(2):  # inside the blocks first: then few others are near enough
        for i in range(rows.size):
            if halted(word):
                return
            u = rows[i]
            a = of[u]
            for b in range(a + far, count if far else a + 1):
                if apart[a, b] >= max(reach[u], most[b]):
                    continue
                for j in range(max(i + 1, start[b]), start[b + 1]):
                    v = rows[j]
                    if grid.color[u] != grid.color[v]:
                        cost = bounded_cost(grid, u, v, max(reach[u], reach[v]))
                        reach[u] = min(reach[u], cost)
                        reach[v] = min(reach[v], cost)
        for b in range(count):
            most[b] = 0
            for j in range(start[b], start[b + 1]):
                most[b] = max(most[b], reach[rows[j]])


@kernel
def scan_neighbors(grid: Any, reach: Any, per: int, blocks: Any, sink: Any, random: Any) -> None:
    """Append up to ``per`` partners within reach of each node, from a random place on."""
    of, start, apart, rows, _ = blocks
    count = apart.shape[0]
    for u in range(reach.size):
        if halted(sink.halt):
            return
        random[0] = (random[0] * 1103515245 + 12345) & 0x7FFFFFFF
        first = random[0] >> 8
        given = 0
        for turn in range(count):
            b = (first + turn) % count
            if apart[of[u], b] > reach[u]:
                continue
            size = start[b + 1] - start[b]
            for i in range(size):
                v = rows[start[b] + (first + i) % size]
                if grid.color[u] != grid.color[v] and bounded_cost(grid, u, v, reach[u]) < FAR:
                    put(sink, u, v, -1)
                    given += 1
                    if given == per:
                        break
            if given == per:
                break


@kernel
def scan_below(
    grid: Any, dual: Any, blocks: Any, slack: int, triples: bool, per: int, sink: Any
) -> None:
    """Append groups of slack < ``slack``, and lower ``sink.state[1]`` to the least of them.

    Nothing is appended, and all are looked at, where ``per`` is 0.
    """
    of, start, apart, rows, top = blocks
    hat = dual.hat
    unit = dual.unit
    reserve = max(slack, 0)
    for i in range(rows.size):
        if halted(sink.halt):
            return
        u = rows[i]
        a = of[u]
        given = 0
        for b in range(a, apart.shape[0]):
            least = 2 * unit * apart[a, b]
            if hat[u] + top[b] + reserve <= least:
                continue
            for j in range(max(i + 1, start[b]), start[b + 1]):
                v = rows[j]
                room = hat[u] + hat[v] + reserve
                if room <= least:
                    break
                if grid.color[u] == grid.color[v]:
                    continue
                cost = bounded_cost(grid, u, v, room // (2 * unit))
                if cost == FAR:
                    continue
                if given < per or per == 0:
                    here = pair_slack(grid, dual, u, v, cost)
                    if here < slack:
                        sink.state[1] = min(sink.state[1], here)
                        given += 1
                        if per:
                            put(sink, u, v, -1)
                if triples and 6 * cost * unit < 3 * (hat[u] + hat[v]) + 2 * reserve:
                    third(grid, dual, blocks, u, v, cost, slack, per, sink)
                    if halted(sink.halt):
                        return


@kernel
def third(
    grid: Any, dual: Any, blocks: Any, u: int, v: int, cost: int, slack: int, per: int, sink: Any
) -> None:
    """Take triples of slack < ``slack`` with two given nodes: at most ``per``, or the least."""
    of, start, apart, rows, top = blocks
    color = grid.color
    hat = dual.hat
    given = 0
    for c in range(apart.shape[0]):
        least = max(cost, apart[of[u], c], apart[of[v], c])
        base = 3 * least * dual.unit - hat[u] - hat[v] - slack
        if base >= top[c]:
            continue
        for j in range(start[c], start[c + 1]):
            w = rows[j]
            if base >= hat[w]:
                break
            if w in (u, v) or color[w] == color[u] or color[w] == color[v]:
                continue
            here = triple_slack(grid, dual, u, v, w, triple_cost(grid, u, v, w))
            if here < slack:
                sink.state[1] = min(sink.state[1], here)
                if per and (given >= per or not put(sink, u, v, w)):
                    return
                given += 1
