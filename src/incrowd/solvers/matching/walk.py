"""Which pairs and triples do the prices allow?  A prefix-tree search over closed patterns.

At depth j the rows of a group are sorted by leaf code of column j; the leaves below a node are a
run of codes, so each level of the column's tree is one scan over runs.  A group is left as soon
as no two (three) of its nodes have prices that could pay for the pattern so far, and a node is
dropped from the group as soon as no partner in it could.  What survives to the last column is a
closed pattern whose nodes profit from each other (Lemma 4 of the explanation, "Pricing").

Every pair (triple) is met at least in the pattern that is its own join, because a run is only
skipped when all its nodes lie in one child of the chosen node.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.jit import kernel
from incrowd.patterns.prefix_tree import Buffers, sort_rows
from incrowd.solvers.matching.nodes import FAR, Grid, pair_cost, triple_cost

NEAREST, NEIGHBORS, EMIT, CHECK = 0, 1, 2, 3


class Dual(NamedTuple):
    """Prices and odd sets in integers, in units of 1/(scale·unit).

    Attributes
    ----------
    price: int64, shape (nodes,).
    hat: int64, shape (nodes,): price plus the weights of the odd sets that hold the node.
    start, sets: the odd sets of each node as CSR, ascending.
    weight: int64, shape (sets,), nonnegative.
    unit: how many price units make one cost unit.
    """

    price: NDArray[np.int64]
    hat: NDArray[np.int64]
    start: NDArray[np.int64]
    sets: NDArray[np.int64]
    weight: NDArray[np.int64]
    unit: int


class Sink(NamedTuple):
    """Where groups go: ``groups`` int32 (capacity, 3), ``state`` int64 (2,) = (used, least slack)."""

    groups: NDArray[np.int32]
    state: NDArray[np.int64]


def plain(price: NDArray[np.integer], unit: int = 1) -> Dual:
    """Prices without odd sets."""
    price = np.ascontiguousarray(price, dtype=np.int64)
    none = np.zeros(0, np.int64)
    return Dual(price, price, np.zeros(len(price) + 1, np.int64), none, none, unit)


def with_odd_sets(
    price: NDArray[np.integer],
    odd_sets: list[NDArray[np.int64]],
    weight: NDArray[np.integer],
    unit: int,
) -> Dual:
    """Prices with odd sets of nonnegative weight; sets of weight zero are left out."""
    kept = [(np.asarray(s, np.int64), int(w)) for s, w in zip(odd_sets, weight, strict=True) if w]
    n = len(price)
    member = np.concatenate([s for s, _ in kept]) if kept else np.zeros(0, np.int64)
    owner = np.repeat(np.arange(len(kept)), [len(s) for s, _ in kept]) if kept else member
    weights = np.array([w for _, w in kept], np.int64)
    order = np.lexsort((owner, member))
    start = np.concatenate([[0], np.cumsum(np.bincount(member, minlength=n))]).astype(np.int64)
    hat = np.asarray(price, np.int64).copy()
    np.add.at(hat, member, weights[owner])
    sets = np.ascontiguousarray(owner[order], dtype=np.int64)
    return Dual(np.asarray(price, np.int64), hat, start, sets, weights, unit)


@kernel
def shared(dual: Any, u: int, v: int) -> int:
    """Total weight of the odd sets that hold both nodes."""
    total = 0
    i = dual.start[u]
    j = dual.start[v]
    while i < dual.start[u + 1] and j < dual.start[v + 1]:
        if dual.sets[i] == dual.sets[j]:
            total += dual.weight[dual.sets[i]]
            i += 1
            j += 1
        elif dual.sets[i] < dual.sets[j]:
            i += 1
        else:
            j += 1
    return total


@kernel
def shared_by_three(dual: Any, u: int, v: int, w: int) -> int:
    """Total weight of the odd sets that hold all three nodes."""
    total = 0
    for i in range(dual.start[u], dual.start[u + 1]):
        q = dual.sets[i]
        by_v = False
        by_w = False
        for j in range(dual.start[v], dual.start[v + 1]):
            by_v = by_v or dual.sets[j] == q
        for j in range(dual.start[w], dual.start[w + 1]):
            by_w = by_w or dual.sets[j] == q
        if by_v and by_w:
            total += dual.weight[q]
    return total


@kernel
def pair_slack(dual: Any, u: int, v: int, cost: int) -> int:
    """2·cost − prices − weights of the odd sets that hold exactly one of the two."""
    return 2 * cost * dual.unit - dual.hat[u] - dual.hat[v] + 2 * shared(dual, u, v)


@kernel
def triple_slack(dual: Any, u: int, v: int, w: int, cost: int) -> int:
    """3·cost − prices − weights of the odd sets that hold one or all of the three."""
    both = shared(dual, u, v) + shared(dual, u, w) + shared(dual, v, w)
    total = 3 * cost * dual.unit - dual.hat[u] - dual.hat[v] - dual.hat[w]
    return total + 2 * both - 4 * shared_by_three(dual, u, v, w)


@kernel
def slacks(grid: Any, dual: Any, groups: Any, out: Any) -> None:
    """Write the reduced cost of each group to ``out``, in price units (FAR for a missing host)."""
    for i in range(groups.shape[0]):
        u, v, w = groups[i, 0], groups[i, 1], groups[i, 2]
        if v < 0:
            out[i] = grid.home[u] * dual.unit - dual.hat[u] if grid.home[u] < FAR else FAR
        elif w < 0:
            out[i] = pair_slack(dual, u, v, pair_cost(grid, u, v))
        else:
            out[i] = triple_slack(dual, u, v, w, triple_cost(grid, u, v, w))


def slacks_of(grid: Grid, dual: Dual, groups: NDArray[np.int32]) -> NDArray[np.int64]:
    """int64, shape (groups,): reduced costs, in units of 1/(scale·unit)."""
    out = np.zeros(len(groups), np.int64)
    slacks(grid, dual, groups, out)
    return out


@kernel
def best_colors(rows: Any, begin: int, end: int, hat: Any, color: Any, top: Any, of: Any) -> None:
    """The three highest prices of three different colors, and those colors."""
    for i in range(3):
        top[i] = -FAR
        of[i] = -1
    for i in range(begin, end):
        h = hat[rows[i]]
        if h <= top[2]:
            continue
        c = color[rows[i]]
        if c == of[0]:
            top[0] = max(top[0], h)
        elif h > top[0]:
            if c != of[1]:
                top[2] = top[1]
                of[2] = of[1]
            top[1] = top[0]
            of[1] = of[0]
            top[0] = h
            of[0] = c
        elif c == of[1]:
            top[1] = max(top[1], h)
        elif h > top[1]:
            top[2] = top[1]
            of[2] = of[1]
            top[1] = h
            of[1] = c
        else:
            top[2] = h
            of[2] = c


@kernel
def survivors(
    rows: Any, begin: int, end: int, cost: int, grid: Any, dual: Any, slack: int, triples: bool,
    top: Any, of: Any, out: Any,
) -> int:
    """Copy to ``out`` the nodes that some pair (or triple) of slack < ``slack`` may hold."""
    best_colors(rows, begin, end, dual.hat, grid.color, top, of)
    two = 2 * cost * dual.unit - slack
    three = 3 * cost * dual.unit - slack
    some = top[0] + top[1] > two
    if triples and top[2] > -FAR and top[0] + top[1] + top[2] > three:
        some = True
    if not some:
        return 0
    n = 0
    for i in range(begin, end):
        r = rows[i]
        h = dual.hat[r]
        c = grid.color[r]
        first = top[1] if c == of[0] else top[0]
        second = top[2] if c == of[0] or c == of[1] else top[1]
        keep = h + first > two
        if not keep and triples and second > -FAR:
            keep = h + first + second > three
        if keep:
            out[n] = r
            n += 1
    return n


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
    key = np.empty(n, np.int64)
    old = rows[:n].copy()
    for i in range(n):
        key[i] = -hat[old[i]]
    order = np.argsort(key, kind="mergesort")
    for i in range(n):
        rows[i] = old[order[i]]


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
        for i in range(n - d):
            u, v = rows[i], rows[i + d]
            if hat[u] + hat[v] <= two:
                break
            if grid.color[u] == grid.color[v]:
                continue
            if pair_slack(dual, u, v, cost) < slack and pair_cost(grid, u, v) == cost:
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
            if hat[u] + hat[rows[i + 1]] + hat[w] <= three:
                break
            for j in range(i + 1, i + span):
                v = rows[j]
                if hat[u] + hat[v] + hat[w] <= three:
                    break
                if color[u] == color[v] or color[u] == color[w] or color[v] == color[w]:
                    continue
                if triple_slack(dual, u, v, w, cost) < slack:
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
            pair = hat[u] + hat[v]
            if pair <= 2 * cost * dual.unit:
                if not triples or pair + hat[v] <= 3 * cost * dual.unit:
                    break
            if color[u] == color[v]:
                continue
            if pair > 2 * cost * dual.unit:
                sink.state[1] = min(sink.state[1], pair_slack(dual, u, v, cost))
            if not triples or pair + hat[v] <= 3 * cost * dual.unit:
                continue
            for k in range(j + 1, n):
                w = rows[k]
                if pair + hat[w] <= 3 * cost * dual.unit:
                    break
                if color[u] != color[w] and color[v] != color[w]:
                    sink.state[1] = min(sink.state[1], triple_slack(dual, u, v, w, cost))


@kernel
def nearest(rows: Any, n: int, cost: int, color: Any, reach: Any) -> None:
    """Lower the reach of each node that has a partner in this pattern to its cost."""
    for i in range(1, n):
        if color[rows[i]] != color[rows[0]]:
            for j in range(n):
                reach[rows[j]] = min(reach[rows[j]], cost)
            return


@kernel
def pass_on(
    mode: int, rows: Any, begin: int, end: int, cost: int, grid: Any, dual: Any, slack: int,
    triples: bool, reach: Any, top: Any, of: Any, out: Any,
) -> int:
    """Copy to ``out`` the nodes of a run that still matter; return how many (< 2: leave it)."""
    if mode >= EMIT:
        return survivors(rows, begin, end, cost, grid, dual, slack, triples, top, of, out)
    wanted = False
    for i in range(begin, end):
        r = reach[rows[i]]
        if r > cost or (mode == NEIGHBORS and r == cost):
            wanted = True
            break
    if not wanted:
        return 0
    for i in range(begin, end):
        out[i - begin] = rows[i]
    return end - begin


@kernel
def finish(
    mode: int, rows: Any, n: int, cost: int, grid: Any, dual: Any, slack: int, triples: bool,
    per: int, reach: Any, sink: Any, random: Any,
) -> None:
    """Do what the mode does with a complete pattern."""
    if mode == NEAREST:
        nearest(rows, n, cost, grid.color, reach)
    elif mode == NEIGHBORS:
        emit_neighbors(rows, n, cost, grid, reach, per, sink, random)
    else:
        shuffle_and_sort(rows, n, dual.hat, random)
        if mode == CHECK:
            check(rows, n, cost, grid, dual, triples, sink)
            return
        emit_pairs(rows, n, cost, grid, dual, slack, per * n, sink)
        if triples:
            emit_triples(rows, n, cost, grid, dual, slack, per * n, sink)


@kernel
def walk(
    mode: int, grid: Any, dual: Any, slack: int, triples: bool, per: int, reach: Any, sink: Any,
    buffers: Any, random: Any,
) -> None:
    """Visit every pattern that matters to the mode."""
    tables = grid.tables
    columns, nodes = grid.codes.shape
    level = np.zeros(columns + 1, np.int64)
    place = np.zeros(columns + 1, np.int64)
    size = np.zeros(columns + 1, np.int64)
    paid = np.zeros(columns + 1, np.int64)
    top = np.empty(3, np.int64)
    of = np.empty(3, np.int32)
    for i in range(nodes):
        buffers.rows[0, i] = i
    if columns == 0:
        finish(mode, buffers.rows[0], nodes, 0, grid, dual, slack, triples, per, reach, sink, random)
        return
    size[0] = nodes
    sort_rows(buffers.rows[0], nodes, grid.codes[0], buffers)
    depth = 0
    while depth >= 0:
        n = size[depth]
        begin = place[depth]
        if begin >= n:
            level[depth] += 1
            place[depth] = 0
            if level[depth] >= tables.levels[depth]:
                depth -= 1
            continue
        rows = buffers.rows[depth]
        code = grid.codes[depth]
        base = tables.start[depth] + level[depth] * tables.width[depth]
        node = tables.node[base + code[rows[begin]]]
        end = begin + 1
        while end < n and tables.node[base + code[rows[end]]] == node:
            end += 1
        place[depth] = end
        if end - begin < 2:
            continue
        if level[depth] > 0:
            below = base - tables.width[depth]
            if tables.node[below + code[rows[begin]]] == tables.node[below + code[rows[end - 1]]]:
                continue
        cost = paid[depth] + tables.cost[base + code[rows[begin]]]
        out = buffers.rows[depth + 1]
        m = pass_on(
            mode, rows, begin, end, cost, grid, dual, slack, triples, reach, top, of, out
        )
        if m < 2:
            continue
        if depth + 1 == columns:
            finish(mode, out, m, cost, grid, dual, slack, triples, per, reach, sink, random)
            continue
        depth += 1
        level[depth] = 0
        place[depth] = 0
        size[depth] = m
        paid[depth] = cost
        sort_rows(out, m, grid.codes[depth], buffers)


class Walker:
    """The searches over one set of nodes, with their scratch space.

    ``full`` says whether the last search found more groups than it could hold.
    """

    def __init__(self, grid: Grid, seed: int, capacity: int = 1 << 21) -> None:
        columns, nodes = grid.codes.shape
        widest = int(grid.tables.width.max(initial=1))
        self.grid = grid
        self._buffers = Buffers(
            np.zeros((columns + 1, nodes), np.int32),
            np.zeros(max(nodes, 32), np.int64),
            np.zeros(nodes, np.int32),
            np.zeros(max(widest, nodes) * 8 + 2, np.int64),
        )
        self._groups = np.empty((capacity, 3), np.int32)
        self._random = np.array([seed & 0x7FFFFFFF], np.int64)
        self._no_reach = np.zeros(0, np.int64)
        self._least = 0
        self.full = False

    def nearest(self) -> NDArray[np.int64]:
        """int64, shape (nodes,): cost of the cheapest lawful pair that holds each node."""
        reach = np.full(self.grid.codes.shape[1], FAR, np.int64)
        self._walk(NEAREST, plain(reach), 0, False, 0, reach)
        return reach

    def neighbors(self, reach: NDArray[np.int64], per: int) -> NDArray[np.int32]:
        """Some pairs of cost at most ``reach`` of one of the two."""
        return self._walk(NEIGHBORS, plain(reach), 0, False, per, reach)

    def below(
        self, dual: Dual, slack: int, per: int = 3, triples: bool = False
    ) -> NDArray[np.int32]:
        """Pairs (and triples) of reduced cost < ``slack``, at most ``per`` × nodes a pattern.

        Empty exactly when there are none; all of them when ``per`` is large and the walker is not
        ``full`` afterwards.
        """
        return self._walk(EMIT, dual, slack, triples, per, self._no_reach)

    def least_slack(self, dual: Dual) -> int:
        """Return the least reduced cost of any lawful group, or 0 if none is negative.

        Without odd sets triples are left out: when all pairs obey the prices, triples do.
        """
        home = self.grid.home
        at_home = np.where(home < FAR, home * dual.unit - dual.hat, 0)
        triples = len(dual.weight) > 0
        self._walk(CHECK, dual, 0, triples, 0, self._no_reach)
        return min(int(self._least), int(at_home.min(initial=0)))

    def _walk(
        self, mode: int, dual: Dual, slack: int, triples: bool, per: int, reach: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        sink = Sink(self._groups, np.zeros(2, np.int64))
        walk(
            mode, self.grid, dual, slack, triples, per, reach, sink, self._buffers, self._random
        )
        used, self._least = sink.state.tolist()
        self.full = used == len(self._groups)
        return distinct_groups(self._groups[:used])


def distinct_groups(groups: NDArray[np.int32]) -> NDArray[np.int32]:
    """The different rows of ``groups``."""
    if len(groups) < 2:
        return groups.copy()
    order = np.lexsort((groups[:, 2], groups[:, 1], groups[:, 0]))
    ordered = groups[order]
    new = np.ones(len(ordered), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[new]
