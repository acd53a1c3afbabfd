"""Sets of survivors of one signature that are dearer than a class of theirs may be.

They are sought by branch and bound: one value of the signature after another, at each a survivor or
none.  What a join costs a row never falls when survivors join, so that what is held, and at each
value to come the better of its greatest price and of an empty place, both at the cost of today, is
at least what any completion comes to.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.kernels.types import Ints
from incrowd.problem.instance import NodeTables
from incrowd.problem.join import join_cost

KEPT = 2  # of the sets that begin with one survivor
ALL = 2**62  # no join costs more


class WholePrices(NamedTuple):
    """Prices in whole numbers, ``unit`` of them a unit of cost.

    Attributes
    ----------
    u: int64, shape (people,): of each survivor; n: int64, shape (values,), ≥ 0: of a newcomer's
        place, by value; c: of a counterfeit, ≥ 0.
    """

    u: Ints
    n: Ints
    c: int
    unit: int


class Choice(NamedTuple):
    """The survivors of a signature, by value, and the dearest first.

    Attributes
    ----------
    rows: int64, shape (survivors,); start: int64, shape (values + 1,): where those of each value
        begin; n: int64, shape (values,): prices of newcomers' places.
    """

    rows: Ints
    start: Ints
    n: Ints


class Found(NamedTuple):
    """What a search found; changed in place.

    Attributes
    ----------
    rows: int64, shape (survivors, KEPT, values): the dearest sets that begin with each survivor of
        ``Choice.rows``, −1 where a place is empty; worth: int64, shape (survivors, KEPT): by how
        much each is too dear; each: int64, the same shape: what its join costs a row.
    fall: int64, shape (people,): by how much the price of each has to fall, if that of all in a too
        dear set falls alike.
    """

    rows: Ints
    worth: Ints
    each: Ints
    fall: Ints


class State(NamedTuple):
    """Where a search stands before each place, and after the last; all of shape (values + 1, …).

    rest: what is held, less empty places, and what the places after this one can add at most.
    """

    low: Any
    high: Any
    held: Any
    size: Any
    each: Any
    rest: Any
    next: Any
    chosen: Any


@inner_kernel
def less(p: int, state: Any, choice: Any, prices: Any) -> int:
    """What is held before place p at the cost of its join, less the places that are empty."""
    each = state.each[p] * prices.unit
    total = state.held[p] - state.size[p] * each
    for q in range(p):
        if state.chosen[q] < 0:
            total -= min(each + choice.n[q], prices.c)
    return total


@inner_kernel
def most_after(p: int, each: int, choice: Any, prices: Any) -> int:
    """What places from p on can add at most, where a join costs ``each`` a row, in prices."""
    total = 0
    for q in range(p, choice.n.size):
        empty = -min(each + choice.n[q], prices.c)
        first = choice.start[q]
        if first < choice.start[q + 1]:
            empty = max(empty, prices.u[choice.rows[first]] - each)
        total += empty
    return total


@inner_kernel
def keep(root: int, worth: int, state: Any, found: Any) -> None:
    """Remember a set among the dearest of its root, and by how much its members have to fall."""
    values = state.chosen.size
    share = -(-worth // state.size[values])
    for q in range(values):
        row = state.chosen[q]
        if row >= 0:
            found.fall[row] = max(found.fall[row], share)
    at = found.worth.shape[1] - 1
    if worth <= found.worth[root, at]:
        return
    while at > 0 and worth > found.worth[root, at - 1]:
        found.worth[root, at] = found.worth[root, at - 1]
        found.each[root, at] = found.each[root, at - 1]
        for q in range(values):
            found.rows[root, at, q] = found.rows[root, at - 1, q]
        at -= 1
    found.worth[root, at] = worth
    found.each[root, at] = state.each[values]
    for q in range(values):
        found.rows[root, at, q] = state.chosen[q]


@inner_kernel
def leave_empty(p: int, state: Any) -> None:
    """Go on to the place after p, at which nobody stands."""
    state.chosen[p] = -1
    state.held[p + 1], state.size[p + 1] = state.held[p], state.size[p]
    state.each[p + 1] = state.each[p]
    for j in range(state.low.shape[1]):
        state.low[p + 1, j] = state.low[p, j]
        state.high[p + 1, j] = state.high[p, j]


@inner_kernel
def put(row: int, p: int, state: Any, leaves: Any, tables: Any, prices: Any) -> None:
    """Go on to the place after p, at which a survivor stands."""
    state.chosen[p] = row
    state.held[p + 1] = state.held[p] + prices.u[row]
    state.size[p + 1] = state.size[p] + 1
    for j in range(state.low.shape[1]):
        leaf = leaves[row, j]
        state.low[p + 1, j] = min(state.low[p, j], leaf)
        state.high[p + 1, j] = max(state.high[p, j], leaf)
    state.each[p + 1] = join_cost(state.low[p + 1], state.high[p + 1], tables, ALL)


@inner_kernel
def arrive(p: int, state: Any, choice: Any, prices: Any) -> None:
    """Begin with place p, where all before it are decided; p = values: the set is whole."""
    each = state.each[p] * prices.unit
    state.rest[p] = less(p, state, choice, prices) + most_after(p + 1, each, choice, prices)
    if p < choice.n.size:
        state.next[p] = choice.start[p]


@inner_kernel
def begin(
    first: int, row: int, state: Any, choice: Any, leaves: Any, tables: Any, prices: Any
) -> None:
    """Put a survivor at place ``first``, and nobody before."""
    state.held[first] = state.size[first] = state.each[first] = 0
    for q in range(first):
        state.chosen[q] = -1
    for j in range(state.low.shape[1]):
        state.low[first, j] = state.high[first, j] = leaves[row, j]
    put(row, first, state, leaves, tables, prices)
    arrive(first + 1, state, choice, prices)


@lean_kernel
def search(
    choice: Any,
    leaves: Any,
    tables: Any,
    prices: Any,
    state: Any,
    found: Any,
    slack: int,
    most: int,
) -> bool:
    """Find the sets that are too dear by more than ``slack``; whether ``most`` joins were enough.

    Parameters
    ----------
    choice: ``Choice``; prices: ``WholePrices``; state: ``State``; found: ``Found``.
    leaves: int32, shape (people, columns); tables: ``NodeTables``.
    """
    values, joins = choice.n.size, 0
    for first in range(values):
        for root in range(choice.start[first], choice.start[first + 1]):
            begin(first, choice.rows[root], state, choice, leaves, tables, prices)
            p = first + 1
            while p > first:
                if p == values:
                    if state.rest[p] > slack:
                        keep(root, state.rest[p], state, found)
                    p -= 1
                    continue
                at, end, each = state.next[p], choice.start[p + 1], state.each[p] * prices.unit
                state.next[p] = at + 1
                if at < end:
                    row = choice.rows[at]
                    if state.rest[p] + prices.u[row] - each <= slack:
                        state.next[p] = end  # all others are cheaper
                        continue
                    joins += 1
                    if joins > most:
                        return False
                    put(row, p, state, leaves, tables, prices)
                elif at > end or state.rest[p] - min(each + choice.n[p], prices.c) <= slack:
                    p -= 1
                    continue
                else:
                    leave_empty(p, state)
                p += 1
                arrive(p, state, choice, prices)
    return True


@dataclass(frozen=True, eq=False)
class Signed:
    """The survivors of one signature.

    Attributes
    ----------
    members: of each value of the signature, int64: its survivors; values: int64: their numbers.
    """

    members: Sequence[Ints]
    values: Ints

    @property
    def rows(self) -> Ints:
        """int64, shape (survivors,): all of them."""
        return np.concatenate(self.members)

    def few(self, share: float) -> "Signed":
        """Return the same with so large a share of the survivors of each value."""
        if share >= 1:
            return self
        rng = np.random.default_rng(int(self.rows.sum()))  # whose prices are sought is no matter
        kept = [rng.permutation(own)[: round(share * len(own))] for own in self.members]
        return replace(self, members=kept)

    def too_dear(
        self,
        prices: WholePrices,
        leaves: NDArray[np.int32],
        tables: NodeTables,
        slack: int = 0,
        most: int = ALL,
    ) -> Found | None:
        """Return the sets that are too dear by more than ``slack``; None: too many to look at.

        leaves: int32, shape (people, columns); most: joins that are looked at.
        """
        rows = [own[np.argsort(-prices.u[own], kind="stable")] for own in self.members]
        start = np.append(0, np.cumsum([len(own) for own in rows])).astype(np.int64)
        choice = Choice(np.concatenate(rows), start, prices.n[self.values])
        many, values, columns = len(choice.rows), len(self.values), leaves.shape[1]
        shape = many, KEPT
        found = Found(
            np.full((*shape, values), -1, np.int64), np.full(shape, slack, np.int64),
            np.zeros(shape, np.int64), np.zeros(len(prices.u), np.int64),
        )  # fmt: skip
        low, high = (np.zeros((values + 1, columns), leaves.dtype) for _ in range(2))
        held, size, each, rest, nexts = (np.zeros(values + 1, np.int64) for _ in range(5))
        state = State(low, high, held, size, each, rest, nexts, np.full(values, -1, np.int64))
        done = search(choice, leaves, tables, prices, state, found, slack, most)
        return found if done else None
