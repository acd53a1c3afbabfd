"""Odd sets that a fractional release breaks.

A release puts at most (|S| − 1)/2 pairs of an odd set S of copies together: Σ_C x_C·⌊|C∩S|/2⌋ is
at most that.  The search starts from classes that the fractional release uses and exchanges one
row after another while that raises the sum.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.jit import kernel
from incrowd.solvers.engine.crowd import below

SIZES = (3, 5, 7)
BROKEN = 0.02  # by how much


@kernel
def pairs_together(share: Any, held: Any) -> float:
    """Σ_C x_C·⌊|C∩S|/2⌋."""
    total = 0.0
    for c in range(share.size):
        total += share[c] * (held[c] // 2)
    return total


@kernel
def count_row(r: int, change: int, row_offset: Any, row_classes: Any, held: Any) -> None:
    """Add row r to the set, or take it out."""
    for z in range(row_offset[r], row_offset[r + 1]):
        held[row_classes[z]] += change


@kernel
def best_addition(offset: Any, rows: Any, share: Any, held: Any, usable: Any, gain: Any) -> int:
    """Return the usable row that raises the sum most; ``gain`` receives that of each."""
    gain[:] = 0.0
    for c in range(share.size):
        if held[c] % 2 == 1:
            for i in range(offset[c], offset[c + 1]):
                gain[rows[i]] += share[c]
    best = -1
    for r in range(gain.size):
        if usable[r] and (best < 0 or gain[r] > gain[best]):
            best = r
    return best


@kernel
def search_sets(
    offset: Any,
    rows: Any,
    share: Any,
    row_offset: Any,
    row_classes: Any,
    usable: Any,
    size: int,
    found: Any,
    excess: Any,
    seed: int,
) -> int:
    """Search once from each entry of ``found``; return how many broken sets stand in front there.

    offset, rows, share: classes of the fractional release (rows numbered 0, 1, …) and their
    shares.  row_offset, row_classes: the same by row.  usable: whether a row may be in a set.
    found: int64, shape (starts, size); excess: float64, shape (starts,).
    """
    dice = np.array([seed * 0x2545F491 + 99], np.uint64)
    held = np.zeros(share.size, np.int64)
    gain = np.zeros(usable.size)
    member = np.empty(size, np.int64)
    count = 0
    for _ in range(len(found)):
        held[:] = 0
        n = 0
        for _ in range(20 * size):  # rows of classes that hold rows of the set, at random
            c = below(dice, share.size)
            if n > 0:
                r = member[below(dice, n)]
                c = row_classes[row_offset[r] + below(dice, row_offset[r + 1] - row_offset[r])]
            r = rows[offset[c] + below(dice, offset[c + 1] - offset[c])]
            if usable[r]:
                member[n] = r
                usable[r] = False
                count_row(r, 1, row_offset, row_classes, held)
                n += 1
            if n == size:
                break
        better = n == size
        total = pairs_together(share, held)
        while better:
            better = False
            for z in range(size):
                r = member[z]
                usable[r] = True
                count_row(r, -1, row_offset, row_classes, held)
                without = pairs_together(share, held)
                other = best_addition(offset, rows, share, held, usable, gain)
                if without + gain[other] > total + 1e-9:
                    r = other
                    total = without + gain[other]
                    better = True
                member[z] = r
                usable[r] = False
                count_row(r, 1, row_offset, row_classes, held)
        for z in range(n):
            usable[member[z]] = True
        if n == size and total > size // 2 + BROKEN:
            excess[count] = total - size // 2
            found[count] = np.sort(member)
            count += 1
    return count


def broken_sets(
    classes: list[NDArray[np.int64]],
    share: NDArray[np.float64],
    usable: NDArray[np.bool_],
    starts: int,
    most: int,
    seed: int,
) -> list[NDArray[np.int64]]:
    """Return odd sets of rows that a fractional release breaks, the worst first.

    Parameters
    ----------
    classes: rows of the classes that it uses, each row once.
    share: float64, shape (classes,).
    usable: bool, shape (distinct,): rows that may be in a set: those with one copy.
    starts: searches per size of set.
    most: sets to return; no row is in more than eight of them.
    """
    known, flat = np.unique(np.concatenate(classes), return_inverse=True)
    offset = np.concatenate([[0], np.cumsum([len(c) for c in classes])])
    order = np.argsort(flat, kind="stable")
    row_offset = np.searchsorted(flat[order], np.arange(len(known) + 1))
    row_classes = np.repeat(np.arange(len(classes)), np.diff(offset))[order]
    seen: dict[tuple[int, ...], float] = {}
    for size in SIZES:
        found, excess = np.zeros((starts, size), np.int64), np.zeros(starts)
        graph = offset, flat, share, row_offset, row_classes, usable[known].copy()
        n = search_sets(*graph, size, found, excess, seed)
        seen |= {tuple(s.tolist()): float(e) for s, e in zip(found[:n], excess[:n], strict=True)}
    load = np.zeros(len(known), np.int64)
    chosen: list[NDArray[np.int64]] = []
    for members in sorted(seen, key=lambda s: (-seen[s], s)):
        at = np.array(members)
        if load[at].max() >= 8:
            continue
        load[at] += 1
        chosen.append(known[at])
        if len(chosen) == most:
            break
    return chosen
