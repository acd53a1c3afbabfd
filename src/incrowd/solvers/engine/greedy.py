"""A release of candidates: patterns from cheap to dear, each taking every copy still free."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, kernel, lean_kernel
from incrowd.solvers.engine.candidates import Candidates


@inner_kernel
def free_copies(p: int, pattern: Any, c: Any) -> int:
    """Count the unassigned copies that match p."""
    total = 0
    for x in range(c.offset[p], c.offset[p + 1]):
        r = c.rows[x]
        for i in range(c.first_copy[r], c.first_copy[r + 1]):
            if pattern[i] < 0:
                total += 1
    return total


@lean_kernel
def count_free(begin: int, free: Any, pattern: Any, c: Any) -> None:
    """Fill in the unassigned copies that match each pattern from ``begin`` on."""
    for z in range(free.size):
        free[z] = free_copies(begin + z, pattern, c)


@lean_kernel
def open_level(begin: int, order: Any, free: Any, k: int, pattern: Any, c: Any) -> None:
    """Open patterns, numbered from ``begin``, in this order, where k copies are free."""
    for o in order:
        if free[o] < k:
            break
        p = begin + o
        if free_copies(p, pattern, c) < k:
            continue
        for x in range(c.offset[p], c.offset[p + 1]):
            r = c.rows[x]
            for i in range(c.first_copy[r], c.first_copy[r + 1]):
                if pattern[i] < 0:
                    pattern[i] = p


@kernel
def place_leftovers(k: int, pattern: Any, size: Any, c: Any) -> int:
    """Put unassigned copies on their cheapest open pattern; return how many have none."""
    stranded = 0
    for i in range(pattern.size):
        if pattern[i] >= 0:
            continue
        r = c.row_of[i]
        for x in range(c.row_offset[r], c.row_offset[r + 1]):
            p = c.row_patterns[x]
            if size[p] >= k:
                pattern[i] = p
                size[p] += 1
                break
        if pattern[i] < 0:
            stranded += 1
    return stranded


def sweep_level(
    begin: int, end: int, k: int, pattern: NDArray[np.int64], candidates: Candidates
) -> None:
    """Open the patterns begin..end−1, those with most free copies first.

    They are sorted here: numba takes a second and a half to compile a sort.
    """
    free = np.empty(max(0, end - begin), np.int64)
    count_free(begin, free, pattern, candidates)
    order = np.argsort(-free, kind="stable")
    open_level(begin, order, free, k, pattern, candidates)


def greedy(
    candidates: Candidates, k: int, step: int, given: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return a lawful assignment (int64, copies → patterns); needs at least k copies.

    Patterns are taken in cost bands of width ``step``.  ``given`` says where some copies stand
    already, in lawful classes; −1 for the others.
    """
    cost = candidates.cost
    root = len(cost) - 1
    pattern = np.full(len(candidates.row_of), -1, np.int64) if given is None else given.copy()
    band = cost // max(1, step)
    edges = np.flatnonzero(np.diff(band, prepend=-1, append=-1))
    for begin, end in pairwise(edges):
        # the root takes leftovers only; it is placed last of all
        sweep_level(int(begin), min(int(end), root), k, pattern, candidates)
    size = np.bincount(pattern[pattern >= 0], minlength=len(cost)).astype(np.int64)
    if place_leftovers(k, pattern, size, candidates):
        strand_at_root(candidates, k, pattern, size)
    return pattern


def strand_at_root(
    candidates: Candidates, k: int, pattern: NDArray[np.int64], size: NDArray[np.int64]
) -> None:
    """Put the copies left over at the root and fill it up to k with the dearest others."""
    root = len(candidates.cost) - 1
    stranded = np.flatnonzero(pattern < 0)
    pattern[stranded] = root
    size[root] += len(stranded)
    dearest = np.argsort(-candidates.cost[pattern], kind="stable")
    for i in dearest:  # surplus copies first: their classes stay lawful
        if size[root] >= k:
            return
        p = pattern[i]
        if p != root and size[p] > k:
            size[p] -= 1
            pattern[i] = root
            size[root] += 1
    for i in dearest:  # then whole classes
        if size[root] >= k:
            return
        p = pattern[i]
        if p != root:
            pattern[pattern == p] = root
            size[root] += size[p]
            size[p] = 0
