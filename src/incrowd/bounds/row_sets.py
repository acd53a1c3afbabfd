"""Sets of rows whose prices exceed what they cost: branch and bound over rows, not over columns.

Claim.  Let prices u obey Σ_T u ≤ k·cost(T) for every set T of k copies, cost(T) being that of its
join.  Then u obeys the price inequality (``incrowd.bounds.price``), and the other way round.

Argument.  The k dearest of the rows that match a pattern p are such a set, and their join lies
below p; and a set T matches its own join.

Columns.  A level of a hierarchy below the root is a column of its nodes (of intervals, see
``incrowd.bounds.thermometer``), and with r in T

    cost(T) = Σ over these columns b in which T is not constant of w(r, b) ≥ 0,

what the step from that level to the next costs r.  So T costs what the union of the sets of columns
costs in which its rows differ from r: bits of a few machine words.

Search.  T is found from its dearest row on, in falling order of prices: by sets of columns
(``incrowd.bounds.closed_sets``), or by least and greatest codes where columns are generalized to
intervals (``incrowd.bounds.span_sets``).  In a table of dozens of columns rows have few near rows:
what is hopeless by columns is cheap by rows.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.thermometer import columns_of
from incrowd.kernels.jit import inner_kernel
from incrowd.lattice.emission import Emission, new_sink
from incrowd.problem.instance import Instance

EMIT, MEND = 0, 1
PLACE, DEPTH, SETS, PAIRS, STEPS, FULL, LAST = range(7)  # LAST: the place where searches end
PIECE = 20_000_000  # steps between two looks at the clock: a tenth of a second
WORD = 64
ROOM = 1 << 26  # entries of the search's lists


def begun(last: int) -> NDArray[np.int64]:
    """Return the state of a search that has not begun, from the first to the ``last`` place."""
    state = np.zeros(7, np.int64)
    state[DEPTH], state[LAST] = -1, last
    return state


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
def dearest_behind(place: int, copies: int, order: Any, price: Any, counts: Any) -> Any:
    """Return the sum of the dearest copies behind a place of all rows, and how many are lacking."""
    total, x = 0, place + 1
    while copies > 0 and x < order.size:
        taken = min(counts[order[x]], copies)
        total += taken * price[order[x]]
        copies -= taken
        x += 1
    return total, copies


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


NO_SINK = new_sink(1, 1)
UNLIMITED = 1 << 62


class RowSets:
    """A search bound to one instance and one k; one caller at a time.

    Attributes
    ----------
    k: copies of a set.
    steps: looks at a row of a list, in the last search.
    dearest: what suppressing a whole row costs at most.
    walked: about what share of the search at hand is done; other threads ask.
    """

    k: int
    dearest: int
    steps = 0
    walked = 0.0

    def prepare(self, order: NDArray[np.int64], most: int) -> None:
        """Get ready for a search over rows in this order that lists so many sets at most."""

    def advance(
        self, mode: int, order: NDArray[np.int64], price: NDArray[np.int64],
        lowered: NDArray[np.int64], unit: int, sink: Emission, state: NDArray[np.int64], steps: int,
    ) -> None:  # fmt: skip
        """Visit the sets whose prices sum to more than k·unit·cost; go on from ``state``.

        Until ``steps`` are done, or the sink is full, or all were visited.  ``order``: rows by
        falling price.  EMIT: list them; MEND: lower ``lowered``, which is nowhere above ``price``.
        """
        raise NotImplementedError

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
        before, state = price.copy(), begun(len(order))
        self.prepare(order, len(sink.cost))
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
