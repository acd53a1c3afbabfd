"""t-closeness by equal distance, priced by size of class: whole rows in place of shares.

Asked here are, for n = k … k + sizes − 1, the classes of exactly n rows; larger ones are left to
the rule ``closeness``.  With N and C(v) the rows of the table and those with value v, the j-th
dearest row of v lies c = min(N, (j·N − n·C(v))⁺) beyond what is v's due, in 1/N of a row; over a
lawful class these sum to at most n·N·t.

    few histograms   (at most ``LISTED``) obey that: each is tried, with the dearest rows
    many             for any slope s ≥ 0, n rows are worth at most s·n·N·t and the n highest e − s·c

Proofs: docs/explanation/proof.md, "Lawful classes".
"""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from incrowd.checker.inequality import Ints

LISTED, MOST_SIZES = 300, 64
TRIED, SUMS = 200_000, 1 << 20  # what one search for histograms may try, and add up
STEEP = 256  # slopes are tried up to so many times the difference of two excesses
ROUNDS, CELLS = 40, 1 << 22  # excesses that are looked at at once: bounds the memory


class Size(NamedTuple):
    """Classes of ``rows`` rows, of value v at most ``depth[v]``.

    ``listed``: their histograms, if few.
    ``far``: per slot, what its row lies beyond its value's due, in units of 1/``unit`` of a row.
    """

    rows: int
    unit: int
    spare: int
    depth: Ints
    far: Ints
    listed: Ints | None


class BySize:
    """The sizes k … k + sizes − 1; ``slot[v]`` is where the dearest row of v stands, then others.

    ``terms``: no sum of excesses has more terms, counted with their factors.
    """

    def __init__(self, t: Fraction, k: int, sizes: int, table: Ints) -> None:
        depth = [depth_of(t, n, table) for n in range(k, k + sizes)]
        self.depth = np.max(depth, axis=0)
        self.slot = np.append(0, np.cumsum(self.depth))
        self.of_slot = np.repeat(np.arange(len(table)), self.depth)
        total, rank = int(table.sum()), np.arange(self.slot[-1]) - self.slot[self.of_slot]
        unit = t.denominator * total
        self.sizes = []
        for n, deep in zip(range(k, k + sizes), depth, strict=True):
            far = np.clip((rank + 1) * total - n * table[self.of_slot], 0, total) * t.denominator
            listed = histograms(t, n, table.tolist())
            found = None if listed is None else np.array(listed, np.int64).reshape(-1, len(table))
            self.sizes.append(Size(n, unit, n * total * t.numerator, deep, far, found))
        self.step = max(1, CELLS // max(1, len(self.of_slot)))  # groups at once
        self.terms = (k + sizes) * max(4 * (STEEP + 1) * unit, 4 * len(table))

    def exceeds(self, e: Ints, rank: Ints, copies: Ints, value: Ints, group: Ints) -> Any:
        """Whether some class of one of the sizes has a positive sum of e; per group.

        ``rank``: rows of the same group and value before each entry, which are no less dear.
        """
        times = np.clip(self.depth[value] - rank, 0, copies)
        at = np.repeat(np.arange(len(e)), times)
        slot = (self.slot[value] + rank - np.cumsum(times) + times)[at] + np.arange(len(at))
        groups, step = int(group[-1]) + 1, self.step
        found = np.zeros(groups, bool)
        cuts = np.searchsorted(group[at], range(0, groups + step, step))
        for i, first in enumerate(range(0, groups, step)):
            part = slice(cuts[i], cuts[i + 1])
            shape = min(step, groups - first), len(self.of_slot)
            worth, there = np.zeros(shape, np.int64), np.zeros(shape, bool)
            where = group[at[part]] - first, slot[part]
            worth[where], there[where] = e[at[part]], True
            found[first : first + shape[0]] = self.some(worth, there)
        return found

    def some(self, worth: Ints, there: Any) -> Any:
        """Whether a class exceeds; ``worth`` and ``there`` of shape (groups, slots)."""
        found = np.zeros(len(worth), bool)
        slope = np.zeros(len(worth), np.int64)
        sums = self.sums(worth, there)
        for size in reversed(self.sizes):
            left = np.flatnonzero(~found)
            if not len(left):
                break
            if size.listed is not None:
                found[left] = self.listed_exceeds(size.listed, sums[left])
            else:
                rank = np.arange(len(self.of_slot)) - self.slot[self.of_slot]
                held = there[left] & (rank < size.depth[self.of_slot])
                found[left], slope[left] = sized_exceeds(size, worth[left], held, slope[left])
        return found

    def sums(self, worth: Ints, there: Any) -> Ints:
        """Sums of the dearest 0, 1, … rows of each value, from place slot[v] + v on.

        Where there are not so many rows, a number so low that no sum with it is positive.
        """
        values = len(self.depth)
        found = np.zeros((len(worth), len(self.of_slot) + values), np.int64)
        none = -(2**61 // values)
        for v in range(values):
            part, at = slice(self.slot[v], self.slot[v + 1]), self.slot[v] + v
            some = np.where(there[:, part], np.cumsum(worth[:, part], axis=1), none)
            found[:, at + 1 : at + 1 + some.shape[1]] = some
        return found

    def listed_exceeds(self, listed: Ints, sums: Ints) -> Any:
        """Whether the dearest rows of some histogram have a positive sum; per group."""
        total = np.zeros((len(sums), len(listed)), np.int64)
        for v in np.flatnonzero(listed.any(axis=0)):
            total += sums[:, self.slot[v] + v + listed[:, v]]
        return (total > 0).any(axis=1)


def sized_exceeds(size: Size, worth: Ints, held: Any, slope: Ints) -> tuple[Any, Ints]:
    """Whether no whole slope shows that no class of the size exceeds; and the last slopes tried.

    Nor is there such a class where the rows that lie the least beyond lie beyond too much.

    What a slope s shows, f(s), is convex.  Where f(s) > 0, f is positive up to where its tangent
    at s is zero, so slopes are sought beyond that, until one is found with f ≤ 0 or none is left.
    """
    enough = held.sum(axis=1) >= size.rows
    nearest = np.sort(np.where(held, size.far, size.unit), axis=1)[:, : size.rows]
    enough &= nearest.sum(axis=1) <= size.spare
    steep = STEEP * np.ptp(np.where(held, worth, 0), axis=1)
    low, high, slope = np.zeros_like(slope), steep, np.minimum(slope, steep)
    found, open_ = enough.copy(), np.flatnonzero(enough)
    for _ in range(ROUNDS):
        if not len(open_):
            break
        s = slope[open_]
        key = np.where(held[open_], worth[open_] * size.unit - s[:, None] * size.far, -(2**62))
        top = np.argpartition(-key, size.rows - 1, axis=1)[:, : size.rows]
        value = np.take_along_axis(key, top, axis=1).sum(axis=1) + s * size.spare
        rise = size.spare - size.far[top].sum(axis=1)
        found[open_] = value > 0
        right, left = (value > 0) & (rise < 0), (value > 0) & (rise > 0)
        step = -(-value // np.maximum(np.abs(rise), 1))
        low[open_] = np.where(right, np.maximum(low[open_], s + step), low[open_])
        high[open_] = np.where(left, np.minimum(high[open_], s - step), high[open_])
        slope[open_] = np.where(right, low[open_], high[open_])
        more = (right | left) & (low[open_] <= high[open_])
        slope[open_] = np.where(more, slope[open_], s)
        open_ = open_[more]
    return found, slope


def depth_of(t: Fraction, n: int, table: Ints) -> Ints:
    """Return how many rows of each value a lawful class of n rows can hold."""
    total = int(table.sum())
    most = n * (table * t.denominator + total * t.numerator) // (total * t.denominator)
    return np.minimum(most, np.minimum(table, n))


def histograms(t: Fraction, n: int, table: list[int]) -> list[list[int]] | None:
    """Return all histograms of n rows within t of the table's; None for more than ``LISTED``.

    And for those that take more than ``TRIED`` trials to find, or too many sums.  No beginning is
    followed whose cheapest end lies too far beyond what is due.
    """
    total, unit = sum(table), t.denominator
    budget = t.numerator * n * total
    order = sorted(range(len(table)), key=lambda v: -table[v])  # frequent ones decide soon
    if len(table) * n > SUMS:
        return None
    ends = cheapest_ends(n, [table[v] for v in order])
    found: list[list[int]] = []
    begun, tried = [(0, n, 0, {})] if total else [], 0
    while begun:
        start, left, spent, counts = begun.pop()
        if not left:
            found.append([counts.get(v, 0) for v in range(len(table))])
        for i in range(start, len(order) if left else start):  # the next value with a row
            if left >= len(ends[i]) or spent + unit * ends[i][left] > budget:
                break
            for h in range(1, min(left, table[order[i]]) + 1):
                tried += 1
                far = spent + unit * max(0, h * total - n * table[order[i]])
                if far > budget:
                    break
                if left - h < len(ends[i + 1]) and far + unit * ends[i + 1][left - h] <= budget:
                    begun.append((i + 1, left - h, far, {**counts, order[i]: h}))
        if len(found) > LISTED or tried > TRIED:
            return None
    return found


def cheapest_ends(n: int, falling: list[int]) -> list[list[int]]:
    """Return what 0, 1, … rows with values from the i-th on lie beyond what is due, at least.

    In 1/N of a row.  The j-th row of a value lies no less beyond than those before it, so
    the cheapest rows are the first ones of their values.
    """
    total = sum(falling)
    cheap, ends = np.zeros(0, np.int64), [[0]]
    for rows in reversed(falling):
        each = np.arange(1, min(n, rows) + 1) * total - n * rows
        cheap = np.sort(np.append(cheap, each.clip(0, total)))[:n]
        ends.append([0, *np.cumsum(cheap).tolist()])
    return ends[::-1]
