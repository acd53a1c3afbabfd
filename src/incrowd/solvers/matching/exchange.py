"""The cheapest partition into pairs and triples in polynomial time: exchange two triples at a time.

Once the triples are fixed, the rest is a perfect matching of least cost.  Theorem 7 of the
explanation: unless a partition is the cheapest, one whose triples differ from its own in two is
cheaper.  So a partition that no exchange of two triples betters is proven optimal, without linear
programs, branching or tolerances.  Each step takes an exchange that gains at least a quarter of
what the best one does, which bounds the number of steps by O(n·log(n·cost)) (docs, polynomial.md).

The matching's prices and odd sets tell of each exchange what it costs at least, so that few are
settled by a matching of their own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.linear.blossom import UNIT, perfect_matching
from incrowd.solvers.base import Context
from incrowd.solvers.matching.exchange_kernels import addable, exchanges, pair_costs, shared_weights
from incrowd.solvers.matching.nodes import FAR, Grid, Nodes, costs_of, grid_of

Triples = frozenset[tuple[int, int, int]]
FIRST = 1 << 16  # what a list of triples or exchanges holds at first
HELD = 300_000_000  # bytes that each of these lists may grow to


class TooManyError(Exception):
    """More exchanges may gain something than memory should hold."""


class Priced(NamedTuple):
    """A partition with given triples, the rest matched at least cost.

    Attributes
    ----------
    triples: ascending.  pairs: int64, shape (pairs, 2).
    cost: of all, in units of 1/scale.
    hat: int64, shape (nodes,): lifted prices, in units of 1/(scale·``UNIT``); those of nodes in
        triples are such that no pair of nodes violates them.
    inside: int64, shape (sets, nodes), 0 or 1.  weight: int64, shape (sets,).
    """

    triples: Triples
    pairs: NDArray[np.int64]
    cost: int
    hat: NDArray[np.int64]
    inside: NDArray[np.int64]
    weight: NDArray[np.int64]


@dataclass(eq=False)
class Exchange:
    """The local search over nodes that all have to be in a pair or a triple.

    Attributes
    ----------
    grid: the nodes; their homes are not looked at.
    pair: int64, shape (nodes, nodes): costs of pairs; ``missing`` for unlawful ones.
    steps, settled: how many exchanges were made, and how many settled by a matching.
    """

    grid: Grid
    context: Context
    pair: NDArray[np.int64] = field(init=False)
    missing: int = field(init=False)
    steps: int = 0
    settled: int = 0

    def __post_init__(self) -> None:
        n = self.grid.codes.shape[1]
        self.pair = np.zeros((n, n), np.int64)
        pair_costs(self.grid, self.pair)
        lawful = self.pair < FAR
        self.missing = 1 + (n + 1) * int(self.pair[lawful].max(initial=0))
        self.pair[~lawful] = self.missing

    def best(self, triples: Triples) -> Priced | None:
        """Return the optimum, from lawful triples on that leave a lawful matching.

        None when time ends first, or when lists of exchanges would grow beyond ``HELD``.
        """
        at = self.priced(triples)
        while at is not None:
            self.context.tell("exchange of triples", cost=at.cost)
            try:
                better = self.better(at)
            except TooManyError:
                return None
            if better is None:
                return None if self.context.stop.now() else at
            at = better
            self.steps += 1
        return None

    def priced(self, triples: Triples) -> Priced | None:
        """Match the rest at least cost; None when time ends first."""
        chosen = np.array(sorted(triples), np.int32).reshape(-1, 3)
        rest = np.setdiff1d(np.arange(len(self.pair)), chosen.ravel())
        matching = perfect_matching(self.pair[np.ix_(rest, rest)], self.context.stop.over)
        if matching is None:
            return None
        mate = matching.mate
        first = np.flatnonzero(np.arange(len(rest)) < mate)
        pairs = np.stack([rest[first], rest[mate[first]]], axis=1)
        cost = int(self.pair[pairs[:, 0], pairs[:, 1]].sum() + costs_of(self.grid, chosen).sum())
        inside = np.zeros((len(matching.sets), len(self.pair)), np.int64)
        for row, odd_set in zip(inside, matching.sets, strict=True):
            row[rest[odd_set]] = 1
        hat = np.zeros(len(self.pair), np.int64)
        hat[rest] = matching.hat
        known = np.zeros(len(self.pair), bool)
        known[rest] = True
        for node in chosen.ravel().tolist():  # as high as the pairs with those before allow
            slack = UNIT * self.pair[node] - hat
            hat[node] = slack[known].min(initial=self.missing)
            known[node] = True
        return Priced(triples, pairs, cost, hat, inside, matching.weight)

    def better(self, at: Priced) -> Priced | None:
        """Return a partition by an exchange that gains at least half of the most; or None.

        None says that no exchange gains anything, unless time is up.
        """
        offers = Offers(self, at)
        found, seen, left = at, {at.triples}, offers.most
        while left >= UNIT and 2 * UNIT * (at.cost - found.cost) < left:  # gains are whole costs
            wanted = max(UNIT, left // 2 + 1)
            for triples, most in offers.gaining(wanted):
                if 2 * UNIT * (at.cost - found.cost) >= most:
                    break  # they come in falling order
                if triples not in seen:
                    seen.add(triples)
                    self.settled += 1
                    now = self.priced(triples)
                    if now is None:
                        return None
                    found = now if now.cost < found.cost else found
            if self.context.stop.now():
                return None
            left = wanted - 1
        return found if found.cost < at.cost else None


class Offers:
    """The exchanges around a partition, by what each gains at most, in price units.

    Attributes
    ----------
    most: no exchange gains more.
    """

    def __init__(self, search: Exchange, at: Priced) -> None:
        self.search, self.at = search, at
        self.old = np.array(sorted(at.triples), np.int32).reshape(-1, 3)
        self.owner = np.full(len(at.hat), -1, np.int32)
        self.owner[self.old.ravel()] = np.repeat(np.arange(len(self.old)), 3)
        # what taking an old triple out gains at most
        self.removal = UNIT * costs_of(search.grid, self.old) - at.hat[self.old].sum(axis=1)
        self.share = np.zeros_like(search.pair)
        shared_weights(at.inside, at.weight, self.share)
        state = self._addable(FAR, FAR, np.zeros((0, 4), np.int64))
        self.single = max(int(state[1]), int(self.removal.max(initial=-FAR)))
        self.most = max(2 * self.single, int(state[2]))

    def gaining(self, wanted: int) -> Iterator[tuple[Triples, int]]:
        """Yield all exchanges that may gain ``wanted`` or more, the most promising first.

        Raises
        ------
        TooManyError: they would take more than ``HELD`` bytes.
        """
        adds = np.empty((FIRST, 4), np.int64)
        state = self._addable(wanted, wanted - self.single, adds)
        sets = len(self.at.weight)
        if state[0] * (32 + sets) > HELD:
            raise TooManyError
        if state[0] > len(adds):
            adds = np.empty((int(state[0]), 4), np.int64)
            state = self._addable(wanted, wanted - self.single, adds)
        adds = adds[: int(state[0])]
        adds = adds[np.argsort(-adds[:, 3], kind="stable")]
        odd = np.zeros((len(adds), sets), np.uint8)
        for which, inside in enumerate(self.at.inside):
            odd[:, which] = inside[adds[:, :3]].sum(axis=1) % 2
        word = self.search.context.stop.over
        given = adds, odd, self.at.weight, self.owner, self.removal, wanted, word
        found = np.empty((FIRST, 3), np.int64)
        count = exchanges(*given, found)
        if 24 * count > HELD:
            raise TooManyError
        if count > len(found):
            found = np.empty((count, 3), np.int64)
            count = exchanges(*given, found)
        found = found[:count]
        found = found[np.argsort(-found[:, 2], kind="stable")]
        for i, j, most in found:
            yield self._after(adds, int(i), int(j)), int(most)

    def _addable(self, wanted: int, alone: int, out: NDArray[np.int64]) -> NDArray[np.int64]:
        """Write the triples that may be put in; see the kernel for what it returns."""
        search = self.search
        state = np.array([0, -FAR, -FAR])
        addable(
            search.grid, search.pair, search.missing, self.at.hat, self.share, self.owner,
            self.removal, wanted, alone, search.context.stop.over, out, state,
        )  # fmt: skip
        return state

    def _after(self, adds: NDArray[np.int64], i: int, j: int) -> Triples:
        """The triples after an exchange: numbers from len(adds) on take old ones out."""
        now = set(self.at.triples)
        for number in (i, j):
            if number < len(adds):
                u, v, w = adds[number, :3].tolist()
                now.add((u, v, w))
            else:
                u, v, w = self.old[number - len(adds)].tolist()
                now.remove((u, v, w))
        return frozenset(now)


def cheapest(nodes: Nodes, groups: NDArray[np.int32], context: Context) -> NDArray[np.int32] | None:
    """Return the cheapest groups of all, starting from lawful ones; None when time ends first.

    Each host becomes three nodes: by Lemma 1 the optimum is the same, and all nodes are in pairs
    and triples.  Afterwards the hosts' copies are left out of the groups.
    """
    n, hosts = nodes.size, len(nodes.hosts)
    grid = nodes.grid
    every = np.arange(n, n + 3 * hosts, dtype=np.int32)
    if hosts:
        rows = np.concatenate([nodes.instance.copies[nodes.copy], np.repeat(nodes.hosts, 3)])
        grid = grid_of(nodes.instance, rows, np.concatenate([grid.color, every]))
    triples = {(u, v, w) for u, v, w in groups[groups[:, 2] >= 0].tolist()}
    guests = groups[groups[:, 1] < 0, 0]
    whole = np.ones(hosts, bool)  # hosts with an even number of guests, who can pair up
    np.logical_xor.at(whole, np.searchsorted(nodes.hosts, nodes.host_of(guests)), True)
    triples |= {(u, v, w) for u, v, w in every.reshape(-1, 3)[whole].tolist()}
    found = Exchange(grid, context).best(frozenset(triples))
    if found is None:
        return None
    chosen = np.full((len(found.pairs) + len(found.triples), 3), -1, np.int32)
    chosen[: len(found.pairs), :2] = found.pairs
    chosen[len(found.pairs) :] = np.array(sorted(found.triples), np.int32).reshape(-1, 3)
    chosen[chosen >= n] = -1
    chosen = -np.sort(-chosen, axis=1)  # −1 last
    size = (chosen >= 0).sum(axis=1)
    for k in (2, 3):
        chosen[size == k, :k] = np.sort(chosen[size == k, :k], axis=1)
    return chosen[size > 0]
