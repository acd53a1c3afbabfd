"""The kernels of the ascent: how far each row's price is cut, and the supergradient there.

Threads may share the patterns out among themselves: a cut is a maximum, and what goes into the
gradient is rounded to multiples of ``GRAIN``, whose sums are exact, so that the result does not
depend on who did what.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.pricing import answer, dearest
from incrowd.bounds.strides import rise_at_most
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.topk import most_above, top_k

GRAIN = 2.0**20  # parts of a copy: sums of them are exact in doubles up to 8 billion copies
# the parts of a step, see ``walk``
MOVE, CUT, LOAD, TAKE, JUDGE = 1, 2, 4, 8, 16
STEP = MOVE | CUT | LOAD | TAKE | JUDGE
# where ``Path.number`` holds what
RISEN, ROOM, BOUND, LOADED, BEST, STAYS = range(6)


class Found(NamedTuple):
    """What the last evaluation found; scratch of all.

    cut: float64 (distinct,), what each row's worst pattern exceeds its cost by, and cutter: int64,
    that pattern, −1 for none.  problem: int64 (patterns,), the pricing problem that decided it.
    due: float64 (patterns,), how far prices must have risen before a pattern need be asked again.
    load: float64 (patterns,), comes and goes zeroed.  gradient: float64 (distinct,).
    share: float64 (pairs,), copies that pairs carried, summed over the steps; may be empty.
    place: int64 (distinct,), scratch.  loaded: int64 (distinct,), the patterns that cut a row.
    """

    cut: NDArray[np.float64]
    cutter: NDArray[np.int64]
    problem: NDArray[np.int64]
    due: NDArray[np.float64]
    load: NDArray[np.float64]
    gradient: NDArray[np.float64]
    share: NDArray[np.float64]
    place: NDArray[np.int64]
    loaded: NDArray[np.int64]


def new_found(distinct: int, patterns: int, pairs: int) -> Found:
    """Allocate for so many rows and patterns; ``pairs`` 0: nobody asks for shares."""
    rows, lists = np.zeros(distinct), np.zeros(patterns + 1)
    whole, problem = np.zeros(distinct, np.int64), np.zeros(patterns + 1, np.int64)
    return Found(
        rows, whole - 1, problem, lists, lists.copy(), rows.copy(), np.zeros(pairs), whole.copy(),
        whole.copy(),
    )  # fmt: skip


class Path(NamedTuple):
    """A point that moves along supergradients within a box, and the best point so far.

    u: float64 (distinct,), the point.  low, high: the box.  stride: how far each row goes, in
    rates.  mean, square: of the supergradients, as Adam averages them.  seen: the point of the last
    step.  best: the best point, less its cuts.
    number: float64 (6,): by how much the mean price of any class can have risen since the start,
    and can still rise within the box; the bound here; how many patterns cut a row; the best bound;
    whether the next step stays where it is.
    """

    u: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    stride: NDArray[np.float64]
    mean: NDArray[np.float64]
    square: NDArray[np.float64]
    seen: NDArray[np.float64]
    best: NDArray[np.float64]
    number: NDArray[np.float64]


def beside(found: Found) -> Found:
    """Return the same with cuts, a gradient and scratch of its own, for another thread."""
    cut, cutter = np.zeros_like(found.cut), np.full_like(found.cutter, -1)
    own = {"cut": cut, "cutter": cutter, "gradient": cut.copy(), "place": cutter.copy()}
    return found._replace(**own)


@inner_kernel
def excess_of(
    rows: Any, begin: int, end: int, u: Any, counts: Any, cost: int, k: int, lawful: Any, pad: Any
) -> Any:
    """Return by how much the mean of a pattern's dearest class exceeds its cost, and who says so.

    Where it does not, the answer may be nearer to 0.
    """
    if lawful is None:
        above, _ = most_above(rows, begin, end, u, counts, k, cost)
        if above <= 0.0:
            return above / k, 0
        total, _ = top_k(rows, begin, end, u, counts, k, *pad)
        return total / k - cost, 0
    # numba leaves out the branch that the type of pricing rules out
    highest = u[rows[begin]]
    for i in range(begin, end):
        highest = max(highest, u[rows[i]])
        if highest > cost:
            break
    if highest <= cost:
        return highest - cost, 0
    mean, problem = dearest(rows, begin, end, u, counts, float(cost), *lawful)
    return mean - cost, problem


@inner_kernel
def reductions(
    u: Any, lists: Any, span: Any, counts: Any, k: int, lawful: Any, pad: Any, found: Any,
    risen: float, room: float,
) -> None:  # fmt: skip
    """Raise each row's cut to the largest excess of a pattern of a span over it; note which one.

    A pattern is asked when prices have risen as far as its dearest class lay below its cost:
    ``found.due`` says when, on the scale of ``risen``, by which no mean has risen more since a
    start.  None will ever rise by more than ``room``.  Of patterns with equal excess the first
    counts.
    """
    rows = lists.rows
    for p in range(span[0], span[1]):
        if found.due[p] > risen:
            continue
        begin = lists.offset[p]
        end = lists.offset[p + 1]
        c = lists.cost[p]
        excess, problem = excess_of(rows, begin, end, u, counts, c, k, lawful, pad)
        found.due[p] = risen - min(excess, 0.0) if excess > -room else np.inf
        if excess > 1e-12 * max(1.0, c):
            found.problem[p] = problem
            for i in range(begin, end):
                r = rows[i]
                if excess > found.cut[r]:
                    found.cut[r] = excess
                    found.cutter[r] = p


@lean_kernel
def keep_larger(found: Any, other: Any) -> None:
    """Take the cuts of another thread where they are larger, or as large and of an earlier one."""
    for r in range(found.cut.size):
        same = other.cut[r] == found.cut[r] and other.cutter[r] < found.cutter[r]
        if other.cut[r] > found.cut[r] or (same and other.cutter[r] >= 0):
            found.cut[r] = other.cut[r]
            found.cutter[r] = other.cutter[r]


@inner_kernel
def load_cutters(u: Any, counts: Any, found: Any, number: Any) -> None:
    """Note F(u) and how many patterns cut a row in ``number``; begin the supergradient.

    Those patterns are listed in ``found.loaded``, and loaded with the copies that they cut.
    """
    bound = 0.0
    loaded = 0
    for r in range(u.size):
        bound += counts[r] * (u[r] - found.cut[r])
        found.gradient[r] = counts[r]
        p = found.cutter[r]
        if p >= 0:
            if found.load[p] == 0.0:
                found.loaded[loaded] = p
                loaded += 1
            found.load[p] += counts[r]
    number[BOUND], number[LOADED] = bound, loaded


@inner_kernel
def take_part(
    rows: Any, begin: int, end: int, member: Any, weight: Any, entries: int, part: float, found: Any
) -> None:
    """Take ``part`` times the members' weights of a pattern's dearest class from the gradient.

    Unless shares are not asked for, add as much to the pairs begin..end−1, those of the pattern.
    """
    for j in range(entries):
        found.gradient[member[j]] -= np.rint(part * weight[j] * GRAIN) / GRAIN
    if found.share.size == 0:
        return
    for i in range(begin, end):
        found.place[rows[i]] = i
    for j in range(entries):
        found.share[found.place[member[j]]] += part * weight[j]


@inner_kernel
def take_dearest(
    u: Any, lists: Any, p: int, counts: Any, k: int, lawful: Any, pad: Any, found: Any
) -> None:
    """Take the dearest class of p from the gradient, as often as its load says."""
    rows, begin, end = lists.rows, lists.offset[p], lists.offset[p + 1]
    amount = found.load[p]
    if lawful is None:
        _, entries = top_k(rows, begin, end, u, counts, k, *pad)
        take_part(rows, begin, end, pad[2], pad[1], entries, amount / k, found)
    else:
        enough = float(lists.cost[p])  # which ``reductions`` found the answer to be above
        o = found.problem[p]
        _, entries = answer(o, rows, begin, end, u, counts, enough, *lawful)
        member, weight = lawful[1].out_row, lawful[1].out_weight
        take_part(rows, begin, end, member, weight, entries, amount, found)


@inner_kernel
def take_loaded(
    u: Any, lists: Any, begin: int, end: int, counts: Any, k: int, lawful: Any, pad: Any, found: Any
) -> None:
    """Take the dearest classes of the loaded patterns begin..end−1; add to the shares of pairs.

    The patterns are left without load.
    """
    for x in range(begin, end):
        p = found.loaded[x]
        take_dearest(u, lists, p, counts, k, lawful, pad, found)
        found.load[p] = 0.0


@lean_kernel
def adam_step(
    u: Any,
    gradient: Any,
    counts: Any,
    mean: Any,
    square: Any,
    rate: float,
    stride: Any,
    eps: float,
    low: Any,
    high: Any,
) -> None:
    """Move u along the supergradient per copy, scaled as Adam does, clipped to the box.

    ``stride``: how far each row goes, in rates.
    """
    for r in range(u.size):
        g = gradient[r] / counts[r]
        mean[r] = 0.8 * mean[r] + 0.2 * g
        square[r] = 0.95 * square[r] + 0.05 * g * g
        x = u[r] + rate * stride[r] * mean[r] / (np.sqrt(square[r]) + eps)
        u[r] = min(max(x, low[r]), high[r])


@inner_kernel
def move(path: Any, counts: Any, found: Any, rate: float, law: Any) -> None:
    """Begin a step: move the point, unless it stays; note how far prices rose; clear the cuts."""
    u, number = path.u, path.number
    if number[STAYS] == 0.0:
        adam_step(
            u, found.gradient, counts, path.mean, path.square, rate, path.stride, 1e-2, path.low,
            path.high,
        )  # fmt: skip
    number[STAYS] = 0.0
    number[RISEN] += rise_at_most(path.seen, u, law)
    number[ROOM] = rise_at_most(u, path.high, law)
    for r in range(u.size):
        path.seen[r] = u[r]
        found.cut[r] = 0.0
        found.cutter[r] = -1


@inner_kernel
def judge(path: Any, cut: Any, i: int) -> None:
    """Note the point if it is the best; every 25 steps go back to the best from one far worse."""
    number, u = path.number, path.u
    bound, best = number[BOUND], number[BEST]
    if bound > best:
        number[BEST] = bound
        for r in range(u.size):
            path.best[r] = u[r] - cut[r]
    elif i % 25 == 24 and bound < best - 0.0005 * abs(best):
        number[STAYS] = 1.0
        for r in range(u.size):
            u[r] = path.best[r]
            path.mean[r] = 0.0


@lean_kernel
def walk(
    parts: int, path: Any, law: Any, lists: Any, span: Any, counts: Any, k: int, lawful: Any,
    pad: Any, found: Any, first: int, rates: Any,
) -> None:  # fmt: skip
    """Walk as many steps as there are ``rates``, the first of them number ``first``.

    Small tables take some microseconds a step, less than it takes to call a kernel; so a call walks
    many.  Where threads share a step each calls for the ``parts`` of it that are its own: MOVE to
    the next point; CUT the patterns of a span; LOAD the patterns that cut a row; TAKE the dearest
    classes of a span of these (of all, where it loads them too); JUDGE whether the point is the
    best.
    """
    number = path.number
    for n in range(rates.size):
        if parts & MOVE:
            move(path, counts, found, rates[n], law)
        if parts & CUT:
            reductions(
                path.u, lists, span, counts, k, lawful, pad, found, number[RISEN], number[ROOM]
            )
        if parts & LOAD:
            load_cutters(path.u, counts, found, number)
        if parts & TAKE:
            begin, end = span
            if parts & LOAD:
                begin, end = 0, int(number[LOADED])
            take_loaded(path.u, lists, begin, end, counts, k, lawful, pad, found)
        if parts & JUDGE:
            judge(path, found.cut, first + n)
