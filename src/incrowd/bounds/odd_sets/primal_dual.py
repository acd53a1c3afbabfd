"""A linear program in steps: the primal-dual hybrid gradient with restarts.

minimize cost·x subject to K·x ≥ least, x ≥ 0, where row i may be left short at a price of
``top[i]`` per unit; its dual: maximize least·y subject to Kᵀ·y ≤ cost, 0 ≤ y ≤ top.

Method: Chambolle and Pock (Journal of Mathematical Imaging and Vision 40, 2011) with the diagonal
scaling of Pock and Chambolle (ICCV 2011); adaptive steps, restarts at the average and the balance
of primal and dual steps as in PDLP (Applegate and others, NeurIPS 2021).  Unlike a simplex method
it goes on from where it stands when columns and rows are added, and a point half-way is of use.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.jit import inner_kernel, kernel

CHECK = 20  # steps between two looks at the errors
LONGEST = 0.36  # share of all steps after which an average has become too old


class Sparse(NamedTuple):
    """The program; column j has 1 in rows ``row[start[j]:middle[j]]``, −1 up to ``start[j + 1]``.

    Where a row stands again, these add up.  Without values to read a step takes half the time.
    Float64: cost, column_scale (columns,); least, top, row_scale (rows,).
    """

    start: NDArray[np.int64]
    middle: NDArray[np.int64]
    row: NDArray[np.int32]
    cost: NDArray[np.float64]
    least: NDArray[np.float64]
    top: NDArray[np.float64]
    column_scale: NDArray[np.float64]
    row_scale: NDArray[np.float64]


class Point(NamedTuple):
    """A primal and a dual point, K·x and Kᵀ·y; all float64."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    kx: NDArray[np.float64]
    ky: NDArray[np.float64]


def scaled(
    start: NDArray[np.int64],
    middle: NDArray[np.int64],
    row: NDArray[np.int32],
    cost: NDArray[np.float64],
    least: NDArray[np.float64],
    top: NDArray[np.float64],
) -> Sparse:
    """Return the program with its scaling: one over the number of entries."""
    by_row = np.bincount(row, minlength=len(least))
    scales = 1.0 / np.maximum(np.diff(start), 1.0), 1.0 / np.maximum(by_row, 1.0)
    return Sparse(start, middle, row, cost, least, top, *scales)


@inner_kernel
def fill_ky(p: Any, point: Any) -> None:
    """Compute Kᵀ·y."""
    for j in range(p.cost.size):
        total = 0.0
        for z in range(p.start[j], p.middle[j]):
            total += point.y[p.row[z]]
        for z in range(p.middle[j], p.start[j + 1]):
            total -= point.y[p.row[z]]
        point.ky[j] = total


@inner_kernel
def fill_kx(p: Any, point: Any) -> None:
    """Compute K·x; most of x is zero."""
    point.kx[:] = 0.0
    for j in range(p.cost.size):
        x = point.x[j]
        if x != 0.0:
            for z in range(p.start[j], p.middle[j]):
                point.kx[p.row[z]] += x
            for z in range(p.middle[j], p.start[j + 1]):
                point.kx[p.row[z]] -= x


@inner_kernel
def error(p: Any, point: Any, balance: float) -> float:
    """Return what is wrong with a point: primal and dual violations and the gap, in one figure."""
    short = 0.0
    over = 0.0
    gap = 0.0
    for i in range(p.least.size):
        miss = p.least[i] - point.kx[i]
        gap -= p.least[i] * point.y[i]
        if point.y[i] >= p.top[i]:
            gap += p.top[i] * miss
        elif miss > 0:
            short += miss * miss
    for j in range(p.cost.size):
        more = point.ky[j] - p.cost[j]
        gap += p.cost[j] * point.x[j]
        if more > 0:
            over += more * more
    return np.sqrt(balance * balance * short + over / (balance * balance) + gap * gap)


@inner_kernel
def move(p: Any, here: Any, there: Any, step: float, balance: float) -> float:
    """Fill ``there`` with one step from ``here``; return the longest step that is sound."""
    for j in range(p.cost.size):
        slope = p.cost[j] - here.ky[j]
        there.x[j] = max(0.0, here.x[j] - step / balance * p.column_scale[j] * slope)
    fill_kx(p, there)
    apart = 0.0
    product = 0.0
    for i in range(p.least.size):
        slope = p.least[i] - 2 * there.kx[i] + here.kx[i]
        y = here.y[i] + step * balance * p.row_scale[i] * slope
        there.y[i] = min(max(0.0, y), p.top[i])
        d = there.y[i] - here.y[i]
        apart += d * d / p.row_scale[i] / balance
        product += d * (there.kx[i] - here.kx[i])
    for j in range(p.cost.size):
        d = there.x[j] - here.x[j]
        apart += balance * d * d / p.column_scale[j]
    fill_ky(p, there)
    if product == 0.0 or apart < 1e-30:  # it has arrived, and says nothing about steps
        return 1e300
    return 0.5 * apart / abs(product)


@inner_kernel
def distance(a: Any, b: Any, scale: Any) -> float:
    """Return the scaled distance between two vectors."""
    total = 0.0
    for i in range(a.size):
        total += (a[i] - b[i]) ** 2 / scale[i]
    return np.sqrt(total)


@inner_kernel
def copy(source: Any, target: Any) -> None:
    """Copy a point."""
    for j in range(source.x.size):
        target.x[j] = source.x[j]
        target.ky[j] = source.ky[j]
    for i in range(source.y.size):
        target.y[i] = source.y[i]
        target.kx[i] = source.kx[i]


@inner_kernel
def add(total: Any, point: Any, weight: float) -> None:
    """Add a weighted point to a sum; K·x and Kᵀ·y are linear."""
    for j in range(point.x.size):
        total.x[j] += weight * point.x[j]
        total.ky[j] += weight * point.ky[j]
    for i in range(point.y.size):
        total.y[i] += weight * point.y[i]
        total.kx[i] += weight * point.kx[i]


@inner_kernel
def clear(total: Any) -> None:
    """Set a point to zero."""
    total.x[:] = 0.0
    total.y[:] = 0.0
    total.kx[:] = 0.0
    total.ky[:] = 0.0


@inner_kernel
def rebalanced(p: Any, here: Any, origin: Any, balance: float) -> float:
    """Return the balance of dual to primal steps that the way from ``origin`` suggests."""
    primal = distance(here.x, origin.x, p.column_scale)
    dual = distance(here.y, origin.y, p.row_scale)
    if primal < 1e-10 or dual < 1e-10:
        return balance
    return np.sqrt(dual / primal * balance)


@inner_kernel
def restart(p: Any, here: Any, total: Any, origin: Any, pace: Any) -> None:
    """Begin anew from ``here``."""
    pace[1] = rebalanced(p, here, origin, pace[1])
    copy(here, origin)
    clear(total)


@kernel
def advance(
    p: Any, here: Any, there: Any, total: Any, mean: Any, origin: Any, pace: Any, steps: int
) -> Any:
    """Take steps from ``here``; return where the last point lies (of ``here`` and ``there``).

    ``pace``: float64, shape (2,): length of a step and balance of the steps, kept up to date.
    """
    fill_ky(p, here)
    fill_kx(p, here)
    copy(here, origin)
    weight = 0.0  # of the points in ``total``
    since = 0  # points in it
    begin = -1.0  # error at the last restart
    before = 1e300  # error at the last look
    for n in range(1, steps + 1):
        step = pace[0]
        sound = move(p, here, there, step, pace[1])
        pace[0] = min((1 - (n + 1.0) ** -0.3) * sound, (1 + (n + 1.0) ** -0.6) * step)
        if step <= sound:
            here, there = there, here
            add(total, here, step)
            weight += step
            since += 1
        if (n % CHECK > 0 and n < steps) or since == 0:
            continue
        clear(mean)
        add(mean, total, 1.0 / weight)
        of_mean = error(p, mean, pace[1])
        now = min(of_mean, error(p, here, pace[1]))
        begin = 5 * now if begin < 0 else begin
        good = now <= 0.2 * begin or (now <= 0.8 * begin and now > before)
        before = now
        if good or since >= LONGEST * n or n == steps:
            if of_mean <= now:
                copy(mean, here)
            restart(p, here, total, origin, pace)
            weight, since, begin, before = 0.0, 0, now, 1e300
    return here


@kernel
def _solve(p: Any, x: Any, y: Any, pace: Any, steps: int) -> Any:
    n = x.size
    m = y.size
    here = Point(x.copy(), y.copy(), np.zeros(m), np.zeros(n))
    there = Point(np.zeros(n), np.zeros(m), np.zeros(m), np.zeros(n))
    total = Point(np.zeros(n), np.zeros(m), np.zeros(m), np.zeros(n))
    mean = Point(np.zeros(n), np.zeros(m), np.zeros(m), np.zeros(n))
    origin = Point(np.zeros(n), np.zeros(m), np.zeros(m), np.zeros(n))
    return advance(p, here, there, total, mean, origin, pace, steps)


def solve(
    program: Sparse,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    pace: NDArray[np.float64],
    steps: int,
) -> Point:
    """Go ``steps`` steps from (x, y); return where that leads.

    Parameters
    ----------
    pace: float64, shape (2,): length of a step and balance of dual to primal steps, positive;
        changed in place, to go on with later.
    """
    return _solve(program, x, np.minimum(y, program.top), pace, steps)
