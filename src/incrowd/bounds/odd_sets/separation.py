"""Odd sets that a fractional release breaks.

A release parts a set S of copies into at most ⌊|S|/q⌋ whole groups of q: Σ_C x_C·⌊|C∩S|/q⌋ is at
most that.  Sets hold all copies of a distinct row or none: only whole rows are told apart.  Those
with |S| ≡ −1 modulo q are sought, as one copy more costs nothing otherwise.  The search starts from
classes that the fractional release uses and exchanges one row after another, for one with as many
copies modulo q, while that raises the sum less |S|/q; it looks at classes that touch the set only.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.pricing import OddSet
from incrowd.kernels.jit import inner_kernel, kernel
from incrowd.kernels.random import below

SIZES = {2: (2, 3, 4, 5, 7), 3: (2, 3, 4, 5, 8), 5: (3, 5, 6, 7, 9)}  # modulus: distinct rows
BROKEN = 0.02  # by how much
PER_ROW = (8, 2)  # sets that a row may be in, per search: where classes are small, and not
SMALL, LARGE = 5, 10  # rows of classes that are small; and beyond which
FADING = 2.5  # that many times more rows want that many times fewer sets, to this power


class Fractional(NamedTuple):
    """A fractional release: classes and how much of each.

    offset: int64, shape (classes + 1,); rows: int64: distinct rows of class c, each once, are
    ``rows[offset[c]:offset[c + 1]]``, and ``times`` says how many copies of each.  share: float64,
    shape (classes,).
    """

    offset: NDArray[np.int64]
    rows: NDArray[np.int64]
    times: NDArray[np.int64]
    share: NDArray[np.float64]

    @classmethod
    def of(cls, classes: NDArray[np.integer], share: NDArray[np.float64]) -> "Fractional":
        """Build from the distinct row of each copy, shape (classes, n), −1 for none."""
        ordered = np.sort(classes, axis=1)
        new = ordered >= 0
        new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
        offset = np.concatenate([[0], np.cumsum(new.sum(axis=1))]).astype(np.int64)
        flat = np.flatnonzero(new.ravel()[(ordered >= 0).ravel()])
        times = np.diff(np.append(flat, int((ordered >= 0).sum())))
        return cls(offset, ordered[new].astype(np.int64), times.astype(np.int64), share)


class Graph(NamedTuple):
    """A fractional release by class and by row, and scratch.

    counts: int64, shape (rows,): copies of each row.
    alone: float64, shape (rows,): Σ_C x_C·⌊|C∩S|/q⌋ − |S|/q for S = the row's copies.
    usable: bool, shape (rows,): whether a row may (still) be in the set at hand.
    modulus: q.
    held: int64, shape (classes,): copies of the set at hand in each class.
    gain: float64, shape (rows,), comes and goes zero; touched: int64, shape (rows,).
    stamp: int64, shape (classes,).
    """

    offset: NDArray[np.int64]
    rows: NDArray[np.int64]
    times: NDArray[np.int64]
    share: NDArray[np.float64]
    row_offset: NDArray[np.int64]
    row_classes: NDArray[np.int64]
    row_times: NDArray[np.int64]
    counts: NDArray[np.int64]
    alone: NDArray[np.float64]
    usable: NDArray[np.bool_]
    modulus: int
    held: NDArray[np.int64]
    gain: NDArray[np.float64]
    touched: NDArray[np.int64]
    stamp: NDArray[np.int64]


def graph_of(
    fractional: Fractional, counts: NDArray[np.int64], usable: NDArray[np.bool_], modulus: int
) -> tuple[Graph, NDArray[np.int64]]:
    """Index by row, rows numbered 0, 1, …; return the graph and the rows' own numbers."""
    offset, rows, times, share = fractional
    known, flat = np.unique(rows, return_inverse=True)
    flat = flat.ravel()
    order = np.argsort(flat, kind="stable")
    row_offset = np.searchsorted(flat[order], np.arange(len(known) + 1)).astype(np.int64)
    name = np.repeat(np.arange(len(share)), np.diff(offset))
    alone = np.bincount(flat, weights=share[name] * (times // modulus)) - counts[known] / modulus
    by_row = row_offset, name[order], times[order], counts[known], alone, usable[known], modulus
    scratch = np.zeros(len(share), np.int64), np.zeros(len(known)), np.zeros(len(known), np.int64)
    stamp = np.full(len(share), -1, np.int64)
    return Graph(offset, flat, times, share, *by_row, *scratch, stamp), known


@inner_kernel
def fills(held: int, more: int, graph: Any) -> bool:
    """Whether the rests of two numbers of copies make up another group."""
    return held % graph.modulus + more % graph.modulus >= graph.modulus


@inner_kernel
def enter(r: int, graph: Any) -> float:
    """Add row r to the set; return what that adds to Σ_C x_C·⌊|C∩S|/q⌋ − |S|/q."""
    graph.usable[r] = False
    added = graph.alone[r]
    for z in range(graph.row_offset[r], graph.row_offset[r + 1]):
        c = graph.row_classes[z]
        if fills(graph.held[c], graph.row_times[z], graph):
            added += graph.share[c]
        graph.held[c] += graph.row_times[z]
    return added


@inner_kernel
def leave(r: int, graph: Any) -> float:
    """Take row r out of the set; return what that takes from the sum."""
    graph.usable[r] = True
    taken = graph.alone[r]
    for z in range(graph.row_offset[r], graph.row_offset[r + 1]):
        c = graph.row_classes[z]
        graph.held[c] -= graph.row_times[z]
        if fills(graph.held[c], graph.row_times[z], graph):
            taken += graph.share[c]
    return taken


@inner_kernel
def best_exchange(member: Any, skip: int, number: int, graph: Any) -> Any:
    """Return (row to put in the place of the entry ``skip``, what it adds to the sum), −1 if none.

    ``member``: the set, with that entry taken out of ``graph``; ``number`` is new for every call.
    """
    rest = graph.counts[member[skip]] % graph.modulus
    count = 0
    for y in range(member.size):
        if y == skip:
            continue
        for z in range(graph.row_offset[member[y]], graph.row_offset[member[y] + 1]):
            c = graph.row_classes[z]
            if graph.stamp[c] == number or graph.held[c] % graph.modulus == 0:
                continue
            graph.stamp[c] = number
            for i in range(graph.offset[c], graph.offset[c + 1]):
                r = graph.rows[i]
                if not graph.usable[r] or not fills(graph.held[c], graph.times[i], graph):
                    continue
                if graph.counts[r] % graph.modulus != rest:
                    continue
                if graph.gain[r] == 0.0:
                    graph.touched[count] = r
                    count += 1
                graph.gain[r] += graph.share[c]
    best = -1
    most = -1e300
    for x in range(count):
        r = graph.touched[x]
        if graph.alone[r] + graph.gain[r] > most:
            most = graph.alone[r] + graph.gain[r]
            best = r
        graph.gain[r] = 0.0
    return best, most


@inner_kernel
def draw_set(member: Any, dice: Any, graph: Any) -> Any:
    """Enter random rows of classes that hold rows of the set; return (how many, the sum)."""
    n = 0
    total = 0.0
    if graph.modulus > 2:  # where a set shares fewer rows with every class there is no slope
        c = below(dice, graph.share.size)
        for i in range(graph.offset[c], graph.offset[c + 1]):
            if n < member.size and graph.usable[graph.rows[i]]:
                member[n] = graph.rows[i]
                total += enter(graph.rows[i], graph)
                n += 1
    for _ in range(20 * member.size):
        if n == member.size:
            break
        c = below(dice, graph.share.size)
        if n > 0:
            r = member[below(dice, n)]
            first = graph.row_offset[r]
            c = graph.row_classes[first + below(dice, graph.row_offset[r + 1] - first)]
        r = graph.rows[graph.offset[c] + below(dice, graph.offset[c + 1] - graph.offset[c])]
        if graph.usable[r]:
            member[n] = r
            total += enter(r, graph)
            n += 1
    return n, total


@kernel
def search_sets(graph: Any, size: int, found: Any, excess: Any, seed: int) -> int:
    """Search once from each entry of ``found``; return how many broken sets stand in front there.

    found: int64, shape (starts, size); excess: float64, shape (starts,).
    """
    dice = np.array([seed * 0x2545F491 + 99], np.uint64)
    member = np.empty(size, np.int64)
    graph.stamp[:] = -1
    number = 0
    count = 0
    for _ in range(len(found)):
        n, total = draw_set(member, dice, graph)
        copies = 0
        for z in range(n):
            copies += graph.counts[member[z]]
        proper = n == size and copies % graph.modulus == graph.modulus - 1
        better = proper
        while better:
            better = False
            for z in range(size):
                without = total - leave(member[z], graph)
                number += 1
                other, gain = best_exchange(member, z, number, graph)
                if other >= 0 and without + gain > total + 1e-9:
                    member[z] = other
                    better = True
                total = without + enter(member[z], graph)
        for z in range(n):
            leave(member[z], graph)
        over = total + 1 - 1 / graph.modulus
        if proper and over > BROKEN:
            excess[count] = over
            for z in range(size):  # an array into a row takes two seconds to compile
                found[count, z] = member[z]
            count += 1
    return count


def broken_sets(
    fractional: Fractional, counts: NDArray[np.int64], k: int, starts: int, most: int, seed: int
) -> list[OddSet]:
    """Return odd sets that a fractional release breaks, the worst first, without penalties.

    Parameters
    ----------
    counts: int64, shape (distinct,); rows that fill a class of ``k`` by themselves are left out.
    starts: searches per size of set.
    most: sets to return; no row is in more than eight of them.  Large classes meet many sets, and
        the dearest takes long to find then: with k > 5 no row is in more than two.
    """
    fewer = min(1.0, (LARGE / k) ** FADING)
    starts, most = (round(fewer * n) for n in (starts, most))
    per_row = PER_ROW[k > SMALL]
    seen: dict[tuple[int, ...], float] = {}
    for modulus in SIZES:
        if modulus <= k:
            seen |= searched(fractional, counts, counts < k, modulus, starts, seed)
    load = np.zeros(len(counts), np.int64)
    chosen: list[OddSet] = []
    for name in sorted(seen, key=lambda s: (-round(seen[s], 9), len(s), s)):
        rows = np.array(name[1:])
        if load[rows].max() < per_row:
            load[rows] += 1
            chosen.append(OddSet(rows, name[0], 0.0))
        if len(chosen) == most:
            break
    return chosen


def searched(
    fractional: Fractional,
    counts: NDArray[np.int64],
    usable: NDArray[np.bool_],
    modulus: int,
    starts: int,
    seed: int,
) -> dict[tuple[int, ...], float]:
    """Return broken sets for one modulus: (modulus, distinct rows …) → by how much."""
    graph, known = graph_of(fractional, counts, usable, modulus)
    seen: dict[tuple[int, ...], float] = {}
    for size in SIZES[modulus]:
        found, excess = np.zeros((starts, size), np.int64), np.zeros(starts)
        n = search_sets(graph, size, found, excess, seed)
        # sorted here: numba takes half a second to compile that
        different, first = np.unique(np.sort(found[:n], axis=1), axis=0, return_index=True)
        names = ((modulus, *s) for s in known[different].tolist())
        seen |= zip(names, excess[first].tolist(), strict=True)
    return seen
