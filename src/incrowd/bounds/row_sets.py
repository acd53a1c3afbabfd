"""Sets of rows whose prices exceed what they cost: branch and bound over rows, not over columns.

Claim.  Let prices u obey Σ_T u ≤ k·cost(T) for every set T of k copies, cost(T) being that of its
join.  Then u obeys the price inequality (``incrowd.bounds.price``), and the other way round.

Argument.  The k dearest of the rows that match a pattern p are such a set, and their join lies
below p; and a set T matches its own join.

Search.  A level of a hierarchy below the root is a column of its nodes (of intervals, see
``incrowd.bounds.thermometer``), and with r in T

    cost(T) = Σ over these columns b in which T is not constant of w(r, b) ≥ 0,

what the step from that level to the next costs r.  So T costs what the union of the sets of columns
costs in which its rows differ from r: bits of a few machine words.  T is found from its dearest row
on, in falling order of prices.  A branch ends when what is chosen and the dearest rows left sum to
at most k times what the columns so far cost, and a row leaves the list when that is so with it.  In
a table of dozens of columns rows have few near rows: what is hopeless by columns is cheap by rows.

Copies of a row are taken as long as there are any before a cheaper row is: to put one in the place
of a cheaper row lowers no sum and raises no cost.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.thermometer import columns_of
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.emission import Emission, new_sink
from incrowd.problem.instance import Instance

EMIT, MEND = 0, 1
PLACE, DEPTH, SETS, PAIRS, STEPS, FULL = range(6)
PIECE = 20_000_000  # steps between two looks at the clock: a tenth of a second
WORD = 64
ROOM = 1 << 26  # entries of the search's lists
LARGEST = 1 << 61  # no sum of prices exceeds that


class Sheet(NamedTuple):
    """A table as columns that are wholly shown or wholly hidden.

    node: int32, shape (rows, columns).  weight: int64, of that shape: what a row pays
    where the column is hidden.  even: that weight where all are the same, else 0.
    counts: int64, shape (rows,): copies.
    """

    node: NDArray[np.integer]
    weight: NDArray[np.int64]
    even: int
    counts: NDArray[np.int64]


class Stack(NamedTuple):
    """The branch at hand; by depth, where depth d has d + 1 members.

    who: int32 (depths, rows), the rows that may come next, dearest first; mask: uint64 (depths,
    rows, words), where they differ from the root.  size, at: int64 (depths,), how many, and which
    is next.  have: uint64 (depths, words), the columns so far.  cost, total, need: int64 (depths,),
    what these cost, the sum of prices and the copies to come.  member, taken: int64 (depths,).
    """

    who: NDArray[np.int32]
    mask: NDArray[np.uint64]
    size: NDArray[np.int64]
    at: NDArray[np.int64]
    have: NDArray[np.uint64]
    cost: NDArray[np.int64]
    total: NDArray[np.int64]
    need: NDArray[np.int64]
    member: NDArray[np.int64]
    taken: NDArray[np.int64]


@inner_kernel
def ones(x: Any) -> Any:
    """Return how many bits of a word are set."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inner_kernel
def weight_of(x: Any, word: int, row: int, sheet: Any) -> int:
    """Return what the columns in one word of a set cost a row."""
    if sheet.even > 0:
        return sheet.even * ones(x)
    total = 0
    while x != np.uint64(0):
        rest = x & (x - np.uint64(1))
        total += sheet.weight[row, 64 * word + ones((x ^ rest) - np.uint64(1))]
        x = rest
    return total


@inner_kernel
def beyond(stack: Any, d: int, at: int, i: int, root: int, sheet: Any) -> int:
    """Return what row i of the list at depth ``at`` adds to the cost at depth d."""
    total = 0
    for w in range(stack.have.shape[1]):
        new = stack.mask[at, i, w] & ~stack.have[d, w]
        if new != np.uint64(0):
            total += weight_of(new, w, root, sheet)
    return total


@inner_kernel
def dearest(stack: Any, d: int, begin: int, copies: int, price: Any, counts: Any) -> Any:
    """Return the sum of the dearest copies from a place of a list on, and how many are lacking."""
    total, x = 0, begin
    while copies > 0 and x < stack.size[d]:
        taken = min(counts[stack.who[d, x]], copies)
        total += taken * price[stack.who[d, x]]
        copies -= taken
        x += 1
    return total, copies


@inner_kernel
def differ(r: int, s: int, limit: int, sheet: Any, stack: Any, found: int) -> bool:
    """Write where s differs from r; stop where that costs more than a limit."""
    columns, cost = sheet.node.shape[1], 0
    for w in range(stack.have.shape[1]):
        word = np.uint64(0)
        for start in range(64 * w, min(columns, 64 * w + 64), 8):
            part = np.uint64(0)
            for b in range(start, min(columns, start + 8)):
                if sheet.node[r, b] != sheet.node[s, b]:
                    part |= np.uint64(1) << np.uint64(b - 64 * w)
            if part != np.uint64(0):
                cost += weight_of(part, w, r, sheet)
                if cost > limit:
                    return False
                word |= part
        stack.mask[0, found, w] = word
    return True


@inner_kernel
def begin_with(
    place: int, order: Any, price: Any, k: int, unit: int, sheet: Any, stack: Any
) -> None:
    """List the rows that may follow the dearest row of a set."""
    r = order[place]
    stack.member[0], stack.taken[0] = r, min(sheet.counts[r], k)
    stack.need[0], stack.total[0] = k - stack.taken[0], stack.taken[0] * price[r]
    stack.cost[0], stack.have[0, :], stack.at[0] = 0, np.uint64(0), 0
    best, copies, x, found = stack.total[0], stack.need[0], place + 1, 0
    while copies > 0 and x < order.size:
        taken = min(sheet.counts[order[x]], copies)
        best += taken * price[order[x]]
        copies -= taken
        x += 1
    if stack.need[0] > 0 and copies == 0:
        limit = (best - 1) // (k * unit)
        for x in range(place + 1, order.size):
            if differ(r, order[x], limit, sheet, stack, found):
                stack.who[0, found] = order[x]
                found += 1
    stack.size[0] = found


@inner_kernel
def emit(d: int, cost: int, stack: Any, sink: Any, state: Any) -> None:
    """List the set at hand, if there is room."""
    p, end = state[SETS], state[PAIRS]
    if p >= sink.cost.size or end + d + 1 > sink.rows.size:
        state[FULL] = 1
        return
    for x in range(d + 1):
        sink.rows[end + x] = stack.member[x]
    sink.cost[p], sink.offset[p + 1] = cost, end + d + 1
    state[SETS], state[PAIRS] = p + 1, end + d + 1


@inner_kernel
def mend(d: int, cost: int, k: int, stack: Any, price: Any, state: Any) -> None:
    """Lower the prices of the set at hand until they sum to at most k·cost, if they do not."""
    excess, above = -k * cost, 0
    for x in range(d + 1):
        excess += stack.taken[x] * price[stack.member[x]]
        above += stack.taken[x] * max(0, price[stack.member[x]] - cost)
    if excess <= 0:
        return
    state[SETS] += 1
    for x in range(d + 1):
        over = price[stack.member[x]] - cost
        if over > 0:
            price[stack.member[x]] -= min(over, np.int64(over * (excess / above)) + 1)


@inner_kernel
def narrow(
    d: int, i: int, price: Any, k: int, unit: int, sheet: Any, stack: Any, state: Any
) -> None:
    """List at depth d + 1, whose member is chosen, what may follow of what stands behind i."""
    total, need, cost, root = (
        stack.total[d + 1],
        stack.need[d + 1],
        stack.cost[d + 1],
        stack.member[0],
    )
    extra, _ = dearest(stack, d, i + 1, need - 1, price, sheet.counts)
    found = 0
    for x in range(i + 1, stack.size[d]):
        s = stack.who[d, x]
        if total + price[s] + extra <= k * unit * cost:
            break  # later ones are no dearer
        dear = cost + beyond(stack, d + 1, d, x, root, sheet)
        if total + price[s] + extra > k * unit * dear:
            stack.who[d + 1, found] = s
            for w in range(stack.have.shape[1]):
                stack.mask[d + 1, found, w] = stack.mask[d, x, w]
            found += 1
    state[STEPS] += stack.size[d] - i
    stack.size[d + 1], stack.at[d + 1] = found, 0


@lean_kernel
def search(
    mode: int, order: Any, price: Any, lowered: Any, k: int, unit: int, sheet: Any, stack: Any,
    sink: Any, state: Any, steps: int,
) -> None:  # fmt: skip
    """Visit the sets of k copies whose prices sum to more than k·unit·cost; go on from ``state``.

    Until ``steps`` are done, or the sink is full, or all were visited.  ``order``: rows by falling
    price.  EMIT: list them; MEND: lower ``lowered``, which is nowhere above ``price``.
    """
    while state[FULL] == 0 and state[STEPS] < steps:
        d = state[DEPTH]
        if d < 0:
            if state[PLACE] >= order.size or price[order[state[PLACE]]] <= 0:
                state[PLACE] = order.size
                return
            begin_with(state[PLACE], order, price, k, unit, sheet, stack)
            state[PLACE] += 1
            state[STEPS] += order.size - state[PLACE]
            if stack.need[0] > 0:
                state[DEPTH] = 0
            elif mode == EMIT:
                emit(0, 0, stack, sink, state)
            else:
                mend(0, 0, k, stack, lowered, state)
            continue
        i = stack.at[d]
        reach, lacking = dearest(stack, d, i, stack.need[d], price, sheet.counts)
        reach += stack.total[d]
        if lacking > 0 or reach <= k * unit * stack.cost[d]:
            state[DEPTH] = d - 1
            continue
        stack.at[d] = i + 1
        cost = stack.cost[d] + beyond(stack, d, d, i, stack.member[0], sheet)
        state[STEPS] += 1
        if reach <= k * unit * cost:
            continue
        s = stack.who[d, i]
        taken = min(sheet.counts[s], stack.need[d])
        stack.member[d + 1], stack.taken[d + 1] = s, taken
        if taken == stack.need[d]:
            if mode == EMIT:
                emit(d + 1, cost, stack, sink, state)
            else:
                mend(d + 1, unit * cost, k, stack, lowered, state)
            continue
        for w in range(stack.have.shape[1]):
            stack.have[d + 1, w] = stack.have[d, w] | stack.mask[d, i, w]
        stack.cost[d + 1], stack.total[d + 1] = cost, stack.total[d] + taken * price[s]
        stack.need[d + 1] = stack.need[d] - taken
        narrow(d, i, price, k, unit, sheet, stack, state)
        state[DEPTH] = d + 1


def sheet_of(instance: Instance) -> Sheet:
    """Return a table as the columns that ``incrowd.bounds.thermometer`` makes of it."""
    each = zip(instance.trees, instance.codes.T, strict=True)
    columns = [column for tree, code in each for column in columns_of(tree, code)]
    nodes, weights = [node for node, _ in columns], [weight for _, weight in columns]
    shape = (len(nodes), instance.distinct)
    node, weight = (
        np.array(nodes, np.int32).reshape(shape),
        np.array(weights, np.int64).reshape(shape),
    )
    even = int(weight[0, 0]) if weight.size and (weight == weight[0, 0]).all() else 0
    node, weight = np.ascontiguousarray(node.T), np.ascontiguousarray(weight.T)
    return Sheet(node, weight, even, instance.counts)


def new_stack(rows: int, columns: int, k: int) -> Stack:
    """Allocate for sets of k copies."""
    words = -(-columns // WORD) or 1
    size, at, cost, total, need, member, taken = np.zeros((7, k), np.int64)
    who, mask = np.empty((k, rows), np.int32), np.empty((k, rows, words), np.uint64)
    have = np.zeros((k, words), np.uint64)
    return Stack(who, mask, size, at, have, cost, total, need, member, taken)


NO_SINK = new_sink(1, 1)
UNLIMITED = 1 << 62


class RowSets:
    """The search bound to one instance and one k; one caller at a time.

    Attributes
    ----------
    steps: looks at a row of a list, in the last search.
    dearest: what suppressing a whole row costs at most.
    walked: about what share of the search at hand is done; other threads ask.
    """

    walked = 0.0

    def __init__(self, instance: Instance, k: int) -> None:
        self.k, self.sheet, self.steps = k, sheet_of(instance), 0
        self.stack = new_stack(instance.distinct, self.sheet.node.shape[1], k)
        self.dearest = int(self.sheet.weight.sum(1).max(initial=0))

    def prepare(self, order: NDArray[np.int64]) -> None:
        """Get ready for a search over rows in this order."""

    def advance(
        self, mode: int, order: NDArray[np.int64], price: NDArray[np.int64],
        lowered: NDArray[np.int64], unit: int, sink: Emission, state: NDArray[np.int64], steps: int,
    ) -> None:  # fmt: skip
        """Visit sets, from ``state`` on, until so many steps are done."""
        rules = self.k, unit, self.sheet, self.stack, sink, state, steps
        search(mode, order, price, lowered, *rules)

    def run(
        self,
        mode: int,
        price: NDArray[np.int64],
        unit: int,
        stop: Callable[[], bool],
        steps: int = UNLIMITED,
        sink: Emission = NO_SINK,
    ) -> int | None:
        """Return how many sets were listed or mended; None for not all that there are."""
        order = np.argsort(-price, kind="stable")
        before, state = price.copy(), np.array([0, -1, 0, 0, 0, 0])
        self.prepare(order)
        while state[PLACE] < len(order) or state[DEPTH] >= 0:
            if stop() or state[FULL] or state[STEPS] >= steps:
                self.steps = int(state[STEPS])
                return None
            most = min(steps, int(state[STEPS]) + PIECE)
            self.advance(mode, order, before, price, unit, sink, state, most)
            self.walked = state[PLACE] / len(order)
        self.steps = int(state[STEPS])
        return None if state[FULL] else int(state[SETS])

    def listed(
        self,
        price: NDArray[np.int64],
        unit: int,
        stop: Callable[[], bool],
        steps: int,
        sink: Emission,
    ) -> int | None:
        """List the sets that break prices in units of 1/unit; return how many, if there is room."""
        return self.run(EMIT, price, unit, stop, steps, sink)

    def certified(
        self, price: NDArray[np.int64], unit: int, stop: Callable[[], bool]
    ) -> NDArray[np.int64] | None:
        """Return prices, lowered until none is broken by any set; None where time is up first.

        The last search finds nothing.  That alone is the proof.
        """
        price = price.copy()
        while found := self.run(MEND, price, unit, stop):
            pass
        return None if found is None else price
