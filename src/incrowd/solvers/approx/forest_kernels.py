"""Kernels of the forest algorithm: grow it, cut its edges, pack what is left around centres."""

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import kernel


@kernel
def find(parent: NDArray[np.int64], u: int) -> int:
    """Return the root of u's component, halving the path."""
    while parent[u] != u:
        parent[u] = parent[parent[u]]
        u = parent[u]
    return u


@kernel
def grow_forest(
    weight: NDArray[np.int64],
    found: NDArray[np.int32],
    distance: NDArray[np.int64],
    length: NDArray[np.int32],
    k: int,
    target: NDArray[np.int64],
) -> int:
    """Algorithm FOREST: fill ``target`` (−1: no outgoing edge); return the forest's weight.

    ``weight``: copies of each row; copies of one row hang together by edges of length 0.  A
    component of fewer than k copies has exactly one row without an outgoing edge.
    """
    rows = len(weight)
    parent = np.arange(rows)
    size = weight.copy()
    free = np.arange(rows)
    total = 0
    for row in range(rows):
        target[row] = -1
    for row in range(rows):
        root = find(parent, row)
        while size[root] < k:
            u = free[root]
            to = -1
            for i in range(length[u]):
                if find(parent, found[u, i]) != root:
                    to = found[u, i]
                    total += distance[u, i]
                    break
            if to < 0:
                return -1  # fewer than k copies in the whole table
            target[u] = to
            other = find(parent, to)
            size[other] += size[root]
            parent[root] = other
            root = other
    return total


@kernel
def leaves_first(target: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order the rows so that each stands before the row it points to."""
    rows = len(target)
    incoming = np.zeros(rows, np.int64)
    for u in range(rows):
        if target[u] >= 0:
            incoming[target[u]] += 1
    order = np.empty(rows, np.int64)
    tail = 0
    for u in range(rows):
        if incoming[u] == 0:
            order[tail] = u
            tail += 1
    head = 0
    while head < tail:
        to = target[order[head]]
        head += 1
        if to >= 0:
            incoming[to] -= 1
            if incoming[to] == 0:
                order[tail] = to
                tail += 1
    return order


@kernel
def cut_edges(
    weight: NDArray[np.int64],
    target: NDArray[np.int64],
    order: NDArray[np.int64],
    k: int,
    below: NDArray[np.int64],
    top: NDArray[np.int64],
) -> None:
    """Cut every edge that leaves at least k copies on both sides.

    Afterwards ``below[u]`` is the weight of what hangs on u (u included), ``top[u]`` the root of
    its tree, and no further edge can be cut.
    """
    rows = len(weight)
    left = np.zeros(rows, np.int64)
    for i in range(rows - 1, -1, -1):
        u = order[i]
        top[u] = u if target[u] < 0 else top[target[u]]
        left[top[u]] += weight[u]
        below[u] = weight[u]
    for i in range(rows):
        u = order[i]
        if target[u] < 0:
            continue
        if below[u] >= k and left[top[u]] - below[u] >= k:
            left[top[u]] -= below[u]
            target[u] = -1
        else:
            below[target[u]] += below[u]
    for i in range(rows - 1, -1, -1):
        u = order[i]
        top[u] = u if target[u] < 0 else top[target[u]]


@kernel
def find_centres(
    target: NDArray[np.int64],
    order: NDArray[np.int64],
    below: NDArray[np.int64],
    top: NDArray[np.int64],
    k: int,
    most: int,
    centre: NDArray[np.int64],
    item: NDArray[np.int64],
) -> None:
    """Find, for trees of more than ``most`` copies, the row around which all subtrees are < k.

    ``centre[root]`` is that row (−1 for smaller trees); ``item[u]`` names the subtree of the
    centre that u is in by its row next to the centre (the root for the part above).
    """
    rows = len(target)
    for u in range(rows):
        centre[u] = u if target[u] < 0 and below[u] > most else -1
    for i in range(rows - 1, -1, -1):
        u = order[i]
        if target[u] >= 0 and below[u] >= k and centre[top[u]] == target[u]:
            centre[top[u]] = u
    for i in range(rows - 1, -1, -1):
        u = order[i]
        if target[u] < 0 or target[u] == centre[top[u]]:
            item[u] = u
        else:
            item[u] = item[target[u]]


@kernel
def pack(sizes: NDArray[np.int64], k: int, most: int, label: NDArray[np.int64]) -> int:
    """Pack subtrees around a centre (one unit more) into bins of k..most; return their number.

    ``sizes``: falling, each below k, Σ + 1 > most ≥ max(2k − 1, 3k − 5).  ``label`` has one entry
    more than ``sizes``, for the centre itself, and receives the bins.
    """
    items = len(sizes)
    left = sizes.sum() + 1
    bins = 0
    first = 0
    while left > most:
        end = first
        total = 0
        while total < k:
            total += sizes[end]
            end += 1
        if left - total < k:
            break
        for i in range(first, end):
            label[i] = bins
        bins += 1
        first = end
        left -= total
    if left <= most:
        for i in range(first, items + 1):
            label[i] = bins
        return bins + 1
    # The last split, as in the paper's cases C and D: the centre completes a bin of k − 1.
    end = first
    total = 0
    while total < k - 1:
        total += sizes[end]
        end += 1
    for i in range(first, items):
        label[i] = bins if i < end else bins + 1
    rest = left - 1 - total
    label[items] = bins + 1 if rest == k - 1 else bins
    return bins + 2


@kernel
def label_copies(
    weight: NDArray[np.int64],
    first_copy: NDArray[np.int64],
    order: NDArray[np.int64],
    top: NDArray[np.int64],
    centre: NDArray[np.int64],
    item: NDArray[np.int64],
    k: int,
    most: int,
    label: NDArray[np.int64],
) -> int:
    """Fill ``label`` (class of each copy); return the number of classes.

    Copies of a centre beyond the first are subtrees of their own.
    """
    rows = len(weight)
    class_of = np.full(rows, -1, np.int64)  # of small trees by root, of packed subtrees by item
    item_size = np.zeros(rows, np.int64)
    pieces = np.zeros(rows, np.int64)  # subtrees around each centre
    for u in range(rows):
        c = centre[top[u]]
        if c >= 0 and u != c:
            if item_size[item[u]] == 0:
                pieces[c] += 1
            item_size[item[u]] += weight[u]
    at = np.zeros(rows + 1, np.int64)
    for u in range(rows):
        at[u + 1] = at[u] + pieces[u]
    members = np.empty(at[rows], np.int64)
    fill = at[:-1].copy()
    for u in range(rows):
        if item_size[u] > 0:
            c = centre[top[u]]
            members[fill[c]] = u
            fill[c] += 1
    classes = 0
    for i in range(rows - 1, -1, -1):
        root = order[i]
        if top[root] != root:
            continue
        c = centre[root]
        if c < 0:
            class_of[root] = classes
            classes += 1
            continue
        around = members[at[c] : at[c + 1]]
        sizes = np.ones(len(around) + weight[c] - 1, np.int64)
        for q in range(len(around)):
            sizes[q] = item_size[around[q]]
        falling = np.argsort(-sizes, kind="mergesort")
        bins = np.empty(len(sizes) + 1, np.int64)
        number = pack(sizes[falling], k, most, bins)
        for q in range(len(sizes)):
            if falling[q] < len(around):
                class_of[around[falling[q]]] = classes + bins[q]
            else:
                label[first_copy[c] + 1 + falling[q] - len(around)] = classes + bins[q]
        label[first_copy[c]] = classes + bins[len(sizes)]
        classes += number
    for u in range(rows):
        c = centre[top[u]]
        if c == u:
            continue
        mine = class_of[top[u]] if c < 0 else class_of[item[u]]
        for copy in range(first_copy[u], first_copy[u] + weight[u]):
            label[copy] = mine
    return classes
