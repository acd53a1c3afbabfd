"""The classes that could replace those of a block, by branch and bound.

A class costs at least what its rows are worth (their prices), so one that costs ``most`` or more
above that is of no use where the block costs no more than that.  Sets grow by a copy at a time,
from their dearest copy on, and are given up when the dearest copies left cannot make them cheap.
"""

from typing import Any

import numpy as np

from incrowd.kernels.jit import inner_kernel
from incrowd.solvers.engine.block_room import LISTED
from incrowd.solvers.engine.traded import FAR, clear, paid, widen

VISITS = 30_000  # sets looked at for a list
TOO_MANY = -1
NEVER = 1e300


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
