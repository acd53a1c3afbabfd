"""The price inequality for every set of k rows, where columns are ranges.

The claim and the cuts are those of ``incrowd.checker.crowds``; a set is known here by the least and
the greatest code of its rows in each column, from which its cost follows: an interval of two codes,
or of a hierarchy, whose leaves are sorted along its tree, the lowest node of both.

Near rows.  The dearest row r of a set and the dearest k − 1 behind it sum to S; rows whose join
with r costs S / k or more are in no set of r that breaks the inequality.  Rows are halved into
boxes of codes, and the join of r with any row of a box costs at least what it does with the nearest
code of the box in each column: boxes that cost too much are left out whole.

Of what is looked at there is an end, ``MOST`` pairs of rows or boxes, about a minute; beyond it
the proof is refused.  Memory: some 200 MB beside the rows.  A table of 63,441 rows, eight columns,
five of them ranges, k = 5, takes 7·10⁷ such pairs, ten seconds.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.checker.choosing import Work, broken, highest, steps
from incrowd.checker.inequality import Ints, Rows, Tables
from incrowd.checker.ranges import Windows

Cost = Callable[[Any, Any], Ints]  # of the least and the greatest codes
BOX, PARTS = 16, 1 << 12  # rows of a box that is not halved: so many, or a part of all of them
CHUNK = 1 << 18  # pairs at once; bounds the memory
MOST = 1 << 29  # pairs looked at


class Table(NamedTuple):
    """Codes, int32 of shape (rows, columns), and what they cost, by column."""

    code: NDArray[np.int32]
    costs: list[Cost]


class Boxes(NamedTuple):
    """Rows of boxes, one box after another: box b has ``row[begin[b] : begin[b + 1]]``.

    ``low``, ``high``: int32, shape (boxes, columns); ``last``: the cheapest row of each box.
    """

    row: Ints
    begin: Ints
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    last: Ints


class Sets(NamedTuple):
    """Chosen rows, and the rows that may follow; entries stand set by set, prices falling.

    Per entry its set (0, 1, …) and its row.  Per set its least and greatest codes, the sum of the
    prices, and how many rows are still to come.
    """

    of: Ints
    row: Ints
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    total: Ints
    need: Ints


def violations(rows: Rows, k: int) -> Iterator[tuple[Ints, int]]:
    """Yield what ``crowds.violations`` does, but for sets of one row."""
    table, work = table_of(rows), Work(MOST)

    def cost_of(sets: Sets) -> tuple[Ints, Ints]:
        each = joined(table, sets.low[sets.of], sets.high[sets.of], sets.row)
        return each, spanned(table, sets.low, sets.high)

    for first in begun(rows, table, k, work):
        yield from broken(rows, k, first, cost_of, partial(chosen, rows, table, k), work)


def table_of(rows: Rows) -> Table:
    """Return the rows' codes, those of hierarchies sorted along the tree, and their costs."""
    code, costs = np.empty((len(rows.price), len(rows.leaf)), np.int32), []
    for j, (leaf, tree) in enumerate(zip(rows.leaf, rows.trees, strict=True)):
        rank, cost = column_of(tree)
        code[:, j] = leaf if rank is None else rank[leaf]
        costs.append(cost)
    return Table(code, costs)


def column_of(tree: Tables) -> tuple[Ints | None, Cost]:
    """Return where leaves stand along a tree (None: in their order), and what two of them cost."""
    if isinstance(tree, Windows):
        down, up, reach, star = tree.down, tree.up, tree.reach, tree.star

        def interval(low: Any, high: Any) -> Ints:
            inside = np.where(high > reach[low], star, up[high] - down[low])
            return np.where(low == high, 0, inside)

        return None, interval
    order = np.lexsort(tree[0])  # by the highest level first
    node, price = tree[0][:, order], tree[1][:, order]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))

    def common(low: Any, high: Any) -> Ints:
        level = sum((one[low] != one[high]).astype(np.int64) for one in node)
        return np.where(low == high, 0, price[level, low])

    return rank, common


def joined(table: Table, low: Any, high: Any, row: Ints) -> Ints:
    """Return what sets cost with a row each."""
    code = table.code[row]
    return spanned(table, np.minimum(low, code), np.maximum(high, code))


def spanned(table: Table, low: Any, high: Any) -> Ints:
    """Return what sets of these codes cost, in the shape of these but for the last axis."""
    total = np.zeros(low.shape[:-1], np.int64)
    for j, cost in enumerate(table.costs):
        total += cost(low[..., j], high[..., j])
    return total


def boxes_of(table: Table) -> Boxes:
    """Halve the rows, each time in the column in which they cost most, until they are few."""
    todo, found = [np.arange(len(table.code))], []
    few = max(BOX, len(table.code) // PARTS)
    while todo:
        some = todo.pop()
        if len(some) <= few:
            found.append(some)
            continue
        code = table.code[some]
        low, high = code.min(axis=0), code.max(axis=0)
        dear = [int(cost(a, b)) for cost, a, b in zip(table.costs, low, high, strict=True)]
        ranked = some[np.argsort(code[:, int(np.argmax(dear))], kind="stable")]
        todo += [ranked[: len(some) // 2], ranked[len(some) // 2 :]]
    row, begin = np.concatenate(found), np.cumsum([0] + [len(some) for some in found])
    code, starts = table.code[row], begin[:-1]
    low, high = np.minimum.reduceat(code, starts), np.maximum.reduceat(code, starts)
    return Boxes(row, begin, low, high, np.maximum.reduceat(row, starts))


def begun(rows: Rows, table: Table, k: int, work: Work) -> Iterator[Sets]:
    """Yield the sets of one row each, as the dearest, and the rows near to these."""
    count = len(rows.price)
    every = np.arange(count)
    best, enough = highest(rows, every, every, np.full(count, count), np.full(count, k))
    limit = np.where(enough & (rows.copies < k), best, 0)  # k times what sets may not cost
    if not limit.any():
        return
    boxes = boxes_of(table)
    for row, box in near_boxes(table, boxes, limit, k, work):
        of, other = opened(boxes, row, box)
        work.done(len(of))
        later = other > of
        of, other = of[later], other[later]
        code = table.code[of]
        near = limit[of] > k * joined(table, code, code, other)
        of, other = of[near], other[near]
        order = np.lexsort((other, of))
        first, place = np.unique(of[order], return_inverse=True)
        code, taken = table.code[first], rows.copies[first]
        yield Sets(place, other[order], code, code, taken * rows.price[first], k - taken)


def near_boxes(
    table: Table, boxes: Boxes, limit: Ints, k: int, work: Work
) -> Iterator[tuple[Ints, Ints]]:
    """Yield rows and boxes that hold near ones, all boxes of a row at once, some rows at a time."""
    number = len(boxes.last)
    first = np.minimum.reduceat(boxes.row, boxes.begin[:-1])
    most = np.maximum.reduceat(limit[boxes.row], boxes.begin[:-1])
    step, size = max(1, CHUNK // number), int(np.diff(boxes.begin).max())
    for start in range(0, number, step):
        one = np.arange(start, min(number, start + step))
        work.done(len(one) * number)
        some = most[one, None] > k * apart(
            table, boxes, boxes.low[one, None], boxes.high[one, None]
        )
        some &= boxes.last > first[one, None]
        of, box = np.nonzero(some)
        for part in shares(of, size * size):
            row, other = expanded(boxes, of[part] + start, box[part])
            work.done(len(row))
            code = table.code[row]
            near = limit[row] > k * apart(table, boxes, code, code, other)
            near &= boxes.last[other] > row
            row, other = row[near], other[near]
            order = np.argsort(row, kind="stable")
            row, other = row[order], other[order]
            for some_rows in shares(row, size):
                yield row[some_rows], other[some_rows]


def apart(table: Table, boxes: Boxes, low: Any, high: Any, box: Any = slice(None)) -> Ints:
    """Return what the join of a row of these codes, and one of a box, costs at least."""
    begin, end = boxes.low[box], boxes.high[box]
    least, most = np.minimum(high, end), np.maximum(low, begin)
    return spanned(table, np.minimum(least, most), most)


def shares(of: Ints, size: int) -> Iterator[slice]:
    """Yield stretches of a list that falls into runs, whole runs of some ``CHUNK`` / ``size``."""
    starts = np.append(np.flatnonzero(np.diff(of, prepend=-1)), len(of))
    cuts = np.searchsorted(starts, np.arange(0, len(of), max(1, CHUNK // size)))
    for low, top in pairwise(np.unique(np.append(starts[cuts], len(of)))):
        yield slice(low, top)


def expanded(boxes: Boxes, of: Ints, box: Ints) -> tuple[Ints, Ints]:
    """Return rows and boxes: each row of a box ``of`` with the other box."""
    place, row = opened(boxes, np.arange(len(of)), of)
    return row, box[place]


def opened(boxes: Boxes, of: Ints, box: Ints) -> tuple[Ints, Ints]:
    """Return each of some numbers with every row of its box."""
    size = boxes.begin[box + 1] - boxes.begin[box]
    number = np.repeat(np.arange(len(of)), size)
    place = np.arange(len(number)) + (boxes.begin[box] - np.cumsum(size) + size)[number]
    return of[number], boxes.row[place]


def chosen(rows: Rows, table: Table, k: int, sets: Sets, at: Ints, end: Ints) -> Iterator[Sets]:
    """Choose each of some entries next; yield the new sets, some entries at a time."""
    many = max(1, 4 * CHUNK // k)  # k chunks are open at a time
    for one, before, total, need, rest, of, entry in steps(rows, sets, at, end, many):
        code, row = table.code[sets.row[one]], sets.row[entry]
        low, high = np.minimum(sets.low[before], code), np.maximum(sets.high[before], code)
        cost = joined(table, low[of], high[of], row)
        live = (total + rest)[of] + rows.price[row] > k * cost
        yield Sets(of[live], row[live], low, high, total, need)
