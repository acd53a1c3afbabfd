"""The bound that prices and penalties prove, and the classes that stand in their way.

Prices û and penalties σ prove Σ counts_r·û_r − Σ_S σ_S·⌊|S|/q_S⌋ once no class is worth more than
nothing (``classes``).  Where some are, prices are lowered: the rows of the class of highest mean
worth of a pattern, until none is left.  The prices of its other rows stay, which proves far more
than lowering all of them alike.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.classes import classes_of, dearest_mean, line_up
from incrowd.kernels.halt import halted
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.topk import may_exceed, top_k

MOST_LISTED = 10  # classes of one pattern listed because of penalties
WORTH = 0.5  # share of the highest worth that they have at least
OUTSIDERS = 2  # rows tried in the place of each row of a class
MOST_LOWERED = 200  # classes of one pattern whose rows are lowered
TINY = 1e-11


class Found(NamedTuple):
    """What an evaluation finds.

    size, rows: int64 and int32, shapes (patterns,) and (patterns, 2k − 1): the class of highest
        mean worth, where it is worth more than nothing.
    mean: float64, shape (patterns,): that mean.
    """

    size: NDArray[np.int64]
    rows: NDArray[np.int32]
    mean: NDArray[np.float64]

    @classmethod
    def new(cls, patterns: int, k: int) -> "Found":
        """Allocate."""
        rows = np.zeros((patterns, 2 * k - 1), np.int32)
        return cls(np.zeros(patterns, np.int64), rows, np.zeros(patterns))


@inner_kernel
def penalty_of(member: Any, weight: Any, entries: int, penalties: Any) -> float:
    """What a class of ``weight`` copies of each ``member`` pays."""
    penalty = 0.0
    for j in range(entries):
        r = member[j]
        for z in range(penalties.first[r], penalties.first[r + 1]):
            s = penalties.sets[z]
            before = penalties.held[s] // penalties.modulus[s]
            penalties.held[s] += weight[j]
            penalty += penalties.penalty[s] * (penalties.held[s] // penalties.modulus[s] - before)
    for j in range(entries):
        r = member[j]
        for z in range(penalties.first[r], penalties.first[r + 1]):
            penalties.held[penalties.sets[z]] = 0
    return penalty


@inner_kernel
def excess(p: int, pr: Any, best: Any, found: Any) -> float:
    """Return the highest mean worth of a class of pattern p, at least 0, and note that class.

    A pattern whose search takes more than ``pr.tries`` steps is held to its k highest prices.
    """
    lists, price, counts, k = pr.lists, pr.price, pr.counts, pr.k
    value, weight, member = best
    begin = lists.offset[p]
    end = lists.offset[p + 1]
    cost = lists.cost[p]
    found.size[p] = 0
    if not may_exceed(lists.rows, begin, end, price, counts, k, cost):
        return 0.0
    total, entries = top_k(lists.rows, begin, end, price, counts, k, value, weight, member)
    if entries < 0 or total - k * cost <= 1e-12:
        return 0.0
    if penalty_of(member, weight, entries, pr.penalties) > 0:
        n = line_up(p, pr)
        mean, size = dearest_mean(n, pr)
        if size >= 0:
            found.size[p] = size
            for z in range(size):
                found.rows[p, z] = pr.pad.best[z]
            return mean
    size = 0
    for j in range(entries):
        for _ in range(weight[j]):
            found.rows[p, size] = member[j]
            size += 1
    found.size[p] = size
    return total / k - cost


@lean_kernel
def excesses(pr: Any, best: Any, found: Any) -> None:
    """Fill ``found``."""
    for p in range(pr.lists.cost.size):
        if halted(pr.halt):
            break
        found.mean[p] = excess(p, pr, best, found)


@inner_kernel
def lower(p: int, pr: Any, best: Any, found: Any) -> None:
    """Lower prices until no class of pattern p is worth more than nothing.

    The rows of the class of highest mean worth pay that much less, again and again; after
    ``MOST_LOWERED`` times all rows of the pattern do.  ``found`` is overwritten at p.
    """
    lists, price = pr.lists, pr.price
    for time in range(MOST_LOWERED + 1):
        more = excess(p, pr, best, found)
        if more <= 0 or halted(pr.halt):
            return
        more += TINY
        if time == MOST_LOWERED:
            for i in range(lists.offset[p], lists.offset[p + 1]):
                price[lists.rows[i]] -= more
            return
        for z in range(found.size[p]):
            r = found.rows[p, z]
            if z == 0 or found.rows[p, z - 1] != r:
                price[r] -= more


@lean_kernel
def lower_all(pr: Any, best: Any, found: Any, spare: Any) -> None:
    """Lower prices until no class is worth more than nothing, or time ends.

    A class is worth less where prices are lower: each pattern is looked at once, and only where
    ``found`` holds a class.  ``spare``: as ``found``, overwritten.
    """
    for p in range(pr.lists.cost.size):
        if halted(pr.halt):
            break
        if found.size[p]:
            lower(p, pr, best, spare)


@inner_kernel
def outsider(p: int, pr: Any, size: int, rows: Any, after: Any) -> int:
    """Return the dearest row of p with a copy outside the class and ``after`` those before it.

    ``after``: (price, row) of the one found before; −1 when there is none.
    """
    lists, price = pr.lists, pr.price
    best = -1
    for i in range(lists.offset[p], lists.offset[p + 1]):
        r = lists.rows[i]
        if price[r] > after[0] or (price[r] == after[0] and r <= after[1]):
            continue
        if best >= 0 and price[r] <= price[best]:
            continue
        held = 0
        for z in range(size):
            held += rows[p, z] == r
        if held < pr.counts[r]:
            best = r
    return best


@lean_kernel
def neighbours(pr: Any, found: Any, listed: Any) -> int:
    """List the classes found, and those with one row exchanged whose prices exceed the cost.

    Prices alone are looked at.  ``listed`` (``Classes``) receives them; returns how many.
    """
    lists, price = pr.lists, pr.price
    pattern, sizes, rows = listed
    count = 0
    for p in range(lists.cost.size):
        size = found.size[p]
        if size == 0 or count == pattern.size:
            continue
        total = 0.0
        for z in range(size):
            total += price[found.rows[p, z]]
            rows[count, z] = found.rows[p, z]
        pattern[count] = p
        sizes[count] = size
        count += 1
        other = -1
        high = 1e300
        for _ in range(OUTSIDERS):
            other = outsider(p, pr, size, found.rows, (high, other))
            if other < 0:
                break
            high = price[other]
            for z in range(size):
                member = found.rows[p, z]
                again = z > 0 and found.rows[p, z - 1] == member  # the same class
                more = total - price[member] + high - size * lists.cost[p]
                if again or more <= 1e-3 or count == pattern.size:
                    continue
                pattern[count] = p
                sizes[count] = size
                for y in range(size):
                    rows[count, y] = other if y == z else found.rows[p, y]
                count += 1
    return count


@lean_kernel
def penalized(pr: Any, found: Any, listed: Any) -> int:
    """List some classes of each pattern whose class found pays penalties, worth half or more of it.

    Where rows cost alike, penalties decide among very many classes: one at a time is not enough.
    ``listed`` (``Classes``) receives them; returns how many.
    """
    lists, price = pr.lists, pr.price
    count = 0
    for p in range(lists.cost.size):
        size = found.size[p]
        worth = found.mean[p] * size
        prices = -size * lists.cost[p]
        for z in range(size):
            prices += price[found.rows[p, z]]
        if size == 0 or prices <= worth + 1e-9:
            continue
        last = min(count + MOST_LISTED, listed.pattern.size)
        count, _ = classes_of(p, pr, -WORTH * worth, listed, count, last)
    return count
