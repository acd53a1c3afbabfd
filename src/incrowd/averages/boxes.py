"""Rows in boxes, so that what is far from a row is passed over box by box."""

from typing import Any

import numpy as np

from incrowd.averages.axes import Ints
from incrowd.averages.strata import Floats
from incrowd.kernels.jit import kernel

SIZE = 32  # rows of a box; the last has fewer


def boxed(place: Floats) -> Ints:
    """Return int64, shape (n,): the rows, so that each ``SIZE`` in turn make a small box.

    They are halved by their widest column until one box is left.
    """
    order, parts = np.arange(len(place)), [(0, len(place))]
    while parts:
        first, end = parts.pop()
        boxes = -(-(end - first) // SIZE)
        if boxes > 1:
            rows = order[first:end]
            widest = int(np.argmax(np.ptp(place[rows], axis=0)))
            order[first:end] = rows[np.argsort(place[rows, widest], kind="stable")]
            middle = first + boxes // 2 * SIZE
            parts += [(first, middle), (middle, end)]
    return order


def ends_of(place: Floats) -> Floats:
    """Return float64, shape (2, boxes, columns): the least and the greatest in each box."""
    start = np.arange(0, len(place), SIZE)
    return np.array([end.reduceat(place, start) for end in (np.minimum, np.maximum)])


@kernel
def within_reach(
    place: Any, ends: Any, most: Any, top: Any, i: int, k: int, room: float, rows: Any, worth: Any
) -> Any:
    """Return the rows that may be among k − 1 which are worth less than ``room`` together.

    A row is worth its squared distance from row i over k, less ``most``, float64, shape (n,): −∞
    where it may not be taken.  top: float64, shape (boxes,): no less than ``most`` in each box.
    rows: int64, worth: float64, shape (n,), are written over.
    """
    n, m = place.shape
    far = np.zeros(len(top))
    nearest = np.inf
    for box in range(len(top)):
        for c in range(m):
            d = max(ends[0, box, c] - place[i, c], place[i, c] - ends[1, box, c], 0.0)
            far[box] += d * d
        far[box] = far[box] / k - top[box]
        nearest = min(nearest, far[box])
    # the others of the k − 1 are worth no less than the nearest box each
    limit = room - (k - 2) * nearest if k > 2 else room
    count = 0
    for box in range(len(top)):
        if far[box] >= limit:
            continue
        for j in range(box * SIZE, min(box * SIZE + SIZE, n)):
            found = 0.0
            for c in range(m):
                d = place[j, c] - place[i, c]
                found += d * d
            found = found / k - most[j]
            if found < limit:
                rows[count] = j
                worth[count] = found
                count += 1
    if count < k - 1:
        return rows[:0]
    if k > 2:  # less what the others are worth at least; np.partition takes seconds to compile
        least = np.full(k - 2, np.inf)
        for found in worth[:count]:
            at = k - 3
            if found < least[at]:
                while at > 0 and found < least[at - 1]:
                    least[at] = least[at - 1]
                    at -= 1
                least[at] = found
        for found in least:
            room -= found
    return rows[:count][worth[:count] < room]
