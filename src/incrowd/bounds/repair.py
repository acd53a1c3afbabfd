"""Exact repair of integer prices that a pattern's dearest k copies violate."""

from typing import Any

import numpy as np

from incrowd.kernels.jit import inner_kernel
from incrowd.lattice.topk import top_k


@inner_kernel
def repair(task: Any, rows: Any, counts: Any, cost: int, state: Any, pad: Any) -> None:
    """Lower integer prices until the k highest sum to at most k·cost (here cost has their unit)."""
    k, price = task.k, task.price
    value, weight, member = pad
    total, entries = top_k(rows, 0, rows.size, price, counts, k, *pad)
    excess = total - k * cost
    tries = 0
    while excess > 0:
        state[0] += 1
        tries += 1
        above = 0
        for j in range(entries):
            if value[j] > cost:
                above += (value[j] - cost) * weight[j]
        for j in range(entries):
            if value[j] > cost:
                over = value[j] - cost
                if tries < 30:
                    # float first: the exact product may not fit 64 bits; one more is always safe
                    over = min(over, np.int64(over * (excess / above)) + 1)
                price[member[j]] -= over
        total, entries = top_k(rows, 0, rows.size, price, counts, k, *pad)
        excess = total - k * cost
