"""How much a t-close class of a pattern's rows can be worth beyond its cost, by equal distance.

A row's excess is its price less the cost of the pattern.  ``most_worth`` bounds the sum of the
excesses of every lawful class, and lists a class that comes close:

One size.  In a class of n rows let the j-th dearest copy of v lie c = min(1, (j − n·qᵥ)⁺) beyond
its quota.  For every slope λ ≥ 0 the class is worth at most λ·n·t and the n highest e − λ·c.  Where
that decides, the classes are parted by which values lie beyond their quota: then only whole copies
count, and the dearest class is found by taking copies in turn.  With π the least of the n highest,
a value on the wrong side of its quota loses part of Σ (e − λ·c − π); choices that lose more than
what the bound lies above the best class so far are left out.

Other sizes.  The same λ and π prove something of every size.  And for any αᵥ in [0, λ] a lawful
class of n rows obeys Σ αᵥ·(hᵥ − n·qᵥ) ≤ λ·n·t, so it is worth at most Σ (e − αᵥ − π)⁺ over all
copies plus n·(π + Σ q·α + λ·t): a tangent, which says when no size that follows can be better.
Theorems and proofs: docs/explanation/sensitive-bounds.md, "Once per pattern".
"""

from typing import Any

from incrowd.bounds.copies_by_value import NOTHING, keep, line, sort_by_value
from incrowd.kernels.jit import inner_kernel, lean_kernel

PROBES = 24  # sizes tried on the way to the one where classes are worth most, at most
QUIET = 12  # sizes passed over in a row, at most
SLOPES = 14  # slopes tried for one size, at most
NODES = 3000  # choices of values beyond quota, begun for one size, at most
ROUNDING = 1e-9


@inner_kernel
def bounded(size: int, first: float, enough: float, law: Any, s: Any) -> Any:
    """Return (bound on classes of this size, the slope and the last key that prove it).

    The least of a convex function of the slope, by intersecting tangents; a bound of at most
    ``enough`` is answer enough.  The histogram of the best slope is left in ``good``.
    """
    spare = size * law.t
    best = best_slope = best_last = 0.0
    low = high = -1.0
    low_value = high_value = low_rise = high_rise = 0.0
    slope = 0.0
    for i in range(SLOPES):
        total, far, last = line(size, slope, law, s)
        value = total + slope * spare
        if i == 0 or value < best:
            best, best_slope, best_last = value, slope, last
            keep(s.take, s.good)
        rise = spare - far
        if best <= enough or (rise >= 0.0 and slope == 0.0):
            break
        if rise < 0:
            low, low_value, low_rise = slope, value, rise
        else:
            high, high_value, high_rise = slope, value, rise
        if high < 0:
            slope = first if i == 0 else 2.0 * slope + 0.25
        else:
            if high_rise - low_rise < 1e-12:
                break
            slope = (low_value - low_rise * low - high_value + high_rise * high) / (
                high_rise - low_rise
            )
            if low_value + low_rise * (slope - low) >= best - 1e-9 * (1.0 + abs(best)):
                break
    return best, best_slope, best_last


@inner_kernel
def weigh(size: int, slope: float, last: float, law: Any, s: Any) -> None:
    """Tell what each value loses at these multipliers within its quota, and beyond; list values.

    ``s.order``: values, those first that lose most by being on the wrong side of their quota.
    """
    for v in range(law.quota.size):
        at = law.start[v] + v
        due = size * law.quota[v]
        whole = int(due + ROUNDING)
        inside = beyond = NOTHING
        for x in range(min(s.held[v], size) + 1):
            if x <= whole:
                inside = max(inside, s.sum[at + x] - last * x)
            else:
                beyond = max(beyond, s.sum[at + x] - last * x - slope * (x - due))
        best = max(inside, beyond)
        s.inside[v] = best - inside
        s.beyond[v] = best - beyond
        apart = max(s.inside[v], s.beyond[v])
        x = v
        while x > 0:
            w = s.order[x - 1]
            if max(s.inside[w], s.beyond[w]) >= apart:
                break
            s.order[x] = w
            x -= 1
        s.order[x] = v


@inner_kernel
def filled(size: int, slope: float, room: float, law: Any, s: Any) -> float:
    """Return the worth of the dearest class with exactly the values of ``side`` beyond quota.

    Its histogram is left in ``trial``.  ``NOTHING`` where there is none, or none that counts: the
    part of a row that no whole row can use up costs ``slope``, of which there is only ``room``.
    """
    rest = size
    total = 0.0
    spare = size * law.t + ROUNDING
    for v in range(law.quota.size):
        s.trial[v] = 0
        if s.side[v] == 1:
            due = size * law.quota[v]
            s.trial[v] = int(due + ROUNDING) + 1
            spare -= s.trial[v] - due
            rest -= s.trial[v]
            total += s.sum[law.start[v] + v + s.trial[v]]
    if rest < 0 or spare < 0:
        return NOTHING
    whole = int(spare)
    if slope * (spare - whole) >= room:
        return NOTHING
    for _ in range(rest):
        high = NOTHING
        which = -1
        for v in range(law.quota.size):
            x = s.trial[v]
            if x >= s.held[v]:
                continue
            full = whole == 0 if s.side[v] == 1 else x >= int(size * law.quota[v] + ROUNDING)
            if full:
                continue
            if s.excess[law.start[v] + x] > high:
                high, which = s.excess[law.start[v] + x], v
        if which < 0:
            return NOTHING
        s.trial[which] += 1
        whole -= s.side[which]
        total += high
    return total


@inner_kernel
def searched(
    size: int, bound: float, slope: float, last: float, best: float, law: Any, s: Any
) -> Any:
    """Try which values go beyond quota; return (worth of the best, at least ``best``; if sure).

    If a class beats ``best``, its histogram is left in ``best``.
    """
    weigh(size, slope, last, law, s)
    values = law.quota.size
    depth = 0
    s.lost[0] = 0.0
    s.state[0] = 0
    for _ in range(NODES):
        if depth == values or s.state[depth] == 2:
            if depth == values:  # a side for each value
                worth = filled(size, slope, bound - s.lost[depth] - best, law, s)
                if worth > best:
                    best = worth
                    keep(s.trial, s.best)
            depth -= 1
            if depth < 0:
                return best, True
            continue
        v = s.order[depth]
        side = s.state[depth]
        if s.inside[v] > 0.0:  # what loses nothing comes first
            side = 1 - side
        s.state[depth] += 1
        lost = s.lost[depth] + (s.beyond[v] if side == 1 else s.inside[v])
        if lost >= bound - best:
            continue
        s.side[v] = side
        depth += 1
        s.lost[depth] = lost
        s.state[depth] = 0
    return best, False


@inner_kernel
def count_above(slope: float, last: float, law: Any, s: Any) -> None:
    """Count each value's copies above the last key: of all, and of those wholly beyond quota."""
    for v in range(law.quota.size):
        for limit, found in ((last, s.above), (last + slope, s.well_above)):
            low, high = 0, s.held[v]
            while low < high:
                middle = (low + high) // 2
                if s.excess[law.start[v] + middle] > limit:
                    low = middle + 1
                else:
                    high = middle
            found[v] = low


@inner_kernel
def level(size: int, slope: float, last: float, law: Any, s: Any) -> float:
    """Return what these multipliers prove of classes of another size, after ``count_above``."""
    total = size * (last + slope * law.t)
    for v in range(law.quota.size):
        due = size * law.quota[v]
        x = min(s.above[v], int(due))
        if s.above[v] > x and s.excess[law.start[v] + x] - slope * (x + 1 - due) > last:
            x += 1
        x = max(x, s.well_above[v])
        total += s.sum[law.start[v] + v + x] - slope * max(0.0, x - due) - last * x
    return total


@inner_kernel
def tangent(size: int, slope: float, last: float, law: Any, s: Any) -> Any:
    """Return (A, B): classes of n rows are worth at most A + B·(n − size).

    αᵥ is what a copy at the quota is worth above the last one.
    """
    rise = last + slope * law.t
    total = 0.0
    for v in range(law.quota.size):
        x = int(size * law.quota[v])
        alpha = 0.0
        if x < s.held[v]:
            alpha = min(slope, max(0.0, s.excess[law.start[v] + x] - last))
        rise += alpha * law.quota[v]
        for x in range(law.start[v], law.start[v] + s.held[v]):
            more = s.excess[x] - alpha - last
            if more <= 0:
                break
            total += more
    return total + rise * size, rise


@inner_kernel
def peak(held: int, law: Any, s: Any) -> Any:
    """Return the size about which classes are worth most, and the slope there.

    By doubling and halving: that at which more rows add nothing to the tangents.
    """
    below = above = size = law.least
    slope = 0.2
    for _ in range(PROBES):
        _, slope, last = bounded(size, slope + 0.01, NOTHING, law, s)
        _, rise = tangent(size, slope, last, law, s)
        if rise > 0:
            below = size
        else:
            above = size
        if above <= below:  # no size known yet at which more rows add nothing
            if below == held or rise <= 0:
                break
            above, size = below, min(2 * size, held)
        else:
            if above - below <= max(1, below // 16):
                break
            size = (below + above) // 2
    return size, slope


@inner_kernel
def scan(size: int, step: int, held: int, slope: float, best: float, law: Any, s: Any) -> float:
    """Go through sizes upwards or downwards; return the worth of the best class, at least ``best``.

    Its histogram is left in ``best`` if it is better.  Sizes that the last multipliers prove to
    be no better are passed over; the end is where a tangent proves that of all that follow.
    """
    quiet = QUIET
    last = 0.0
    while law.least <= size <= held:
        if quiet < QUIET and level(size, slope, last, law, s) <= best:
            quiet += 1
        else:
            quiet = 0
            bound, slope, last = bounded(size, slope + 0.01, best, law, s)
            if bound > best:
                best, sure = searched(size, bound, slope, last, best, law, s)
                if not sure:
                    best = bound
                    keep(s.good, s.best)
            most, rise = tangent(size, slope, last, law, s)
            if most <= best and rise * step <= 0:
                break
            count_above(slope, last, law, s)
        size += step
    return best


@lean_kernel
def most_worth(
    rows: Any, begin: int, end: int, u: Any, counts: Any, cost: float, law: Any, s: Any
) -> float:
    """Bound Σ (u − cost) over every lawful class of these rows, at least 0.

    Where it is positive, ``best`` is the histogram of a class near it (which need not be lawful).
    """
    held = sort_by_value(rows, begin, end, u, counts, cost, law, s)
    if held < law.least:
        return 0.0
    size, slope = peak(held, law, s)
    best = scan(size, 1, held, slope, 0.0, law, s)
    return scan(size - 1, -1, held, slope, best, law, s)
