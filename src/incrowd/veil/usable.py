"""Which pairs and triples a cheapest release may use, and which rows need no listing.

A certificate gives each pair and triple a *slack*; those of a cheapest release add up to the
*room* at most: what it costs above the certificate's bound, nearly always 0.  Rows that are alike
would make very many: of 100 equal rows 161,700 triples.  They are left out as follows.

The *rest* of a row under a label (a set of columns and values that are shown) is what it then
costs, less its prices.  Rests of a group add up to its slack at most (Lemma 4a of
docs/explanation/two-anonymity.md), exactly where no two rows are in one odd set.  A row is *free*
under a label if its rest is not negative and no odd set holds it.

**Claim.**  Say two rows can have no other label.  Then every cheapest release is made of listed
groups and of free rows that stand by themselves, if all pairs under this label are listed but
those of two free rows, and all triples of which odd sets hold two; and what is made of them is
lawful.

**Argument.**  A class under the label falls into pairs and triples.  A pair of free rows may
stand as two rows by themselves.  Of a triple of which odd sets hold one row or none, no two are in
one odd set, so two rests add up to the slack of a pair at least, which is not negative: of the rows
that no odd set holds one at most has a negative rest, another is free.  Let it stand by itself; the
others are a pair.  None of this changes the cost.  And who stands alone has the two rows for
company.
"""

from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import OutOfScopeError
from incrowd.kernels.types import Bools, Ints
from incrowd.problem.instance import packed
from incrowd.solvers.matching.certificate import Certificate
from incrowd.solvers.matching.dual import slacks_of
from incrowd.solvers.matching.nodes import Nodes, costs_of

MOST_LISTED, MOST_ALIKE = 2_000_000, 200


class Label(NamedTuple):
    """Nodes that may show the same columns and values, their rests, and which odd sets hold.

    mask: the columns that are hidden, a bit for each, the first one highest.
    """

    mask: int
    nodes: Ints
    rests: Ints
    held: Bools


class Usable(NamedTuple):
    """int32, shape (groups, 3), see ``Nodes``, where one node stands by itself; what each hides.

    rests: int64, shape (groups,): what each costs above its rows' prices.
    """

    groups: NDArray[np.int32]
    masks: list[int]
    rests: Ints


def within(
    nodes: Nodes, certificate: Certificate, weights: Ints, extra: Ints, veiled: Bools, room: int
) -> Usable:
    """Return the groups whose slack is at most ``room``, free nodes in place of groups of them.

    Parameters
    ----------
    weights: int64, shape (columns,): what a hidden cell costs.
    extra: int64, shape (nodes, columns): what it costs beside.
    veiled: bool, the same shape.

    Raises
    ------
    OutOfScopeError: there are too many.
    """
    dual = certificate.dual
    labels = list(labels_of(nodes, certificate, weights, extra, veiled, room))
    ways = np.zeros(nodes.size, np.int64)
    for label in labels:
        ways[label.nodes] += 1
    singles: list[tuple[int, int, int]] = []
    listed: set[tuple[int, int, int]] = set()
    for label in labels:
        safe = int(np.count_nonzero(ways[label.nodes] == 1)) > 1
        require_few(len(label.nodes), safe, len(listed))
        free = (label.rests >= 0) & ~label.held & safe
        listed.update(groups_under(label, free, safe))
        by_themselves = free & (label.rests <= room)
        for node, rest in zip(label.nodes[by_themselves], label.rests[by_themselves], strict=True):
            singles.append((int(node), label.mask, int(rest)))
    groups = np.array(sorted(listed), np.int32).reshape(-1, 3)
    groups = groups[slacks_of(nodes.grid, dual, groups) <= room]
    price = np.append(certificate.price, 0)  # of the padding
    rests = costs_of(nodes.grid, groups) * certificate.unit - price[groups].sum(axis=1)
    alone = np.full((len(singles), 3), -1, np.int32)
    alone[:, 0] = [node for node, _, _ in singles]
    shown = nodes.instance.codes[nodes.instance.copies]
    masks = masks_of(shown, groups) + [mask for _, mask, _ in singles]
    own = np.array([rest for _, _, rest in singles], np.int64)
    return Usable(np.concatenate([groups, alone]), masks, np.concatenate([rests, own]))


def require_few(rows: int, safe: bool, listed: int) -> None:
    """Raise OutOfScopeError where a label has too many rows to list their groups."""
    if listed > MOST_LISTED or (not safe and rows > MOST_ALIKE):
        raise OutOfScopeError(
            "simplex-matching with a veil: rows are alike in so many ways that the cheapest "
            "releases cannot be listed; use --method consistent"
        )


def groups_under(label: Label, free: Bools, safe: bool) -> Iterator[tuple[int, int, int]]:
    """Yield the pairs and triples of a label's nodes that are to be listed."""
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
    nodes: Nodes, certificate: Certificate, weights: Ints, extra: Ints, veiled: Bools, room: int
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
        rows = rows[(hat + top >= 2 * base - room) | (hat + 2 * top >= 3 * base - room)]
        if len(rows) < 2:
            continue
        rest = base + extra[rows][:, hidden].sum(axis=1) * dual.unit - dual.hat[rows]
        key, _ = packed([codes[rows, j] for j in np.flatnonzero(~hidden)], len(rows))
        kept, start = profitable(key, rest, room)
        for part in np.split(kept, start[1:]):
            if len(part) > 1:
                yield Label(mask, rows[part], rest[part], held[rows[part]])


def profitable(key: Ints, rest: Ints, room: int = 0) -> tuple[Ints, Ints]:
    """Return the rows that some pair or triple of their key may hold, and where each key begins.

    Those whose rest and the least of one other, or of two others, add up to ``room`` at most.
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
    kept = (size > 1) & (rest + one <= room) | three & (rest + one + two <= room)
    chosen = key[kept]
    fresh = np.flatnonzero(np.concatenate([[True], chosen[1:] != chosen[:-1]])[: len(chosen)])
    return order[kept], fresh


def masks_of(shown: NDArray[np.int32], groups: NDArray[np.int32]) -> list[int]:
    """Return which columns each group of two or three hides, the first one the highest bit."""
    third = np.where(groups[:, 2] >= 0, groups[:, 2], groups[:, 0])
    one, two, three = shown[groups[:, 0]], shown[groups[:, 1]], shown[third]
    hidden = (one != two) | (one != three)
    return (hidden @ (1 << np.arange(shown.shape[1])[::-1])).tolist()
