"""Regions of a table that are searched beside each other, each as a small table of its own.

A region holds whole classes, of which each pattern's large class may be cut into several of at
least k copies; its candidates are the patterns that k of its own copies match, and those that its
copies have now.  What is lawful in every region is lawful together, and costs as much: a pattern
that two regions open has the copies of both.  Regions grow from random classes to those that share
patterns with them, from others each time, so that classes which a border parted meet later.  They
depend on the table and a seed, never on how many threads there are; and small ones fit a core's own
memory, which makes moves faster.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import lean_kernel
from incrowd.solvers.engine.candidates import Candidates

REGION, MOST_REGIONS, LEAST_REGIONS = 15_000, 64, 2  # copies in one, and how many there are
FEW_REGIONS, PAID = 4, 16  # regions that share out work; times that of a copy whose class is free
SLICE = 50_000  # moves in a region between two looks at the clock
COLUMNS = 4  # by which rows are ordered
MOST_SUPPORT = 200  # copies of a pattern that makes rows neighbours


class Room(NamedTuple):
    """Scratch for cutting out regions, for one thread: int64, shape (patterns,), all zero.

    held: copies that match each pattern.  local: the number of each in the region.
    """

    held: NDArray[np.int64]
    local: NDArray[np.int64]


class Region(NamedTuple):
    """A part of the table as a table.

    candidates: those of its copies alone.  copies: int64, shape (copies,), as the table numbers
    them, rising.  patterns: int64, shape (patterns,), likewise.  rows: int64, shape (distinct,).
    pattern: int64, shape (copies,), where each copy is now, as the region numbers patterns.
    """

    candidates: Candidates
    copies: NDArray[np.int64]
    patterns: NDArray[np.int64]
    rows: NDArray[np.int64]
    pattern: NDArray[np.int64]


def regions_of(copies: int) -> int:
    """Return how many regions a table of so many copies is cut into; 0 for none."""
    regions = min(MOST_REGIONS, copies // REGION)
    return regions if regions >= LEAST_REGIONS else 0


def new_room(c: Candidates) -> Room:
    """Allocate scratch."""
    return Room(np.zeros(len(c.cost), np.int64), np.zeros(len(c.cost), np.int64))


def order_of(codes: NDArray[np.int32], seed: int) -> NDArray[np.int64]:
    """Return the rows (int64, shape (distinct,)) in order of some columns, drawn by a seed."""
    rng = np.random.default_rng([seed, 11])
    key = np.zeros(len(codes), np.int64)
    for j in rng.permutation(codes.shape[1])[:COLUMNS]:
        column = codes[:, j].astype(np.int64)
        width = int(column.max(initial=0)) + 1
        if key.max(initial=0) >= (1 << 62) // width:
            break
        key = key * width + (column if rng.random() < 0.5 else width - 1 - column)
    return np.argsort(key, kind="stable")


@lean_kernel
def sort_by_class(
    order: Any, pattern: Any, first_copy: Any, start: Any, sorted_copies: Any
) -> None:
    """List copies by pattern, those of a pattern in the order of rows; ``start`` moves to ends."""
    for r in order:
        for i in range(first_copy[r], first_copy[r + 1]):
            p = pattern[i]
            sorted_copies[start[p]] = i
            start[p] += 1


@lean_kernel
def cut_into_parts(size: Any, k: int, part_begin: Any) -> int:
    """Cut classes into parts of k to 2k − 1 copies; fill where each begins; return their number."""
    parts = 0
    begin = 0
    for n in size:
        pieces = n // k if n >= k else min(n, 1)
        for x in range(pieces):
            part_begin[parts] = begin + n * x // pieces
            parts += 1
        begin += n
    part_begin[parts] = begin
    return parts


@lean_kernel
def grow(
    seeds: Any, begin: Any, copies: Any, part_of: Any, work: Any, target: int, near: int, c: Any,
    last: int, seen: Any, region: Any, queue: Any,
) -> None:  # fmt: skip
    """Give each part of a class a region: what shares patterns with a seed, ring by ring.

    Patterns of more than ``near`` copies do not count.  A region ends when its parts have
    ``target`` of the work; the next one grows from another seed.  What is left is the ``last``
    one's, as everything is at the begin.
    """
    number = 0
    held = 0
    head = 0
    tail = 0
    for seed in seeds:
        if number == last:
            return
        if region[seed] != last:
            continue
        region[seed] = number
        held += work[seed]
        queue[tail] = seed
        tail += 1
        while head < tail and held < target:
            part = queue[head]
            head += 1
            for z in range(begin[part], begin[part + 1]):
                r = c.row_of[copies[z]]
                for y in range(c.row_offset[r], c.row_offset[r + 1]):
                    p = c.row_patterns[y]
                    if seen[p] or c.support[p] > near or held >= target:
                        continue
                    seen[p] = True
                    for x in range(c.offset[p], c.offset[p + 1]):
                        s = c.rows[x]
                        for i in range(c.first_copy[s], c.first_copy[s + 1]):
                            other = part_of[i]
                            if region[other] == last:
                                region[other] = number
                                held += work[other]
                                queue[tail] = other
                                tail += 1
        if held >= target:
            number += 1
            held = 0
            head = tail


def work_of(c: Candidates, pattern: NDArray[np.int64], regions: int) -> NDArray[np.int64] | None:
    """Return about how much work each copy is, for so many regions; None for equally much.

    Where regions are few, threads wait for the longest one: a copy is as many pairs as its row
    has, and more of them where it pays, since moves start there.  Many regions even out by
    themselves, and those of equally many copies end at a thousandth fewer stars.

    Returns
    -------
    int64, shape (copies,), or None.
    """
    if regions > FEW_REGIONS:
        return None
    return np.diff(c.row_offset)[c.row_of] * np.where(c.cost[pattern] > 0, PAID, 1)


def dealt(
    c: Candidates,
    pattern: NDArray[np.int64],
    k: int,
    regions: int,
    seed: int,
    near: int = MOST_SUPPORT,
    order: NDArray[np.int64] | None = None,
    work: NDArray[np.int64] | None = None,
) -> list[NDArray[np.int64]]:
    """Deal the copies out to regions: int64, shape (copies of it,), rising, for each.

    ``k``: copies of a part of a class, at least.  ``near``: see ``grow``.  ``order``: that of the
    rows, ``order_of`` this seed, if it is known.  ``work``: int64, shape (copies,), of which
    regions have equally much; None for equally many copies.
    """
    size = np.bincount(pattern, minlength=len(c.cost)).astype(np.int64)
    start, copies = np.cumsum(size) - size, np.empty(len(pattern), np.int64)
    order = order_of(c.codes, seed) if order is None else order
    sort_by_class(order, pattern, c.first_copy, start, copies)
    begin = np.empty(len(pattern) + 2, np.int64)
    parts = cut_into_parts(size, k, begin)
    begin = begin[: parts + 1]
    part_of = np.empty(len(pattern), np.int64)
    part_of[copies] = np.repeat(np.arange(parts), np.diff(begin))
    work = np.diff(begin) if work is None else np.add.reduceat(work[copies], begin[:-1])
    last = regions - 1
    region, queue = np.full(parts, last, np.int64), np.empty(parts, np.int64)
    seeds = np.random.default_rng([seed, 12]).permutation(parts)
    seen = np.zeros(len(c.cost), np.bool_)
    target = -(-int(work.sum()) // regions)
    grow(seeds, begin, copies, part_of, work, target, near, c, last, seen, region, queue)
    of_copy = region.astype(np.int16)[part_of]  # few: sorted by their digits
    whole = np.argsort(of_copy, kind="stable")
    ends = np.cumsum(np.bincount(of_copy))
    return [part for part in np.split(whole, ends[:-1]) if len(part)]


@lean_kernel
def count_matches(rows: Any, copies: Any, row_offset: Any, row_patterns: Any, held: Any, met: Any
) -> int:  # fmt: skip
    """Count the copies that match each pattern; list the patterns met; return their number."""
    n = 0
    for x in range(rows.size):
        r = rows[x]
        for z in range(row_offset[r], row_offset[r + 1]):
            p = row_patterns[z]
            if held[p] == 0:
                met[n] = p
                n += 1
            held[p] += copies[x]
    return n


@lean_kernel
def fill_region(rows: Any, row_offset: Any, row_patterns: Any, local: Any, own: Any, place: Any
) -> None:  # fmt: skip
    """Fill the pairs of a region both ways.

    ``local``: the number of each pattern in the region plus 1, 0 for none.  ``own.offset``: where
    each pattern's rows begin; ``place``: a copy of it, which moves on.
    """
    z = 0
    for x in range(rows.size):
        r = rows[x]
        for y in range(row_offset[r], row_offset[r + 1]):
            p = local[row_patterns[y]] - 1
            if p >= 0:
                own.row_patterns[z] = p
                own.rows[place[p]] = x
                place[p] += 1
                z += 1
        own.row_offset[x + 1] = z


@lean_kernel
def count_rows(rows: Any, row_offset: Any, row_patterns: Any, local: Any, offset: Any) -> None:
    """Count the region's rows that match each of its patterns, one place on."""
    for r in rows:
        for y in range(row_offset[r], row_offset[r + 1]):
            p = local[row_patterns[y]]
            if p > 0:
                offset[p] += 1


@lean_kernel
def enter_keys(keys: Any, table_key: Any, table_pattern: Any) -> None:
    """Enter the patterns that have a key: that of their join."""
    mask = table_key.size - 1
    for p in range(keys.size):
        key = keys[p]
        if key == 0:
            continue
        i = np.int64(key >> np.uint64(8)) & mask
        while table_pattern[i] >= 0:
            i = (i + 1) & mask
        table_key[i] = key
        table_pattern[i] = p


def keys_of(c: Candidates) -> NDArray[np.uint64]:
    """Return the key under which each pattern stands in the table of joins; 0 for none."""
    keys = np.zeros(len(c.cost), np.uint64)
    there = c.table_pattern >= 0
    keys[c.table_pattern[there]] = c.table_key[there]
    return keys


def cut_out(
    c: Candidates,
    copies: NDArray[np.int64],
    pattern: NDArray[np.int64],
    k: int,
    keys: NDArray[np.uint64],
    room: Room,
) -> Region:
    """Return the region of these copies (int64, rising), whose classes are whole.

    ``pattern``: int64, shape (copies of the table,).  ``keys``: see ``keys_of``.  The patterns of
    its copies are all there, also those that none of its rows lists (see ``State``).
    """
    row_of, now = c.row_of[copies], pattern[copies]
    first = np.flatnonzero(np.diff(row_of, prepend=-1))  # copies of a row stand together
    rows, first_copy = row_of[first], np.append(first, len(copies))
    counts = np.diff(first_copy)
    pairs = int((c.row_offset[rows + 1] - c.row_offset[rows]).sum())
    met = np.empty(min(pairs, len(c.cost)) + 1, np.int64)
    lists = c.row_offset, c.row_patterns
    met = met[: count_matches(rows, counts, *lists, room.held, met)]
    room.local[now] = room.local[-1] = 1
    listed = met[(room.held[met] >= k) | (room.local[met] > 0)]
    patterns = np.sort(np.append(listed, np.unique(now[room.held[now] == 0])))
    support = room.held[patterns]
    room.held[met] = 0
    room.local[patterns] = np.arange(1, len(patterns) + 1)
    offset = np.zeros(len(patterns) + 1, np.int64)
    count_rows(rows, *lists, room.local, offset)
    np.cumsum(offset, out=offset)
    kept, capacity = int(offset[-1]), 1 << int(3 * len(patterns)).bit_length()
    own = Candidates(
        c.cost[patterns], support, offset, np.empty(kept, np.int32),
        np.zeros(len(rows) + 1, np.int64), np.empty(kept, np.int32),
        np.repeat(np.arange(len(rows)), counts), first_copy,
        np.zeros(capacity, np.uint64), np.full(capacity, -1, np.int64),
        np.ascontiguousarray(c.codes[rows]), c.tables,
    )  # fmt: skip
    fill_region(rows, *lists, room.local, own, offset[:-1].copy())
    numbers = room.local[now] - 1
    room.local[patterns] = 0
    enter_keys(keys[patterns], own.table_key, own.table_pattern)
    return Region(own, copies, patterns, rows, numbers)


class Cutter:
    """Cuts regions out of a table, so many at a time as there is room for."""

    def __init__(self, c: Candidates, threads: int) -> None:
        self.c, self.keys = c, keys_of(c)
        self.rooms = [new_room(c) for _ in range(threads)]

    def region(self, copies: NDArray[np.int64], pattern: NDArray[np.int64], k: int) -> Region:
        """Return the region of these copies, see ``cut_out``."""
        room = self.rooms.pop()
        region = cut_out(self.c, copies, pattern, k, self.keys, room)
        self.rooms.append(room)
        return region
