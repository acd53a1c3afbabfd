"""The forest that grows in search of a perfect matching of least cost (Edmonds 1965).

Primal-dual: alternating paths grow from all exposed vertices at once; prices change by the least
amount that makes a new edge tight.  ``hat`` is the price of a vertex with the weights of its sets
added, so between vertices of different outermost sets the slack is cost − hat − hat.

Per phase each vertex joins the outer part of the forest once, each set (blossom) is made and undone
once at most, and each event costs O(n): O(n²) per phase, n/2 phases.  For a set keeps, for each
vertex outside, its own vertex of least slack to it (``row``): as long as it lives its vertices
change their prices together, so that this never changes.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.halt import halted
from incrowd.kernels.jit import kernel

NONE = -1
FREE = -2  # the parent of an id that is not in use
OUTER, INNER = 1, 2
GROW, MEET, EXPAND = 1, 2, 3
INFINITE = 1 << 62


class Forest(NamedTuple):
    """The state of a run; items are vertices 0..n−1 and sets n..2n−1.

    Attributes
    ----------
    cost: int64, shape (n, n).
    hat, mate, outer: of each vertex: lifted price, mate, outermost item around it.
    parent: of each item, the set around it, −1 when outermost, −2 for an id not in use.
    first, following: a set's children are a ring: its first child, which holds the one vertex not
        matched inside (the base), and of each child the next.
    link: of each child, the edge to the next: its own vertex, and that of the next.
    weight: of each item; 0 for vertices.
    label: of outermost items: 0, ``OUTER`` or ``INNER``.
    entry: of inner items, the edge by which they came in: the vertex above, their own vertex.
    near: of each vertex not in an outer item, the outer vertex of least slack to it.
    rival: of each outer item, the edge of least slack to an item that was outer before.
    row: of each set, for each vertex, the set's vertex of least slack to it.
    stack, ring: scratch, of 2n items each.  mark: of each item, the last climb that met it.
    """

    cost: Any
    hat: Any
    mate: Any
    outer: Any
    parent: Any
    first: Any
    following: Any
    link: Any
    weight: Any
    label: Any
    entry: Any
    near: Any
    rival: Any
    row: Any
    stack: Any
    ring: Any
    mark: Any


def new_forest(cost: NDArray[np.int64]) -> Forest:
    """Return the start: nobody matched, no sets, prices that are not feasible yet."""
    n = len(cost)
    items = 2 * n
    parent = np.full(items, -2, np.int32)
    parent[:n] = NONE
    return Forest(
        np.ascontiguousarray(cost, dtype=np.int64), np.zeros(n, np.int64),
        np.full(n, NONE, np.int32), np.arange(n, dtype=np.int32), parent,
        np.full(items, NONE, np.int32), np.full(items, NONE, np.int32),
        np.zeros((items, 2), np.int32), np.zeros(items, np.int64), np.zeros(items, np.int8),
        np.zeros((items, 2), np.int32), np.zeros(n, np.int32), np.zeros((items, 2), np.int32),
        np.zeros((n, n), np.int32), np.zeros(items, np.int32), np.zeros(items, np.int32),
        np.zeros(items, np.int64),
    )  # fmt: skip


@kernel
def slack(f: Any, u: int, v: int) -> int:
    """Reduced cost of an edge between different outermost items."""
    return 4 * f.cost[u, v] - f.hat[u] - f.hat[v]


@kernel
def begin(f: Any) -> None:
    """Set feasible even prices, as high as one look at each vertex allows, and match greedily."""
    n = f.cost.shape[0]
    for u in range(n):
        least = INFINITE
        for v in range(n):
            if v != u:
                least = min(least, f.cost[u, v])
        f.hat[u] = 2 * least
    for u in range(n):
        least, at = INFINITE, NONE
        for v in range(n):
            if v != u:
                s = slack(f, u, v)
                if s < least or (s == least and f.mate[v] < 0 <= f.mate[at]):
                    least, at = s, v
        f.hat[u] += least
        if f.mate[u] < 0 and f.mate[at] < 0:
            f.mate[u] = at
            f.mate[at] = u


@kernel
def base(f: Any, item: int) -> int:
    """The vertex of an item that is not matched inside it."""
    while f.first[item] >= 0:
        item = f.first[item]
    return item


@kernel
def set_outer(f: Any, item: int, to: int) -> None:
    """Say of all vertices of an item which outermost item they are in."""
    f.stack[0] = item
    size = 1
    while size:
        size -= 1
        at = f.stack[size]
        child = f.first[at]
        if child < 0:
            f.outer[at] = to
        while child >= 0:
            f.stack[size] = child
            size += 1
            child = f.following[child]
            if child == f.first[at]:
                child = NONE


@kernel
def rebase(f: Any, item: int, vertex: int) -> None:
    """Match items inside so that ``vertex`` is the base."""
    f.stack[0] = item
    f.ring[0] = vertex
    size = 1
    while size:
        size -= 1
        at, to = f.stack[size], f.ring[size]
        if f.first[at] < 0:
            continue
        child = to
        while f.parent[child] != at:
            child = f.parent[child]
        f.first[at] = child
        f.stack[size], f.ring[size] = child, to
        size += 1
        left = f.following[child]
        while left != child:
            right = f.following[left]
            a, b = f.link[left, 0], f.link[left, 1]
            f.mate[a] = b
            f.mate[b] = a
            f.stack[size], f.ring[size] = left, a
            f.stack[size + 1], f.ring[size + 1] = right, b
            size += 2
            left = f.following[right]


@kernel
def flip(f: Any, vertex: int) -> None:
    """Free a vertex of an outer item by changing the matching along its path to the root."""
    u, v = NONE, NONE  # the edge to match once the item above is free at u
    while True:
        item = f.outer[vertex]
        mate = f.mate[base(f, item)]
        rebase(f, item, vertex)
        if u >= 0:
            f.mate[u] = v
            f.mate[v] = u
        if mate < 0:
            return
        inner = f.outer[mate]
        u, v = f.entry[inner, 0], f.entry[inner, 1]
        rebase(f, inner, v)
        vertex = u


@kernel
def above(f: Any, item: int) -> int:
    """The next outer item up from an outer item, or NONE at a root."""
    mate = f.mate[base(f, item)]
    return NONE if mate < 0 else f.outer[f.entry[f.outer[mate], 0]]


@kernel
def meeting(f: Any, s: int, t: int, climb: int) -> int:
    """The lowest outer item above (or at) both of two outer items; NONE in different trees."""
    while s >= 0:
        f.mark[s] = climb
        s = above(f, s)
    while t >= 0 and f.mark[t] != climb:
        t = above(f, t)
    return t


@kernel
def join_outer(f: Any, item: int) -> None:
    """Look at all vertices from an item that has become outer."""
    n = f.cost.shape[0]
    least = INFINITE
    f.rival[item, 0] = NONE
    for x in range(n):
        if f.outer[x] == item:
            continue
        u = item if item < n else f.row[item - n, x]
        if f.label[f.outer[x]] == OUTER:
            s = slack(f, u, x)
            if s < least:
                least = s
                f.rival[item, 0], f.rival[item, 1] = u, x
        elif f.near[x] < 0 or slack(f, u, x) < slack(f, f.near[x], x):
            f.near[x] = u


@kernel
def up(f: Any, item: int) -> tuple[int, int]:
    """The edge from an item of the forest to the next one up: its own vertex, and that above."""
    if f.label[item] == OUTER:
        here = base(f, item)
        return here, f.mate[here]
    return f.entry[item, 1], f.entry[item, 0]


@kernel
def close_ring(f: Any, u: int, v: int, top: int) -> None:
    """Link the cycle that the edge uv closes below ``top``: down to u, over to v, and up again."""
    s, t = f.outer[u], f.outer[v]
    item = s
    while item != top:
        here, there = up(f, item)
        higher = f.outer[there]
        f.following[higher] = item
        f.link[higher, 0], f.link[higher, 1] = there, here
        item = higher
    item = t
    while item != top:
        here, there = up(f, item)
        f.following[item] = f.outer[there]
        f.link[item, 0], f.link[item, 1] = here, there
        item = f.outer[there]
    f.following[s] = t
    f.link[s, 0], f.link[s, 1] = u, v


@kernel
def shrink(f: Any, u: int, v: int, top: int) -> None:
    """Make a set of the cycle that the edge uv closes below ``top``."""
    n = f.cost.shape[0]
    close_ring(f, u, v, top)
    new = n
    while f.parent[new] != FREE:
        new += 1
    row = f.row[new - n]
    row[:] = NONE
    child = top
    while True:
        for x in range(n):
            if f.outer[x] == child:
                continue
            w = child if child < n else f.row[child - n, x]
            if row[x] < 0 or slack(f, w, x) < slack(f, row[x], x):
                row[x] = w
        f.parent[child] = new
        child = f.following[child]
        if child == top:
            break
    f.first[new], f.parent[new], f.weight[new], f.label[new] = top, NONE, 0, OUTER
    set_outer(f, new, new)
    join_outer(f, new)


@kernel
def expand(f: Any, item: int) -> None:
    """Undo an inner set of weight 0: its even path stays in the forest, the rest is let go."""
    size = 0
    child = f.first[item]
    while size == 0 or child != f.first[item]:
        f.ring[size] = child
        size += 1
        f.parent[child], f.label[child] = NONE, 0
        set_outer(f, child, child)
        child = f.following[child]
    f.parent[item], f.first[item], f.label[item] = FREE, NONE, 0
    at = 0
    while f.ring[at] != f.outer[f.entry[item, 1]]:
        at += 1
    step = -1 if at % 2 == 0 else 1
    inner = f.ring[at]
    f.label[inner] = INNER
    f.entry[inner, 0], f.entry[inner, 1] = f.entry[item, 0], f.entry[item, 1]
    while at % size:
        outer, inner = f.ring[at + step], f.ring[(at + 2 * step) % size]
        f.label[outer], f.label[inner] = OUTER, INNER
        if step > 0:
            f.entry[inner, 0], f.entry[inner, 1] = f.link[outer, 0], f.link[outer, 1]
        else:
            f.entry[inner, 0], f.entry[inner, 1] = f.link[inner, 1], f.link[inner, 0]
        at += 2 * step
    for i in range(size):
        if f.label[f.ring[i]] == OUTER:
            join_outer(f, f.ring[i])


@kernel
def next_event(f: Any) -> tuple[int, int, int]:
    """By how much prices can change, what happens then, and to which vertex or item."""
    n = f.cost.shape[0]
    step, kind, at = INFINITE, 0, 0
    for x in range(n):
        if f.label[f.outer[x]] == 0:
            s = slack(f, f.near[x], x)
            if s < step:
                step, kind, at = s, GROW, x
    for item in range(2 * n):
        if f.parent[item] != NONE:
            continue
        if f.label[item] == OUTER and f.rival[item, 0] >= 0:
            s = slack(f, f.rival[item, 0], f.rival[item, 1]) // 2
            if s < step:
                step, kind, at = s, MEET, item
        elif f.label[item] == INNER and item >= n and f.weight[item] < step:
            step, kind, at = f.weight[item], EXPAND, item
    return step, kind, at


@kernel
def change_prices(f: Any, step: int) -> None:
    """Raise the prices of outer items, lower those of inner ones."""
    n = f.cost.shape[0]
    for x in range(n):
        label = f.label[f.outer[x]]
        if label:
            f.hat[x] += step if label == OUTER else -step
    for item in range(n, 2 * n):
        if f.parent[item] == NONE and f.label[item]:
            f.weight[item] += step if f.label[item] == OUTER else -step


@kernel
def grow(f: Any, x: int) -> None:
    """Take a free item in by its vertex, and the one that it is matched to."""
    inner = f.outer[x]
    f.label[inner] = INNER
    f.entry[inner, 0], f.entry[inner, 1] = f.near[x], x
    outer = f.outer[f.mate[base(f, inner)]]
    f.label[outer] = OUTER
    join_outer(f, outer)


@kernel
def augment_once(f: Any, word: Any) -> None:
    """One phase: grow the forest until two trees meet, and match along both paths."""
    n = f.cost.shape[0]
    f.label[:] = 0
    f.near[:] = NONE
    f.mark[:] = 0
    for v in range(n):
        if f.mate[v] < 0:
            f.label[f.outer[v]] = OUTER
    for v in range(n):
        if f.mate[v] < 0:
            join_outer(f, f.outer[v])
    climb = 0
    while not halted(word):
        step, kind, at = next_event(f)
        change_prices(f, step)
        if kind == GROW:
            grow(f, at)
        elif kind == EXPAND:
            expand(f, at)
        else:
            u, v = f.rival[at, 0], f.rival[at, 1]
            climb += 1
            top = meeting(f, f.outer[u], f.outer[v], climb)
            if top < 0:
                flip(f, u)
                flip(f, v)
                f.mate[u] = v
                f.mate[v] = u
                return
            shrink(f, u, v, top)


@kernel
def match_all(f: Any, word: Any) -> None:
    """Run phases until everybody is matched, or the word is written."""
    for v in range(f.mate.size):
        while f.mate[v] < 0 and not halted(word):
            augment_once(f, word)
