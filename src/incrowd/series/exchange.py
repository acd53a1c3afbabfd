"""People change places where the signatures allow it, and newcomers choose signatures: annealing.

Two people of one sensitive value may change places wherever each has the signature of the class it
comes to, or none yet.  In classes of newcomers alone people of two values may, too; then both
classes have another signature.

What signatures are worth later is counted as well.  Later releases keep everybody's signature and
may part its people anew.  That is cheap where people of one signature are alike: for each column,
value and signature, ``n`` people who agree are worth ``ALIKE``·n·log n cells, and ``n`` people of
one signature cost ``CROWDED``·n·log n.  With as many columns as the second is of the first these
were the entropies of the columns given the signature; it is less, as signatures of few people, who
are always alike, leave few ways to part them.  That is a guess, and it steers the search alone: no
count decides what is lawful.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.kernels.random import below, draw, least_gain
from incrowd.kernels.types import Bools, Ints
from incrowd.problem.instance import NodeTables
from incrowd.problem.join import span_cost

ALIKE, CROWDED = 0.05, 0.25
TABLE, CELLS = 1 << 18, 1 << 16  # counts, and cells of a column; if two meet it does no harm
HOT, COLD = 0.5, 0.05  # of the cost of a cell
SLOWLY = 9_000  # moves for each place
NEW, STAYS = -1, -2
"""In place of a signature: of a newcomer, and of who does not move."""


class Themes(NamedTuple):
    """Counts of people by signature and cell.

    Attributes
    ----------
    counts: int64, shape (TABLE,): people, by the key of signature and cell.
    worth: float64, shape (2, cells + 1): what so many who agree in a column are worth, and so many
        of one signature, in units of cost.
    salt: int64, shape (columns + 1, cells): a key of each cell; the last column is the signature's.
    part: int64, shape (values,): keys of the sensitive values; a signature's is their xor.
    """

    counts: Ints
    worth: NDArray[np.float64]
    salt: Ints
    part: Ints


def themes_of(
    member: Ints, key: Ints, part: Ints, leaves: NDArray[np.int32], cell: float
) -> Themes:
    """Return the counts of some classes.

    Parameters
    ----------
    member: int64, shape (classes, widest): rows, −1 for nobody; key: int64, (classes,).
    cell: cost of a typical cell.
    """
    columns = leaves.shape[1]
    rng = np.random.default_rng(1)
    salt = rng.integers(1 << 62, size=(columns + 1, min(CELLS, int(leaves.max(initial=0)) + 1)))
    there = member >= 0
    rows, keys = member[there], np.repeat(key, there.sum(axis=1))
    count = np.zeros(TABLE, np.int64)
    for j in range(columns + 1):
        mine = salt[j, leaves[rows, j] % salt.shape[1]] if j < columns else salt[j, 0]
        np.add.at(count, (keys ^ mine) & (TABLE - 1), 1)
    n = np.arange(rows.size * (columns + 1) + 1)  # if all met in one place
    worth = np.outer([ALIKE, -CROWDED], n * np.log(np.maximum(n, 1)) * cell)
    return Themes(count, worth, salt, part)


@inner_kernel
def count_row(row: int, key: int, change: int, themes: Any, leaves: Any) -> float:
    """Count a row in (1) or out (−1) of a signature; return what that is worth."""
    total = 0.0
    columns = leaves.shape[1]
    for j in range(columns + 1 if row >= 0 else 0):
        value = leaves[row, j] % themes.salt.shape[1] if j < columns else 0
        at = (key ^ themes.salt[j, value]) & (TABLE - 1)
        kind = 0 if j < columns else 1
        before = themes.counts[at]
        themes.counts[at] = before + change
        total += themes.worth[kind, before + change] - themes.worth[kind, before]
    return total


class Seats(NamedTuple):
    """Who stands where; changed in place.

    Attributes
    ----------
    member: int64, shape (classes, widest): rows, −1 for a counterfeit; held: the same shape: the
        value of each place, −1 for none; size, key: int64, (classes,): places and signature.
    free: bool, (classes,): whether a class is of newcomers alone, so that its signature may change.
    places: int64, shape (places, 3): value, class and slot of each, by value and signature.
    of_value: int64, shape (values + 1,): where the places of each value start.
    bunch: int64, shape (places,): number of value and signature of each; of_bunch: int64, shape
        (bunches + 1,): where the places of each start, as the signatures were at first.
    fresh: int64: numbers of the places in free classes.
    """

    member: Ints
    held: Ints
    size: Ints
    key: Ints
    free: Bools
    places: Ints
    of_value: Ints
    bunch: Ints
    of_bunch: Ints
    fresh: Ints


def seats_of(classes: Sequence[dict[int, int]], part: Ints, signed: Ints) -> Seats:
    """Return the seats of some classes.

    Parameters
    ----------
    part: int64, shape (values,): see ``Themes``; signed: int64, shape (rows,): see ``exchange``.
    """
    shape = len(classes), max(map(len, classes))
    member, held = np.full(shape, -1, np.int64), np.full(shape, -1, np.int64)
    for c, one in enumerate(classes):
        held[c, : len(one)], member[c, : len(one)] = list(one), list(one.values())
    key = np.array([np.bitwise_xor.reduce(part[list(one)]) for one in classes], np.int64)
    free = ((member < 0) | (signed[member] == NEW)).all(axis=1)
    of_class, slot = np.nonzero(held >= 0)
    value = held[of_class, slot]
    order = np.lexsort((slot, of_class, key[of_class], value))
    places = np.column_stack([value, of_class, slot])[order].astype(np.int64)
    value, keys = places[:, 0], key[places[:, 1]]
    begins = np.append(True, (value[1:] != value[:-1]) | (keys[1:] != keys[:-1]))
    return Seats(
        member, held, np.array([len(one) for one in classes], np.int64), key, free, places,
        np.searchsorted(value, np.arange(len(part) + 1)).astype(np.int64),
        np.cumsum(begins) - 1, np.append(np.flatnonzero(begins), len(places)),
        np.flatnonzero(free[places[:, 1]]),
    )  # fmt: skip


@inner_kernel
def cost_of(c: int, seats: Any, leaves: Any, trees: Any) -> int:
    """Cost of the real rows of a class (−1: none) under their join."""
    rows, size = seats.member, seats.size[c]
    real = 0
    for x in range(size):
        real += rows[c, x] >= 0
    if real == 0:
        return 0
    each = 0
    for j in range(leaves.shape[1]):
        low, high = 2**30, -1
        for x in range(size):
            row = rows[c, x]
            if row >= 0:
                low = min(low, leaves[row, j])
                high = max(high, leaves[row, j])
        each += span_cost(j, low, high, trees)
    return real * each


@inner_kernel
def other(seats: Any, i: int, signed: Any, rng: Any) -> int:
    """Draw the place that one may change with: of any value, of its signature, or of its value."""
    value, c = seats.places[i, 0], seats.places[i, 1]
    row = seats.member[c, seats.places[i, 2]]
    if seats.free[c]:
        if draw(rng) < 0.5:
            return seats.fresh[below(rng, seats.fresh.size)]
    elif (row >= 0 and signed[row] != NEW) or draw(rng) < 0.5:
        start = seats.of_bunch[seats.bunch[i]]
        return start + below(rng, seats.of_bunch[seats.bunch[i] + 1] - start)
    start = seats.of_value[value]
    return start + below(rng, seats.of_value[value + 1] - start)


@inner_kernel
def may_come(row: int, c: int, seats: Any, signed: Any) -> bool:
    """Whether a person, or nobody, may stand in a class."""
    return row < 0 or signed[row] == NEW or (signed[row] == seats.key[c] and not seats.free[c])


@inner_kernel
def allowed(seats: Any, i: int, j: int, signed: Any) -> bool:
    """Whether two places may change who stands there, or their values too."""
    v, a, x = seats.places[i, 0], seats.places[i, 1], seats.places[i, 2]
    w, b, y = seats.places[j, 0], seats.places[j, 1], seats.places[j, 2]
    if a == b:
        return False
    if v == w:
        r, s = seats.member[a, x], seats.member[b, y]
        if r < 0 and s < 0:
            return False
        return may_come(r, b, seats, signed) and may_come(s, a, seats, signed)
    for z in range(seats.size[a]):
        if seats.held[a, z] == w:
            return False
    for z in range(seats.size[b]):
        if seats.held[b, z] == v:
            return False
    return True


@inner_kernel
def classmates(c: int, change: int, seats: Any, themes: Any, leaves: Any) -> float:
    """Count a class in or out of its signature; return what that is worth."""
    total = 0.0
    for z in range(seats.size[c]):
        total += count_row(seats.member[c, z], seats.key[c], change, themes, leaves)
    return total


@inner_kernel
def swap(seats: Any, i: int, j: int, themes: Any, leaves: Any) -> float:
    """Change two places; return what the signatures are worth more.  Twice it changes nothing."""
    v, a, x = seats.places[i, 0], seats.places[i, 1], seats.places[i, 2]
    w, b, y = seats.places[j, 0], seats.places[j, 1], seats.places[j, 2]
    member, key = seats.member, seats.key
    worth = 0.0
    if v == w:
        if key[a] != key[b]:
            for c, z, d in ((a, x, b), (b, y, a)):
                worth += count_row(member[c, z], key[c], -1, themes, leaves)
                worth += count_row(member[c, z], key[d], 1, themes, leaves)
        member[a, x], member[b, y] = member[b, y], member[a, x]
        return worth
    both = themes.part[v] ^ themes.part[w]
    worth += classmates(a, -1, seats, themes, leaves) + classmates(b, -1, seats, themes, leaves)
    member[a, x], member[b, y] = member[b, y], member[a, x]
    seats.held[a, x], seats.held[b, y] = w, v
    key[a] ^= both
    key[b] ^= both
    seats.places[i, 1], seats.places[i, 2] = b, y
    seats.places[j, 1], seats.places[j, 2] = a, x
    return worth + classmates(a, 1, seats, themes, leaves) + classmates(b, 1, seats, themes, leaves)


@lean_kernel
def exchange(
    seats: Any,
    cost: Any,
    signed: Any,
    themes: Any,
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
    cost: int64, shape (classes,): filled with what each costs.
    signed: int64, shape (rows,): key of the signature of each row, ``NEW`` or ``STAYS``.
    leaves: shape (rows, columns); trees: ``Instance.tables``.
    """
    for c in range(cost.size):
        cost[c] = cost_of(c, seats, leaves, trees)
    ratio = np.log(cold / hot) / max(moves, 1)
    for number in range(moves):
        i = below(rng, seats.places.shape[0])
        j = other(seats, i, signed, rng)
        if not allowed(seats, i, j, signed):
            continue
        a, b = seats.places[i, 1], seats.places[j, 1]
        least = least_gain(hot * np.exp(ratio * number), rng)
        gain = swap(seats, i, j, themes, leaves) + cost[a] + cost[b]
        now_a, now_b = cost_of(a, seats, leaves, trees), cost_of(b, seats, leaves, trees)
        if gain - now_a - now_b >= least:
            cost[a], cost[b] = now_a, now_b
        else:
            swap(seats, i, j, themes, leaves)


def exchanged(
    classes: Sequence[dict[int, int]],
    signatures: Sequence[frozenset[int] | None],
    stay: bool,
    leaves: NDArray[np.int32],
    trees: NodeTables,
    cell: float,
    seed: int,
    slowly: int = SLOWLY,
) -> list[dict[int, int]]:
    """Return the classes (value → row, −1 for a counterfeit) after exchanges.

    Parameters
    ----------
    signatures: of each row, None for a newcomer; stay: whether those who have one do not move.
    cell: cost of a typical cell.  slowly: moves for each place.
    """
    if not classes:
        return []
    values = 1 + max(max(one) for one in classes)
    part = np.random.default_rng(0).integers(1 << 62, size=values)
    keys = [0 if s is None else int(np.bitwise_xor.reduce(part[list(s)])) for s in signatures]
    signed = [
        NEW if s is None else STAYS if stay else key
        for s, key in zip(signatures, keys, strict=True)
    ]
    signed = np.array(signed, np.int64)
    seats = seats_of(classes, part, signed)
    themes = themes_of(seats.member, seats.key, part, leaves, cell)
    codes = np.ascontiguousarray(leaves, np.int32)
    rng = np.array([seed], np.uint64)
    moves = slowly * len(seats.places)
    cost = np.zeros(len(classes), np.int64)
    exchange(seats, cost, signed, themes, codes, trees, moves, HOT * cell, COLD * cell, rng)
    return [
        dict(zip(held[:size].tolist(), member[:size].tolist(), strict=True))
        for held, member, size in zip(seats.held, seats.member, seats.size, strict=True)
    ]
