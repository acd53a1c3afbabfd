"""The models as integer laws over histograms, in the flat form that search kernels take.

``laws_of`` turns a model into arrays once; ``incrowd.privacy.violation`` answers from them for
any class.  A part without a law of its own is asked by callback, class by class: slow, and exact.
"""

from collections.abc import Sequence
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.base import Group
from incrowd.privacy.called import called
from incrowd.privacy.law import CALLED, CARRIED, DISTINCT, ONCE, ROWS, SHARES, Laws, strictest
from incrowd.privacy.model import Model, all_of
from incrowd.privacy.transport_kernel import scratch

COMMON = (SHARES, DISTINCT, CALLED)


def laws_of(model: Model, table: Group) -> Laws:
    """Turn a model into laws over histograms that hold the attributes one after the other.

    Attribute a's value v stands at place ``sum(table.sizes[:a]) + v``.  Where a part has no law,
    the different rows of ``table.values``, in order, have a place each behind all attributes.

    Raises
    ------
    OutOfScopeError: numbers too large for 64 bits.
    """
    function, starts = None, np.concatenate([[0], np.cumsum(table.sizes)]).astype(int)
    stated = [(part, part.law(table)) for part in model.parts]
    without = [part for part, own in stated if own is None]
    every = [law for _, own in stated for law in own or ()]
    least = max((law.data[0] for law in every if law.kind == ROWS), default=1)
    laws = [
        (kind, int(starts[a]), table.sizes[a], data)
        for kind, a, data in strictest([law for law in every if law.kind != ROWS])
    ]
    if without:
        profiles = np.unique(table.values, axis=0)
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
        None if all(kind in COMMON for kind, *_ in laws) else 1,
    )


def room_for(kind: int, width: int, data: Sequence[int]) -> NDArray[np.int64]:
    """Return what a law needs to calculate in; ``width``: of its attribute."""
    if kind == ONCE:
        inner = scratch(data[1] if data[0] == CARRIED else 0)
        return np.concatenate([np.zeros(data[1], np.int64), inner])
    return scratch(width if kind == CARRIED else 0)
