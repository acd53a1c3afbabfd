"""Kernels that lift prices of rows as far as classes of k rows allow.

For squares it is enough that no k rows are priced above what they cost as one class (``bound.py``).
Sets of k rows are searched depth first.  Let A have a rows, with centre c, and let N be the
b = k − a to come.  The class costs the squares of A about c, and (a/k)·|x − c|² for each row x of
N, and b/k of what N costs as a class of its own: no less than b/k of what prices for b rows sum to.
So prices are lifted for two rows first, then for three, and so on, each by those for fewer rows.
"""

from typing import Any

import numpy as np

from incrowd.averages.boxes import SIZE, within_reach
from incrowd.kernels.halt import halted
from incrowd.kernels.jit import kernel

EACH = 32  # broken sets of a row that are told: the least, and those that were it before
FOUND = 4  # broken sets for each row, beyond which no more are told
SLACK = 1e-10  # of a row's price: what a set with it may lack unseen, less than the margin


@kernel
def least_room(
    place: Any,
    price: Any,
    fewer: Any,
    own: float,
    k: int,
    best: float,
    budget: int,
    over: Any,
    taken: Any,
) -> Any:
    """Return the least cost less prices of k rows, one of them at 0 with the price ``own``.

    place: float64, shape (rows, columns), of the other rows, relative to that one; price: theirs.
    fewer: float64, shape (k, rows): by b, their prices for b rows, or 0.
    taken: int64, shape (most, k − 1), is filled with the others of the sets that were the least so
    far, from its first place again where it is full.
    Returns the least or ``best`` if nothing is below, how many sets were the least so far, and the
    sets looked at; above ``budget`` it is given up, and means nothing.  Time is looked at before
    each set: thousands of rows are sorted for one where all are in reach, as where few are dear.
    """
    n, m = place.shape
    order = np.zeros((k, n), np.int64)
    worth = np.zeros((k, n))
    count, at, path = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k, np.int64)
    total, square, paid = np.zeros((k + 1, m)), np.zeros(k + 1), np.zeros(k + 1)
    paid[1] = own
    for x in range(n):
        order[0, x] = x
    count[0] = n
    depth, looked, better, fresh = 0, 0, 0, True
    while depth >= 0 and looked <= budget:
        a = depth + 1
        b = k - a
        norm = 0.0
        for c in range(m):
            norm += total[a, c] * total[a, c]
        base = square[a] - norm / a - paid[a]
        if fresh:
            if halted(over):
                return best, better, budget + 1
            looked += 1
            fresh = False
            at[depth] = 0
            for q in range(count[depth]):
                x = order[depth, q]
                apart = 0.0
                for c in range(m):
                    d = place[x, c] - total[a, c] / a
                    apart += d * d
                worth[depth, q] = (apart * a + fewer[b, x] * b) / k - price[x]
            if b == 1:
                for q in range(count[depth]):
                    if base + worth[depth, q] < best:
                        best = base + worth[depth, q]
                        at_last = better % len(taken)
                        for e in range(depth):
                            taken[at_last, e] = path[e]
                        taken[at_last, depth] = order[depth, q]
                        better += 1
                depth -= 1
                continue
            ranked = np.argsort(worth[depth, : count[depth]])
            rows = order[depth, : count[depth]].copy()
            worths = worth[depth, : count[depth]].copy()
            room, kept = best - base, 0
            for q in range(count[depth]):
                more = worths[ranked[q]]
                if q < b - 1:
                    room -= more
                elif more >= room:
                    break  # with the least b − 1 others it is no better, nor is any behind it
                order[depth, q] = rows[ranked[q]]
                worth[depth, q] = more
                kept += 1
            count[depth] = kept
        p = at[depth]
        bound = base
        for q in range(p, min(p + b, count[depth])):
            bound += worth[depth, q]
        if p + b > count[depth] or bound >= best:
            depth -= 1
            continue
        x = path[depth] = order[depth, p]
        at[depth] += 1
        square[a + 1] = square[a]
        for c in range(m):
            total[a + 1, c] = total[a, c] + place[x, c]
            square[a + 1] += place[x, c] * place[x, c]
        paid[a + 1] = paid[a] + price[x]
        count[depth + 1] = count[depth] - p - 1
        for q in range(count[depth + 1]):
            order[depth + 1, q] = order[depth, p + 1 + q]
        depth += 1
        fresh = True
    return best, better, looked


@kernel
def lift(
    place: Any,
    ends: Any,
    price: Any,
    fewer: Any,
    near: Any,
    k: int,
    share: float,
    order: Any,
    budget: int,
    over: Any,
) -> int:
    """Raise each price in turn by a share of the room that is left; return the sets looked at.

    Prices that are lawful stay so.  order: int64: rows, in turn.  near: the k − 1 rows nearest to
    each, one lawful class.
    fewer: float64, shape (k, rows): lawful prices for b rows, by b.  ends: of the boxes of rows.
    """
    n, m = place.shape
    rows, worth = np.zeros(n, np.int64), np.zeros(n)
    taken, sets = np.zeros((1, k - 1), np.int64), 0
    most, top = price - fewer[k - 1] * (k - 1) / k, np.full(ends.shape[1], -np.inf)
    for i in range(n):
        top[i // SIZE] = max(top[i // SIZE], most[i])
    for done in range(len(order)):
        if done % 16 == 0 and halted(over):
            break
        i = order[done]
        best, sums = -price[i], np.zeros(m)
        for j in near[i]:
            best -= price[j]
            for c in range(m):
                d = place[j, c] - place[i, c]
                best += d * d
                sums[c] += d
        for c in range(m):
            best -= sums[c] * sums[c] / k
        if best <= 0:
            continue
        own, most[i] = most[i], -np.inf
        chosen = within_reach(place, ends, most, top, i, k, best + price[i], rows, worth)
        others, due, below = place[chosen] - place[i], price[chosen], fewer[:, chosen]
        found, _, looked = least_room(others, due, below, price[i], k, best, budget, over, taken)
        sets += looked
        if looked <= budget and found > 0:
            price[i] += share * found
            own += share * found
        most[i] = own
        top[i // SIZE] = max(top[i // SIZE], own)
    return sets


@kernel
def kept(sets: Any, count: int, chosen: Any, taken: Any, i: int) -> int:
    """Write each set of row ``i`` and chosen others after the first ``count``; count them too."""
    for others in taken:
        for at, other in enumerate(others):
            sets[count, at] = chosen[other]
        sets[count, -1] = i
        count += 1
    return count


@kernel
def mend(place: Any, ends: Any, price: Any, fewer: Any, k: int, budget: int, over: Any) -> Any:
    """Lower prices, in place, until no k rows are priced above what they cost.

    One row after the other, the cheapest first, gives up what the worst set of it and of rows
    before it lacks.  Where that is more than its price, all rows of the set give up their share,
    and the next set is sought.  ends: of the boxes of rows.
    Returns sets that were broken, int64, shape (sets, k), and how many were looked at, or -1 where
    that is more than ``budget``, or time is up; then prices mean nothing.
    """
    n, count, total = len(place), 0, 0
    sets, taken = np.zeros((FOUND * n + EACH, k), np.int64), np.zeros((EACH, k - 1), np.int64)
    rows, worth = np.zeros(n, np.int64), np.zeros(n)
    most, top = np.full(n, -np.inf), np.full(ends.shape[1], -np.inf)
    for i in np.argsort(price):
        first = count
        while price[i] > 0:
            least = -SLACK * price[i]
            chosen = within_reach(place, ends, most, top, i, k, least + price[i], rows, worth)
            others, due, below = place[chosen] - place[i], price[chosen], fewer[:, chosen]
            found, better, looked = least_room(
                others, due, below, price[i], k, least, budget - total, over, taken
            )
            total += looked
            if total > budget:
                return sets[:count], -1
            if found >= least:
                break
            if count == first and count <= FOUND * n:
                count = kept(sets, count, chosen, taken[: min(better, EACH)], i)
            if price[i] + found >= 0:
                price[i] += found
                break
            worst = chosen[taken[(better - 1) % EACH]]
            paid = price[i] + price[worst].sum()
            left = max(1 + found / paid, 0) * (1 - SLACK)
            price[i] *= left
            for j in worst:
                most[j] -= price[j] * (1 - left)
                price[j] *= left
        most[i] = price[i] - fewer[k - 1, i] * (k - 1) / k
        top[i // SIZE] = max(top[i // SIZE], most[i])
    return sets[:count], total
