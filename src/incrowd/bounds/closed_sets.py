"""Sets of near rows by the columns in which they differ: each set of columns, not each of rows.

The claim and what a set costs are those of ``incrowd.bounds.row_sets``.  A state is a set of
columns M, in which the rows taken so far differ from the root.  All rows that differ nowhere else
match the join: they are *free*, and the dearest of them make the set.  A row that is not free may
be taken next, and adds its columns to M.  Four rules:

1. A row may be taken while fewer than k copies of free rows are dearer than it: else the k dearest
   copies of whatever follows do not hold it.
2. Not if a row that was there to be taken before it is free then: that one leads there as well.
3. A row stays listed while some cost D, that of M with the row or more, has: the root, the row and
   the dearest k − 2 of the others that M takes at a cost of D or less sum to more than k·D.
4. A row may be taken while the root and the dearest k − 1 of the free rows, of the row and of those
   behind it sum to more than k times what M with the row costs.  With it one behind it stays listed
   while the root, that one and the dearest k − 2 do so for what M costs with both.

Claim.  If some set breaks its inequality, one is visited.  Argument: let T be a set of the root r,
r its dearest row, that exceeds k times its cost by the most, with the dearest copies wherever that
is equal.  Then T holds the k dearest copies of what matches its join.  Take its rows by falling
price, those that are free passed over.  Rule 1: free rows match the join of T, and those that are
dearer than the next row are in T.  Rule 2: a row passed over that is free with the next one matches
the join too and is no cheaper, so it is in T, and was taken.  Rule 3: with D what T costs.  Rule 4:
no other row is in T, since T's own are taken in their turn.

A list of sets for an ascent holds for a box of prices: rows that are dearer than others by less
than the width of the box (``slack``) may be cheaper in it, so rule 1 counts copies that are dearer
by more than that.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.differences import apart, differing, least_weight, packed
from incrowd.bounds.row_sets import (
    DEPTH,
    EMIT,
    FULL,
    PAIRS,
    PLACE,
    SETS,
    STEPS,
    WORD,
    RowSets,
    dearest,
    dearest_behind,
    emit,
    mend,
    sheet_of,
    weight_of,
)
from incrowd.bounds.seen import is_new, places
from incrowd.bounds.worth import BUCKETS, Worth, begin_worth, end_worth, put_worth
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance


class Table(NamedTuple):
    """What a search goes through: see ``Sheet`` and ``packed``."""

    sheet: Any
    pack: NDArray[np.uint64]


class Pad(NamedTuple):
    """The states at hand, by depth, and scratch.

    who: int32 (depths, rows), the rows that are free or may be taken, dearest first; mask: uint64
        (depths, rows, words), where they differ from the root; pays: int64 (depths, rows), what M
        costs with each.  size, at: int64 (depths,), how many, and which is next.
    have: uint64 (depths, words), M.  cost: int64 (depths,), what it costs.
    need, total: of the root alone, copies to come and what its own are priced at.
    passed: int64 (depths,), copies of free rows that were passed over, and upto: int64, rows of the
    list that were counted there.  ahead, gain: int64 (depths,), copies of free rows in front of the
    next row, k at most, and what these are priced at.
    member, taken: the set at hand.  seen: uint64, the joins that were listed.
    """

    who: NDArray[np.int32]
    mask: NDArray[np.uint64]
    size: NDArray[np.int64]
    at: NDArray[np.int64]
    have: NDArray[np.uint64]
    cost: NDArray[np.int64]
    need: NDArray[np.int64]
    total: NDArray[np.int64]
    pays: NDArray[np.int64]
    passed: NDArray[np.int64]
    upto: NDArray[np.int64]
    ahead: NDArray[np.int64]
    gain: NDArray[np.int64]
    member: NDArray[np.int64]
    taken: NDArray[np.int64]
    seen: NDArray[np.uint64]
    worth: Worth


class Rules(NamedTuple):
    """k; the unit of prices; by how much a row must be dearer to stay so."""

    k: int
    unit: int
    slack: int


@inner_kernel
def more_of(d: int, at: int, x: int, table: Any, pad: Any) -> int:
    """Return what row x of the list at a depth ``at`` adds to the cost of M at depth d."""
    total = 0
    for w in range(pad.have.shape[1]):
        new = pad.mask[at, x, w] & ~pad.have[d, w]
        if new != np.uint64(0):
            total += weight_of(new, w, pad.member[0], table.sheet)
    return total


@inner_kernel
def weigh(d: int, limit: int, price: Any, rules: Any, table: Any, pad: Any) -> int:
    """Work out what sets of a list are worth; return the width of a bucket."""
    base = pad.cost[d]
    width = (limit - base) // BUCKETS + 1
    buckets = (limit - base) // width + 1
    open_ = begin_worth(pad.worth, buckets, pad.need[0] - 1)
    for x in range(pad.size[d]):
        s = pad.who[d, x]
        bucket = (pad.pays[d, x] - base) // width
        open_ = put_worth(pad.worth, bucket, price[s], table.sheet.counts[s], open_)
        if open_ == 0:
            break
    end_worth(pad.worth, buckets, base, width, rules.k * rules.unit)
    return width


@inner_kernel
def prune(d: int, limit: int, price: Any, rules: Any, table: Any, pad: Any) -> int:
    """Leave rows out of the list of a depth that are in no set worth more than it costs.

    Returns how many went.
    """
    width = weigh(d, limit, price, rules, table, pad)
    kept, base = 0, pad.cost[d]
    for x in range(pad.size[d]):
        s, pays = pad.who[d, x], pad.pays[d, x]
        room = pad.total[0] + price[s] + pad.worth.best[(pays - base) // width]
        if pays == base or room > 0:
            pad.who[d, kept], pad.pays[d, kept] = s, pays
            for w in range(pad.have.shape[1]):
                pad.mask[d, kept, w] = pad.mask[d, x, w]
            kept += 1
    gone, pad.size[d] = pad.size[d] - kept, kept
    return gone


@inner_kernel
def list_near(r: int, place: int, limit: int, order: Any, table: Any, pad: Any) -> int:
    """List the rows behind a place that are near its row; return how many."""
    least = least_weight(r, table.sheet)
    most = limit // least if least > 0 else table.sheet.node.shape[1]
    found = 0
    for x in range(place + 1, order.size):
        s = order[x]
        if not apart(r, s, most, table.pack):
            pays = differing(r, s, limit, table.sheet, pad.mask[0], found)
            if pays <= limit:
                pad.who[0, found], pad.pays[0, found] = s, pays
                found += 1
    return found


@inner_kernel
def begin_list(d: int, pad: Any) -> None:
    """Start at the first row of a list."""
    pad.passed[d], pad.upto[d], pad.ahead[d], pad.gain[d] = 0, 0, 0, 0


@inner_kernel
def begin_with(place: int, order: Any, price: Any, rules: Any, table: Any, pad: Any) -> int:
    """List the rows that may follow the dearest row of a set; return how many were looked at."""
    r, counts = order[place], table.sheet.counts
    k, each = rules.k, rules.k * rules.unit
    taken = min(counts[r], k)
    pad.member[0], pad.taken[0] = r, taken
    pad.need[0], pad.total[0] = k - taken, taken * price[r]
    pad.cost[0], pad.at[0], pad.size[0] = 0, 0, 0
    begin_list(0, pad)
    for w in range(pad.have.shape[1]):
        pad.have[0, w] = np.uint64(0)
    best, lacking = dearest_behind(place, pad.need[0], order, price, counts)
    if pad.need[0] == 0 or lacking > 0:
        return 0
    limit = (pad.total[0] + best - 1) // each
    pad.size[0] = list_near(r, place, limit, order, table, pad)
    while pad.size[0] > 0 and prune(0, limit, price, rules, table, pad) > 0:
        pass
    return order.size - place


@inner_kernel
def narrow(d: int, i: int, limit: int, price: Any, rules: Any, table: Any, pad: Any) -> bool:
    """Take row i of the list at depth d; list what is free then, or may follow.

    Returns whether a set may break its inequality from there on.
    """
    words, cost, each = pad.have.shape[1], pad.pays[d, i], rules.k * rules.unit
    rest = pad.total[0] + pad.gain[d]
    if pad.need[0] > pad.ahead[d]:  # else the dearest k − 2 are not known: k − 1 of them
        copies = pad.need[0] - pad.ahead[d] - 1
        rest += dearest(pad, d, i, copies, price, table.sheet.counts)[0]
    for w in range(words):
        pad.have[d + 1, w] = pad.have[d, w] | pad.mask[d, i, w]
    found = 0
    for x in range(pad.size[d]):
        pays = cost
        worth = rest + price[pad.who[d, x]]
        if x > i and worth <= each * cost:
            break
        if x >= i or pad.pays[d, x] > pad.cost[d]:
            pays += more_of(d + 1, d, x, table, pad)
            if x < i and pays == cost:
                return False
            if x < i or worth <= each * pays or pays > limit:
                continue
        pad.who[d + 1, found], pad.pays[d + 1, found] = pad.who[d, x], pays
        for w in range(words):
            pad.mask[d + 1, found, w] = pad.mask[d, x, w]
        found += 1
    pad.size[d + 1], pad.at[d + 1], pad.cost[d + 1] = found, 0, cost
    begin_list(d + 1, pad)
    prune(d + 1, limit, price, rules, table, pad)
    reach, lacking = dearest(pad, d + 1, 0, pad.need[0], price, table.sheet.counts)
    return lacking == 0 and pad.total[0] + reach > rules.k * rules.unit * cost


@inner_kernel
def list_rows(d: int, least: int, price: Any, table: Any, pad: Any, sink: Any, state: Any) -> None:
    """List the rows priced at ``least`` or more that match a state's join, if there is room."""
    p, end = state[SETS], state[PAIRS]
    if p >= sink.cost.size or end + pad.size[0] + 1 > sink.rows.size or p > pad.seen.size // 2:
        state[FULL] = 1
        return
    sink.rows[end] = pad.member[0]
    end += 1
    for x in range(pad.size[0]):
        s = pad.who[0, x]
        if price[s] < least:
            break
        if more_of(d, 0, x, table, pad) == 0:
            sink.rows[end] = s
            end += 1
    sink.cost[p], sink.offset[p + 1] = pad.cost[d], end
    state[SETS], state[PAIRS] = p + 1, end


@inner_kernel
def visit(
    mode: int, d: int, price: Any, lowered: Any, rules: Any, table: Any, pad: Any, sink: Any,
    state: Any,
) -> None:  # fmt: skip
    """List or mend the dearest set of free rows, if it breaks its inequality."""
    total, copies, n = pad.total[0], pad.need[0], 0
    x = 0
    while copies > 0 and x < pad.size[d]:
        if pad.pays[d, x] == pad.cost[d]:
            s = pad.who[d, x]
            n += 1
            pad.member[n], pad.taken[n] = s, min(copies, table.sheet.counts[s])
            total += pad.taken[n] * price[s]
            copies -= pad.taken[n]
        x += 1
    cost = pad.cost[d]
    if copies > 0 or total <= rules.k * rules.unit * cost:
        return
    if mode == EMIT:
        if is_new(pad.have[d], table.sheet.node[pad.member[0]], pad.seen):
            least = price[pad.member[n]] - rules.slack
            list_rows(d, least, price, table, pad, sink, state)
    else:
        mend(n, rules.unit * cost, rules.k, pad, lowered, state)


@inner_kernel
def over(d: int, price: int, prices: Any, rules: Any, table: Any, pad: Any) -> bool:
    """Whether k copies of free rows stay dearer than a price; the next ones asked are no dearer."""
    x = pad.upto[d]
    while x < pad.size[d] and prices[pad.who[d, x]] >= price + rules.slack:
        if x >= pad.at[d]:
            break
        if pad.pays[d, x] == pad.cost[d]:
            pad.passed[d] += table.sheet.counts[pad.who[d, x]]
        x += 1
    pad.upto[d] = x
    return pad.passed[d] >= pad.need[0]


@inner_kernel
def put_ahead(d: int, i: int, price: Any, counts: Any, pad: Any) -> None:
    """Count row i of a list, which is free, among those in front of the next."""
    taken = min(counts[pad.who[d, i]], pad.need[0] - pad.ahead[d])
    pad.ahead[d] += taken
    pad.gain[d] += taken * price[pad.who[d, i]]


@lean_kernel
def search(
    mode: int, order: Any, price: Any, lowered: Any, rules: Any, table: Any, pad: Any, sink: Any,
    state: Any, steps: int,
) -> None:  # fmt: skip
    """Visit sets of columns whose free rows may break an inequality; go on from ``state``.

    As ``row_sets.search``: until ``steps`` are done, or the sink is full, or all were visited.
    """
    while state[FULL] == 0 and state[STEPS] < steps:
        d = state[DEPTH]
        if d < 0:
            if state[PLACE] >= order.size or price[order[state[PLACE]]] <= 0:
                state[PLACE] = order.size
                return
            state[STEPS] += begin_with(state[PLACE], order, price, rules, table, pad)
            state[PLACE] += 1
            if pad.need[0] > 0:
                visit(mode, 0, price, lowered, rules, table, pad, sink, state)
                state[DEPTH] = 0
            elif mode == EMIT:
                emit(0, 0, pad, sink, state)
            else:
                mend(0, 0, rules.k, pad, lowered, state)
            continue
        i = pad.at[d]
        if i >= pad.size[d] or d + 1 >= rules.k:
            state[DEPTH] = d - 1
            continue
        pad.at[d] = i + 1
        if pad.pays[d, i] == pad.cost[d]:
            put_ahead(d, i, price, table.sheet.counts, pad)
            continue
        copies = pad.need[0] - pad.ahead[d]
        reach, lacking = dearest(pad, d, i, copies, price, table.sheet.counts)
        limit = (reach + pad.gain[d] + pad.total[0] - 1) // (rules.k * rules.unit)
        if lacking > 0 or limit < pad.cost[d]:
            state[DEPTH] = d - 1
            continue
        if limit < pad.pays[d, i]:
            continue
        if over(d, price[pad.who[d, i]], price, rules, table, pad):
            state[DEPTH] = d - 1
            continue
        state[STEPS] += pad.size[d]
        if narrow(d, i, limit, price, rules, table, pad):
            visit(mode, d + 1, price, lowered, rules, table, pad, sink, state)
            state[DEPTH] = d + 1


def new_pad(rows: int, words: int, k: int) -> Pad:
    """Allocate for sets of k copies."""
    size, at, cost, need, total, passed, upto, ahead, gain = np.zeros((9, k + 1), np.int64)
    member, taken = np.zeros((2, k + 1), np.int64)
    who, pays = np.empty((k, rows), np.int32), np.empty((k, rows), np.int64)
    mask, have = np.empty((k, rows, words), np.uint64), np.zeros((k, words), np.uint64)
    return Pad(
        who, mask, size, at, have, cost, need, total, pays, passed, upto, ahead, gain, member,
        taken, np.zeros(places(0), np.uint64), Worth(*np.zeros((3, BUCKETS), np.int64)),
    )  # fmt: skip


class ClosedSets(RowSets):
    """The search bound to one instance and one k; one caller at a time.

    Attributes
    ----------
    slack: of ``listed``: twice the width of the box around prices that are listed for.
    """

    def __init__(self, instance: Instance, k: int) -> None:
        self.k, self.sheet, self.slack = k, sheet_of(instance), 0
        words = -(-self.sheet.node.shape[1] // WORD) or 1
        self.pad, self.pack = new_pad(instance.distinct, words, k), packed(self.sheet)
        self.dearest = int(self.sheet.weight.sum(1).max(initial=0))

    def prepare(self, order: NDArray[np.int64], most: int) -> None:
        """Forget what was listed.  A join is a row of which some columns are hidden."""
        rows, columns = self.sheet.node.shape
        most = min(most, rows << min(columns, WORD))
        self.pad = self.pad._replace(seen=np.zeros(places(most), np.uint64))

    def advance(
        self, mode: int, order: NDArray[np.int64], price: NDArray[np.int64],
        lowered: NDArray[np.int64], unit: int, sink: Emission, state: NDArray[np.int64], steps: int,
    ) -> None:  # fmt: skip
        """Visit sets until so many steps are done."""
        table = Table(self.sheet, self.pack)
        rules = Rules(self.k, unit, self.slack if mode == EMIT else 0)
        search(mode, order, price, lowered, rules, table, self.pad, sink, state, steps)
