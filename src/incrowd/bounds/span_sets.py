"""Sets of rows whose prices exceed what they cost, where columns are generalized to intervals.

The search of ``incrowd.bounds.row_sets`` with the least and greatest codes of a set in place of
bits: an interval takes a bit for every value of the table there.  A set costs its join, which costs
no less the more rows it has, so what ends a branch is the same.  The rows that may follow the
dearest one are found by boxes (``incrowd.bounds.span_tree``), not one by one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.row_sets import (
    DEPTH,
    EMIT,
    FULL,
    LAST,
    PLACE,
    STEPS,
    RowSets,
    dearest,
    dearest_behind,
    emit,
    mend,
)
from incrowd.bounds.span_tree import DEEP, apart, nearest, pair_cost, span_tree
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance
from incrowd.problem.join import span_cost


class Stack(NamedTuple):
    """The branch at hand, by depth; as in ``row_sets``, with spans in place of columns.

    span: int32, shape (depths, 2, columns): least and greatest codes of the members.
    rank, last: int64, shape (rows,) and (boxes,): where a row stands by falling price, and the
        last such place in a box.  todo: int64, scratch.
    """

    who: NDArray[np.int32]
    size: NDArray[np.int64]
    at: NDArray[np.int64]
    cost: NDArray[np.int64]
    total: NDArray[np.int64]
    need: NDArray[np.int64]
    member: NDArray[np.int64]
    taken: NDArray[np.int64]
    span: NDArray[np.int32]
    rank: NDArray[np.int64]
    last: NDArray[np.int64]
    todo: NDArray[np.int64]


@inner_kernel
def with_row(span: Any, row: int, tree: Any, most: Any) -> Any:
    """Return what a set of this span and a row costs; more than ``most`` if that is so."""
    total = np.int64(0)
    for j in range(tree.codes.shape[1]):
        c = tree.codes[row, j]
        low, high = min(span[0, j], c), max(span[1, j], c)
        if low != high:
            total += span_cost(j, low, high, tree.tables)
            if total > most:
                break
    return total


@inner_kernel
def widen(wide: Any, span: Any, row: int, tree: Any) -> None:
    """Let ``wide`` be ``span`` with a row."""
    for j in range(tree.codes.shape[1]):
        wide[0, j] = min(span[0, j], tree.codes[row, j])
        wide[1, j] = max(span[1, j], tree.codes[row, j])


@inner_kernel
def rise(line: Any, n: int) -> None:
    """Sort the first n numbers of a line, as of Shell (1959)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for x in range(gap, n):
            one, z = line[x], x
            while z >= gap and line[z - gap] > one:
                line[z] = line[z - gap]
                z -= gap
            line[z] = one
        gap //= 3


@inner_kernel
def list_near(place: int, limit: Any, order: Any, tree: Any, stack: Any, state: Any) -> int:
    """List the rows behind a place that cost its row no more than a limit; return how many."""
    r = order[place]
    found = 0
    stack.todo[0], waiting = 0, 1
    while waiting:
        waiting -= 1
        b = stack.todo[waiting]
        state[STEPS] += 1
        if stack.last[b] <= place or apart(r, b, tree, limit) > limit:
            continue
        if tree.child[b]:
            stack.todo[waiting], stack.todo[waiting + 1] = tree.child[b], tree.child[b] + 1
            waiting += 2
            continue
        state[STEPS] += tree.end[b] - tree.begin[b]
        for y in range(tree.begin[b], tree.end[b]):
            s = tree.place[y]
            if stack.rank[s] > place and pair_cost(r, s, tree, limit) <= limit:
                stack.who[0, found] = stack.rank[s]
                found += 1
    rise(stack.who[0], found)
    for x in range(found):
        stack.who[0, x] = order[stack.who[0, x]]
    return found


@inner_kernel
def begin_with(
    place: int, order: Any, price: Any, k: int, unit: int, counts: Any, tree: Any, stack: Any,
    state: Any,
) -> None:  # fmt: skip
    """List the rows that may follow the dearest row of a set."""
    r = order[place]
    stack.member[0], stack.taken[0] = r, min(counts[r], k)
    stack.need[0], stack.total[0] = k - stack.taken[0], stack.taken[0] * price[r]
    stack.cost[0], stack.at[0], stack.size[0] = 0, 0, 0
    for j in range(tree.codes.shape[1]):
        stack.span[0, 0, j] = stack.span[0, 1, j] = tree.codes[r, j]
    best, lacking = dearest_behind(place, stack.need[0], order, price, counts)
    limit = (stack.total[0] + best - 1) // (k * unit)
    if stack.need[0] > 0 and lacking == 0:
        stack.size[0] = list_near(place, limit, order, tree, stack, state)


@inner_kernel
def narrow(
    d: int, i: int, price: Any, k: int, unit: int, counts: Any, tree: Any, stack: Any, state: Any
) -> None:
    """List at depth d + 1, whose member is chosen, what may follow of what stands behind i."""
    total, need = stack.total[d + 1], stack.need[d + 1]
    extra, _ = dearest(stack, d, i + 1, need - 1, price, counts)
    found = 0
    for x in range(i + 1, stack.size[d]):
        s = stack.who[d, x]
        room = total + price[s] + extra
        if room <= k * unit * stack.cost[d + 1]:
            break  # later ones are no dearer
        if room > k * unit * with_row(stack.span[d + 1], s, tree, room // (k * unit)):
            stack.who[d + 1, found] = s
            found += 1
    state[STEPS] += stack.size[d] - i
    stack.size[d + 1], stack.at[d + 1] = found, 0


@lean_kernel
def search(
    mode: int, order: Any, price: Any, lowered: Any, k: int, unit: int, counts: Any, tree: Any,
    stack: Any, sink: Any, state: Any, steps: int,
) -> None:  # fmt: skip
    """Visit sets as the search of ``row_sets`` does, from ``state`` on."""
    while state[FULL] == 0 and state[STEPS] < steps:
        d = state[DEPTH]
        if d < 0:
            if state[PLACE] >= state[LAST] or price[order[state[PLACE]]] <= 0:
                state[PLACE] = order.size
                return
            begin_with(state[PLACE], order, price, k, unit, counts, tree, stack, state)
            state[PLACE] += 1
            if stack.need[0] > 0:
                state[DEPTH] = 0
            elif mode == EMIT:
                emit(0, 0, stack, sink, state)
            else:
                mend(0, 0, k, stack, lowered, state)
            continue
        i = stack.at[d]
        reach, lacking = dearest(stack, d, i, stack.need[d], price, counts)
        reach += stack.total[d]
        if lacking > 0 or reach <= k * unit * stack.cost[d]:
            state[DEPTH] = d - 1
            continue
        stack.at[d] = i + 1
        s = stack.who[d, i]
        cost = with_row(stack.span[d], s, tree, reach // (k * unit))
        state[STEPS] += 1
        if reach <= k * unit * cost:
            continue
        taken = min(counts[s], stack.need[d])
        stack.member[d + 1], stack.taken[d + 1] = s, taken
        if taken == stack.need[d]:
            if mode == EMIT:
                emit(d + 1, cost, stack, sink, state)
            else:
                mend(d + 1, unit * cost, k, stack, lowered, state)
            continue
        widen(stack.span[d + 1], stack.span[d], s, tree)
        stack.cost[d + 1], stack.total[d + 1] = cost, stack.total[d] + taken * price[s]
        stack.need[d + 1] = stack.need[d] - taken
        narrow(d, i, price, k, unit, counts, tree, stack, state)
        state[DEPTH] = d + 1


@lean_kernel
def last_places(rank: Any, tree: Any, last: Any) -> None:
    """Find the last place by falling price of each box's rows."""
    for b in range(last.size - 1, -1, -1):  # halves stand behind their box
        last[b] = -1
        if tree.child[b]:
            last[b] = max(last[tree.child[b]], last[tree.child[b] + 1])
        else:
            for x in range(tree.begin[b], tree.end[b]):
                last[b] = max(last[b], rank[tree.place[x]])


class SpanSets(RowSets):
    """The search bound to one instance and one k; one caller at a time."""

    def __init__(self, instance: Instance, k: int) -> None:
        self.k, self.counts = k, instance.counts
        self.tree = span_tree(instance)
        rows, columns = instance.codes.shape
        size, at, cost, total, need, member, taken = np.zeros((7, k), np.int64)
        self.stack = Stack(
            np.empty((k, rows), np.int32), size, at, cost, total, need, member, taken,
            np.zeros((k, 2, columns), np.int32), np.zeros(rows, np.int64),
            np.zeros(len(self.tree.child), np.int64), np.zeros(DEEP * 2, np.int64),
        )  # fmt: skip
        self.dearest = sum(int(tree.roots.max(initial=0)) for tree in instance.trees)

    def prepare(self, order: NDArray[np.int64], most: int) -> None:
        """Note where rows and boxes stand by falling price."""
        self.stack.rank[order] = np.arange(len(order))
        last_places(self.stack.rank, self.tree, self.stack.last)

    def advance(
        self, mode: int, order: NDArray[np.int64], price: NDArray[np.int64],
        lowered: NDArray[np.int64], unit: int, sink: Emission, state: NDArray[np.int64], steps: int,
    ) -> None:  # fmt: skip
        """Visit sets until so many steps are done."""
        rules = self.k, unit, self.counts, self.tree, self.stack, sink, state, steps
        search(mode, order, price, lowered, *rules)

    def neighbours(self, stop: Callable[[], bool]) -> NDArray[np.int64] | None:
        """Return the prices of ``neighbour_prices``, found by boxes; None where time is up."""
        rows = len(self.counts)
        price, near, todo = (np.zeros(n, np.int64) for n in (rows, self.k, 2 * DEEP))
        for begin in range(0, rows, 1000):
            if stop():
                return None
            end = min(rows, begin + 1000)
            nearest(self.k, self.counts, self.tree, begin, end, near, todo, price)
        return price
