"""The optimum for k = 2, ties broken by a fixed order over releases: of large tables.

What a hidden cell costs is its column's weight, then a small number drawn by lot for the cell;
of equally cheap releases that one comes first which ``optimum`` takes too.  The lots are so small
that all of them together weigh less than the least difference of two costs: they break most ties
and change no optimum.  Both are a fixed function of which cells a release hides, a veiled one
costing what a hidden one does, so the method is consistent for the reason given in ``optimum``.

A veiled cell is a value that no other cell has: whoever shares a class with it hides the column.
Then simplex matching solves it (``incrowd.solvers.matching``).  Its condition holds column by
column for all nonnegative costs of cells: where a triple changes a column, at least two of its
three pairs do, so that the pairs pay at most twice what the triple pays.

The certificate says which pairs and triples a cheapest release may use (``usable``), and ``ties``
takes the first release that can be made of them.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import OutOfScopeError
from incrowd.hierarchy.tree import Tree
from incrowd.kernels.types import Bools, Ints
from incrowd.problem.instance import from_codes
from incrowd.solvers.base import Context
from incrowd.solvers.matching.nodes import Nodes, grid_of
from incrowd.solvers.matching.pipeline import Effort, Matching, match
from incrowd.solvers.matching.reduction import any_groups
from incrowd.veil.columns import Columns
from incrowd.veil.lists import Classes
from incrowd.veil.ties import first
from incrowd.veil.usable import Usable, masks_of, within

UNIT = 1 << 28
"""What the least cost is multiplied by: duals in floating point still tell lots apart."""
MOST_BITS = 12
EFFORT = Effort(patient=100, exchange=False)
"""Before ``leaves`` takes over, which has fewer columns to branch over."""


def bits_of_lots(rows: int, columns: int) -> int:
    """Return how many bits a cell's lot may have, so that twice all of them stay below ``UNIT``."""
    bits = MOST_BITS
    while bits and 2 * rows * columns * ((1 << bits) - 1) >= UNIT:
        bits -= 1
    return bits


def cheapest(codes: Ints, veiled: Bools, weights: Ints, lots: Ints, context: Context) -> Classes:
    """Return the classes of the first of the cheapest releases for k = 2.

    Parameters
    ----------
    codes: int64, shape (rows, columns).
    veiled: bool, the same shape: cells that nobody looks at.
    weights: int64, shape (columns,): what a hidden cell costs.
    lots: int64, the same shape as codes: nonnegative, twice their sum below ``UNIT``.  Nothing in
        them may depend on a cell.

    Raises
    ------
    OutOfScopeError: that it is the first of the cheapest is not proven.
    """
    rows = len(codes)
    weights = weights // max(1, np.gcd.reduce(weights))
    nodes, row_of_node = nodes_of(codes, veiled, weights, lots)
    matching = matched(nodes, context)
    if matching.cost != matching.bound and context.stop.now():
        raise OutOfScopeError(
            f"simplex-matching with a veil: the optimum is not proven ({matching.ended}), and "
            "another release would tell more than the veil allows; use --method consistent"
        )
    extra = 2 * lots[row_of_node]
    columns = columns_of(nodes, matching, row_of_node, weights * UNIT, extra, veiled[row_of_node])
    columns.stop = context.stop
    found = first(columns)
    bit = 1 << np.arange(codes.shape[1])[::-1]
    hidden = np.array([found[row] for row in range(rows)])[:, None] & bit > 0
    return classes_of(codes, hidden)


def matched(nodes: Nodes, context: Context) -> Matching:
    """Match to the end, whatever gap would do elsewhere: a release near the optimum is no use."""
    asked, context.stop.gap = context.stop.gap, 0.0
    try:
        return match(nodes, any_groups(nodes), context, EFFORT)
    finally:
        context.stop.gap = asked


def nodes_of(codes: Ints, veiled: Bools, weights: Ints, lots: Ints) -> tuple[Nodes, Ints]:
    """Return all rows as nodes, and the row that each is."""
    apart = codes.copy()
    for j in range(codes.shape[1]):
        own = np.flatnonzero(veiled[:, j])
        apart[own, j] = codes[:, j].max(initial=0) + 1 + np.arange(len(own))
        apart[:, j] = np.unique(apart[:, j], return_inverse=True)[1].ravel()
    trees = []
    for j, weight in enumerate(weights.tolist()):
        size = int(apart[:, j].max()) + 1
        cost = np.zeros((2, size), np.int64)
        cost[1] = weight * UNIT
        node = np.vstack([np.arange(size), np.zeros(size)]).astype(np.int32)
        labels = tuple(map(str, range(size))), ("*",)
        trees.append(Tree(f"q{j}", labels, node, cost))
    instance, copy_of_row = from_codes(apart, tuple(trees))
    row_of_node = np.argsort(copy_of_row)
    extra = 2 * lots[row_of_node].T
    grid = grid_of(instance, instance.copies, extra=extra)
    return Nodes(instance, np.arange(instance.rows), np.zeros(0, np.int64), grid), row_of_node


def columns_of(
    nodes: Nodes, matching: Matching, row_of_node: Ints, weights: Ints, extra: Ints, veiled: Bools
) -> Columns:
    """Return what a cheapest release may be made of, and the one that is known.

    Slacks of its groups add up to what it costs above the certificate's bound, at most.  Not
    exactly, as it may meet an odd set more than once; so releases are told apart by their cost
    less all prices.
    """
    certificate, unit = matching.certificate, matching.certificate.unit
    room = matching.cost * unit - certificate.total
    usable = within(nodes, certificate, weights, extra, veiled, room)
    members = [tuple(row_of_node[g[g >= 0]].tolist()) for g in usable.groups]
    odd_sets = [row_of_node[odd_set] for odd_set in certificate.odd_sets]
    columns = Columns(members, usable.masks, usable.rests.tolist(), 2 * unit, odd_sets)
    columns.choose(known_columns(nodes, usable, matching.groups))
    return columns


def known_columns(nodes: Nodes, usable: Usable, groups: NDArray[np.int32]) -> Iterator[int]:
    """Yield the columns that a release's groups are made of."""
    listed = {tuple(g): i for i, g in enumerate(usable.groups.tolist()) if g[1] >= 0}
    alone = {
        (g[0], mask): i
        for i, (g, mask) in enumerate(zip(usable.groups.tolist(), usable.masks, strict=True))
        if g[1] < 0
    }
    shown = nodes.instance.codes[nodes.instance.copies]
    for group, mask in zip(groups.tolist(), masks_of(shown, groups), strict=True):
        if tuple(group) in listed:
            yield listed[tuple(group)]
            continue
        free = [u for u in group if (u, mask) in alone]
        rest = [u for u in group if u >= 0 and u not in free]
        if rest:  # with each other, or with a free one
            one, two = sorted((rest + free)[:2])
            yield listed[one, two, -1]
            free = free[2 - len(rest) :]
        yield from (alone[u, mask] for u in free)


def classes_of(codes: Ints, hidden: Bools) -> Classes:
    """Return the classes of rows that show the same."""
    shown = np.where(hidden, -1, codes)
    _, one, of_row = np.unique(shown, axis=0, return_index=True, return_inverse=True)
    return Classes(of_row.ravel(), hidden[one])
