"""Which joins were listed: a table of their hashes."""

from typing import Any

import numpy as np

from incrowd.kernels.jit import inner_kernel


def places(joins: int) -> int:
    """Return how many places a table of so many joins has: more than half of them stay free."""
    return 1 << (2 * joins + 2).bit_length()


@inner_kernel
def is_new(hidden: Any, node: Any, seen: Any) -> bool:
    """Note a join; return whether it was not noted before.

    hidden: uint64, shape (words,): the columns that it hides.  node: int32, shape (columns,): a row
    that it matches.  seen: uint64, shape (``places``,), zeros at first; half of them must be free.
    """
    key = np.uint64(1469598103934665603)
    for b in range(node.size):
        over = hidden[b >> 6] >> np.uint64(b & 63) & np.uint64(1)
        shown = np.uint64(0) if over else np.uint64(node[b] + 1)
        key = (key ^ shown) * np.uint64(1099511628211)
        key ^= key >> np.uint64(29)
    if key == np.uint64(0):
        key = np.uint64(1)
    last = np.uint64(seen.size - 1)
    at = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & last
    while seen[at] != np.uint64(0):
        if seen[at] == key:
            return False
        at = (at + np.uint64(1)) & last
    seen[at] = key
    return True
