"""The dearest mean price that a class can have where a law bounds its j largest counts together.

Write h for a class's counts of the values.  That any j of them sum to at most f(j), with f concave,
makes the counts a polymatroid, so taking the dearest copy that fits, again and again, ends with the
dearest class of its size (Federgruen and Groenevelt 1986).  A value that once has no room has none
later on.

Entropy and recursive diversity: lawful classes of n rows are those that one of a few such f allows
(``incrowd.privacy.pricing``); larger classes are bounded by the largest share of a value.
"""

from math import floor
from typing import Any

from incrowd.bounds.diversity import IMPOSSIBLE
from incrowd.bounds.top_copies import LOOKS
from incrowd.kernels.jit import inner_kernel

CLOSED = -2e300


@inner_kernel
def room_of(x: Any, have: float, size: float, tops: Any, pad: Any) -> float:
    """Return how much of the x-th value present may still be added."""
    mine = pad.mass[x]
    room = min(size - have, tops[0] - mine)
    held, j = mine, 1
    for z in range(pad.state[0]):
        other = pad.plan[z]
        if other == x:
            continue
        if j >= tops.size:
            break
        held += pad.mass[other]
        room = min(room, tops[j] - held)
        j += 1
    return room


@inner_kernel
def move_up(x: Any, pad: Any) -> None:
    """Put the x-th value present where it belongs in the order of falling amounts."""
    z = 0
    while pad.plan[z] != x:
        z += 1
    while z > 0 and pad.mass[pad.plan[z - 1]] < pad.mass[x]:
        pad.plan[z] = pad.plan[z - 1]
        z -= 1
    pad.plan[z] = x


@inner_kernel
def dearest_open(pad: Any) -> Any:
    """Return which of the values present has the dearest copy left and may have room, or −1."""
    best = -1
    for x in range(pad.state[0]):
        if pad.price[x] > CLOSED and (best < 0 or pad.price[x] > pad.price[best]):
            best = x
    pad.state[LOOKS] += pad.state[0]
    return best


@inner_kernel
def ranked_of_size(size: float, tops: Any, start: Any, pad: Any) -> Any:
    """Return (sum of the dearest ``size`` copies that the tops allow, number of weights).

    ``tops[j]``: what any j + 1 values may have at most, the last: all.  ``IMPOSSIBLE`` when no
    class of this size fits in.
    """
    for x in range(pad.state[0]):
        pad.mass[x] = 0.0
        pad.plan[x] = x
        pad.price[x] = pad.top[start[pad.present[x]]]
    out = 0
    have = total = 0.0
    while have < size - 1e-12:
        x = dearest_open(pad)
        if x < 0:
            return IMPOSSIBLE, 0
        v = pad.present[x]
        room = room_of(x, have, size, tops, pad)
        z = floor(pad.mass[x] + 1e-12)
        amount = min(room, z + 1.0 - pad.mass[x])
        if amount <= 1e-12:
            pad.price[x] = CLOSED
            continue
        total += amount * pad.top[start[v] + z]
        pad.out_row[out] = pad.top_row[start[v] + z]
        pad.out_weight[out] = amount / size
        out += 1
        have += amount
        pad.mass[x] += amount
        move_up(x, pad)
        z = floor(pad.mass[x] + 1e-12)
        pad.price[x] = pad.top[start[v] + z] if z < pad.filled[v] else CLOSED
    return total, out


@inner_kernel
def ranked_from(at: int, start: Any, data: Any, pad: Any) -> Any:
    """Return (dearest mean, number of weights) for the size and tops at ``data[at]``."""
    size, first = data[at], at + 2
    tops = data[first : first + int(data[at + 1])]
    total, out = ranked_of_size(size, tops, start, pad)
    return (IMPOSSIBLE if total == IMPOSSIBLE else total / size), out


@inner_kernel
def ranked(start: Any, data: Any, enough: float, pad: Any) -> Any:
    """Return (dearest mean under bounds on the largest counts, number of weights).

    ``data`` = number of cases, then per case: the size, the number of tops, the tops; the first
    case is a relaxation of all others.  Where it does not exceed ``enough`` it is answer enough.
    """
    mean, out = ranked_from(1, start, data, pad)
    if mean == IMPOSSIBLE or mean <= enough:
        return mean, out
    best = IMPOSSIBLE
    best_at = at = 1
    for _ in range(1, int(data[0])):
        at += 2 + int(data[at + 1])
        mean, out = ranked_from(at, start, data, pad)
        if mean > best:
            best = mean
            best_at = at
    if best > IMPOSSIBLE and best_at != at:  # the weights are those of the last
        _, out = ranked_from(best_at, start, data, pad)
    return best, out
