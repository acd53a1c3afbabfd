"""Ascent of the price bound of k-anonymity: a pattern's dearest class is its k dearest rows."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from incrowd.bounds.ascent import Ascent, Steps, load_cutters, note_excess, take_part
from incrowd.kernels.jit import lean_kernel
from incrowd.lattice.topk import most_above, top_k, top_k_buffers


@lean_kernel
def reductions(
    u: Any,
    offset: Any,
    rows: Any,
    cost: Any,
    patterns: int,
    counts: Any,
    k: int,
    due: Any,
    risen: float,
    room: float,
    cut: Any,
    cutter: Any,
    value: Any,
    weight: Any,
    member: Any,
) -> None:
    """Fill ``cut[r]``, the largest excess of a pattern over r, and ``cutter[r]``, that pattern.

    A pattern is asked when prices have risen as far as its k highest lay below its cost: ``due``
    says when, on the scale of ``risen``, by which no price has risen more since a start.  None will
    ever rise by more than ``room``.
    """
    cut[:] = 0.0
    cutter[:] = -1
    for p in range(patterns):
        if due[p] > risen:
            continue
        c = cost[p]
        begin = offset[p]
        end = offset[p + 1]
        above, _ = most_above(rows, begin, end, u, counts, k, c)
        excess = above / k
        if excess > 0.0:
            total, _ = top_k(rows, begin, end, u, counts, k, value, weight, member)
            excess = total / k - c
        due[p] = risen - min(excess, 0.0) if excess > -room else np.inf
        if excess > 1e-12 * max(1.0, c):
            note_excess(rows, begin, end, excess, p, cut, cutter)


@lean_kernel
def supergradient(
    u: Any,
    offset: Any,
    rows: Any,
    counts: Any,
    k: int,
    cut: Any,
    cutter: Any,
    load: Any,
    gradient: Any,
    place: Any,
    share: Any,
    value: Any,
    weight: Any,
    member: Any,
) -> float:
    """Return F(u) and fill its supergradient; ``load`` (per pattern) must come and goes zeroed.

    Unless ``share`` (per pair) is empty, add to it what each pair carries; ``place`` (per distinct
    row) is scratch for that.
    """
    bound = load_cutters(u, counts, cut, cutter, load, gradient)
    for r in range(u.size):
        p = cutter[r]
        if p < 0 or load[p] == 0.0:
            continue
        part = load[p] / k
        load[p] = 0.0
        begin = offset[p]
        end = offset[p + 1]
        _, entries = top_k(rows, begin, end, u, counts, k, value, weight, member)
        members = member, weight, entries
        take_part(rows, begin, end, *members, part, gradient, place, share)
    return bound


@dataclass
class CrowdAscent(Ascent):
    """Patterns to respect, and the ascent within one box; ``k`` rows make a class."""

    lowest: ClassVar[float] = 0.0
    k: int

    def __post_init__(self) -> None:
        self._buffers = top_k_buffers(self.k, np.float64)

    def evaluate(self, steps: Steps) -> float:
        """Return F at ``steps.u``; leave its reductions and its supergradient behind."""
        lists = self.offset, self.rows
        found = steps.cut, steps.cutter
        when = steps.due, steps.risen, steps.room()
        problem = steps.u, *lists, self.cost, self.patterns, self.counts, self.k
        reductions(*problem, *when, *found, *self._buffers)
        carried = steps.load, steps.gradient, steps.place, steps.share
        given = steps.u, *lists, self.counts, self.k
        return float(supergradient(*given, *found, *carried, *self._buffers))
