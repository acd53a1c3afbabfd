"""Which pairs and triples a cheapest release may use, and which rows need no listing.

A certificate gives each pair and triple a *slack*, and those of a cheapest release have slack 0
where cost and certificate agree.  Rows that are alike would make very many: of 100 equal rows
161,700 triples.  They are left out as follows.

The *rest* of a row under a label (a set of columns and values that are shown) is what it then
costs, less its prices.  Rests of a group add up to its slack at most (Lemma 4a of
docs/explanation/two-anonymity.md), exactly where no two rows are in one odd set.  A row is *free*
under a label if its rest is 0 and no odd set holds it.

**Claim.**  Say two rows can have no other label.  Then every cheapest release is made of listed
groups and of free rows that stand by themselves, if all pairs and triples of slack 0 are listed
but those under this label that hold two free rows; and what is made of them is lawful.

**Argument.**  A class under the label falls into pairs and triples, all of slack 0.  Of one
that holds two free rows, let these stand by themselves.  Its third row, if any, has rest 0.  If
it is free it stands by itself too.  Else it and one of the free rows are a pair of slack 0, which
holds one free row.  And who stands by himself has the two rows for company.
"""

from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import OutOfScopeError
from incrowd.problem.instance import packed
from incrowd.solvers.matching.certificate import Certificate
from incrowd.solvers.matching.dual import slacks_of
from incrowd.solvers.matching.nodes import Nodes

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
MOST_LISTED, MOST_ALIKE = 2_000_000, 200


class Label(NamedTuple):
    """Nodes that may show the same columns and values, and which of them are free or held there.

    mask: the columns that are hidden, a bit for each, the first one highest.
    """

    mask: int
    nodes: Ints
    free: Bools
    held: Bools


class Usable(NamedTuple):
    """int32, shape (groups, 3), see ``Nodes``, where one node stands by itself; what each hides."""

    groups: NDArray[np.int32]
    masks: list[int]


def tight(
    nodes: Nodes, certificate: Certificate, weights: Ints, extra: Ints, veiled: Bools
) -> Usable:
    """Return the groups of slack 0, and free nodes by themselves in place of groups of them.

    Parameters
    ----------
    weights: int64, shape (columns,): what a hidden cell costs.
    extra: int64, shape (nodes, columns): what it costs beside.
    veiled: bool, the same shape.

    Raises
    ------
    OutOfScopeError: there are too many.
    """
    labels = list(labels_of(nodes, certificate, weights, extra, veiled))
    ways = np.zeros(nodes.size, np.int64)
    for label in labels:
        ways[label.nodes] += 1
    singles: list[tuple[int, int]] = []
    listed: set[tuple[int, int, int]] = set()
    for label in labels:
        safe = int(np.count_nonzero(ways[label.nodes] == 1)) > 1
        require_few(len(label.nodes), safe, len(listed))
        free = label.free & safe
        listed.update(groups_under(label, free, safe))
        singles += [(node, label.mask) for node in label.nodes[free].tolist()]
    groups = np.array(sorted(listed), np.int32).reshape(-1, 3)
    groups = groups[slacks_of(nodes.grid, certificate.dual, groups) == 0]
    alone = np.full((len(singles), 3), -1, np.int32)
    alone[:, 0] = [node for node, _ in singles]
    shown = nodes.instance.codes[nodes.instance.copies]
    masks = masks_of(shown, groups) + [mask for _, mask in singles]
    return Usable(np.concatenate([groups, alone]), masks)


def require_few(rows: int, safe: bool, listed: int) -> None:
    """Raise OutOfScopeError where a label has too many rows to list their groups."""
    if listed > MOST_LISTED or (not safe and rows > MOST_ALIKE):
        raise OutOfScopeError(
            "simplex-matching with a veil: rows are alike in so many ways that the cheapest "
            "releases cannot be listed; use --method consistent"
        )


def groups_under(label: Label, free: Bools, safe: bool) -> Iterator[tuple[int, int, int]]:
    """Yield pairs and triples of a label's nodes, but those that hold two free ones.

    Where no odd set holds two of three, pairs of slack 0 make all rests of such a triple 0, so at
    least two of them are free: a safe label needs triples with two nodes in odd sets alone.
    """
    rows = sorted(zip(label.nodes.tolist(), free.tolist(), label.held.tolist(), strict=True))
    bound = [row for row in rows if not row[1]]
    for (u, _, _), (v, _, _) in combinations(bound, 2):
        yield u, v, -1
    if safe:
        for (u, _, _), (v, is_free, _) in product(bound, rows):
            if is_free:
                yield min(u, v), max(u, v), -1
        held = [row[0] for row in rows if row[2]]
        for u, v in combinations(held, 2):
            for w, _, _ in rows:
                if w not in (u, v):
                    one, two, three = sorted((u, v, w))
                    yield one, two, three
        return
    for (u, _, _), (v, _, _), (w, _, _) in combinations(rows, 3):
        yield u, v, w


def labels_of(
    nodes: Nodes, certificate: Certificate, weights: Ints, extra: Ints, veiled: Bools
) -> Iterator[Label]:
    """Yield each label under which two nodes or more may stand in a cheapest release."""
    dual, columns = certificate.dual, veiled.shape[1]
    codes = nodes.instance.codes[nodes.instance.copies].astype(np.int64)
    held = np.diff(dual.start) > 0
    for mask in range(1 << columns):
        hidden = np.array([mask >> (columns - 1 - j) & 1 for j in range(columns)], bool)
        rows = np.flatnonzero(~veiled[:, ~hidden].any(axis=1))
        base = int(weights[hidden].sum()) * dual.unit
        hat = dual.hat[rows]
        top = int(hat.max(initial=0))
        rows = rows[(hat + top >= 2 * base) | (hat + 2 * top >= 3 * base)]
        if len(rows) < 2:
            continue
        rest = base + extra[rows][:, hidden].sum(axis=1) * dual.unit - dual.hat[rows]
        key, _ = packed([codes[rows, j] for j in np.flatnonzero(~hidden)], len(rows))
        kept, start = profitable(key, rest)
        for part in np.split(kept, start[1:]):
            if len(part) > 1:
                free = (rest[part] == 0) & ~held[rows[part]]
                yield Label(mask, rows[part], free, held[rows[part]])


def profitable(key: Ints, rest: Ints) -> tuple[Ints, Ints]:
    """Return the rows that some pair or triple of their key may hold, and where each key begins.

    Those whose rest and the least of one other, or of two others, add up to 0 at most.
    """
    order = np.lexsort((rest, key))
    key, rest = key[order], rest[order]
    begin = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    size = np.diff(np.append(begin, len(key)))
    first = np.repeat(begin, size)
    rank, size = np.arange(len(key)) - first, np.repeat(size, size)
    one = rest[np.where((rank == 0) & (size > 1), first + 1, first)]
    second = np.where(rank < 2, 2, 1)
    three = size > 2
    two = rest[np.where(three, first + second, first)]
    kept = (size > 1) & (rest + one <= 0) | three & (rest + one + two <= 0)
    chosen = key[kept]
    fresh = np.flatnonzero(np.concatenate([[True], chosen[1:] != chosen[:-1]])[: len(chosen)])
    return order[kept], fresh


def masks_of(shown: NDArray[np.int32], groups: NDArray[np.int32]) -> list[int]:
    """Return which columns each group of two or three hides, the first one the highest bit."""
    third = np.where(groups[:, 2] >= 0, groups[:, 2], groups[:, 0])
    one, two, three = shown[groups[:, 0]], shown[groups[:, 1]], shown[third]
    hidden = (one != two) | (one != three)
    return (hidden @ (1 << np.arange(shown.shape[1])[::-1])).tolist()
