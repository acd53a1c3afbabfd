"""The prefix-tree search over closed patterns, cut by prices.

A pattern is one node per column.  At depth j the rows of a group are sorted by leaf code of
column j; the leaves below a node are a run of codes, so each level of the column's tree is one
scan over runs (``incrowd.lattice.cursor``).  No pattern store, no hash table, one row buffer per
depth.

Runs are cut when that is provably safe (the classes of every descendant are among a pattern's own,
and cost at least as much, so their prices have no higher mean):

- the support is below the smallest class;
- no row can profit (mode-dependent, see ``profitable``), or the pattern already costs more than the
  rows of the group above could pay, for which whole levels of a column are left out;
- the pattern is not closed: all its rows lie in one child of a chosen node, so a cheaper pattern
  with the same rows is met elsewhere in the search;
- a model's pricing, where there is one, says that no lawful class is dear enough.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.diversity import IMPOSSIBLE
from incrowd.bounds.pricing import Pricing, dearest
from incrowd.bounds.range_windows import matters
from incrowd.bounds.repair import repair
from incrowd.bounds.top_copies import Pad, beside
from incrowd.bounds.tree_parts import ALONE, Part, count_visit, end_walk, is_others, shared
from incrowd.kernels.halt import halted
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.cursor import (
    Buffers,
    Grid,
    cheapest_nodes,
    copies_of,
    enter_root,
    enter_run,
    is_closed,
    new_buffers,
    next_run,
    share_walked,
    skip_wider,
)
from incrowd.lattice.emission import Emission, new_sink
from incrowd.lattice.topk import any_above, most_above, top_k, top_k_buffers
from incrowd.problem.instance import Instance
from incrowd.run.stop import Stop
from incrowd.run.threads import within_room

SUPPORT, EMIT, REPAIR, MEASURE = range(4)
OVERFLOW, VISITS_SPENT, STOPPED = 1, 2, 3


class Slack(NamedTuple):
    """What EMIT lets through: patterns whose dearest mean exceeds cost − margin.

    Rows are kept when their price is at least the k-th highest minus a window: ``2·margin`` for
    bounds (``reduced`` False: rows that could enter the top k within a box of half-width margin),
    or whatever keeps the reduced cost of a k-class with this row within k·margin (``reduced`` True:
    candidates for the release).  Under a model's pricing all rows are kept.
    """

    margin: float
    reduced: bool


class Task(NamedTuple):
    """What a search is for.

    mode: SUPPORT lowers prices to the cost of every pattern that a class may have; EMIT lists the
    patterns that matter in ``sink``; REPAIR lowers prices of k rows, exactly, where they exceed
    their cost; MEASURE raises ``cut`` to the excess of every violated pattern plus ``extra``.
    k: rows of the smallest class.  price: int64 or float64 (distinct,); costs are multiplied by
    ``unit`` to match it.  margin: of its type, by which a mean may lie below the cost and still
    matter.  reduced: see ``Slack``.  visits: nodes that may be touched.  cut: float64 (distinct,).
    halt: see ``incrowd.kernels.halt``.
    """

    mode: int
    k: int
    price: Any
    unit: int
    margin: Any
    reduced: bool
    sink: Emission
    visits: int
    cut: NDArray[np.float64]
    extra: float
    halt: NDArray[np.int64]


@inner_kernel
def exceeds(
    task: Any, rows: Any, begin: int, end: int, counts: Any, cost: Any, known: Any, pad: Any
) -> tuple[bool, Any]:
    """Whether the k highest prices sum to more than ``k·cost``, and a bound on that sum.

    ``known``: such a bound from before; ``pad``: the buffers of ``top_k``.
    """
    above, sure = most_above(rows, begin, end, task.price, counts, task.k, cost)
    if sure or above <= 0:
        return sure, known
    total, _ = top_k(rows, begin, end, task.price, counts, task.k, *pad)
    return total > task.k * cost, total


@inner_kernel
def profitable(
    task: Any, lawful: Any, rows: Any, begin: int, end: int, counts: Any, cost: int, known: Any,
    pad: Any,
) -> tuple[bool, Any]:  # fmt: skip
    """Whether this run, or anything below it, can still matter; if so, its ``reach``.

    That is a bound on k times the cost of what may matter, beside the margin.  With a pricing this
    is a quick look: ``lawful_excess`` says more.
    """
    least = cost - task.margin  # integers only in REPAIR: a float would round large prices
    if lawful is None:
        if task.mode == SUPPORT:
            high = task.price[rows[begin]]
            for i in range(begin, end):
                high = max(high, task.price[rows[i]])
            return high > cost, task.k * high
        return exceeds(task, rows, begin, end, counts, least, known, pad)
    return any_above(rows, begin, end, task.price, least), known


@inner_kernel
def lawful_excess(
    task: Any, lawful: Any, rows: Any, begin: int, end: int, counts: Any, cost: int
) -> float:
    """Return by how much the dearest lawful mean exceeds the cost; ``IMPOSSIBLE`` to cut.

    0 where any k rows are lawful: ``profitable`` has said all there is to say.
    """
    if lawful is None:
        return 0.0
    # in SUPPORT any class at all will do: ask with prices that nothing exceeds
    enough = IMPOSSIBLE if task.mode == SUPPORT else float(cost) - task.margin
    mean, _ = dearest(rows, begin, end, task.price, counts, enough, *lawful)
    return IMPOSSIBLE if mean <= enough else mean - float(cost)


@inner_kernel
def within_reach(task: Any, reach: Any, cost: int) -> bool:
    """Whether a pattern of this cost can matter, whatever its rows."""
    return reach > task.k * (cost - task.margin)


@inner_kernel
def leave_out(task: Any, depth: int, reach: Any, least: Any, buffers: Any) -> None:
    """Leave out the levels of this column all of whose nodes cost too much."""
    _, _, _, paid, levels = buffers.depth
    while levels[depth] > 0 and not within_reach(
        task, reach, paid[depth] + task.unit * least[depth, levels[depth] - 1]
    ):
        levels[depth] -= 1


@inner_kernel
def least_kept(task: Any, lawful: Any, rows: Any, counts: Any, cost: int, pad: Any) -> Any:
    """Return the least price of the rows that EMIT keeps, and whether it keeps the pattern."""
    if lawful is None:
        k = task.k
        total, entries = top_k(rows, 0, rows.size, task.price, counts, k, *pad)
        excess = total - k * cost
        window = k * task.margin + excess if task.reduced else 2 * task.margin
        return pad[0][entries - 1] - window, excess + k * task.margin > 0
    return -np.inf, True


@inner_kernel
def emit(task: Any, lawful: Any, rows: Any, counts: Any, cost: int, state: Any, pad: Any) -> None:
    """Append one pattern to the sink; ``state`` = (patterns, pairs, visits, trouble)."""
    sink = task.sink
    least, kept = least_kept(task, lawful, rows, counts, cost, pad)
    if not kept:
        return
    p = state[0]
    z = state[1]
    if p + 2 >= sink.cost.size or z + rows.size >= sink.rows.size:
        state[3] = OVERFLOW
        return
    for row in rows:
        if task.price[row] >= least:
            sink.rows[z] = row
            z += 1
    sink.cost[p] = cost // task.unit
    sink.offset[p + 1] = z
    state[0] = p + 1
    state[1] = z


@inner_kernel
def act(
    task: Any, lawful: Any, rows: Any, counts: Any, cost: int, excess: float, state: Any, pad: Any
) -> None:
    """Do what the mode does with a complete pattern."""
    if task.mode == EMIT:
        emit(task, lawful, rows, counts, cost, state, pad)
    elif task.mode == SUPPORT:
        state[0] += 1
        for row in rows:
            if task.price[row] > cost:
                task.price[row] = cost
    elif task.mode == MEASURE:
        for row in rows:
            task.cut[row] = max(task.cut[row], excess + task.extra)
    elif lawful is None:
        repair(task, rows, counts, cost, state, pad)


@lean_kernel
def search(
    task: Any, lawful: Any, grid: Any, least: Any, buffers: Any, reach: Any, state: Any, pad: Any,
    part: Any,
) -> None:  # fmt: skip
    """Walk the prefix tree, or a thread's part of it.

    ``least``: see ``cheapest_nodes``; ``reach`` (per column): of the group at hand.  ``lawful``:
    a model's pricing and its scratch, or None, for which numba leaves out what it would take;
    ``pad``: the buffers of ``top_k``.
    """
    counts = grid.counts
    enter_root(grid, buffers)
    depth, begin, end, cost = next_run(0, task.unit, grid, buffers)
    while depth >= 0:
        if halted(task.halt):
            state[3] = STOPPED
            return
        rows = buffers.rows[depth]
        below = reach[depth]
        excess = IMPOSSIBLE
        worth = within_reach(task, below, cost)
        if grid.tables.ranged[depth] >= 0:
            if not worth:
                skip_wider(depth, buffers)
            elif lawful is None and task.mode != SUPPORT:
                worth = matters(task, depth, begin, end, cost, below, grid, buffers, pad)
        worth = worth and not is_others(depth, end - begin, state, lawful, part)
        worth = worth and copies_of(rows, begin, end, counts) >= task.k
        if worth:
            worth, below = profitable(task, lawful, rows, begin, end, counts, cost, below, pad)
        if worth and (
            end - begin == buffers.depth[2, depth]
            or is_closed(rows, begin, end, depth, grid, buffers)
        ):
            excess = lawful_excess(task, lawful, rows, begin, end, counts, cost)
        if excess > IMPOSSIBLE:
            if count_visit(state, part) > task.visits:
                state[3] = VISITS_SPENT
            if state[3] != 0:
                return
            if depth + 1 < reach.size:
                depth += 1
                enter_run(depth, begin, end, cost, grid, buffers)
                reach[depth] = below
                leave_out(task, depth, below, least, buffers)
            else:
                act(task, lawful, rows[begin:end], counts, cost, excess, state, pad)
        depth, begin, end, cost = next_run(depth, task.unit, grid, buffers)
    end_walk(state, lawful, part)


NO_SLACK = Slack(0.0, False)
NO_SINK = new_sink(1, 1)
NO_CUT = np.zeros(1)
UNLIMITED = 1 << 62
WORTH_THREADS = 20_000  # visits of the last search, from which on the next is shared out


class PrefixTree:
    """The search bound to one instance, with its buffers; one caller at a time.

    Attributes
    ----------
    stop: ends a search early, which says so; one that confirms prices, which prove nothing without
        it, has some grace.
    """

    def __init__(self, instance: Instance, stop: Stop | None = None) -> None:
        self.instance, self.stop = instance, stop or Stop()
        self.visits = 0  # of the last search
        tables = instance.tables
        # few levels first: a fifth faster; intervals, of which there are most, last
        most = np.where(tables.ranged >= 0, tables.width * (tables.width + 1), 0)
        order = np.lexsort((tables.levels, most))
        tables = tables.in_order(order)
        codes = np.ascontiguousarray(instance.codes.T[order])
        self.grid = Grid(codes, instance.counts, tables)
        self.least = cheapest_nodes(tables)
        widest = int(tables.width.max(initial=1))
        self.buffers = new_buffers(instance.columns, instance.distinct, widest)
        self.spare: list[Buffers] = []  # of other threads

    def run(
        self,
        mode: int,
        k: int,
        price: Any,
        unit: int = 1,
        slack: Slack = NO_SLACK,
        sink: Emission = NO_SINK,
        visits: int = UNLIMITED,
        patient: bool = False,
    ) -> NDArray[np.int64]:
        """Run one search for classes of any k rows; return (patterns, pairs, visits, trouble).

        ``patient``: whether it has the grace of one that confirms prices.

        Prices that are no whole numbers are rounded to small parts of a unit: so one version of the
        search serves all, and none is compiled for them alone.  Candidates that this could leave
        out are let through; of the patterns for bounds none must be there.
        """
        margin = np.int64(slack.margin)
        if price.dtype != np.int64:
            parts = unit * self.parts_for(k, float(price.max(initial=0.0)))
            price, unit = np.rint(price * parts).astype(np.int64), parts
            margin = np.int64(np.ceil(slack.margin * parts)) + slack.reduced
        word = self.word(mode, patient)
        task = Task(mode, k, price, unit, margin, slack.reduced, sink, visits, NO_CUT, 0.0, word)
        return self.search(task, None)

    def parts_for(self, k: int, highest: float) -> int:
        """Return how many parts of a unit of cost fit: sums over k rows stay below 2^61."""
        dearest = sum(int(tree.roots.max(initial=0)) for tree in self.instance.trees)
        return 1 << max(0, min(20, 60 - int(k * (max(dearest, highest) + 1)).bit_length()))

    def word(self, mode: int, patient: bool = False) -> NDArray[np.int64]:
        """Return the word that a search of this mode looks at."""
        return self.stop.overdue if patient or mode in (REPAIR, MEASURE) else self.stop.over

    def search(self, task: Task, lawful: tuple[Pricing, Pad] | None) -> NDArray[np.int64]:
        """Run one search; return (patterns, pairs, visits, trouble)."""
        threads = self.threads(task, lawful)
        self.buffers.depth[:] = 0
        if threads == 1:
            state = np.zeros(4, np.int64)
            self.walk(task, lawful, self.buffers, ALONE, state, task.sink)
        else:
            state = self.search_together(task, lawful, threads)
        self.visits = int(state[2])
        return state

    def walked(self) -> float:
        """Return about what share of a search is done, while it goes on; any thread may ask."""
        return share_walked(self.buffers)

    def walk(
        self,
        task: Task,
        lawful: tuple[Pricing, Pad] | None,
        buffers: Buffers,
        part: Part,
        state: NDArray[np.int64],
        sink: Emission,
    ) -> None:
        """Walk the tree, or a part of it."""
        k, price = task.k, task.price
        reach = np.full(self.instance.columns, k * price.max(), price.dtype)
        pad, task = top_k_buffers(k, price.dtype), task._replace(sink=sink)
        search(task, lawful, self.grid, self.least, buffers, reach, state, pad, part)

    def threads(self, task: Task, lawful: tuple[Pricing, Pad] | None) -> int:
        """Return how many threads a search is worth: those of some modes alone can be split."""
        if task.mode not in (EMIT, MEASURE) or self.visits < WORTH_THREADS:
            return 1
        each = sum(x.nbytes for x in self.buffers) + task.cut.nbytes
        each += 0 if lawful is None else sum(x.nbytes for x in lawful[1])
        return within_room(self.stop.threads, each)

    def search_together(
        self, task: Task, lawful: tuple[Pricing, Pad] | None, threads: int
    ) -> NDArray[np.int64]:
        """Run one search by several threads: the same to the last bit."""
        tasks, hands = [], []
        for number in range(threads):
            own, pricing = task, lawful
            if number:
                own = task._replace(cut=np.zeros_like(task.cut))
                pricing = None if lawful is None else (lawful[0], beside(lawful[1]))
            while len(self.spare) < number:
                fresh: Any = map(np.empty_like, self.buffers)
                self.spare.append(Buffers(*fresh))
            buffers = self.spare[number - 1] if number else self.buffers
            tasks.append(own)
            hands.append(partial(self.walk, own, pricing, buffers))
        shape = self.instance.distinct, self.instance.columns
        state = shared(hands, shape, task.sink, task.visits, STOPPED, lawful and lawful[1])
        for other in tasks[1:]:
            np.maximum(task.cut, other.cut, out=task.cut)
        return state
