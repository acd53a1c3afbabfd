"""Which rows are near each row: lists improved by asking neighbours for theirs.

A descent as of Dong, Moses and Li (2011): whoever is near a neighbour is likely near.  It begins
with neighbours in the table sorted by a few random orders of its columns.  Prices, where given, say
who fits: what two rows pay in a class of both, less what they pay anyway.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, kernel, lean_kernel
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance, row_order
from incrowd.problem.join import join_cost
from incrowd.run.stop import Stop

NEAR = 12  # rows in a list
ORDERS = 6
BESIDE = 3  # neighbours in a sorted table, on either side
ROUNDS = 4
FAR = np.int64(1) << 62
SIZES = (1.0, 1.5, 2.0, 3.0)  # of classes of near rows, in smallest classes
MOST_PAIRS = 6_000_000  # of a row and a join of near rows; each takes some 100 bytes on the way


@inner_kernel
def offer(r: Any, s: Any, far: Any, near: Any, distance: Any) -> None:
    """Take s into the list of r if it is nearer than the last there."""
    last = near.shape[1] - 1
    if far >= distance[r, last]:
        return
    for z in range(last + 1):
        if near[r, z] == s:
            return
    z = last
    while z > 0 and distance[r, z - 1] > far:
        near[r, z] = near[r, z - 1]
        distance[r, z] = distance[r, z - 1]
        z -= 1
    near[r, z] = s
    distance[r, z] = far


@kernel
def meet_in_order(
    order: Any, beside: int, half: Any, codes: Any, tables: Any, near: Any, dist: Any
) -> None:
    """Offer rows to those that stand beside them; ``half``: half the price of each."""
    n = order.size
    for at in range(n):
        r = order[at]
        for other in range(at + 1, min(n, at + 1 + beside)):
            s = order[other]
            far = join_cost(codes[r], codes[s], tables, FAR) - half[r] - half[s]
            offer(r, s, far, near, dist)
            offer(s, r, far, near, dist)


@kernel
def meet_neighbours(half: Any, codes: Any, tables: Any, near: Any, dist: Any) -> None:
    """Offer each row the neighbours of its neighbours, and itself to them."""
    length = near.shape[1]
    for r in range(codes.shape[0]):
        for x in range(length):
            u = near[r, x]
            for y in range(length if u >= 0 else 0):
                v = near[u, y]
                if v >= 0 and v != r:
                    far = join_cost(codes[r], codes[v], tables, FAR) - half[r] - half[v]
                    offer(r, v, far, near, dist)
                    offer(v, r, far, near, dist)


class Near(NamedTuple):
    """For each distinct row others that are near it, the nearest first.

    rows: int64, shape (distinct, ``NEAR``); −1 where there are no more.
    apart: int64, same shape: what each of the two pays in a class of both, in units of 1/scale,
        less half the price of either.
    """

    rows: NDArray[np.int64]
    apart: NDArray[np.int64]


def near_rows(
    instance: Instance,
    seed: int,
    stop: Stop,
    price: NDArray[np.float64] | None = None,
    report: Callable[[float], None] = lambda share: None,
) -> Near:
    """Return near rows of each distinct row, as far as there is time.

    price: float64, shape (distinct,): what each pays in every release; None for nothing.
    report: called with the share that is done.
    """
    rng = np.random.default_rng([seed, 13])
    near = np.full((instance.distinct, NEAR), -1, np.int64)
    dist = np.full((instance.distinct, NEAR), FAR, np.int64)
    half = np.zeros(instance.distinct) if price is None else price / 2
    grid = half.astype(np.int64), instance.codes, instance.tables
    for turn in range(ORDERS):
        report(turn / (ORDERS + ROUNDS))
        if not turn or not stop.now():
            order = row_order(instance.codes[:, rng.permutation(instance.columns)])
            meet_in_order(order, BESIDE, *grid, near, dist)
    for turn in range(ROUNDS):
        report((ORDERS + turn) / (ORDERS + ROUNDS))
        if not stop.now():
            meet_neighbours(*grid, near, dist)
    return Near(near, dist)


def near_emission(instance: Instance, k: int, near: Near, most: int = MOST_PAIRS) -> Emission:
    """Return the joins of each distinct row and its nearest, of ``SIZES`` times k rows each.

    A pattern lists these rows alone, and no two the same.  ``most``: pairs of a row and a pattern;
    where they are fewer than all, the smallest sizes are listed, or some rows' smallest joins.
    """
    costs, lengths, rows = [], [], []
    sign = np.random.default_rng(29).integers(1 << 62, size=instance.distinct, dtype=np.uint64)
    for size in sorted({min(round(times * k), NEAR + 1) for times in SIZES}):
        member = np.column_stack([np.arange(instance.distinct), near.rows[:, : size - 1]])
        member = np.sort(member[(member >= 0).all(axis=1)], axis=1)
        member = member[np.unique(sign[member].sum(axis=1), return_index=True)[1]]
        room = (most - sum(map(len, rows))) // size
        if len(member) > room:
            if costs:
                break
            member = member[:room]  # of random signs, so from all over the table
        low = high = instance.codes[member[:, 0]]
        for others in member[:, 1:].T:
            low = np.minimum(low, instance.codes[others])
            high = np.maximum(high, instance.codes[others])
        costs.append(instance.join_costs(low, high))
        lengths.append(np.full(len(member), size))
        rows.append(member.ravel())
    offset = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    cost, listed = np.concatenate(costs), np.concatenate(rows)
    return Emission(cost.astype(np.int64), offset.astype(np.int64), listed.astype(np.int32))


@lean_kernel
def pay_near(k: int, near: Any, counts: Any, codes: Any, tables: Any, span: Any, pays: Any) -> None:
    """Lower what rows pay to the cost of a class of each and its nearest rows."""
    for r in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            span[0, j] = codes[r, j]
            span[1, j] = codes[r, j]
        held = counts[r]
        for s in near[r]:
            if held >= k or s < 0:
                break
            held += counts[s]
            for j in range(codes.shape[1]):
                span[0, j] = min(span[0, j], codes[s, j])
                span[1, j] = max(span[1, j], codes[s, j])
        if held >= k:
            pays[r] = min(pays[r], join_cost(span[0], span[1], tables, FAR))


def near_costs(instance: Instance, near: Near, k: int) -> NDArray[np.int64]:
    """Return what each row would pay with the nearest rows; int64, shape (distinct,)."""
    pays = np.full(instance.distinct, FAR, np.int64)
    span = np.empty((2, instance.columns), np.int32)
    pay_near(k, near.rows, instance.counts, instance.codes, instance.tables, span, pays)
    return pays
