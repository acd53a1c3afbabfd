"""The linear program over pairs and triples, solved as an assignment, in integers.

Under the simplex condition a triple never helps a fractional solution: half of each of its three
pairs costs no more.  What is left is fractional perfect matching, which is the assignment problem
on the nodes, where a fixed point stands for a node that goes to its host: the permutation splits
into pairs and even cycles (whole), fixed points (whole) and odd cycles (half-integral), and row and
column potentials a, b add up to prices y = a + b with y(u) + y(v) ≤ 2·cost(u, v) (Lemma 3 of the
explanation).

Arcs come from the prices themselves: solve over some arcs, let the walk find the pairs that the
prices violate, add them, and go on from the same potentials.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.arrays import longer
from incrowd.kernels.jit import kernel
from incrowd.solvers.base import Context
from incrowd.solvers.matching.dual import plain, slacks_of
from incrowd.solvers.matching.nodes import FAR, Nodes, costs_of
from incrowd.solvers.matching.walk import Walker, distinct_groups

NEW_ARCS = 3
SEARCHES = 50  # between two looks at the clock


@kernel
def push(heap: Any, count: int, key: int, item: int) -> int:
    """Add to a binary heap of (key, item); return the new count."""
    i = count
    while i > 0:
        p = (i - 1) >> 1
        if heap[p, 0] <= key:
            break
        heap[i, 0], heap[i, 1] = heap[p, 0], heap[p, 1]
        i = p
    heap[i, 0], heap[i, 1] = key, item
    return count + 1


@kernel
def pop(heap: Any, count: int) -> int:
    """Remove the top of a binary heap of (key, item); return the new count."""
    count -= 1
    key, item = heap[count, 0], heap[count, 1]
    i = 0
    while True:
        c = 2 * i + 1
        if c >= count:
            break
        if c + 1 < count and heap[c + 1, 0] < heap[c, 0]:
            c += 1
        if heap[c, 0] >= key:
            break
        heap[i, 0], heap[i, 1] = heap[c, 0], heap[c, 1]
        i = c
    heap[i, 0], heap[i, 1] = key, item
    return count


@kernel
def settle(start: Any, head: Any, cost: Any, a: Any, b: Any, mate: Any, mate_of: Any) -> None:
    """Make the potentials feasible for all arcs, drop loose matches, match greedily."""
    for u in range(a.size):
        least = FAR
        matched = FAR
        for i in range(start[u], start[u + 1]):
            value = cost[i] - b[head[i]]
            least = min(least, value)
            if head[i] == mate[u]:
                matched = value
        a[u] = least
        if mate[u] >= 0 and matched != least:
            mate_of[mate[u]] = -1
            mate[u] = -1
    for u in range(a.size):
        if mate[u] >= 0:
            continue
        for i in range(start[u], start[u + 1]):
            v = head[i]
            if mate_of[v] < 0 and cost[i] - b[v] == a[u]:
                mate[u] = v
                mate_of[v] = u
                break


@kernel
def augment(
    start: Any,
    head: Any,
    cost: Any,
    a: Any,
    b: Any,
    mate: Any,
    mate_of: Any,
    first: int,
    searches: int,
) -> int:
    """Match unmatched tails by shortest paths, from tail ``first`` on, at most ``searches``.

    Returns the tail to go on from (the number of nodes when all are matched), or −1 when some
    tail cannot be matched.
    """
    n = a.size
    far = np.full(n, FAR)
    final = np.zeros(n, np.bool_)
    parent = np.empty(n, np.int64)
    tails = np.empty(n, np.int64)
    tail_at = np.empty(n, np.int64)
    touched = np.empty(n, np.int64)
    stack = np.empty(n, np.int64)
    heap = np.empty((1 << 16, 2), np.int64)
    for r in range(first, n):
        if mate[r] >= 0:
            continue
        if searches == 0:
            return r
        searches -= 1
        n_tails = 0
        n_touched = 0
        n_heap = 0
        n_stack = 0
        distance = 0
        u = r
        last = -1
        while True:
            tails[n_tails] = u
            tail_at[n_tails] = distance
            n_tails += 1
            for i in range(start[u], start[u + 1]):
                v = head[i]
                if final[v]:
                    continue
                d = distance + cost[i] - a[u] - b[v]
                if d >= far[v]:
                    continue
                if far[v] == FAR:
                    touched[n_touched] = v
                    n_touched += 1
                far[v] = d
                parent[v] = u
                if d == distance:
                    final[v] = True
                    stack[n_stack] = v
                    n_stack += 1
                    if mate_of[v] < 0:
                        last = v
                        break
                else:
                    if n_heap == heap.shape[0]:
                        heap = longer(heap.ravel(), 4 * n_heap).reshape((2 * n_heap, 2))
                    n_heap = push(heap, n_heap, d, v)
            if last >= 0:
                break
            if n_stack == 0:
                v = -1
                while n_heap > 0:
                    d = heap[0, 0]
                    v = heap[0, 1]
                    n_heap = pop(heap, n_heap)
                    if not final[v] and far[v] == d:
                        break
                    v = -1
                if v < 0:
                    return -1
                distance = far[v]
                final[v] = True
                if mate_of[v] < 0:
                    last = v
                    break
                stack[0] = v
                n_stack = 1
            n_stack -= 1
            u = mate_of[stack[n_stack]]
        for i in range(n_tails):
            a[tails[i]] += distance - tail_at[i]
        for i in range(n_touched):
            v = touched[i]
            if final[v]:
                b[v] -= distance - far[v]
            far[v] = FAR
            final[v] = False
        v = last
        while True:
            u = parent[v]
            before = mate[u]
            mate[u] = v
            mate_of[v] = u
            if u == r:
                break
            v = before
    return n


@dataclass(eq=False)
class Fractional:
    """The linear program's optimum, or where the time limit left it.

    Attributes
    ----------
    price: int64, shape (nodes,): y with y(u) + y(v) ≤ 2·cost(u, v) for every lawful pair when
        ``proven``; their sum is then a lower bound.
    mate: int64, shape (nodes,): the permutation.
    pairs: int32, shape (pairs, 3): all pairs used as arcs.
    proven: whether no pair violates the prices.
    """

    price: NDArray[np.int64]
    mate: NDArray[np.int64]
    pairs: NDArray[np.int32]
    proven: bool


def relax(
    nodes: Nodes,
    walker: Walker,
    reach: NDArray[np.int64],
    known: NDArray[np.int32],
    context: Context,
) -> Fractional:
    """Solve the linear program over pairs and triples.

    Parameters
    ----------
    reach: from ``walker.nearest``.
    known: the first pairs, from ``first_arcs``.
    """
    n = nodes.size
    fallback = np.minimum(reach, nodes.grid.home)
    a, b = np.zeros(n, np.int64), np.zeros(n, np.int64)
    mate, mate_of = np.full(n, -1), np.full(n, -1)
    while True:
        start, head, cost = arcs(nodes, known)
        settle(start, head, cost, a, b, mate, mate_of)
        first = 0
        while 0 <= first < n:
            if context.stop.now():
                return Fractional(fallback, mate, known, False)
            first = augment(start, head, cost, a, b, mate, mate_of, first, SEARCHES)
        assert first == n, "the lawful solution's arcs keep the assignment feasible"
        price = a + b
        violated = walker.below(plain(price), 0)
        if walker.cut_short:
            return Fractional(fallback, mate, known, False)
        context.tell("linear program", bound=int(fallback.sum()))
        if not len(violated):
            return Fractional(price, mate, known, True)
        if len(violated) > n:
            violated = worst_of_each(violated, slacks_of(nodes.grid, plain(price), violated))
        known = distinct_groups(np.concatenate([known, violated]))


def first_arcs(
    walker: Walker, reach: NDArray[np.int64], lawful: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Pairs with near neighbours, some a little farther, and those inside the lawful groups.

    The last make the assignment feasible.
    """
    bounded = np.where(reach < FAR, reach, 0)
    parts = [walker.neighbors(bounded, 5), _pairs_of(lawful)]
    tables = walker.grid.tables
    if len(np.unique(tables.cost)) > 2 or (tables.ranged >= 0).any():
        farther = (3 * bounded + int(bounded.mean())) // 2
        parts.append(walker.neighbors(farther, 1))
    return distinct_groups(np.concatenate(parts))


def worst_of_each(groups: NDArray[np.int32], slack: NDArray[np.int64]) -> NDArray[np.int32]:
    """The pairs that are among the few of least slack of one of their nodes."""
    keep = np.zeros(len(groups), bool)
    for side in range(2):
        order = np.lexsort((slack, groups[:, side]))
        node = groups[order, side]
        start = np.flatnonzero(np.concatenate([[True], node[1:] != node[:-1]]))
        rank = np.arange(len(node)) - np.repeat(start, np.diff(np.append(start, len(node))))
        keep[order[rank < NEW_ARCS]] = True
    return groups[keep]


def arcs(
    nodes: Nodes, pairs: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Both directions of each pair, and a loop at each node that has a host, as CSR."""
    cost = costs_of(nodes.grid, pairs) // 2
    loops = np.flatnonzero(nodes.grid.home < FAR)
    tail = np.concatenate([pairs[:, 0], pairs[:, 1], loops])
    head = np.concatenate([pairs[:, 1], pairs[:, 0], loops])
    cost = np.concatenate([cost, cost, nodes.grid.home[loops]])
    order = np.lexsort((cost, tail))
    start = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=nodes.size))])
    return start.astype(np.int64), head[order].astype(np.int32), cost[order]


def _pairs_of(groups: NDArray[np.int32]) -> NDArray[np.int32]:
    """All pairs inside the groups."""
    groups = groups[groups[:, 1] >= 0]
    three = groups[groups[:, 2] >= 0]
    parts = [groups[:, [0, 1]], three[:, [0, 2]], three[:, [1, 2]]]
    pairs = np.sort(np.concatenate(parts), axis=1)
    return np.hstack([pairs, np.full((len(pairs), 1), -1)]).astype(np.int32)


def cycles(mate: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The cycles of the permutation, fixed points included."""
    seen = np.zeros(len(mate), bool)
    out = []
    for u in range(len(mate)):
        if seen[u]:
            continue
        cycle = []
        v = u
        while not seen[v]:
            seen[v] = True
            cycle.append(v)
            v = int(mate[v])
        out.append(np.array(cycle, np.int64))
    return out
