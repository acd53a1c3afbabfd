"""The models as integer laws over histograms, in the flat form that search kernels take.

``laws_of`` turns a model into arrays once; ``incrowd.privacy.violation`` answers from them for
any class.  A part without a law of its own is asked by callback, class by class: slow, and exact.
"""

from collections.abc import Sequence
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.apart import address_of
from incrowd.privacy.base import Group
from incrowd.privacy.called import called
from incrowd.privacy.law import (
    CALLED,
    CARRIED,
    COUNTED,
    DISTINCT,
    ONCE,
    ROWS,
    SHARES,
    Law,
    Laws,
    strictest,
)
from incrowd.privacy.model import Model, all_of
from incrowd.privacy.transport_kernel import scratch
from incrowd.privacy.violation import RARELY, rarely_broken

COMMON = (SHARES, DISTINCT, CALLED, COUNTED)
WIDE = 64  # values beyond which different ones are counted as they come and go, not sought anew


def laws_of(model: Model, table: Group) -> Laws:
    """Turn a model into laws over histograms that hold the attributes one after the other.

    Attribute a's value v stands at place ``sum(table.sizes[:a]) + v``.  Where a part has no law,
    the different rows of ``table.values``, in order, have a place each behind all attributes.  Last
    come the places where values count once (``Laws.once``).

    Raises
    ------
    OutOfScopeError: numbers too large for 64 bits.
    """
    function, starts = None, np.concatenate([[0], np.cumsum(table.sizes)]).astype(int)
    stated = [(part, part.law(table)) for part in model.parts]
    without = [part for part, own in stated if own is None]
    every = [law for _, own in stated for law in own or ()]
    least = max((law.data[0] for law in every if law.kind == ROWS), default=1)
    asked = strictest([law for law in every if law.kind != ROWS])
    profiles = np.unique(table.values, axis=0) if without else table.values[:0]
    once, behind = places_once(asked, table.sizes, int(starts[-1]) + len(profiles))
    laws = [stated_at(law, starts, table.sizes, behind) for law in asked]
    if without:
        function, address = called(all_of(without), profiles, table)
        laws.append((CALLED, int(starts[-1]), len(profiles), [address]))
    first = np.cumsum([0] + [len(data) for *_, data in laws])[:-1]
    pads = [room_for(kind, width, data) for kind, _, width, data in laws]
    numbers = np.array([x for *_, data in laws for x in data], np.int64)
    finalize(numbers, id, function)  # which is held as long as its address is
    return Laws(
        np.array([least], np.int64),
        np.array([kind for kind, *_ in laws], np.int64),
        np.array([place for _, place, *_ in laws], np.int64),
        np.array([width for _, _, width, _ in laws], np.int64),
        np.array(first, np.int64),
        numbers,
        np.cumsum([0] + [len(pad) for pad in pads])[:-1],
        np.concatenate([*pads, scratch(0)]),
        once,
        0 if all(kind in COMMON for kind, *_ in laws) else address_of(rarely_broken, RARELY),
    )


Behind = dict[int, tuple[int, int]]
"""Of attributes whose values count once: the first of the places for that, how many there are."""


def places_once(
    laws: Sequence[Law], sizes: Sequence[int], behind: int
) -> tuple[NDArray[np.int64], Behind]:
    """Return ``Laws.once``, and where the attributes' values count; ``behind``: the first place."""
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    once, found = [np.full(behind, -1, np.int64)], Behind()
    for law in sorted(laws, key=lambda law: law.kind != ONCE):  # which says where, for both
        a = law.attribute
        wide = law.kind == DISTINCT and sizes[a] > WIDE
        if a in found or not (wide or law.kind == ONCE):
            continue
        width = int(law.data[1]) if law.kind == ONCE else 1
        value = np.array(law.data[2 : 2 + sizes[a]], np.int64) if law.kind == ONCE else 0
        found[a] = behind, width
        once[0][starts[a] : starts[a + 1]] = behind + value
        once.append(np.full(width, -1, np.int64))
        behind += width
    return np.concatenate(once), found


def stated_at(
    law: Law, starts: NDArray[np.int64], sizes: Sequence[int], behind: Behind
) -> tuple[int, int, int, Sequence[int]]:
    """Return a law's kind, its first place and how many it looks at, and its numbers."""
    kind, a, data = law
    if a in behind and kind in (ONCE, DISTINCT):
        own = [data[0], *data[2 + sizes[a] :]] if kind == ONCE else data
        return ONCE if kind == ONCE else COUNTED, *behind[a], own
    return kind, int(starts[a]), sizes[a], data


def histogram(laws: Laws, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64, one number a place: of rows whose values stand at ``places`` (rows, attributes)."""
    found = np.bincount(places.ravel(), minlength=len(laws.once)).astype(np.int64)
    held = np.flatnonzero((laws.once >= 0) & (found > 0))
    np.add.at(found, laws.once[held], 1)
    return found


def room_for(kind: int, width: int, data: Sequence[int]) -> NDArray[np.int64]:
    """Return what a law needs to calculate in; ``width``: of its places."""
    asked = data[0] if kind == ONCE else kind
    return scratch(width if asked == CARRIED else 0)
