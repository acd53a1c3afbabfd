"""Kernels: nearest rows, and moves between classes.

Points are float64 of shape (n, columns).  Where ``absolute`` a column counts by distances, else by
squares; the search looks at squares alone.
"""

from typing import Any

import numpy as np

from incrowd.kernels.halt import halted
from incrowd.kernels.jit import inner_kernel, kernel
from incrowd.kernels.random import below, draw


@inner_kernel
def apart(place: Any, absolute: Any, i: int, j: int) -> float:
    """What two rows are apart."""
    total = 0.0
    for c in range(place.shape[1]):
        d = place[i, c] - place[j, c]
        total += abs(d) if absolute[c] else d * d
    return total


@kernel
def nearest(place: Any, absolute: Any, near: Any, distance: Any, over: Any) -> bool:
    """Fill in the rows nearest to each, in rising distance; whether it came to its end.

    place: rising in its first column.  near: int32, distance: float64, shape (n, count), count < n.
    """
    n, count = near.shape
    for i in range(n):
        if i % 256 == 0 and halted(over):
            return False
        held, low, high = 0, i - 1, i + 1
        while low >= 0 or high < n:
            left = place[i, 0] - place[low, 0] if low >= 0 else np.inf
            right = place[high, 0] - place[i, 0] if high < n else np.inf
            step = min(left, right)
            bound = step if absolute[0] else step * step
            if held == count and bound >= distance[i, count - 1]:
                break
            if left <= right:
                j = low
                low -= 1
            else:
                j = high
                high += 1
            d = apart(place, absolute, i, j)
            if held < count:
                held += 1
            elif d >= distance[i, count - 1]:
                continue
            at = held - 1
            while at > 0 and distance[i, at - 1] > d:
                distance[i, at] = distance[i, at - 1]
                near[i, at] = near[i, at - 1]
                at -= 1
            distance[i, at] = d
            near[i, at] = j
    return True


@inner_kernel
def spread(square: float, total: Any, c: int, size: int) -> float:
    """Sum of squares about the mean of a class, of the sum of squares and the sums."""
    found = 0.0
    for j in range(total.shape[1]):
        found += total[c, j] * total[c, j]
    return max(0.0, square - found / size) if size else 0.0


@inner_kernel
def put(place: Any, state: Any, i: int, c: int) -> None:
    """Move a row into a class, out of its own."""
    class_of, slot, member, size, total, square = state
    a = class_of[i]
    if a >= 0:
        last = member[a, size[a] - 1]
        member[a, slot[i]] = last
        slot[last] = slot[i]
        size[a] -= 1
    member[c, size[c]] = i
    slot[i] = size[c]
    size[c] += 1
    class_of[i] = c
    for j in range(place.shape[1]):
        x = place[i, j]
        if a >= 0:
            total[a, j] -= x
            square[a] -= x * x
        total[c, j] += x
        square[c] += x * x


@inner_kernel
def gain_of_move(place: Any, state: Any, i: int, b: int) -> float:
    """What it costs more to move a row to another class."""
    class_of, _, _, size, total, square = state
    a = class_of[i]
    before = after = 0.0
    here = there = norm = left = joined = 0.0
    for j in range(place.shape[1]):
        x = place[i, j]
        norm += x * x
        here += total[a, j] * total[a, j]
        there += total[b, j] * total[b, j]
        left += (total[a, j] - x) * (total[a, j] - x)
        joined += (total[b, j] + x) * (total[b, j] + x)
    before = square[a] - here / size[a] + square[b] - there / size[b]
    after = square[b] + norm - joined / (size[b] + 1)
    if size[a] > 1:
        after += square[a] - norm - left / (size[a] - 1)
    return after - before


@inner_kernel
def gain_of_swap(place: Any, state: Any, i: int, l: int) -> float:  # noqa: E741
    """What it costs more to let two rows change places.

    The sums of squares of both classes together stay: only the means move.
    """
    class_of, _, _, size, total, _ = state
    a, b = class_of[i], class_of[l]
    found = 0.0
    for j in range(place.shape[1]):
        d = place[l, j] - place[i, j]
        found -= (2.0 * total[a, j] + d) * d / size[a]
        found -= (d - 2.0 * total[b, j]) * d / size[b]
    return found


@inner_kernel
def dissolved(place: Any, state: Any, near: Any, a: int, cap: int, log: Any) -> Any:
    """Move each row of a class to the best class near it: (cost more, rows moved); −1 if stuck."""
    class_of, _, member, size, _, _ = state
    cost = 0.0
    moved = 0
    while size[a] > 0:
        i = member[a, size[a] - 1]
        best, to = np.inf, -1
        for n in range(near.shape[1]):
            b = class_of[near[i, n]]
            if b != a and size[b] < cap:
                gain = gain_of_move(place, state, i, b)
                if gain < best:
                    best, to = gain, b
        if to < 0:
            return cost, -moved - 1
        log[moved] = i
        moved += 1
        cost += best
        put(place, state, i, to)
    return cost, moved


@inner_kernel
def founded(place: Any, state: Any, near: Any, i: int, c: int, k: int, log: Any) -> Any:
    """Make a class of a row and rows near it that others can spare: (cost more, rows moved).

    The rows moved are as many as k, or the class is none.
    """
    class_of, _, _, size, total, square = state
    cost = 0.0
    moved = 0
    for n in range(-1, near.shape[1]):
        j = i if n < 0 else near[i, n]
        a = class_of[j]
        if a == c or size[a] <= k:
            continue
        before = spread(square[a], total, a, size[a]) + spread(square[c], total, c, size[c])
        log[moved] = j
        log[moved + k] = a
        moved += 1
        put(place, state, j, c)
        after = spread(square[a], total, a, size[a]) + spread(square[c], total, c, size[c])
        cost += after - before
        if moved == k:
            break
    return cost, moved


@kernel
def anneal(
    place: Any, state: Any, near: Any, k: int, cap: int, steps: int, heat: Any, rng: Any, over: Any
) -> float:
    """Move, swap, dissolve and found classes by Metropolis' rule; return the cost more.

    heat: float64, shape (2,): at the first and the last step.  state: see ``search.State``.
    """
    class_of, _, member, size, total, square = state
    n = len(class_of)
    log = np.zeros(2 * cap + 2, np.int64)
    change = 0.0
    free = np.zeros(len(size), np.int64)
    frees = 0
    for c in range(len(size)):
        if size[c] == 0:
            free[frees] = c
            frees += 1
    for step in range(steps):
        if step % 1024 == 0 and halted(over):
            break
        warm = heat[0] * (heat[1] / heat[0]) ** (step / steps)
        most = -warm * np.log(draw(rng) + 1e-300)
        i = below(rng, n)
        a = class_of[i]
        kind = below(rng, 100)
        if kind == 0 and frees < len(size) - 1:
            cost, moved = dissolved(place, state, near, a, cap, log)
            if moved > 0 and cost <= most:
                change += cost
                free[frees] = a
                frees += 1
                square[a] = 0.0
                total[a, :] = 0.0
            else:
                for m in range(abs(moved) - (1 if moved < 0 else 0) - 1, -1, -1):
                    put(place, state, log[m], a)
            continue
        if kind == 1 and frees > 0:
            c = free[frees - 1]
            cost, moved = founded(place, state, near, i, c, k, log)
            if moved == k and cost <= most:
                change += cost
                frees -= 1
            else:
                for m in range(moved - 1, -1, -1):
                    put(place, state, log[m], log[m + k])
            if size[c] == 0:
                square[c] = 0.0
                total[c, :] = 0.0
            continue
        b = class_of[near[i, below(rng, near.shape[1])]]
        if a == b:
            continue
        best, to = np.inf, -1
        if size[a] > k and size[b] < cap:
            best = gain_of_move(place, state, i, b)
        for s in range(size[b]):
            found = gain_of_swap(place, state, i, member[b, s])
            if found < best:
                best, to = found, member[b, s]
        if best <= most:
            change += best
            put(place, state, i, b)
            if to >= 0:
                put(place, state, to, a)
    return change
