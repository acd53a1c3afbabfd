"""Prices with odd sets for a large table: ascent where the linear program would take too long.

F(û, σ) = Σ counts_r·(û_r − cut_r) − Σ_S σ_S·(|S| − 1)/2 is concave and a bound, where cut_r is the
highest mean worth of a class in a pattern of r (``classes``): lowered by it, no class is worth more
than nothing.  Steps go along averaged supergradients, scaled as Adam does.  What the steps leave
uncovered makes, on average, a fractional release (Barahona and Anbil, The volume algorithm,
Mathematical Programming 87, 2000); odd sets that it breaks join with no toll yet.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.classes import OddSet, dearest_mean, line_up, new_pad, tolls_of
from incrowd.bounds.odd_sets.separation import Fractional, broken_sets
from incrowd.jit import lean_kernel
from incrowd.patterns.prefix_tree import Emission
from incrowd.patterns.topk import may_exceed, top_k, top_k_buffers

TRIES = 3000  # per pattern and step; a pattern that needs more is held to its k highest prices
MOMENTUM, SCALE = 0.98, 0.998  # how long supergradients and their squares are remembered
MEAN = 0.04  # weight of each point in the running mean, which is what a bound is taken of
EVERY = 25  # steps between two bounds
RECORDED = 12_000_000  # rows of classes that are remembered for a fractional release
LEAST = 0.01  # share of a class that matters there
PATIENCE = 2  # searches that an odd set may stay without a toll


class Found(NamedTuple):
    """What an evaluation finds.

    cut: float64, shape (distinct,); cutter: int64, shape (distinct,): the pattern that says so.
    size, rows: int64, shapes (patterns,) and (patterns, 2k − 1): the class of highest mean worth,
        where it is worth more than nothing.
    """

    cut: NDArray[np.float64]
    cutter: NDArray[np.int64]
    size: NDArray[np.int64]
    rows: NDArray[np.int32]


class Slope(NamedTuple):
    """A supergradient: by distinct row, by odd set; ``load`` is scratch by pattern, zero."""

    row: NDArray[np.float64]
    toll: NDArray[np.float64]
    load: NDArray[np.float64]


class Record(NamedTuple):
    """Classes met on the way, with their weights; ``used``: int64, shape (1,), how many."""

    weight: NDArray[np.float64]
    size: NDArray[np.int64]
    rows: NDArray[np.int32]
    used: NDArray[np.int64]


@lean_kernel
def toll_of(member: Any, weight: Any, entries: int, tolls: Any) -> float:
    """What a class of ``weight`` copies of each ``member`` pays."""
    toll = 0.0
    for j in range(entries):
        r = member[j]
        for z in range(tolls.first[r], tolls.first[r + 1]):
            s = tolls.sets[z]
            before = tolls.held[s] // 2
            tolls.held[s] += weight[j]
            toll += tolls.toll[s] * (tolls.held[s] // 2 - before)
    for j in range(entries):
        r = member[j]
        for z in range(tolls.first[r], tolls.first[r + 1]):
            tolls.held[tolls.sets[z]] = 0
    return toll


@lean_kernel
def excess(
    p: int, lists: Any, price: Any, counts: Any, k: int, tolls: Any, pad: Any, best: Any, found: Any
) -> float:
    """Return the highest mean worth of a class of pattern p, at least 0, and note that class."""
    value, weight, member = best
    begin = lists.offset[p]
    end = lists.offset[p + 1]
    cost = lists.cost[p]
    if not may_exceed(lists.rows, begin, end, price, counts, k, cost):
        return 0.0
    total, entries = top_k(lists.rows, begin, end, price, counts, k, value, weight, member)
    if entries < 0 or total - k * cost <= 1e-12:
        return 0.0
    if toll_of(member, weight, entries, tolls) > 0:
        n = line_up(p, lists, price, 1, counts, k, pad)
        mean, size = dearest_mean(n, k, TRIES, tolls, pad)
        if size >= 0:
            found.size[p] = size
            for z in range(size):
                found.rows[p, z] = pad.best[z]
            return mean
    size = 0
    for j in range(entries):
        for _ in range(weight[j]):
            found.rows[p, size] = member[j]
            size += 1
    found.size[p] = size
    return total / k - cost


@lean_kernel
def excesses(
    lists: Any, price: Any, counts: Any, k: int, tolls: Any, pad: Any, best: Any, found: Any
) -> float:
    """Fill ``found``; return F."""
    found.cut[:] = 0.0
    found.cutter[:] = -1
    for p in range(lists.cost.size):
        more = excess(p, lists, price, counts, k, tolls, pad, best, found)
        if more <= 0:
            continue
        for i in range(lists.offset[p], lists.offset[p + 1]):
            r = lists.rows[i]
            if more > found.cut[r]:
                found.cut[r] = more
                found.cutter[r] = p
    total = 0.0
    for r in range(price.size):
        total += counts[r] * (price[r] - found.cut[r])
    return total


@lean_kernel
def supergradient(counts: Any, tolls: Any, half: Any, found: Any, slope: Any, record: Any) -> None:
    """Fill ``slope`` at the point of ``found``, and record the classes that it consists of."""
    for r in range(counts.size):
        slope.row[r] = counts[r]
        if found.cutter[r] >= 0:
            slope.load[found.cutter[r]] += counts[r]
    for s in range(half.size):
        slope.toll[s] = -half[s]
    n = record.used[0]
    for r in range(counts.size):
        p = found.cutter[r]
        if p < 0 or slope.load[p] == 0.0:
            continue
        size = found.size[p]
        part = slope.load[p] / size
        slope.load[p] = 0.0
        for j in range(size):
            m = found.rows[p, j]
            slope.row[m] -= part
            for z in range(tolls.first[m], tolls.first[m + 1]):
                s = tolls.sets[z]
                tolls.held[s] += 1
                if tolls.held[s] % 2 == 0:
                    slope.toll[s] += part
        for j in range(size):
            m = found.rows[p, j]
            for z in range(tolls.first[m], tolls.first[m + 1]):
                tolls.held[tolls.sets[z]] = 0
        if n < record.weight.size:
            record.weight[n] = part
            record.size[n] = size
            for j in range(size):
                record.rows[n, j] = found.rows[p, j]
            n += 1
    record.used[0] = n


@lean_kernel
def move(x: Any, low: Any, high: Any, slope: Any, count: Any, mean: Any, square: Any, rate: float):
    """Step along averaged supergradients per copy, within the box."""
    for i in range(x.size):
        g = slope[i] / count[i]
        mean[i] = MOMENTUM * mean[i] + (1 - MOMENTUM) * g
        square[i] = SCALE * square[i] + (1 - SCALE) * g * g
        x[i] = min(max(x[i] + rate * mean[i] / (np.sqrt(square[i]) + 1e-2), low[i]), high[i])


class Moving:
    """Some coordinates of the moving point: values, running mean, and what steps remember."""

    def __init__(self, value: NDArray[np.float64], below: float, above: float) -> None:
        self.value, self.centre = value.copy(), value.copy()
        self.low, self.high = np.maximum(value - below, 0.0), value + above
        self.mean, self.square = np.zeros(len(value)), np.zeros(len(value))

    def step(self, slope: NDArray[np.float64], count: NDArray[np.float64], rate: float) -> None:
        """Move along a supergradient."""
        box = self.low, self.high
        move(self.value, *box, slope, count, self.mean, self.square, rate)
        self.centre += MEAN * (self.value - self.centre)

    def change(self, kept: NDArray[np.int64], new: int) -> None:
        """Keep these coordinates, and add new ones at 0 without upper limit."""
        for name in ("value", "centre", "low", "mean", "square", "high"):
            fresh = np.full(new, np.inf if name == "high" else 0.0)
            setattr(self, name, np.concatenate([getattr(self, name)[kept], fresh]))


class Lifting:
    """The ascent: where it stands, and the best bound so far.

    Attributes
    ----------
    bound: the best value of F.
    price, sets: the point that it belongs to, feasible for the patterns at hand up to rounding.
    """

    def __init__(
        self,
        lists: Emission,
        counts: NDArray[np.int64],
        k: int,
        price: NDArray[np.float64],
        room: float,
    ) -> None:
        """Start from ``price``, which may rise by ``room``; everything is in cells."""
        self.lists, self.counts, self.k = lists, counts, k
        distinct, patterns = len(counts), len(lists.cost)
        self.rows = Moving(price, 2 * room, room)
        self.tolls = Moving(np.zeros(0), 0.0, np.inf)
        self.members: list[NDArray[np.int64]] = []
        self.idle = np.zeros(0, np.int64)  # searches without a toll, per set
        self.found = Found(
            np.zeros(distinct),
            np.zeros(distinct, np.int64),
            np.zeros(patterns, np.int64),
            np.zeros((patterns, 2 * k - 1), np.int32),
        )
        self.load = np.zeros(patterns)
        self.pad = new_pad(int(np.diff(lists.offset).max(initial=1)), k)
        self.best = top_k_buffers(k, np.float64)
        self.bound, self.price, self.sets = -np.inf, price, list[OddSet]()
        self.index()
        self.note()

    def index(self) -> None:
        """Index the sets by row."""
        self.by_row = tolls_of([(s, 0.0) for s in self.members], len(self.counts))
        self.half = np.array([self.counts[s].sum() // 2 for s in self.members], np.float64)

    def evaluate(self, price: NDArray[np.float64], toll: NDArray[np.float64]) -> float:
        """Return F at a point; ``found`` keeps what it is made of."""
        tolls = self.by_row._replace(toll=toll)
        problem = self.lists, price, self.counts, self.k, tolls, self.pad, self.best, self.found
        return float(excesses(*problem) - self.half @ toll)

    def note(self) -> None:
        """Keep the running mean if its bound is better."""
        price, toll = self.rows.centre, self.tolls.centre
        bound = self.evaluate(price, toll)
        if bound > self.bound:
            self.bound, self.price = bound, price - self.found.cut
            pairs = zip(self.members, toll.tolist(), strict=True)
            self.sets = [(s, t) for s, t in pairs if t > 0]

    def climb(self, steps: int, rate: float) -> Fractional:
        """Move by some steps; return the fractional release that they amount to."""
        room = RECORDED // (2 * self.k - 1)
        room = min(room, steps * min(len(self.counts), len(self.lists.cost)))
        record = Record(
            np.zeros(room),
            np.zeros(room, np.int64),
            np.zeros((room, 2 * self.k - 1), np.int32),
            np.zeros(1, np.int64),
        )
        slope = Slope(np.zeros(len(self.counts)), np.zeros(len(self.members)), self.load)
        copies, one = self.counts.astype(np.float64), np.ones(len(self.members))
        for n in range(steps):
            self.evaluate(self.rows.value, self.tolls.value)
            tolls = self.by_row._replace(toll=self.tolls.value)
            supergradient(self.counts, tolls, self.half, self.found, slope, record)
            self.rows.step(slope.row, copies, rate)
            self.tolls.step(slope.toll, one, rate)
            if n % EVERY == EVERY - 1 or n == steps - 1:
                self.note()
        return merged(record, steps, len(self.counts))

    def cut(self, fractional: Fractional, starts: int, most: int, seed: int) -> int:
        """Add odd sets that the fractional release breaks, drop idle ones; return how many new."""
        self.idle = np.where(self.tolls.value > 1e-4, 0, self.idle + 1)
        kept = np.flatnonzero(self.idle < PATIENCE)
        self.members = [self.members[i] for i in kept]
        known = {tuple(s.tolist()) for s in self.members}
        found = broken_sets(fractional, self.counts, self.counts < self.k, starts, most, seed)
        new = [s for s in found if tuple(s.tolist()) not in known]
        self.members += new
        self.idle = np.concatenate([self.idle[kept], np.zeros(len(new), np.int64)])
        self.tolls.change(kept, len(new))
        self.index()
        return len(new)


def merged(record: Record, steps: int, distinct: int) -> Fractional:
    """Merge equal classes of a record; those with a small share only are left out."""
    used = int(record.used[0])
    size, weight = record.size[:used], record.weight[:used] / steps
    present = np.arange(record.rows.shape[1]) < size[:, None]
    rows = np.where(present, record.rows[:used], -1)
    names = np.random.default_rng(distinct).integers(1, 2**62, distinct + 1, np.int64)
    names[-1] = 0  # absent
    _, first, which = np.unique(names[rows].sum(axis=1), return_index=True, return_inverse=True)
    share = np.bincount(which.ravel(), weights=weight).astype(np.float64)
    kept = share > LEAST
    return Fractional.of(rows[first[kept]], share[kept])
