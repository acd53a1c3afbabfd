"""The k highest prices of a group of rows, copies counted: the inner loop of every price bound."""

from typing import Any

import numpy as np

from incrowd.kernels.jit import inner_kernel, lean_kernel


@inner_kernel
def insert_copies(
    price: Any,
    count: Any,
    row: Any,
    k: int,
    entries: int,
    have: int,
    value: Any,
    weight: Any,
    member: Any,
) -> tuple[int, int]:
    """Put copies of a row among the highest-priced; return how many entries and copies there are.

    Entries that k copies do without are dropped, so the last one may hold some too many.
    """
    copies = min(count, k)
    j = entries
    while j > 0 and value[j - 1] < price:
        value[j] = value[j - 1]
        weight[j] = weight[j - 1]
        member[j] = member[j - 1]
        j -= 1
    value[j] = price
    weight[j] = copies
    member[j] = row
    entries += 1
    have += copies
    while have - weight[entries - 1] >= k:
        have -= weight[entries - 1]
        entries -= 1
    return entries, have


@lean_kernel
def top_k(
    rows: Any,
    begin: int,
    end: int,
    price: Any,
    counts: Any,
    k: int,
    value: Any,
    weight: Any,
    member: Any,
) -> tuple[float, int]:
    """Collect the k highest-priced copies among ``rows[begin:end]``.

    ``value``, ``weight`` and ``member`` (length ≥ k + 2) receive prices in falling order, how many
    copies of each count, and the row; the number of entries is returned beside the sum.  The sum
    of fewer than k copies is reported as −1 entries: the caller must have checked the support.
    """
    entries = 0
    have = 0
    for i in range(begin, end):
        row = rows[i]
        p = price[row]
        if have >= k and p <= value[entries - 1]:
            continue
        entries, have = insert_copies(p, counts[row], row, k, entries, have, value, weight, member)
    if have < k:
        return price[0] * 0, -1
    weight[entries - 1] -= have - k
    total = price[0] * 0
    for j in range(entries):
        total += value[j] * weight[j]
    return total, entries


def top_k_buffers(k: int, dtype: Any) -> tuple[Any, Any, Any]:
    """Allocate the three buffers that ``top_k`` writes to."""
    return np.empty(k + 2, dtype), np.empty(k + 2, np.int64), np.empty(k + 2, np.int64)


@lean_kernel
def most_above(
    rows: Any, begin: int, end: int, price: Any, counts: Any, k: int, cost: Any
) -> tuple[Any, bool]:
    """Bound by how much the k highest prices together exceed ``k·cost``: one quick scan.

    Returns a number that is no less, and whether they surely exceed it, as k copies do one by one
    (then the number is just positive).  The rows must hold k copies.
    """
    gain = price[0] * 0
    copies = 0
    below = False
    rest = price[0] * 0
    for i in range(begin, end):
        d = price[rows[i]] - cost
        if d > 0:
            n = counts[rows[i]]
            gain += d * min(n, k)
            copies += n
            if copies >= k:
                return gain, True
        elif not below or d > rest:
            rest = d
            below = True
    return gain + (k - copies) * rest, False


@inner_kernel
def any_above(rows: Any, begin: int, end: int, price: Any, least: Any) -> bool:
    """Whether the price of a row is higher than this."""
    for i in range(begin, end):
        if price[rows[i]] > least:
            return True
    return False


@inner_kernel
def may_exceed(rows: Any, begin: int, end: int, price: Any, counts: Any, k: int, cost: Any) -> bool:
    """Whether the mean of the k highest prices might exceed ``cost``."""
    above, _ = most_above(rows, begin, end, price, counts, k, cost)
    return above > 0
