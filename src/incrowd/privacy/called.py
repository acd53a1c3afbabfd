"""A predicate that kernels call back: the law of a model that states none.

The model sees the class's rows, as ever.  A search asks of the same histograms again and again, so
answers are kept.
"""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.base import Group
from incrowd.privacy.model import Model

MOST_KEPT = 1_000_000  # answers


def called(model: Model, profiles: NDArray[np.int32], table: Group) -> tuple[Any, int]:
    """Return a function for kernels, and its address, which is valid while the function is kept.

    It takes the address of a class (int64, rows of each profile), and returns 1 for a lawful one,
    else 0; also where the predicate raises, for kernels cannot.

    Parameters
    ----------
    profiles: int32, shape (profiles, attributes): the different combinations of values.
    """
    known: dict[bytes, int] = {}
    size, smallest = 8 * len(profiles), model.smallest_class(table)

    def answer(place: int | None) -> int:
        counted = ctypes.string_at(place or 0, size)
        found = known.get(counted)
        if found is None:
            held = np.frombuffer(counted, np.int64)
            group = Group(np.repeat(profiles, held, axis=0), table.sizes)
            found = int(group.rows >= smallest and bool(model.lawful(group, table)))
            if len(known) >= MOST_KEPT:
                known.clear()
            known[counted] = found
        return found

    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(answer)
    return function, ctypes.cast(function, ctypes.c_void_p).value or 0
