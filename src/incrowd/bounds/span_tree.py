"""Rows in boxes of codes within boxes: which rows a class of two costs little with a given row.

The join of two rows depends on the least and the greatest of their codes in each column, and costs
no less the farther these are apart.  So the join of a row with any row of a box costs at least what
that with the nearest corner does.  Boxes are halved in the column in which they cost most, as of
Bentley (1975, "Multidimensional binary search trees used for associative searching").
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.problem.instance import Instance, NodeTables
from incrowd.problem.join import span_cost

LEAF = 8  # rows of a box that is not halved
DEEP = 64  # more than halvings of 2**31 rows


class SpanTree(NamedTuple):
    """Boxes; box 0 holds all rows, and the halves of box b are ``child[b]`` and the next one.

    place: int64, shape (rows,): rows, those of a box one after another.
    box: int32, shape (boxes, 2, columns): least and greatest codes.
    begin, end, child: int64, shape (boxes,): its rows in ``place``; 0 for no halves.
    codes, tables: of the instance.
    """

    place: NDArray[np.int64]
    box: NDArray[np.int32]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    child: NDArray[np.int64]
    codes: NDArray[np.int32]
    tables: NodeTables


@inner_kernel
def apart(row: int, b: int, tree: Any, most: Any) -> Any:
    """Return what the join of a row with one of a box costs at least; more than ``most`` if so."""
    total = np.int64(0)
    for j in range(tree.codes.shape[1]):
        c = tree.codes[row, j]
        if c < tree.box[b, 0, j]:
            total += span_cost(j, c, tree.box[b, 0, j], tree.tables)
        elif c > tree.box[b, 1, j]:
            total += span_cost(j, tree.box[b, 1, j], c, tree.tables)
        if total > most:
            break
    return total


@inner_kernel
def pair_cost(r: int, s: int, tree: Any, most: Any) -> Any:
    """Return what each of two rows pays in a class of both; more than ``most`` if that is so."""
    total = np.int64(0)
    for j in range(tree.codes.shape[1]):
        low, high = tree.codes[r, j], tree.codes[s, j]
        if low != high:
            total += span_cost(j, min(low, high), max(low, high), tree.tables)
            if total > most:
                break
    return total


@lean_kernel
def enclose(b: int, tree: Any) -> int:
    """Find the least and greatest codes of a box; return the column in which they cost most."""
    best, dearest = 0, np.int64(-1)
    for j in range(tree.codes.shape[1]):
        low = high = tree.codes[tree.place[tree.begin[b]], j]
        for x in range(tree.begin[b], tree.end[b]):
            low = min(low, tree.codes[tree.place[x], j])
            high = max(high, tree.codes[tree.place[x], j])
        tree.box[b, 0, j], tree.box[b, 1, j] = low, high
        cost = span_cost(j, low, high, tree.tables)
        if low != high and cost > dearest:
            best, dearest = j, cost
    return best


def span_tree(instance: Instance) -> SpanTree:
    """Halve boxes until they hold few rows."""
    rows, columns = instance.codes.shape
    most = 4 * (rows // LEAF + 1) + 1
    begin, end, child = np.zeros((3, most), np.int64)
    box, place = np.zeros((most, 2, columns), np.int32), np.arange(rows)
    end[0] = rows
    tree = SpanTree(place, box, begin, end, child, instance.codes, instance.tables)
    boxes, b = 1, 0
    while b < boxes:
        column = enclose(b, tree) if rows else 0
        low, high = int(begin[b]), int(end[b])
        if high - low > LEAF:
            half = (low + high) // 2
            code = instance.codes[place[low:high], column]
            place[low:high] = place[low:high][np.argsort(code, kind="stable")]
            child[b] = boxes
            begin[boxes : boxes + 2], end[boxes : boxes + 2] = (low, half), (half, high)
            boxes += 2
        b += 1
    parts = box[:boxes], begin[:boxes], end[:boxes], child[:boxes]
    return SpanTree(place, *parts, instance.codes, instance.tables)


@lean_kernel
def nearest(
    k: int, counts: Any, tree: Any, first: int, last: int, near: Any, todo: Any, price: Any
) -> None:
    """Find what the join with the (k − 1)-st nearest other copy costs rows first..last − 1.

    ``near``, ``todo``: int64, shapes (k,) and (2·``DEEP``,), scratch.
    """
    for x in range(first, last):
        r = tree.place[x]
        near[:] = np.iinfo(np.int64).max
        todo[0], waiting = 0, 1
        while waiting:
            waiting -= 1
            b = todo[waiting]
            if apart(r, b, tree, near[k - 1]) >= near[k - 1]:
                continue
            if tree.child[b]:
                one, other = tree.child[b], tree.child[b] + 1
                if apart(r, one, tree, near[k - 1]) < apart(r, other, tree, near[k - 1]):
                    one, other = other, one
                todo[waiting], todo[waiting + 1] = one, other  # the nearer one first
                waiting += 2
                continue
            for y in range(tree.begin[b], tree.end[b]):
                s = tree.place[y]
                cost = pair_cost(r, s, tree, near[k - 1])
                for _ in range(min(k, counts[s])):
                    if cost >= near[k - 1]:
                        break
                    z = k - 1
                    while z > 0 and near[z - 1] > cost:
                        near[z] = near[z - 1]
                        z -= 1
                    near[z] = cost
        price[r] = near[k - 1]
