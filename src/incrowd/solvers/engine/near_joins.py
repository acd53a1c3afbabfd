"""Candidates for annealing where patterns are too many to be searched: joins of sets of near rows.

Prices by spans (``incrowd.bounds.span_prices``) come of the sets of k rows that they nearly break.
Classes of good releases cost little above their prices, so their joins are among those of the sets
that prices a little higher break.  Which rows match a join is asked of boxes of codes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from incrowd.bounds.prices import Prices
from incrowd.bounds.span_sets import SpanSets
from incrowd.bounds.span_tree import DEEP
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.emission import Emission, new_sink
from incrowd.problem.instance import Instance
from incrowd.problem.join import in_span
from incrowd.solvers.engine.candidates import join_key

MARGIN, SMALLER, TRIES = 0.1, 0.5, 4  # of the mean price above prices; times that, where too many
EACH, MOST_SETS = 40, 4_000_000  # sets for each row, and in all
STEPS = 1_000_000_000  # of one search: some 20 s
COVERED = 0.9  # of the rows that match some join at least, for joins to tell enough
PIECE = 10_000  # joins between two looks at the clock


@lean_kernel
def find_joins(offset: Any, rows: Any, tree: Any, low: Any, high: Any, key: Any) -> None:
    """Find the least and greatest codes of each set, and a number that tells its join."""
    codes = tree.codes
    for p in range(key.size):
        members = rows[offset[p] : offset[p + 1]]
        key[p] = join_key(members, members.size, codes, tree.tables)
        for j in range(codes.shape[1]):
            one = other = codes[members[0], j]
            for row in members:
                one, other = min(one, codes[row, j]), max(other, codes[row, j])
            low[p, j], high[p, j] = one, other


@inner_kernel
def beside(b: int, low: Any, high: Any, tree: Any) -> bool:
    """Whether no row of a box can match a join; leaves below a node are a run of codes."""
    for j in range(low.size):
        begin, end = tree.box[b, 0, j], tree.box[b, 1, j]
        if begin <= low[j] <= end or in_span(j, low[j], high[j], begin, tree.tables):
            continue
        if not in_span(j, low[j], high[j], end, tree.tables):
            return True
    return False


@inner_kernel
def matches(row: int, low: Any, high: Any, tree: Any) -> bool:
    """Whether a row matches a join."""
    for j in range(low.size):
        if not in_span(j, low[j], high[j], tree.codes[row, j], tree.tables):
            return False
    return True


@lean_kernel
def list_matches(
    first: int, last: int, low: Any, high: Any, tree: Any, todo: Any, sink: Any
) -> int:
    """List the rows that match each of some joins; return the first that found no room."""
    for p in range(first, last):
        at = sink.offset[p]
        todo[0], waiting = 0, 1
        while waiting:
            waiting -= 1
            b = todo[waiting]
            if beside(b, low[p], high[p], tree):
                continue
            if tree.child[b]:
                todo[waiting], todo[waiting + 1] = tree.child[b], tree.child[b] + 1
                waiting += 2
                continue
            for x in range(tree.begin[b], tree.end[b]):
                if matches(tree.place[x], low[p], high[p], tree):
                    if at == sink.rows.size:
                        return p
                    sink.rows[at] = tree.place[x]
                    at += 1
        sink.offset[p + 1] = at
    return last


def near_joins(
    instance: Instance, k: int, prices: Prices, pairs: int, stop: Callable[[], bool]
) -> Emission | None:
    """List the joins of sets that cost little above their prices, and the rows that match them.

    None where time ends first, no margin above the prices leaves few enough sets, or too many rows
    match no join, as where prices are far too low.

    Parameters
    ----------
    prices: which hold for every set of k copies (``Prices.by_rows``).
    pairs: of a row and a join, at most; joins that cost little come first.
    """
    sets, counts = SpanSets(instance, k), instance.counts
    most = min(EACH * instance.distinct, MOST_SETS)
    sink = new_sink(most, most * k)
    mean, margin, found = float(prices.price @ counts) / instance.rows, MARGIN, None
    for _ in range(TRIES):
        raised = prices.price + int(margin * mean)
        found = sets.listed(raised, prices.quantum, stop, STEPS, sink)
        if found is not None or stop():
            break
        margin *= SMALLER
    joins = joins_of(sets, sink, found, pairs, stop) if found else None
    if joins is None or len(np.unique(joins.rows)) < COVERED * instance.distinct:
        return None
    return joins


def joins_of(
    sets: SpanSets, listed: Emission, number: int, pairs: int, stop: Callable[[], bool]
) -> Emission | None:
    """Return the joins of the first sets of a list, each once, with the rows that match them."""
    low, high = np.empty((2, number, sets.tree.codes.shape[1]), np.int32)
    key = np.empty(number, np.uint64)
    find_joins(listed.offset, listed.rows, sets.tree, low, high, key)
    _, once = np.unique(key, return_index=True)
    once = once[np.argsort(listed.cost[once], kind="stable")]
    low, high, cost = low[once], high[once], listed.cost[once]
    sink, todo, done = new_sink(len(once), pairs), np.zeros(2 * DEEP, np.int64), 0
    while done < len(once) and not stop():
        last = min(len(once), done + PIECE)
        reached = list_matches(done, last, low, high, sets.tree, todo, sink)
        done = reached
        if reached < last:
            break
    sink.cost[:] = cost
    return None if stop() or not done else sink.first(done)
