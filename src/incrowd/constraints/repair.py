"""Bringing a release within its caps: rows change classes until few enough cells change.

The engines price cells by column only.  Here every row may have a price of its own, so that a
subgroup's cells can be dearer than others': a local search over moves of one row, exchanges of two
and new cuts of two or three classes, annealed, at prices that rise while a cap is broken and fall
while it is met.  For k-anonymity alone.
"""

import numpy as np
from numpy.typing import NDArray

from incrowd.constraints.crowd import (
    Costs,
    Crowd,
    Ints,
    bounds_without,
    put,
    set_class,
    value_of,
    widen,
)
from incrowd.kernels.jit import kernel

LARGE = 400  # rows from which a class that is not uniform is left alone
POOL = 60  # rows that are regrouped at most


@kernel
def fits(crowd: Crowd, c: int) -> bool:
    """Whether a class is small or uniform enough to take a row out of."""
    return bool(crowd.size[c] <= LARGE or (crowd.low[c] == crowd.high[c]).all())


@kernel
def traded(crowd: Crowd, costs: Costs, r: int, q: int, back: bool, k: int, room: float) -> bool:
    """Move row r to q's class, and q ``back`` if asked, where that costs at most ``room`` more."""
    a, b = int(crowd.member[r]), int(crowd.member[q])
    if not fits(crowd, a):
        return False
    if back and (not fits(crowd, b) or min(crowd.size[a], crowd.size[b]) < 2):
        return False
    if not back and crowd.size[a] <= k:
        return False
    low_a, high_a = crowd.low[a].copy(), crowd.high[a].copy()
    low_b, high_b = crowd.low[b].copy(), crowd.high[b].copy()
    bounds_without(crowd, a, r, low_a, high_a)
    price, more = int(costs.by_row[r]), 1
    if back:
        bounds_without(crowd, b, q, low_b, high_b)
        widen(crowd, q, low_a, high_a)
        price, more = price - int(costs.by_row[q]), 0
    widen(crowd, r, low_b, high_b)
    size_a, size_b = int(crowd.size[a]) - more, int(crowd.size[b]) + more
    weight_a, weight_b = int(crowd.weight[a]) - price, int(crowd.weight[b]) + price
    value_a = value_of(low_a, high_a, size_a, weight_a, costs)
    value_b = value_of(low_b, high_b, size_b, weight_b, costs)
    if value_a + value_b - crowd.value[a] - crowd.value[b] > room:
        return False
    put(crowd, r, b)
    if back:
        put(crowd, q, a)
    set_class(crowd, a, low_a, high_a, size_a, weight_a, value_a)
    set_class(crowd, b, low_b, high_b, size_b, weight_b, value_b)
    return True


@kernel
def pooled(crowd: Crowd, r: int, near: NDArray[np.int64], k: int, reach: int) -> Ints:
    """Return the classes of r and of its neighbours in an order, as long as they fit the pool."""
    rows = len(crowd.member)
    found = np.empty(2 * k, np.int64)
    found[0], count = crowd.member[r], 1
    total = crowd.size[found[0]]
    for step in range(1, reach + 1):
        for side in range(2):
            place = near[1, r] + (step if side == 0 else -step)
            if place < 0 or place >= rows or count == len(found):
                continue
            q = near[0, place]
            c = crowd.member[q]
            fresh = crowd.group[q] == crowd.group[r] and total + crowd.size[c] <= POOL
            for i in range(count):
                fresh = fresh and found[i] != c
            if fresh:
                found[count] = c
                total += crowd.size[c]
                count += 1
    return found[:count]


@kernel
def members_of(crowd: Crowd, classes: Ints) -> Ints:
    """Return the rows of these classes."""
    total = 0
    for c in classes:
        total += crowd.size[c]
    pool = np.empty(total, np.int64)
    n = 0
    for c in classes:
        row = int(crowd.head[c])
        while row >= 0:
            pool[n] = row
            n += 1
            row = int(crowd.after[row])
    return pool


@kernel
def grow(
    crowd: Crowd,
    costs: Costs,
    pool: Ints,
    mark: Ints,
    seed: int,
    goal: int,
    low: NDArray[np.int32],
    high: NDArray[np.int32],
) -> tuple[int, int]:
    """Grow a class from a pooled row by the row that makes it dearer by the least.

    Returns its weight and value; ``mark`` of its rows becomes ``mark.max() + 1``.
    """
    number = mark.max() + 1
    trial_low, trial_high = low.copy(), high.copy()
    for c in range(low.size):
        low[c] = high[c] = crowd.codes[pool[seed], c]
    mark[seed] = number
    weight, value = int(costs.by_row[pool[seed]]), 0
    for size in range(2, goal + 1):
        best, best_value = -1, 0
        for i in range(len(pool)):
            if mark[i] >= 0:
                continue
            for c in range(low.size):
                trial_low[c], trial_high[c] = low[c], high[c]
            widen(crowd, int(pool[i]), trial_low, trial_high)
            price = int(weight + costs.by_row[pool[i]])
            found = value_of(trial_low, trial_high, size, price, costs)
            if best < 0 or found < best_value:
                best, best_value = i, found
        widen(crowd, int(pool[best]), low, high)
        mark[best] = number
        weight += int(costs.by_row[pool[best]])
    value = value_of(low, high, goal, weight, costs)
    return weight, value


@kernel
def regroup(
    crowd: Crowd,
    costs: Costs,
    r: int,
    near: NDArray[np.int64],
    k: int,
    reach: int,
    room: float,
    pick: float,
) -> bool:
    """Pool the classes of row r and its neighbours and cut the pool into classes of k rows anew.

    The first new class grows from r, the others from rows at random; what is left in the end is
    the last one.  Nothing happens where that costs more than ``room`` more.
    """
    old = pooled(crowd, r, near, k, reach)
    pool = members_of(crowd, old)
    total = len(pool)
    if len(old) < 2 or total > POOL:
        return False
    before = 0
    for c in old:
        before += crowd.value[c]
    mark = np.full(total, -1, np.int64)
    columns, most = crowd.codes.shape[1], max(1, total // k)
    low, high = np.zeros((most, columns), np.int32), np.zeros((most, columns), np.int32)
    size, weight, value = (
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
    )
    left, made, after = total, 0, 0
    while left > 0:
        skip = int(pick * left) if made > 0 else 0
        seed = -1
        for i in range(total):
            if mark[i] < 0 and (pool[i] == r if made == 0 else skip >= 0):
                seed = i
                skip -= 1
        size[made] = k if left >= 2 * k else left
        weight[made], value[made] = grow(
            crowd, costs, pool, mark, seed, int(size[made]), low[made], high[made]
        )
        after += value[made]
        left -= size[made]
        made += 1
        if after - before > room:
            return False
    for c in old:
        crowd.size[c] = crowd.weight[c] = crowd.value[c] = 0
        crowd.head[c] = -1
        crowd.free[crowd.free_count[0]] = c
        crowd.free_count[0] += 1
    for m in range(made):
        crowd.free_count[0] -= 1
        c = int(crowd.free[crowd.free_count[0]])
        for i in range(total):
            if mark[i] == m:
                row = int(pool[i])
                crowd.before[row], crowd.after[row] = -1, crowd.head[c]
                if crowd.head[c] >= 0:
                    crowd.before[crowd.head[c]] = row
                crowd.head[c], crowd.member[row] = row, c
        set_class(crowd, c, low[m], high[m], int(size[m]), int(weight[m]), int(value[m]))
    return True


@kernel
def sweep(
    crowd: Crowd,
    costs: Costs,
    k: int,
    near: NDArray[np.int64],
    focus: NDArray[np.int64],
    draws: NDArray[np.float64],
    heat: float,
) -> int:
    """Try one move per line of ``draws``; return how many were made.

    near: int64, shape (orders, 2, rows): rows in an order, and each row's place in it.
    focus: int64: rows that half of the moves start from.
    draws: float64 in [0, 1), shape (tries, 5).
    """
    rows, made = len(crowd.member), 0
    for t in range(len(draws)):
        r = int(draws[t, 0] * rows)
        if t % 2 == 0 and len(focus) > 0:
            r = int(focus[int(draws[t, 0] * len(focus))])
        order = int(draws[t, 1] * len(near))
        room = -heat * np.log(1.0 - draws[t, 4])
        step = 1 + int(draws[t, 2] ** 3 * 40)
        if t % 8 < 2:
            reach = 1 + int(draws[t, 2] * 2 * k)
            if crowd.value[crowd.member[r]] > 0:
                made += regroup(crowd, costs, r, near[order], k, reach, room, draws[t, 3])
            continue
        place = near[order, 1, r] + (step if draws[t, 3] < 0.5 else -step)
        if place < 0 or place >= rows:
            continue
        q = int(near[order, 0, place])
        a, b = int(crowd.member[r]), int(crowd.member[q])
        if a == b or crowd.group[r] != crowd.group[q]:
            continue
        if crowd.value[a] == 0 and crowd.value[b] == 0:
            continue
        if traded(crowd, costs, r, q, False, k, room) or traded(crowd, costs, r, q, True, k, room):
            made += 1
    return made
