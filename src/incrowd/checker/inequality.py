"""The price inequality, for every pattern, in exact integers.

Claim checked: for every pattern p that at least k rows match, the k highest prices among these
rows sum to at most k·cost(p)·quantum.  Then no lawful release costs less than Σ price / quantum
(proof: docs/explanation/proof.md).

Search: depth first over the columns.  A state is a set of groups of rows; the rows of a group
agree on one node in each column fixed so far, which costs c.  Three cuts, none of which can hide
a violation below, because going down a group only loses rows and only gains cost:

1. fewer than k rows: no pattern below is supported;
2. with S the sum of the k−1 highest prices in the group: a row whose price p has
   S + p ≤ k·c·quantum is in no violating set, here or below; it is dropped, and with it often
   the whole group;
3. all rows of a node lie in one node of the level below it: that one has the same rows at no
   higher cost, so the higher one need not be looked at.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.checker.lean import different_rows
from incrowd.checker.limits import allowed, require_within
from incrowd.checker.ranges import Windows, opened

Ints = NDArray[np.int64]
Tables = tuple[Ints, Ints] | Windows  # node ids and costs of a column, both (levels, leaves)
CHUNK = 1 << 19  # pairs (row, group) expanded at once; bounds the memory
STEPS, FEW = 1 << 20, 1 << 8  # such pairs looked at for each of the rows, and how many more


class Rows(NamedTuple):
    """Different rows (leaves, price, mark) in falling price order: their copies, the first one.

    ``leaf[j]``, int64 of shape (rows,): leaf of each row in column j, whose nodes are ``trees[j]``;
    costs there are times quantum.
    """

    price: Ints
    mark: Ints
    copies: Ints
    first: Ints
    leaf: Sequence[Ints]
    trees: Sequence[Tables]


class State(NamedTuple):
    """Groups that agree on ``depth`` columns; entries stand group by group, prices falling.

    Per entry its row and its group (0, 1, …); per group its cost so far, times quantum, and
    ``high``, the sum of its k−1 highest prices.
    """

    depth: int
    row: Ints
    group: Ints
    cost: Ints
    high: Ints


def merged(leaves: Sequence[Ints], price: Ints, mark: Ints, trees: Sequence[Tables]) -> Rows:
    """Merge rows equal in leaves, price and mark; ``leaves`` and ``trees`` stand by column."""
    names = [str(j) for j in range(len(leaves))]
    given = {"price": price, "mark": mark, **dict(zip(names, leaves, strict=True))}
    table = different_rows(pl.DataFrame(given))
    table = table.sort("price", "first", descending=[True, False])
    leaf = [table[name].cast(pl.Int64).to_numpy() for name in names]
    one = {c: table[c].to_numpy() for c in ("price", "mark", "copies", "first")}
    return Rows(**one, leaf=leaf, trees=trees)


def violations(rows: Rows, k: int, keep: Any = None) -> Iterator[tuple[Ints, int]]:
    """Yield, for each pattern that breaks the inequality, its rows and its cost times quantum.

    ``keep``: what cuts in place of ``kept`` (``incrowd.checker.lawful``, with k = 1).
    """
    everything, zero, keep = np.arange(len(rows.price)), np.zeros(1, np.int64), keep or kept
    start = keep(rows, 0, everything, zero, zero, k)
    stack, left = [start] if start else [], allowed(STEPS * (FEW + len(rows.price)))
    while stack:
        state = stack.pop()
        if state.depth < len(rows.leaf):
            found = []
            for work, part in parts(rows, state, k, keep):
                left -= work
                require_within(left >= 0, "the prices leave too many patterns to look at")
                found.append(part)
            stack += shared(found)
            continue
        starts = np.flatnonzero(np.diff(state.group, prepend=-1))
        for members, cost in zip(np.split(state.row, starts[1:]), state.cost, strict=True):
            yield members, int(cost)


def parts(rows: Rows, state: State, k: int, keep: Any) -> Iterator[tuple[int, State | None]]:
    """Yield the groups split by the next column, and how many pairs were looked at for that."""
    tree = rows.trees[state.depth]
    if isinstance(tree, Windows):
        yield from opened(rows, state, k, keep)
    else:
        for level in range(len(tree[0])):
            yield len(state.row), refine(rows, state, level, k, keep)


def refine(rows: Rows, state: State, level: int, k: int, keep: Any) -> State | None:
    """Split every group by the nodes of the next column at one level, and cut."""
    leaf, table = rows.leaf[state.depth], rows.trees[state.depth]
    assert not isinstance(table, Windows)
    nodes, costs = table
    row, group = state.row, state.group
    live = rows.price[row] + state.high[group] > k * (state.cost[group] + costs[level][leaf[row]])
    row, group = row[live], group[live]
    if not len(row):
        return None
    width, bits = int(nodes[level].max()) + 1, len(rows.price).bit_length()
    key = group * width + nodes[level][leaf[row]]
    if int(key.max()) < 1 << (62 - bits):  # one sort of packed integers: by key, then row
        packed = np.sort(key << bits | row)
        key, row = packed >> bits, packed & ((1 << bits) - 1)
    else:
        order = np.lexsort((row, key))
        key, row = key[order], row[order]
    new = np.diff(key, prepend=-1) != 0
    starts = np.flatnonzero(new)
    wide = np.ones(len(starts), bool)
    if level:
        below = nodes[level - 1][leaf[row]]
        wide = np.logical_or.reduceat((np.diff(below, prepend=-1) != 0) & ~new, starts)
    cost = state.cost[key[starts] // width] + costs[level][leaf[row[starts]]]
    return keep(rows, state.depth + 1, row, starts, cost, k, wide)


def kept(
    rows: Rows, depth: int, row: Ints, starts: Ints, cost: Ints, k: int, wide: Any = True
) -> State | None:
    """Drop groups and entries that cannot violate, here or below (cuts 1, 2; 3 by ``wide``)."""
    copies = np.append(0, np.cumsum(rows.copies[row]))
    prices = np.append(0, np.cumsum(rows.copies[row] * rows.price[row]))  # modulo 2^64: see limits
    ends = np.append(starts[1:], len(row))
    base = copies[starts]
    wide = wide & (copies[ends] - base >= k)
    starts, ends, base, cost = starts[wide], ends[wide], base[wide], cost[wide]
    at = np.searchsorted(copies, base + k - 1)  # the k−1 highest end within entry at − 1
    high = prices[at] - prices[starts] - rows.price[row[at - 1]] * (copies[at] - base - (k - 1))
    least = k * cost - high  # what a price must exceed to matter
    last = rows.price[row[np.searchsorted(copies, base + k) - 1]]
    alive = last > least
    starts, lengths, cost, high = starts[alive], (ends - starts)[alive], cost[alive], high[alive]
    if not len(starts):
        return None
    group = np.repeat(np.arange(len(starts)), lengths)
    first = np.append(0, np.cumsum(lengths)[:-1])
    row = row[np.arange(len(group)) + (starts - first)[group]]
    matters = rows.price[row] > least[alive][group]
    return State(depth, row[matters], group[matters], cost, high)


def shared(states: list[State | None]) -> Iterator[State]:
    """Join the states of one depth and share them out in pieces of about ``CHUNK`` entries."""
    some = [state for state in states if state is not None]
    if not some:
        return
    shift = np.cumsum([0] + [len(state.cost) for state in some])
    row = np.concatenate([state.row for state in some])
    group = np.concatenate([state.group + s for state, s in zip(some, shift, strict=False)])
    cost, high = (np.concatenate([getattr(s, name) for s in some]) for name in ("cost", "high"))
    starts = np.append(np.flatnonzero(np.diff(group, prepend=-1)), len(group))
    cuts = np.searchsorted(starts[:-1], np.arange(0, len(group) + CHUNK, CHUNK))
    cuts = np.unique(cuts)
    for low, top in pairwise(cuts):
        entries = slice(starts[low], starts[top])
        groups = slice(low, top)
        yield State(some[0].depth, row[entries], group[entries] - low, cost[groups], high[groups])
