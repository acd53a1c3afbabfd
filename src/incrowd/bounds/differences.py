"""In which columns two rows differ, and what that costs; most pairs are told apart by bytes.

A word compares eight columns at once by the last byte of their nodes: equal nodes have equal bytes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.row_sets import Sheet, ones, weight_of
from incrowd.kernels.jit import inner_kernel

LOWER, TOP = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)


def packed(sheet: Sheet) -> NDArray[np.uint64]:
    """Return the last byte of each node, eight in a word; uint64, shape (rows, words)."""
    rows, columns = sheet.node.shape
    words = -(-columns // 8) or 1
    padded = np.zeros((rows, 8 * words), np.uint8)
    padded[:, :columns] = sheet.node % 256
    return padded.view(np.uint64)


@inner_kernel
def apart(r: int, s: int, most: int, pack: Any) -> bool:
    """Whether two rows differ in more than so many columns, as far as bytes tell."""
    count = 0
    for w in range(pack.shape[1]):
        x = pack[r, w] ^ pack[s, w]
        count += ones((((x & LOWER) + LOWER) | x) & TOP)
        if count > most:
            return True
    return False


@inner_kernel
def differing(r: int, s: int, limit: int, sheet: Any, mask: Any, at: int) -> int:
    """Write where s differs from r; return what that costs r, or a number above the limit."""
    columns, cost = sheet.node.shape[1], 0
    for w in range(mask.shape[1]):
        word = np.uint64(0)
        for b in range(64 * w, min(columns, 64 * w + 64)):
            if sheet.node[r, b] != sheet.node[s, b]:
                word |= np.uint64(1) << np.uint64(b - 64 * w)
        if word != np.uint64(0):
            cost += weight_of(word, w, r, sheet)
            if cost > limit:
                return cost
        mask[at, w] = word
    return cost


@inner_kernel
def least_weight(r: int, sheet: Any) -> int:
    """Return the least that a column costs a row."""
    if sheet.even > 0:
        return sheet.even
    least = sheet.weight[r, 0] if sheet.node.shape[1] > 0 else 0
    for b in range(sheet.node.shape[1]):
        least = min(least, sheet.weight[r, b])
    return least
