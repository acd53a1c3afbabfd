"""Which pairs and triples do the prices allow?  A prefix-tree search over closed patterns.

At depth j the rows of a group are sorted by leaf code of column j; the leaves below a node are a
run of codes, so each level of the column's tree is one scan over runs.  A group is left as soon
as no two (three) of its nodes have prices that could pay for the pattern so far, and a node is
dropped from the group as soon as no partner in it could.  What survives to the last column is a
closed pattern whose nodes profit from each other (Lemma 4 of the explanation, "Pricing").

Every pair (triple) is met at least in the pattern that is its own join, because a run is only
skipped when all its nodes lie in one child of the chosen node.
"""

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.halt import halted
from incrowd.kernels.jit import kernel
from incrowd.lattice.cursor import enter, enter_root, new_buffers, next_run
from incrowd.run.stop import Stop
from incrowd.solvers.matching.dual import Dual, plain
from incrowd.solvers.matching.emission import (
    Sink,
    check,
    emit_neighbors,
    emit_pairs,
    emit_triples,
    nearest,
    shuffle_and_sort,
)
from incrowd.solvers.matching.nodes import FAR, Grid
from incrowd.solvers.matching.scan import blocks_apart, scan_below, scan_nearest, scan_neighbors

MOST_BLOCKS = 1_500
NEAREST, NEIGHBORS, EMIT, CHECK = 0, 1, 2, 3


class Task(NamedTuple):
    """What a walk is for.

    mode: ``NEAREST``, ``NEIGHBORS``, ``EMIT`` or ``CHECK``.  slack: reduced cost below which groups
    are wanted; triples: whether those of three nodes are.  per: groups of a pattern, at most, per
    node.  reach: int64, shape (nodes,) or none: cost up to which pairs of a node are wanted.
    random: int64, shape (1,).
    """

    mode: int
    grid: Grid
    dual: Dual
    slack: int
    triples: bool
    per: int
    reach: NDArray[np.int64]
    sink: Sink
    random: NDArray[np.int64]


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
    task: Any, rows: Any, begin: int, end: int, cost: int, top: Any, of: Any, out: Any
) -> int:
    """Copy to ``out`` the nodes that some pair (or triple) of slack < ``slack`` may hold."""
    dual, color, triples = task.dual, task.grid.color, task.triples
    best_colors(rows, begin, end, dual.hat, color, top, of)
    two = 2 * cost * dual.unit - task.slack
    three = 3 * cost * dual.unit - task.slack
    some = top[0] + top[1] > two
    if triples and top[2] > -FAR and top[0] + top[1] + top[2] > three:
        some = True
    if not some:
        return 0
    n = 0
    for i in range(begin, end):
        r = rows[i]
        h = dual.hat[r]
        c = color[r]
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
def pass_on(
    task: Any, rows: Any, begin: int, end: int, cost: int, top: Any, of: Any, out: Any
) -> int:
    """Copy to ``out`` the nodes of a run that still matter; return how many (< 2: leave it)."""
    if task.mode >= EMIT:
        return survivors(task, rows, begin, end, cost, top, of, out)
    wanted = False
    for i in range(begin, end):
        r = task.reach[rows[i]]
        if r > cost or (task.mode == NEIGHBORS and r == cost):
            wanted = True
            break
    if not wanted:
        return 0
    for i in range(begin, end):
        out[i - begin] = rows[i]
    return end - begin


@kernel
def finish(task: Any, rows: Any, n: int, cost: int) -> None:
    """Do what the mode does with a complete pattern."""
    grid, dual, sink = task.grid, task.dual, task.sink
    if task.mode == NEAREST:
        nearest(rows, n, cost, grid.color, task.reach)
    elif task.mode == NEIGHBORS:
        emit_neighbors(rows, n, cost, grid, task.reach, task.per, sink, task.random)
    else:
        shuffle_and_sort(rows, n, dual.hat, task.random)
        if task.mode == CHECK:
            check(rows, n, cost, grid, dual, task.triples, sink)
            return
        emit_pairs(rows, n, cost, grid, dual, task.slack, task.per * n, sink)
        if task.triples:
            emit_triples(rows, n, cost, grid, dual, task.slack, task.per * n, sink)


@kernel
def walk(task: Any, buffers: Any) -> None:
    """Visit every pattern that matters to the mode."""
    grid = task.grid
    columns, nodes = grid.codes.shape
    top = np.empty(3, np.int64)
    of = np.empty(3, np.int32)
    if columns == 0:
        every = np.arange(nodes).astype(np.int32)
        finish(task, every, nodes, 0)
        return
    enter_root(grid, buffers)
    depth, begin, end, cost = next_run(0, 1, grid, buffers)
    while depth >= 0 and not halted(task.sink.halt):
        rows = buffers.rows[depth]
        out = buffers.rows[depth + 1]
        m = 0
        if end - begin >= 2:
            m = pass_on(task, rows, begin, end, cost, top, of, out)
        if m >= 2 and depth + 1 == columns:
            finish(task, out, m, cost)
        elif m >= 2:
            depth += 1
            enter(depth, m, cost, grid, buffers)
        depth, begin, end, cost = next_run(depth, 1, grid, buffers)


class Walker:
    """The searches over one set of nodes, with their scratch space.

    Attributes
    ----------
    by_pairs: whether to go through all pairs instead of the patterns; chosen by what is fewer.
    full: whether the last search found more groups than it could hold.
    cut_short: whether time ended before it was through: then nothing follows from what it did not
        find.
    """

    def __init__(
        self,
        grid: Grid,
        seed: int,
        capacity: int = 1 << 21,
        by_pairs: bool | None = None,
        stop: Stop | None = None,
    ) -> None:
        columns, nodes = grid.codes.shape
        width = grid.tables.width
        nodes_of = np.where(grid.tables.ranged >= 0, width * (width + 1) // 2, grid.tables.levels)
        patterns = prod(nodes_of.tolist())
        self.by_pairs = patterns > columns * nodes if by_pairs is None else by_pairs
        self.grid, self.stop = grid, stop or Stop()
        self._buffers = new_buffers(columns, nodes, int(grid.tables.width.max(initial=1)))
        self._groups = np.empty((capacity, 3), np.int32)
        self._random = np.array([seed & 0x7FFFFFFF], np.int64)
        self._no_reach = np.zeros(0, np.int64)
        self._least = 0
        self._blocks: tuple[Any, Any, Any] | None = None
        self.full = self.cut_short = False

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
        word = self.stop.overdue if mode == CHECK else self.stop.over  # a proof has some grace
        sink = Sink(self._groups, np.zeros(2, np.int64), word)
        task = Task(mode, self.grid, dual, slack, triples, per, reach, sink, self._random)
        if self.by_pairs:
            self._scan(task)
        else:
            walk(task, self._buffers)
        used, self._least = sink.state.tolist()
        self.full, self.cut_short = used == len(self._groups), halted(word)
        return distinct_groups(self._groups[:used])

    def _scan(self, task: Task) -> None:
        dual, sink = task.dual, task.sink
        if self._blocks is None:
            self._blocks = blocks_of(self.grid)
        of, start, apart = self._blocks
        rows = np.lexsort((-dual.hat, of)).astype(np.int32)
        top = dual.hat[rows[start[:-1]]]
        blocks = of, start, apart, rows, top
        if task.mode == NEAREST:
            scan_nearest(self.grid, task.reach, blocks, sink.halt)
        elif task.mode == NEIGHBORS:
            scan_neighbors(self.grid, task.reach, task.per, blocks, sink, self._random)
        else:  # to check, all of slack below 0 are looked at and none is kept
            scan_below(self.grid, dual, blocks, task.slack, task.triples, task.per, sink)


def blocks_of(grid: Grid) -> tuple[Any, Any, Any]:
    """Return nodes in blocks that agree in the columns of fewest values, as many as leave few.

    Returns
    -------
    int32, shape (nodes,): the block of each node; int64, shape (blocks + 1,): where each begins
    among nodes sorted by block; int64, shape (blocks, blocks): what nodes of two cost at least.
    """
    of, chosen = np.zeros(grid.codes.shape[1], np.int64), []
    for j in np.argsort(grid.tables.width, kind="stable").tolist():
        key = of * int(grid.tables.width[j]) + grid.codes[j]
        found, finer = np.unique(key, return_inverse=True)
        if len(found) > MOST_BLOCKS:
            continue
        of, chosen = finer.ravel(), [*chosen, j]
    _, first, counts = np.unique(of, return_index=True, return_counts=True)
    apart = np.zeros((len(first), len(first)), np.int64)
    if chosen:
        heads = np.ascontiguousarray(grid.codes[chosen][:, first].T)
        blocks_apart(heads, grid.tables.in_order(np.array(chosen)), apart)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return of.astype(np.int32), start, apart


def distinct_groups(groups: NDArray[np.int32]) -> NDArray[np.int32]:
    """The different rows of ``groups``."""
    if len(groups) < 2:
        return groups.copy()
    order = np.lexsort((groups[:, 2], groups[:, 1], groups[:, 0]))
    ordered = groups[order]
    new = np.ones(len(ordered), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[new]
