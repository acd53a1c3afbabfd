"""Ascent along supergradients of the price bound, within one box of prices.

F(u) = Σ counts_r·(u_r − max over p∋r of (mean of top k − cost)⁺) is concave, and u minus that
reduction keeps to the cost of every pattern listed; steps are scaled as Adam does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.strides import rise
from incrowd.jit import lean_kernel
from incrowd.patterns.topk import most_above, top_k, top_k_buffers


@lean_kernel
def note_excess(
    rows: Any, begin: int, end: int, excess: float, p: int, cut: Any, cutter: Any
) -> None:
    """Raise ``cut`` to what pattern p, which these rows match, exceeds its cost by."""
    for i in range(begin, end):
        r = rows[i]
        if excess > cut[r]:
            cut[r] = excess
            cutter[r] = p


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
def load_cutters(u: Any, counts: Any, cut: Any, cutter: Any, load: Any, gradient: Any) -> float:
    """Return F(u); begin its supergradient, and load each pattern with the copies that it cuts."""
    bound = 0.0
    for r in range(u.size):
        bound += counts[r] * (u[r] - cut[r])
        gradient[r] = counts[r]
        if cutter[r] >= 0:
            load[cutter[r]] += counts[r]
    return bound


@lean_kernel
def share_out(
    rows: Any,
    begin: int,
    end: int,
    member: Any,
    weight: Any,
    entries: int,
    part: float,
    place: Any,
    share: Any,
) -> None:
    """Add to the pairs begin..end−1, those of a pattern, ``part`` times their members' weights."""
    for i in range(begin, end):
        place[rows[i]] = i
    for j in range(entries):
        share[place[member[j]]] += part * weight[j]


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
        for j in range(entries):
            gradient[member[j]] -= part * weight[j]
        if share.size:
            share_out(rows, begin, end, member, weight, entries, part, place, share)
    return bound


@lean_kernel
def adam_step(
    u: Any,
    gradient: Any,
    counts: Any,
    mean: Any,
    square: Any,
    rate: float,
    stride: Any,
    eps: float,
    low: Any,
    high: Any,
) -> None:
    """Move u along the supergradient per copy, scaled as Adam does, clipped to the box.

    ``stride``: how far each row goes, in rates.
    """
    for r in range(u.size):
        g = gradient[r] / counts[r]
        mean[r] = 0.8 * mean[r] + 0.2 * g
        square[r] = 0.95 * square[r] + 0.05 * g * g
        x = u[r] + rate * stride[r] * mean[r] / (np.sqrt(square[r]) + eps)
        u[r] = min(max(x, low[r]), high[r])


@dataclass
class Ascent:
    """Patterns to respect, and the state of the ascent within one box."""

    offset: NDArray[np.int64]
    rows: NDArray[np.int32]
    cost: NDArray[np.int64]
    patterns: int
    counts: NDArray[np.int64]
    k: int

    def run(
        self,
        centre: NDArray[np.float64],
        half_width: float,
        iterations: int,
        rate: tuple[float, float],
        stop: Callable[[], bool],
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the best F seen and its feasible point (for the patterns at hand)."""
        steps = Steps(self, centre, half_width)
        best, best_u = -np.inf, centre
        for i in range(iterations):
            bound = steps.evaluate()
            if bound > best:
                best, best_u = bound, steps.u - steps.cut
            elif i % 25 == 24 and bound < best - 0.0005 * abs(best):
                steps.restart(best_u)
                continue
            if stop():
                break
            steps.advance(rate[0] * (rate[1] / rate[0]) ** (i / iterations))
        return best, best_u

    def shares(
        self,
        centre: NDArray[np.float64],
        half_width: float,
        iterations: int,
        rate: float,
        stop: Callable[[], bool] = lambda: False,
    ) -> NDArray[np.float64]:
        """Return how many copies each pair carries in a fractional release near the optimum.

        float64, shape (pairs,).  Near the best prices the supergradient is what a fractional
        release leaves uncovered; the mean over many small steps covers every row almost exactly
        (Barahona and Anbil, The volume algorithm, Mathematical Programming 87, 2000).  The first
        quarter of the steps does not count.
        """
        steps = Steps(self, centre, half_width, int(self.offset[self.patterns]))
        counted = 0
        for i in range(iterations):
            if stop():
                break
            if i == iterations // 4:
                steps.share[:], counted = 0, 0
            steps.evaluate()
            steps.advance(rate)
            counted += 1
        return steps.share / max(1, counted)


class Steps:
    """A point that moves along supergradients within a box, and its scratch space."""

    def __init__(
        self, ascent: Ascent, centre: NDArray[np.float64], half_width: float, pairs: int = 0
    ) -> None:
        distinct = len(centre)
        self.ascent, self.u = ascent, centre.copy()
        self.low, self.high = np.maximum(centre - half_width, 0.0), centre + half_width
        self.cut, self.cutter = np.zeros(distinct), np.zeros(distinct, np.int64)
        self.gradient, self.load = np.zeros(distinct), np.zeros(ascent.patterns + 1)
        self.mean, self.square = np.zeros(distinct), np.zeros(distinct)
        self.stride = np.ones(distinct)
        self.place, self.share = np.zeros(distinct, np.int64), np.zeros(pairs)
        self.due, self.risen, self.seen = np.zeros(ascent.patterns), 0.0, self.u.copy()
        self.buffers = top_k_buffers(ascent.k, np.float64)

    def evaluate(self) -> float:
        """Return F here; leave its reductions and its supergradient behind."""
        a = self.ascent
        lists = a.offset, a.rows
        found = self.cut, self.cutter
        self.risen += rise(self.seen, self.u)
        self.seen[:] = self.u
        when = self.due, self.risen, rise(self.u, self.high)
        problem = self.u, *lists, a.cost, a.patterns, a.counts, a.k
        reductions(*problem, *when, *found, *self.buffers)
        carried = self.load, self.gradient, self.place, self.share
        return float(supergradient(self.u, *lists, a.counts, a.k, *found, *carried, *self.buffers))

    def advance(self, rate: float) -> None:
        """Step along the supergradient."""
        moments = self.mean, self.square
        counts = self.ascent.counts
        adam_step(
            self.u, self.gradient, counts, *moments, rate, self.stride, 1e-2, self.low, self.high
        )

    def restart(self, u: NDArray[np.float64]) -> None:
        """Go on from another point."""
        self.u = u.copy()
        self.mean[:] = 0
