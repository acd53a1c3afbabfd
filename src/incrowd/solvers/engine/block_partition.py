"""The cheapest partition of a block's copies into classes, by branch and bound.

The classes that could replace those of the block are listed first.  A class costs at least what its
rows are worth (their prices), so one that costs ``most`` or more above that is of no use where the
block costs no more than that.  Sets grow by a copy at a time, from their dearest copy on, and are
given up when the dearest copies left cannot make them cheap.

Then they are put together.  What a class costs above prices is shared out among its copies first: a
copy's share is what it must pay above its price in any partition, so the shares of all are a bound,
and what classes cost above shares is little.  The dearest copy left is given each of its classes in
turn.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel
from incrowd.solvers.engine.traded import FAR, clear, paid, widen

WIDEST = 60  # copies of a block: a bit each
LISTED = 4_000  # classes of a list
VISITS = 30_000  # sets looked at for a list
TOO_MANY = -1
NEVER = 1e300
SHARINGS = 6  # rounds in which costs are shared out
TRIED = 20_000  # classes, for the best partition
NOWHERE = 1e290  # the share of a copy of no listed class


class BlockRoom(NamedTuple):
    """Room for a block of few classes, its copies, and the classes that could replace them.

    block: int64, shape (WIDEST,): the classes of the block.
    copy, row, worth: int64, int64, float64, same shape: its copies, the dearest first, with their
        distinct rows and prices.
    A set that grows, by the number of its members:
        span: int32, (2k, 2, columns): its least and greatest codes.
        chosen: int64, (2k,): the member that came last, as a place among the copies.
        may, may_end, may_at: int64, (2k, WIDEST), twice (2k,): the places that may come next, how
            many, and the next one.
        paid: float64, (2k,): prices of the members together.
    The list:
        mask, size, pays: int64, (LISTED,): the copies of each class as bits, how many, and what
            each pays.  above: float64, same shape: what it costs above prices, or above shares.
        first: int64, (WIDEST + 1,): where classes begin whose dearest copy is each.
        order: int64, (LISTED,): those of a copy by rising cost.
    share, least: float64, (WIDEST,): what a copy must pay above its price, and room to find it.
    A partition that grows, by the number of its classes: next, taken: int64, spent: float64,
        (WIDEST + 1,): place in ``order`` of the class to try, that taken, what those before cost.
    best: int64, (WIDEST,): the classes of the best partition.
    """

    block: NDArray[np.int64]
    copy: NDArray[np.int64]
    row: NDArray[np.int64]
    worth: NDArray[np.float64]
    span: NDArray[np.int32]
    chosen: NDArray[np.int64]
    may: NDArray[np.int64]
    may_end: NDArray[np.int64]
    may_at: NDArray[np.int64]
    paid: NDArray[np.float64]
    mask: NDArray[np.int64]
    size: NDArray[np.int64]
    pays: NDArray[np.int64]
    above: NDArray[np.float64]
    first: NDArray[np.int64]
    order: NDArray[np.int64]
    share: NDArray[np.float64]
    least: NDArray[np.float64]
    next: NDArray[np.int64]
    taken: NDArray[np.int64]
    spent: NDArray[np.float64]
    best: NDArray[np.int64]


def new_room(columns: int, k: int) -> BlockRoom:
    """Allocate room for classes of k to 2k − 1 copies."""

    def whole(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, np.int64)

    return BlockRoom(
        whole(WIDEST), whole(WIDEST), whole(WIDEST), np.zeros(WIDEST),
        np.zeros((2 * k, 2, columns), np.int32), whole(2 * k), whole(2 * k, WIDEST), whole(2 * k),
        whole(2 * k), np.zeros(2 * k),
        whole(LISTED), whole(LISTED), whole(LISTED), np.zeros(LISTED), whole(WIDEST + 1),
        whole(LISTED), np.zeros(WIDEST), np.zeros(WIDEST),
        whole(WIDEST + 1), whole(WIDEST + 1), np.zeros(WIDEST + 1), whole(WIDEST),
    )  # fmt: skip


@inner_kernel
def least_above(d: Any, pays: Any, k: int, worth: float, members: Any, room: Any) -> Any:
    """Return the least that a class with some members, worth so much, may cost above prices.

    Each pays ``pays`` or more; the others come from those that may follow the set of depth d.
    """
    total = members * pays - worth
    z = room.may_at[d]
    while members < 2 * k - 1 and z < room.may_end[d]:
        more = pays - room.worth[room.may[d, z]]
        if members >= k and more >= 0:
            break
        total += more
        members += 1
        z += 1
    return total if members >= k else NEVER


@inner_kernel
def begin(p: Any, n: int, k: int, most: float, room: Any, codes: Any, tables: Any) -> None:
    """Let the copy at a place be a set of its own, and list who may follow: cheaper copies."""
    span, top = room.span[0], room.worth[p]
    clear(span)
    widen(span, span, room.row[p], codes)
    room.chosen[0] = p
    room.paid[0] = top
    m = 0
    for z in range(p + 1, n):
        pays = paid(span, span, room.row[z], FAR, codes, tables)
        size = k if pays >= top else 2 * k - 1
        if size * pays - (size - 1) * top - room.worth[z] < most:
            room.may[0, m] = z
            m += 1
    room.may_end[0] = m
    room.may_at[0] = 0


@inner_kernel
def note(d: Any, pays: Any, found: Any, room: Any) -> None:
    """Put the set of depth d on the list."""
    mask = np.int64(0)
    for z in range(d + 1):
        mask |= np.int64(1) << room.chosen[z]
    room.mask[found] = mask
    room.size[found] = d + 1
    room.pays[found] = pays
    room.above[found] = (d + 1) * pays - room.paid[d]


@inner_kernel
def narrow(d: Any, k: int, most: float, room: Any, codes: Any, tables: Any) -> None:
    """List who may follow the set of depth d + 1, of those that may follow that of depth d."""
    wide, m = room.span[d + 1], 0
    for z in range(room.may_at[d], room.may_end[d]):
        y = room.may[d, z]
        pays = paid(wide, wide, room.row[y], FAR, codes, tables)
        if least_above(d, pays, k, room.paid[d + 1] + room.worth[y], d + 3, room) < most:
            room.may[d + 1, m] = y
            m += 1
    room.may_end[d + 1] = m
    room.may_at[d + 1] = 0


@inner_kernel
def list_classes(n: int, k: int, most: float, room: Any, codes: Any, tables: Any) -> Any:
    """List the classes that cost less than ``most`` above prices; return how many.

    ``TOO_MANY`` where there is no room, or no end.
    """
    found = np.int64(0)
    visits = 0
    for p in range(n):
        room.first[p] = found
        begin(p, n, k, most, room, codes, tables)
        d = np.int64(0)
        while d >= 0:
            if room.may_at[d] >= room.may_end[d] or d + 1 >= 2 * k - 1:
                d -= 1
                continue
            x = room.may[d, room.may_at[d]]
            room.may_at[d] += 1
            visits += 1
            span, row = room.span[d], room.row[x]
            pays = paid(span, span, row, FAR, codes, tables)
            worth = room.paid[d] + room.worth[x]
            if least_above(d, pays, k, worth, d + 2, room) >= most:
                continue
            widen(room.span[d + 1], span, row, codes)
            room.chosen[d + 1] = x
            room.paid[d + 1] = worth
            if d + 2 >= k and (d + 2) * pays - worth < most:
                if found == LISTED:
                    return TOO_MANY
                note(d + 1, pays, found, room)
                found += 1
            if visits > VISITS:
                return TOO_MANY
            narrow(d, k, most, room, codes, tables)
            d += 1
    room.first[n] = found
    return found


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
