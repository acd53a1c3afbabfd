"""Kernels that lift prices of rows as far as classes of k rows allow.

For squares it is enough that no k rows are priced above what they cost as one class (``bound.py``).
Sets of k rows are searched depth first: of a set A of a rows, with centre c and b = k − a to come,
a whole class costs at least the squares of A about c plus (a/k)·|x − c|² for each row x to come:
their common centre moves, and each of them bears its share of that alone.  With b = 1 it is exact.
"""

from typing import Any

import numpy as np

from incrowd.kernels.halt import halted
from incrowd.kernels.jit import kernel


@kernel
def least_room(
    place: Any, price: Any, own: float, k: int, best: float, budget: int, over: Any
) -> Any:
    """Return the least cost less prices of k rows, one of them at 0 with the price ``own``.

    place: float64, shape (rows, columns), of the other rows, relative to that one; price: theirs.
    Returns that or ``best`` if nothing is below, and the sets looked at; above ``budget`` it is
    given up, and means nothing.  Time is looked at before each set: thousands of rows are sorted
    for one where all are in reach, as where few are dear.
    """
    n, m = place.shape
    order = np.zeros((k, n), np.int64)
    worth = np.zeros((k, n))
    count, at = np.zeros(k, np.int64), np.zeros(k, np.int64)
    total, square, paid = np.zeros((k + 1, m)), np.zeros(k + 1), np.zeros(k + 1)
    paid[1] = own
    for x in range(n):
        order[0, x] = x
    count[0] = n
    depth, looked, fresh = 0, 0, True
    while depth >= 0 and looked <= budget:
        a = depth + 1
        b = k - a
        norm = 0.0
        for c in range(m):
            norm += total[a, c] * total[a, c]
        base = square[a] - norm / a - paid[a]
        if fresh:
            if halted(over):
                return best, budget + 1
            looked += 1
            fresh = False
            at[depth] = 0
            for q in range(count[depth]):
                x = order[depth, q]
                apart = 0.0
                for c in range(m):
                    d = place[x, c] - total[a, c] / a
                    apart += d * d
                worth[depth, q] = apart * a / k - price[x]
            if b == 1:
                for q in range(count[depth]):
                    best = min(best, base + worth[depth, q])
                depth -= 1
                continue
            ranked = np.argsort(worth[depth, : count[depth]])
            rows = order[depth, : count[depth]].copy()
            worths = worth[depth, : count[depth]].copy()
            for q in range(count[depth]):
                order[depth, q] = rows[ranked[q]]
                worth[depth, q] = worths[ranked[q]]
        p = at[depth]
        bound = base
        for q in range(p, min(p + b, count[depth])):
            bound += worth[depth, q]
        if p + b > count[depth] or bound >= best:
            depth -= 1
            continue
        x = order[depth, p]
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
    return best, looked


@kernel
def around(place: Any, i: int, apart: Any) -> None:
    """Fill in the squared distances of all rows from one."""
    for j in range(len(place)):
        found = 0.0
        for c in range(place.shape[1]):
            d = place[j, c] - place[i, c]
            found += d * d
        apart[j] = found


@kernel
def lift(
    place: Any, price: Any, near: Any, k: int, share: float, order: Any, budget: int, over: Any
) -> int:
    """Raise each price in turn by a share of the room that is left; return how many were tried.

    Prices that are lawful stay so.  near: the k − 1 rows nearest to each, one lawful class.

    A set A of k rows with i undercuts the best so far only if it costs less than its prices, that
    of i raised by the best.  Let that of o be the greatest of these.  Two rows of A, d apart, cost
    d/2 alone, so all are nearer to i than 2k times the price of o, and so is o.
    """
    n, m = place.shape
    apart = np.zeros(n)
    for done in range(n):
        if done % 16 == 0 and halted(over):
            return done
        i = order[done]
        around(place, i, apart)
        best, sums = -price[i], np.zeros(m)
        for j in near[i]:
            best -= price[j]
            best += apart[j]
            for c in range(m):
                sums[c] += place[j, c] - place[i, c]
        for c in range(m):
            best -= sums[c] * sums[c] / k
        if best <= 0:
            continue
        top = price[i] + best
        for j in range(n):
            if price[j] > top and apart[j] < 2 * k * price[j]:
                top = price[j]
        chosen = np.flatnonzero(apart < 2 * k * top)
        chosen = chosen[chosen != i]
        others = place[chosen] - place[i]
        found, looked = least_room(others, price[chosen], price[i], k, best, budget, over)
        if looked <= budget and found > 0:
            price[i] += share * found
    return n


@kernel
def lawful(place: Any, price: Any, k: int, budget: int, over: Any) -> bool:
    """Whether no k rows are priced above what they cost, found within a budget of sets each.

    Each set is looked at from its row of the greatest price.
    """
    n = len(place)
    apart = np.zeros(n)
    for i in range(n):
        if i % 16 == 0 and halted(over):
            return False
        around(place, i, apart)
        low = (price < price[i]) | ((price == price[i]) & (np.arange(n) < i))
        chosen = np.flatnonzero(low & (apart < 2 * k * price[i]))
        if len(chosen) < k - 1:
            continue
        others = place[chosen] - place[i]
        found, looked = least_room(others, price[chosen], price[i], k, 0.0, budget, over)
        if looked > budget or found < 0:
            return False
    return True
