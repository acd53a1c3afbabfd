"""The walk's four searches by going through all pairs: for tables with many columns.

The number of patterns grows exponentially with the columns, the number of pairs does not.  A
triple of slack < t holds a pair of slack < ⅔·t in lifted prices (Lemma 4c of the explanation), so
triples are looked for from such pairs.
"""

from typing import Any

from incrowd.kernels.halt import halted
from incrowd.kernels.jit import kernel
from incrowd.solvers.matching.dual import pair_slack, triple_slack
from incrowd.solvers.matching.emission import put
from incrowd.solvers.matching.nodes import FAR, bounded_cost, pair_cost, triple_cost


@kernel
def scan_nearest(grid: Any, reach: Any, word: Any) -> None:
    """Lower each node's reach to the cost of its cheapest partner of another color."""
    n = reach.size
    for u in range(n):
        if halted(word):
            return
        for v in range(u + 1, n):
            if grid.color[u] != grid.color[v]:
                cost = bounded_cost(grid, u, v, max(reach[u], reach[v]))
                reach[u] = min(reach[u], cost)
                reach[v] = min(reach[v], cost)


@kernel
def scan_neighbors(grid: Any, reach: Any, per: int, sink: Any, random: Any) -> None:
    """Append up to ``per`` partners within reach of each node, from a random place on."""
    n = reach.size
    for u in range(n):
        if halted(sink.halt):
            return
        random[0] = (random[0] * 1103515245 + 12345) & 0x7FFFFFFF
        first = (random[0] >> 8) % n
        given = 0
        for i in range(n):
            v = (first + i) % n
            if grid.color[u] != grid.color[v] and bounded_cost(grid, u, v, reach[u]) < FAR:
                put(sink, u, v, -1)
                given += 1
                if given == per:
                    break


@kernel
def scan_below(
    grid: Any, dual: Any, order: Any, slack: int, triples: bool, per: int, sink: Any
) -> None:
    """Append groups of slack < ``slack``; ``order``: nodes by falling lifted price."""
    hat = dual.hat
    unit = dual.unit
    n = order.size
    reserve = max(slack, 0)
    for i in range(n):
        u = order[i]
        given = 0
        for j in range(i + 1, n):
            v = order[j]
            room = hat[u] + hat[v] + reserve
            if room <= 0 or halted(sink.halt):
                break
            if grid.color[u] == grid.color[v]:
                continue
            cost = bounded_cost(grid, u, v, room // (2 * unit))
            if cost == FAR:
                continue
            if given < per and pair_slack(dual, u, v, cost) < slack:
                put(sink, u, v, -1)
                given += 1
            if triples and 6 * cost * unit < 3 * (hat[u] + hat[v]) + 2 * reserve:
                third(grid, dual, order, u, v, cost, slack, per, sink)


@kernel
def third(
    grid: Any, dual: Any, order: Any, u: int, v: int, cost: int, slack: int, per: int, sink: Any
) -> None:
    """Append triples of slack < ``slack`` that hold two given nodes, at most ``per``."""
    color = grid.color
    given = 0
    base = 3 * cost * dual.unit - dual.hat[u] - dual.hat[v]
    for w in order:
        if base - dual.hat[w] >= slack:
            return
        if w in (u, v) or color[w] == color[u] or color[w] == color[v]:
            continue
        if triple_slack(dual, u, v, w, triple_cost(grid, u, v, w)) < slack:
            if given >= per or not put(sink, u, v, w):
                return
            given += 1


@kernel
def scan_check(grid: Any, dual: Any, order: Any, triples: bool, sink: Any) -> None:
    """Lower ``sink.state[1]`` to the least slack of any group that could have a negative one."""
    hat = dual.hat
    color = grid.color
    least = 0
    for i in range(order.size):
        u = order[i]
        for j in range(i + 1, order.size):
            v = order[j]
            if hat[u] + hat[v] <= 0 or halted(sink.halt):
                break
            if color[u] == color[v]:
                continue
            cost = bounded_cost(grid, u, v, (hat[u] + hat[v]) // (2 * dual.unit))
            if cost == FAR or 2 * cost * dual.unit >= hat[u] + hat[v]:
                continue
            least = min(least, pair_slack(dual, u, v, pair_cost(grid, u, v)))
            if not triples:
                continue
            for w in order:
                if 3 * cost * dual.unit >= hat[u] + hat[v] + hat[w]:
                    break
                if w not in (u, v) and color[w] != color[u] and color[w] != color[v]:
                    price = triple_cost(grid, u, v, w)
                    least = min(least, triple_slack(dual, u, v, w, price))
    sink.state[1] = least
