"""Classes of k rows that change places: a group becomes one if the others can spare the rows.

All groups of a step are asked in a fixed order.  One becomes a class if all classes of the step can
then have k rows each, whoever stands where by then: augmenting paths find out.  At the end of the
step rows are placed one by one, each in the first class it fits that leaves k for all others.

**Claim.**  Say the step makes R of table Y, and R does not publish what Y shows of cell (i, c).
Then it makes R of Y with that hidden as well.

**Argument.**  That takes row i out of groups that publish the cell, and R places it in none.  A
group that was refused is so still: fewer rows fit.  For one that became a class R itself shows that
all have k rows, without row i in groups that publish the cell.  So the same groups become classes.
Of all placements with k rows in each, and a place for whoever fits, the step takes the first in an
order that looks at rows and classes alone.  R stays one, and no new one comes.
"""

from typing import Any

import numpy as np

from incrowd.kernels.jit import inner_kernel, kernel
from incrowd.kernels.types import Ints

FREE, PLACED = -1, -2


def placed(groups: list[Ints], turn: Ints, k: int) -> Ints:
    """Return int64, shape (rows,): the group that each row joins, −1 for none.

    Parameters
    ----------
    groups: the rows of each group, in the order in which they are asked.
    turn: int64, shape (rows,): the order in which rows are placed, one number each.
    """
    sizes = np.array([len(group) for group in groups], np.int64)
    place = np.full(len(turn), FREE, np.int64)
    if not len(groups):
        return place
    row_of = np.concatenate(groups).astype(np.int32)
    group_of = np.repeat(np.arange(len(groups), dtype=np.int32), sizes)
    by_row = np.argsort(row_of, kind="stable")
    begin = np.concatenate([[0], np.cumsum(sizes)])
    first = np.concatenate([[0], np.cumsum(np.bincount(row_of, minlength=len(turn)))])
    held = np.full(len(turn), FREE, np.int32)
    opened = open_groups(begin, row_of, held, k)
    settle(begin, row_of, first, group_of[by_row], held, opened, np.argsort(turn), place)
    return place


@inner_kernel
def pulled(a: int, begin: Any, row_of: Any, held: Any, seen: Any, trail: Any) -> bool:
    """Let group a hold one row more, along a path to a row that nobody holds; whether there is one.

    seen: int64, shape (groups + 1,): the search that came to each group, and the number of
        searches.  trail: int32, shape (3, groups): from which group, by which row; and the queue.
    """
    seen[-1] += 1
    seen[a] = seen[-1]
    trail[2, 0] = a
    done, count = 0, 1
    while done < count:
        x = trail[2, done]
        done += 1
        for e in range(begin[x], begin[x + 1]):
            i = row_of[e]
            b = held[i]
            if b == FREE:
                while x != a:
                    held[i] = x
                    i, x = trail[1, x], trail[0, x]
                held[i] = a
                return True
            if b != PLACED and seen[b] != seen[-1]:
                seen[b] = seen[-1]
                trail[0, b], trail[1, b] = x, i
                trail[2, count] = b
                count += 1
    return False


@kernel
def open_groups(begin: Any, row_of: Any, held: Any, k: int) -> Any:
    """Return which groups become classes, bool of shape (groups,); each then holds k rows.

    begin: int64, shape (groups + 1,), and row_of: int32: the rows of each group.
    held: int32, shape (rows,): the group that counts on a row.
    """
    groups = len(begin) - 1
    opened = np.zeros(groups, np.bool_)
    seen, trail = np.zeros(groups + 1, np.int64), np.zeros((3, groups), np.int32)
    for g in range(groups):
        opened[g] = True
        for _ in range(k):
            if not pulled(g, begin, row_of, held, seen, trail):
                opened[g] = False
                break
        for e in range(begin[g], begin[g + 1]):
            if not opened[g] and held[row_of[e]] == g:
                held[row_of[e]] = FREE
    return opened


@kernel
def settle(
    begin: Any, row_of: Any, first: Any, fits: Any, held: Any, opened: Any, order: Any, place: Any
) -> None:
    """Place the rows one by one, each in the first class that leaves k rows for all others.

    first: int64, shape (rows + 1,), and fits: int32: the groups of each row, rising.
    """
    groups = len(begin) - 1
    seen, trail = np.zeros(groups + 1, np.int64), np.zeros((3, groups), np.int32)
    waits = np.zeros(groups, np.int64)  # for how many rows that it holds and that are not placed
    for i in order:
        if held[i] >= 0:
            waits[held[i]] += 1
    for i in order:
        at = held[i]
        held[i] = PLACED
        for e in range(first[i], first[i + 1]):
            g = fits[e]
            if not opened[g]:
                continue
            spared = -1  # g needs a row less, unless it was i
            if at != g and waits[g]:
                for f in range(begin[g], begin[g + 1]):
                    if held[row_of[f]] == g:
                        spared = row_of[f]
                        held[spared] = FREE
                        break
            if at < 0 or at == g or pulled(at, begin, row_of, held, seen, trail):
                place[i] = g
                waits[g] -= min(waits[g], 1)
                break
            if spared >= 0:
                held[spared] = g
