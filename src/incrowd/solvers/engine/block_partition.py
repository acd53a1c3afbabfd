"""The cheapest partition of a block's copies into listed classes, by branch and bound.

What a class costs above prices is shared out among its copies first: a copy's share is what it must
pay above its price in any partition, so the shares of all are a bound, and what classes cost above
shares is little.  Then the dearest copy left is given each of its classes in turn.
"""

from typing import Any

import numpy as np

from incrowd.kernels.jit import inner_kernel

SHARINGS = 6  # rounds
TRIED = 20_000  # classes
NOWHERE = 1e290  # the share of a copy of no listed class


@inner_kernel
def raise_shares(n: int, found: Any, room: Any) -> None:
    """Raise shares as far as each class has something left, in equal parts."""
    for x in range(n):
        room.least[x] = NOWHERE
    for c in range(found):
        mask = room.mask[c]
        left = room.above[c]
        for x in range(n):
            if mask >> x & 1:
                left -= room.share[x]
        left /= room.size[c]
        for x in range(n):
            if mask >> x & 1:
                room.least[x] = min(room.least[x], left)
    for x in range(n):
        room.share[x] += max(0.0, room.least[x])


@inner_kernel
def share_out(n: int, found: Any, room: Any) -> float:
    """Find shares, take them from what classes cost, and return those of all copies together."""
    for x in range(n):
        room.share[x] = 0.0
    for _ in range(SHARINGS):
        raise_shares(n, found, room)
    for c in range(found):
        for x in range(n):
            if room.mask[c] >> x & 1:
                room.above[c] -= room.share[x]
    total = 0.0
    for x in range(n):
        total += room.share[x]
    return total


@inner_kernel
def order_lists(n: int, room: Any) -> None:
    """Order the classes of each dearest copy by what they cost above shares."""
    for p in range(n):
        for c in range(room.first[p], room.first[p + 1]):
            z = c
            while z > room.first[p] and room.above[room.order[z - 1]] > room.above[c]:
                room.order[z] = room.order[z - 1]
                z -= 1
            room.order[z] = c


@inner_kernel
def dearest_left(covered: Any) -> Any:
    """Return the first place that is not covered."""
    p = np.int64(0)
    while covered >> p & 1:
        p += 1
    return p


@inner_kernel
def partition(n: int, most: float, room: Any) -> Any:
    """Find the partition that costs least above shares, below ``most``; return its classes' number.

    0 where none was found.
    """
    whole = (np.int64(1) << n) - 1
    covered, d, tries, classes = np.int64(0), np.int64(0), 0, np.int64(0)
    room.spent[0] = 0.0
    room.next[0] = room.first[0]
    while d >= 0:
        p = dearest_left(covered)
        if room.next[d] >= room.first[p + 1] or tries > TRIED:
            d -= 1
            if d >= 0:
                covered &= ~room.mask[room.taken[d]]
            continue
        c = room.order[room.next[d]]
        room.next[d] += 1
        tries += 1
        spent = room.spent[d] + room.above[c]
        if spent >= most:
            room.next[d] = room.first[p + 1]
            continue
        if room.mask[c] & covered:
            continue
        room.taken[d] = c
        if covered | room.mask[c] == whole:
            most = spent
            classes = d + 1
            for z in range(classes):
                room.best[z] = room.taken[z]
            continue
        covered |= room.mask[c]
        d += 1
        room.spent[d] = spent
        room.next[d] = room.first[dearest_left(covered)]
    return classes
