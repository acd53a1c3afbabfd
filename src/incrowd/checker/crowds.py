"""The price inequality for every set of k rows, in exact integers: how wide tables are checked.

Claim checked: the prices of k rows T sum to at most k·cost(join of T)·quantum, whichever they are.
That is the claim of ``inequality`` (docs/explanation/proof.md), for the k highest prices of a
pattern are those of such a set.

Search.  Each level of a hierarchy but the root is a column of nodes; with r in T, the join of T
costs the sum, over the columns in which T is not constant, of what the step from that level to the
next costs r.  So a row is to r a set of columns, bits of some bytes, and T a union of these.  T is
built from its dearest row r on, by falling price.  Two cuts, none of which can hide a set that
breaks its inequality, because more rows are no cheaper:

1. what is chosen, a row, and the dearest rows behind it sum to at most k times what the columns so
   far cost: that row is not chosen next;
2. likewise with a row and the dearest of all that are left: it is not in the list any more.

Equal rows of one price are chosen all at once, as far as they are needed: such a one in the place
of a cheaper row lowers no sum and raises no cost.  So it is with a row that costs a group nothing:
once it stands next, none that stands behind it is chosen in its place.

With columns that are ranges, sets are looked at by ``incrowd.checker.spans``.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.checker import inequality, spans
from incrowd.checker.choosing import Work, broken, highest, steps
from incrowd.checker.close import Close
from incrowd.checker.inequality import FEW, STEPS, Ints, Rows
from incrowd.checker.ranges import Windows
from incrowd.checker.rejection import require

Bytes = NDArray[np.uint8]
CHUNK = 1 << 17  # entries of new groups at once, for each row of a set; bounds the memory
BEGINS = 1 << 26  # bytes that say what others cost first rows, and where they differ, at once


class Crowds(NamedTuple):
    """Groups of chosen rows, and the rows that may follow; entries stand group by group.

    Per entry its group (0, 1, …), its row and where it differs from the group's first one, shape
    (entries, bytes).  Per group what the columns so far cost by bits, shape (bytes, 256) for each
    place in ``root``; those columns; the sum of the prices, and how many rows are still to come.
    """

    of: Ints
    row: Ints
    bits: Bytes
    root: Ints
    have: Bytes
    total: Ints
    need: Ints


def search_of(proof: Any, law: Any) -> Any:
    """Return what finds violations: by patterns, or by rows where the proof asks for it."""
    if proof.facts.get("search") != "rows":
        return inequality.violations
    require(law is None and not proof.sets.height, "sets of rows go with no rules and no odd sets")
    return violations


def violations(rows: Rows, k: int, keep: None = None) -> Iterator[tuple[Ints, int]]:
    """Yield the rows of sets that break the inequality, and their cost times quantum.

    If any does, at least one; of its rows those that were chosen last may be left out.
    """
    count = len(rows.price)
    work = Work(STEPS * (FEW + count))
    for row in np.flatnonzero((rows.copies >= k) & (rows.price > 0)):
        yield np.array([row]), 0
    if any(isinstance(tree, Windows) for tree in rows.trees):
        yield from spans.violations(rows, k)
        return
    close = Close(*columns_of(rows))
    piece = max(1, BEGINS // max(1, count * (8 + close.node.shape[1] // 8)))
    for begin in range(0, count, piece):
        first = np.arange(begin, min(count, begin + piece))
        price = priced(close.weight[first])
        work.done(len(first) * count)
        start = begun(rows, first, close, k)
        cost_of, further = partial(cost_at, price), partial(chosen, rows, price, k)
        yield from broken(rows, k, start, cost_of, further, work)


def columns_of(rows: Rows) -> tuple[Ints, Ints]:
    """Return nodes, and what the step to the next level costs, both (rows, columns)."""
    steps: list[tuple[Ints, Ints]] = []
    for leaf, tree in zip(rows.leaf, rows.trees, strict=True):
        assert not isinstance(tree, Windows)
        node, cost = tree
        steps += [
            (node[at][leaf], cost[at + 1][leaf] - cost[at][leaf]) for at in range(len(node) - 1)
        ]
    both = np.array(steps, np.int64).reshape(len(steps), 2, len(rows.price))
    return both[:, 0].T, both[:, 1].T


def priced(weight: Ints) -> Ints:
    """Return what each byte of columns costs each row: shape (rows, bytes, 256)."""
    count, columns = weight.shape
    padded = np.zeros((count, -(-columns // 8) * 8), np.int64)
    padded[:, :columns] = weight
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[None], axis=0, bitorder="little")
    return padded.reshape(count, -1, 8) @ bits.astype(np.int64)


def priced_at(price: Ints, root: Ints, bits: Bytes) -> Ints:
    """Return what sets of columns cost, each to a row: its place in ``price``."""
    cost, width = np.zeros(len(root), np.int64), price.shape[1]
    for byte in range(width):
        cost += price.reshape(-1)[(root * width + byte) * 256 + bits[:, byte]]
    return cost


def cost_at(price: Ints, crowds: Crowds) -> tuple[Ints, Ints]:
    """Return what each entry costs with its group, and what each group costs."""
    each = priced_at(price, crowds.root[crowds.of], crowds.have[crowds.of] | crowds.bits)
    return each, priced_at(price, crowds.root, crowds.have)


def begun(rows: Rows, first: Ints, close: Close, k: int) -> Crowds:
    """Return a group for each of some rows, as the dearest of a set."""
    everyone = np.arange(len(rows.price))
    ends = np.full(len(first), len(everyone))
    best, enough = highest(rows, everyone, first, ends, np.full(len(first), k))
    several = enough & (rows.copies[first] < k)
    later = (everyone > first[:, None]) & several[:, None]
    group, row = np.nonzero(later & (best[:, None] > k * close.least(first)))
    node, one = close.node, first[group]
    cost = np.zeros(len(row), np.int64)
    packed = np.zeros((len(row), -(-node.shape[1] // 8)), np.uint8)
    for column in range(node.shape[1]):
        other = node[one, column] != node[row, column]
        cost += other * close.weight[one, column]
        packed[:, column // 8] |= other.astype(np.uint8) << (column % 8)
    near = best[group] > k * cost
    have, taken = np.zeros((len(first), packed.shape[1]), np.uint8), rows.copies[first]
    place, total = np.arange(len(first)), taken * rows.price[first]
    return Crowds(group[near], row[near], packed[near], place, have, total, k - taken)


def chosen(
    rows: Rows, price: Ints, k: int, crowds: Crowds, at: Ints, end: Ints
) -> Iterator[Crowds]:
    """Choose each of some entries next; yield the new groups, ``CHUNK`` entries at a time."""
    for one, before, total, need, rest, of, entry in steps(rows, crowds, at, end, CHUNK):
        root, have = crowds.root[before], crowds.have[before] | crowds.bits[one]
        row, bits = crowds.row[entry], crowds.bits[entry]
        cost = priced_at(price, root[of], have[of] | bits)
        live = (total + rest)[of] + rows.price[row] > k * cost
        yield Crowds(of[live], row[live], bits[live], root, have, total, need)
