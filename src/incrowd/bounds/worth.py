"""What sets of rows may be worth above their cost, by what they cost.

Rows come by falling price, each with what it costs at least to hold it.  For every bucket of costs
the dearest copies are summed that sets within that cost may hold.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel

BUCKETS = 64  # of costs
NEVER = -(1 << 62)


class Worth(NamedTuple):
    """What sets within a cost may be worth, by buckets of costs; int64, shape (``BUCKETS``,).

    top: the sum of the dearest prices; lack: copies that it lacks; best: the most that it exceeds
    what such a set costs by, for this bucket and all later ones.
    """

    top: NDArray[np.int64]
    lack: NDArray[np.int64]
    best: NDArray[np.int64]


@inner_kernel
def begin_worth(worth: Any, buckets: int, copies: int) -> int:
    """Begin with no rows; ``copies`` make a set.  Returns how many buckets are open."""
    for b in range(buckets):
        worth.top[b], worth.lack[b] = 0, copies
    return buckets if copies > 0 else 0


@inner_kernel
def put_worth(worth: Any, bucket: int, price: int, copies: int, open_: int) -> int:
    """Let the next dearest row be in a bucket, and so in all later ones; return how many are open.

    Buckets fill from the last one on.
    """
    for b in range(bucket, open_):
        taken = min(copies, worth.lack[b])
        worth.top[b] += taken * price
        worth.lack[b] -= taken
    while open_ > 0 and worth.lack[open_ - 1] == 0:
        open_ -= 1
    return open_


@inner_kernel
def end_worth(worth: Any, buckets: int, base: int, width: int, each: int) -> None:
    """Say what sets are worth above their cost: ``each`` per unit; bucket b costs base + b·width.

    Where copies are lacking there is no set.
    """
    best = np.int64(NEVER)
    for b in range(buckets - 1, -1, -1):
        if worth.lack[b] == 0:
            best = max(best, worth.top[b] - each * (base + b * width))
        worth.best[b] = best
