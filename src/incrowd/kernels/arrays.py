"""Longer arrays in kernels, item by item.

Numba compiles an assignment to a slice together with the text of its error about shapes, which
takes a second or two for each kernel that has one.
"""

from typing import Any

import numpy as np

from incrowd.kernels.jit import kernel


@kernel
def longer(array: Any, size: int) -> Any:
    """Return an array of one axis and ``size`` items that begins with those of ``array``."""
    out = np.empty(size, array.dtype)
    for i in range(array.size):
        out[i] = array[i]
    return out
