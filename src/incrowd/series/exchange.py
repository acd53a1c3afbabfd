"""Rows of one sensitive value change places where the signatures allow it: annealing."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, kernel
from incrowd.kernels.random import below, least_gain
from incrowd.problem.instance import NodeTables
from incrowd.problem.join import span_cost

Ints = NDArray[np.int64]
HOT, COLD = 0.5, 0.05  # of the cost of a cell
SLOWLY = 3_000  # moves for each place


@inner_kernel
def cost_of(rows: Any, size: int, leaves: Any, trees: Any) -> int:
    """Cost of the real rows of a class (−1: none) under their join."""
    real = 0
    for x in range(size):
        real += rows[x] >= 0
    if real == 0:
        return 0
    each = 0
    for j in range(leaves.shape[1]):
        low, high = 2**30, -1
        for x in range(size):
            if rows[x] >= 0:
                low = min(low, leaves[rows[x], j])
                high = max(high, leaves[rows[x], j])
        each += span_cost(j, low, high, trees)
    return real * each


@kernel
def exchange(
    member: Any,
    size: Any,
    places: Any,
    start: Any,
    of_class: Any,
    of_row: Any,
    leaves: Any,
    trees: Any,
    moves: int,
    hot: float,
    cold: float,
    rng: Any,
) -> None:
    """Anneal in place.

    Parameters
    ----------
    member: int64, shape (classes, widest): rows, −1 for a counterfeit; size: int64, (classes,).
    places: int64, shape (places, 3): value, class and slot of each, sorted by value; start: int64,
        shape (values + 1,): where the places of each value start.
    of_class: int64, shape (classes,): signature of each class; of_row: int64, shape (rows,): that
        of each row, −1 for a newcomer, who may take any place of its value, −2 for one who stays.
    leaves: shape (rows, columns); trees: ``Instance.tables``.
    """
    cost = np.empty(size.size, np.int64)
    for c in range(size.size):
        cost[c] = cost_of(member[c], size[c], leaves, trees)
    ratio = np.log(cold / hot) / max(moves, 1)
    for number in range(moves):
        i = below(rng, places.shape[0])
        v = places[i, 0]
        j = start[v] + below(rng, start[v + 1] - start[v])
        a, b = places[i, 1], places[j, 1]
        if a == b or (cost[a] == 0 and cost[b] == 0):
            continue
        x, y = places[i, 2], places[j, 2]
        r, s = member[a, x], member[b, y]
        stays = (r >= 0 and of_row[r] == -2) or (s >= 0 and of_row[s] == -2)
        if stays or (r < 0 and s < 0):
            continue
        if of_class[a] != of_class[b] and (r < 0 or s < 0 or of_row[r] >= 0 or of_row[s] >= 0):
            continue
        least = least_gain(hot * np.exp(ratio * number), rng)
        member[a, x], member[b, y] = s, r
        now_a = cost_of(member[a], size[a], leaves, trees)
        now_b = cost_of(member[b], size[b], leaves, trees)
        if cost[a] + cost[b] - now_a - now_b >= least:
            cost[a], cost[b] = now_a, now_b
        else:
            member[a, x], member[b, y] = r, s


def exchanged(
    classes: Sequence[dict[int, int]],
    of_row: Ints,
    signatures: Sequence[int],
    leaves: NDArray[np.int32],
    trees: NodeTables,
    cell: float,
    seed: int,
    slowly: int = SLOWLY,
) -> list[dict[int, int]]:
    """Return the classes (value → row, −1 for a counterfeit) after exchanges.

    Parameters
    ----------
    of_row, signatures: as ``of_row`` and ``of_class`` of ``exchange``.
    cell: cost of a typical cell.  slowly: moves for each place.
    """
    if not classes:
        return []
    member = np.full((len(classes), max(map(len, classes))), -1, np.int64)
    found = []
    for c, one in enumerate(classes):
        for x, (value, row) in enumerate(one.items()):
            member[c, x] = row
            found.append((value, c, x))
    places = np.array(sorted(found), np.int64)
    start = np.searchsorted(places[:, 0], np.arange(places[-1, 0] + 2)).astype(np.int64)
    size = np.array([len(one) for one in classes], np.int64)
    rng = np.array([seed], np.uint64)
    of_class = np.array(signatures, np.int64)
    codes = np.ascontiguousarray(leaves, np.int32)
    heats = HOT * cell, COLD * cell
    moves = slowly * len(places)
    exchange(member, size, places, start, of_class, of_row, codes, trees, moves, *heats, rng)
    return [
        {value: int(member[c, x]) for x, value in enumerate(one)} for c, one in enumerate(classes)
    ]
