"""Prices that charge a pattern once: how much one t-close class may be worth beyond its cost.

Lawful classes with the same join may be merged, so a release has at most one class per join, and
no release costs less than the prices less the worth of each pattern's dearest class.  Asked here is
that worth, the largest sum of excesses e of a class that is t-close by equal distance, or more.
With N and C(v) as in ``sizes.py``, whole numbers throughout, in units of 1/(N·d) of a row, t = a/d:

    one size n     for any slope s ≥ 0 the n highest e − s·c and s·n·t; then, for every choice
                   of values that go beyond their due (others may not), the dearest rows,
                   leaving out choices that lose too much
    other sizes    the same slope and last row prove something of them; sizes are asked in the
                   order of what is not yet excluded, until nothing above the best is left

Proofs: docs/explanation/proof.md, "Charges".
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from incrowd.checker.inequality import Ints
from incrowd.checker.limits import require_within
from incrowd.checker.ranges import Windows

STEEP, SLOPES, CHOICES = 16, 16, 4000
STEPS, FEW, ROWS = 1 << 9, 1 << 9, 1 << 10  # steps in all for each row, and for so many rows more
NONE = -(2**62)


class Crowd(NamedTuple):
    """A pattern's rows one by one, e falling: excess, value, and rank among those of its value.

    ``sums``, ``taken``, ``owner``, int64 of shape (rows + values,): for 0, 1, … rows of each value
    what the dearest are worth, how many they are, and the value; ``first``: where a value begins.
    """

    e: Ints
    value: Ints
    rank: Ints
    sums: Ints
    taken: Ints
    owner: Ints
    first: Ints


class Charges:
    """The classes of at least k rows within t of ``table``, the rows of each value.

    ``terms``: no sum of excesses has more terms, counted with their factors.
    """

    def __init__(self, t: Fraction, k: int, table: Ints) -> None:
        self.k, self.table, self.total = k, table, int(table.sum())
        self.d, self.a = t.denominator, t.numerator
        self.unit = self.d * self.total
        self.terms = 2 * (STEEP + 1) * self.unit * self.total
        self.left = STEPS * (FEW + self.total)

    def spend(self, rows: int) -> None:
        """Count a step, or more where many rows are looked at: a proof may take only so many."""
        self.left -= 1 + rows // ROWS
        require_within(self.left >= 0, "the charges leave too much to try")

    def worth(self, e: Ints, copies: Ints, value: Ints) -> int:
        """Return at least the sum of e over any lawful class of these entries, rounded up."""
        sizes = np.arange(self.k, int(copies.sum()) + 1)
        if not len(sizes):
            return 0
        crowd = crowd_of(e, copies, value, len(self.table))
        most, best = np.cumsum(crowd.e)[sizes - 1] * self.unit, 0
        while most.max() > best:
            at = int(most.argmax())
            n = int(sizes[at])
            bound, slope, last = self.bounded(crowd, n, best)
            if bound > best:
                best = max(best, Choice(self, crowd, n, bound, slope, last, best).dearest())
            most = np.minimum(most, self.proven(crowd, sizes, slope, last))
            most[at] = min(int(most[at]), best)
        return -(-best // self.unit)

    def far(self, n: Any, rank: Ints, value: Any) -> Ints:
        """How far the row of a rank lies beyond its value's due in classes of n rows."""
        return np.clip((rank + 1) * self.total - n * self.table[value], 0, self.total) * self.d

    def bounded(self, crowd: Crowd, n: int, enough: int) -> tuple[int, int, int]:
        """Return (bound on classes of n rows, the slope that proves it, the last key of n).

        A bound of at most ``enough`` will do.  The least of a convex function, by its tangents.
        """
        far, spare = self.far(n, crowd.rank, crowd.value), n * self.total * self.a
        best = slope = 0
        found = (-NONE, 0, 0)
        low: tuple[int, int, int] | None = None
        high: tuple[int, int, int] | None = None
        steep = STEEP * int(np.ptp(crowd.e))
        for _ in range(SLOPES):
            self.spend(len(crowd.e))
            key = crowd.e * self.unit - slope * far
            top = np.argpartition(-key, n - 1)[:n]
            best = int(key[top].sum()) + slope * spare
            rise = spare - int(far[top].sum())
            found = min(found, (best, slope, int(key[top].min())))
            if found[0] <= enough or (rise >= 0 and not slope):
                break
            low, high = (low, (slope, best, rise)) if rise >= 0 else ((slope, best, rise), high)
            if high is None:
                slope = min(2 * slope + max(1, steep // (8 * STEEP)), steep)
            elif low is not None and high[2] > low[2]:
                met = (low[1] - low[2] * low[0] - high[1] + high[2] * high[0]) // (high[2] - low[2])
                if met in (low[0], high[0]):
                    break
                slope = met
            else:
                break
        return found

    def proven(self, crowd: Crowd, sizes: Ints, slope: int, last: int) -> Ints:
        """Return what a slope and a last key prove of classes of other sizes."""
        found = sizes * (last + slope * self.total * self.a)
        for v, begin in enumerate(crowd.first[:-1]):
            sums = crowd.sums[begin : crowd.first[v + 1]]
            e, due = np.diff(sums), sizes * self.table[v]
            whole = np.minimum(due // self.total, len(e))
            above = int((e * self.unit > last).sum())
            well_above = int((e * self.unit > last + slope * self.unit).sum())
            x = np.minimum(above, whole)
            if above:
                rank = np.minimum(x, above - 1)
                more = e[rank] * self.unit - slope * self.far(sizes, rank, v) > last
                x = np.where((x == whole) & (x < above) & more, x + 1, x)
            x = np.maximum(x, well_above)
            beyond = np.maximum(0, x * self.total - due) * self.d
            found = found + sums[x] * self.unit - slope * beyond - last * x
        return found


def crowd_of(e: Ints, copies: Ints, value: Ints, values: int) -> Crowd:
    """Write entries (e falling) out row by row."""
    e, value = np.repeat(e, copies), np.repeat(value, copies)
    order = np.argsort(value, kind="stable")
    held = np.bincount(value, minlength=values)
    start = np.append(0, np.cumsum(held))
    rank = np.empty(len(e), np.int64)
    rank[order] = np.arange(len(e)) - start[value[order]]
    first = start + np.arange(values + 1)
    owner = np.repeat(np.arange(values), held + 1)
    taken = np.arange(len(owner)) - first[owner]
    sums = np.zeros(len(owner), np.int64)
    sums[taken > 0] = e[order]
    sums = np.cumsum(sums)
    sums -= sums[first[owner]]
    return Crowd(e, value, rank, sums, taken, owner, first)


class Met(NamedTuple):
    """The patterns of some rows that were charged, and how much.

    Patterns of one cost, one inside another, count as the largest of them: classes that show them
    may be merged, too.
    """

    rows: Any
    charged: dict[tuple[Any, ...], int]

    def more(self, at: Ints, cost: int, worth: Callable[[Ints, Ints], int]) -> int:
        """Return what a pattern is charged beyond what is known.

        at: the pattern's rows; cost: what it costs a row; worth: of excesses and copies.
        """
        shown, own = self.shown(at)
        if own < cost:  # classes of these rows show another pattern, which is asked at its cost
            return 0
        before = self.charged.get(shown, 0)
        now = worth(self.rows.price[at] - cost, self.rows.copies[at])
        self.charged[shown] = max(now, before)
        return self.charged[shown] - before

    def shown(self, at: Ints) -> tuple[tuple[Any, ...], int]:
        """Return the largest pattern that costs what the join of some rows does, and that cost."""
        found, total = [], 0
        for leaf, tree in zip(self.rows.leaf, self.rows.trees, strict=True):
            low, high = int(leaf[at].min()), int(leaf[at].max())
            if isinstance(tree, Windows):
                inside = high <= tree.reach[low]
                cost = tree.star if not inside else int(tree.up[high] - tree.down[low])
                place = (int(tree.down[low]), int(tree.up[high]))
                if low == high and (cost or low >= tree.known):  # the value itself
                    cost, place = 0, (low,)
                found.append(None if cost == tree.star else place)
            else:
                nodes, costs = tree
                level = int((nodes[:, leaf[at]] != nodes[:, [low]]).any(axis=1).sum())
                cost = int(costs[level, low])
                level = int((costs[:, low] <= cost).sum()) - 1
                found.append((level, int(nodes[level, low])))
            total += cost
        return tuple(found), total


class Choice:
    """The classes of n rows, parted by which values go beyond their due."""

    def __init__(
        self, charges: Charges, crowd: Crowd, n: int, bound: int, slope: int, last: int, best: int
    ) -> None:
        self.charges, self.crowd, self.n, self.best = charges, crowd, n, best
        self.bound, self.slope, self.left = bound, slope, CHOICES
        due = n * charges.table
        self.whole = due // charges.total
        beyond = np.maximum(0, crowd.taken * charges.total - due[crowd.owner]) * charges.d
        worth = crowd.sums * charges.unit - slope * beyond - last * crowd.taken
        within = crowd.taken <= self.whole[crowd.owner]
        sides = [
            np.maximum.reduceat(np.where(side, worth, NONE), crowd.first[:-1])
            for side in (within, ~within)
        ]
        self.loss = np.maximum(*sides) - np.array(sides)
        self.order = np.argsort(-self.loss.max(axis=0), kind="stable").tolist()
        self.spent = (self.whole + 1) * charges.total - due  # of one more row than is due
        self.side = np.zeros(len(self.whole), np.int64)

    def dearest(self) -> int:
        """Return the worth of the dearest class, or ``best`` if that is more; or the bound."""
        self.choose(0, 0)
        return self.best if self.left else self.bound

    def choose(self, depth: int, lost: int) -> None:
        """Try both sides of the next value, what loses nothing first."""
        self.charges.spend(len(self.crowd.e))
        if depth == len(self.order):
            self.best = max(self.best, self.filled(lost))
            return
        v = self.order[depth]
        for side in np.argsort(self.loss[:, v], kind="stable").tolist():
            more = lost + int(self.loss[side, v])
            if self.left and more < self.bound - self.best:
                self.left -= 1
                self.side[v] = side
                self.choose(depth + 1, more)

    def filled(self, lost: int) -> int:
        """Return the worth of the dearest class with these sides; 0 where none counts."""
        crowd, unit = self.crowd, self.charges.unit
        beyond = self.side == 1
        forced = np.where(beyond, self.whole + 1, 0)
        spare = self.n * self.charges.total * self.charges.a
        spare -= int(self.spent[beyond].sum()) * self.charges.d
        rest = self.n - int(forced.sum())
        if rest < 0 or spare < 0 or self.slope * (spare % unit) >= self.bound - lost - self.best:
            return 0
        free = crowd.e[~beyond[crowd.value] & (crowd.rank < self.whole[crowd.value])]
        paid = crowd.e[beyond[crowd.value] & (crowd.rank >= forced[crowd.value])]
        number = np.arange(max(0, rest - len(free)), min(spare // unit, len(paid), rest) + 1)
        if not len(number):
            return 0
        free, paid = (np.append(0, np.cumsum(one)) for one in (free, paid))
        base = int(crowd.sums[crowd.first[:-1] + forced].sum())
        return (base + int((free[rest - number] + paid[number]).max())) * unit
