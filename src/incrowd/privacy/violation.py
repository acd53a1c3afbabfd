"""How badly a class breaks the laws, also after one row more or less: kernels for a search.

The answer is in 1/1024 of a row: 0 exactly when the class is lawful, else at least 1, and
smaller the nearer the class is.  Integers decide, except for entropy, which within 10⁻⁹ of its
threshold is lawful only as l or more equal shares: no double admits an unlawful class.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from incrowd.kernels.apart import apart
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.privacy.law import (
    CALLED,
    CARRIED,
    COUNTED,
    CUMULATED,
    DISTINCT,
    ENTROPY,
    EQUAL,
    NODES,
    ONCE,
    RECURSIVE,
    SHARES,
    Laws,
)
from incrowd.privacy.transport_kernel import transport_above

ROW = 1024


def called_back(typingctx: Any, address: Any, place: Any) -> Any:
    """Call the function at ``address`` (int64) with ``place`` (a pointer, as int64): its bool."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        form = ir.FunctionType(context.get_value_type(types.int64), [cgutils.voidptr_t])
        function = builder.inttoptr(args[0], form.as_pointer())
        found = builder.call(function, [builder.inttoptr(args[1], cgutils.voidptr_t)])
        return builder.icmp_signed("==", found, ir.Constant(found.type, 0))

    return types.boolean(types.int64, types.int64), code


unlawful: Any = intrinsic(called_back)
"""Whether the function at an address says 0 of what stands at another; both int64."""


@lean_kernel
def violation(laws: Laws, hist: NDArray[np.int64], rows: int) -> int:
    """Sum of the laws' violations by a class.

    hist: int64, shape (places,), the attributes' histograms one after the other; rows ≥ 0 (a
    class without rows breaks nothing: it is none).
    """
    if rows == 0:
        return 0
    total = max(0, laws.least[0] - rows) * ROW
    for i in range(len(laws.kind)):
        kind = laws.kind[i]
        part = hist[laws.place[i] : laws.place[i] + laws.width[i]]
        data = laws.data[laws.first[i] :]
        pad = laws.pad[laws.room[i] :]
        if kind == SHARES:
            total += shares_broken(part, rows, data)
        elif kind == DISTINCT:
            total += distinct_broken(part, data)
        elif kind == COUNTED:
            total += max(0, data[0] - part.sum()) * ROW
        elif kind != CALLED:
            total += broken_at(laws.rare, (kind, part, rows, data, pad))
        elif total == 0 and unlawful(data[0], part.ctypes.data):
            total = ROW  # by how much it is broken nobody says
    return total


@lean_kernel
def rarely_broken(
    kind: int, part: NDArray[np.int64], rows: int, data: NDArray[np.int64], pad: NDArray[np.int64]
) -> int:
    """As ``broken``, for kinds that few models have, and for values that count once."""
    if kind == ONCE:
        return broken(data[0], part, part.sum(), data[1:], pad)
    return broken(kind, part, rows, data, pad)


NUMBERS = np.zeros(0, np.int64)
RARELY = 0, (0, NUMBERS, 0, NUMBERS, NUMBERS)
broken_at = apart(rarely_broken, RARELY)


@lean_kernel
def broken(
    kind: int, part: NDArray[np.int64], rows: int, data: NDArray[np.int64], pad: NDArray[np.int64]
) -> int:
    """Return by how much a histogram breaks a law of a kind."""
    if kind == SHARES:
        return shares_broken(part, rows, data)
    if kind == DISTINCT:
        return distinct_broken(part, data)
    if kind == EQUAL:
        return equal_broken(part, rows, data)
    if kind == CUMULATED:
        return cumulated_broken(part, rows, data)
    if kind == NODES:
        return nodes_broken(part, rows, data)
    if kind == ENTROPY:
        return entropy_broken(part, rows, data)
    if kind == RECURSIVE:
        return recursive_broken(part, rows, data)
    if kind == CARRIED:
        return carried_broken(part, rows, data, pad)
    return 0


@lean_kernel
def violation_after(
    laws: Laws, hist: NDArray[np.int64], rows: int, places: NDArray[np.int64], change: int
) -> int:
    """``violation`` after ``change`` (±1) rows of values at ``places``, shape (attributes,).

    ``hist`` is changed on the way and put back.
    """
    tally(laws, hist, places, change)
    found = violation(laws, hist, rows + change)
    tally(laws, hist, places, -change)
    return found


@inner_kernel
def tally(laws: Laws, hist: NDArray[np.int64], places: NDArray[np.int64], change: int) -> None:
    """Count a row of values at ``places``, shape (attributes,), in (+1) or out (−1)."""
    for a in range(len(places)):
        x = places[a]
        hist[x] += change
        y = laws.once[x]
        if y >= 0 and hist[x] == (1 if change > 0 else 0):
            hist[y] += change


@inner_kernel
def in_rows(surplus: int, unit: int) -> int:
    """surplus/unit in 1/1024 of a row, at least 1 for any surplus above 0."""
    if surplus <= 0:
        return 0
    whole = surplus // unit
    rest = surplus - whole * unit
    share = rest * ROW // unit if unit < 2**52 else rest // (unit // ROW)
    return max(1, whole * ROW + share)


@inner_kernel
def shares_broken(part: NDArray[np.int64], rows: int, data: NDArray[np.int64]) -> int:
    """max (D·h − x·n)⁺ + Σ (y·n − D·h)⁺: a row of another value brings every excess down."""
    unit, values = data[0], len(part)
    excess = lacking = 0
    for v in range(values):
        held = unit * part[v]
        excess = max(excess, held - data[1 + v] * rows)
        lacking += max(0, data[1 + values + v] * rows - held)
    return in_rows(excess + lacking, unit)


@inner_kernel
def distinct_broken(part: NDArray[np.int64], data: NDArray[np.int64]) -> int:
    """Values that are lacking."""
    held = 0
    for v in range(len(part)):
        if part[v] > 0:
            held += 1
    return max(0, data[0] - held) * ROW


@inner_kernel
def equal_broken(part: NDArray[np.int64], rows: int, data: NDArray[np.int64]) -> int:
    """td·Σ(h·N − n·C)⁺ − tn·n·N."""
    table_rows = data[2]
    surplus = 0
    for v in range(len(part)):
        surplus += max(0, part[v] * table_rows - rows * data[3 + v])
    return in_rows(data[1] * surplus - data[0] * rows * table_rows, data[1] * table_rows)


@inner_kernel
def cumulated_broken(part: NDArray[np.int64], rows: int, data: NDArray[np.int64]) -> int:
    """td·Σ|cumulated (h·N − n·C)| − tn·(V − 1)·n·N."""
    table_rows, values = data[2], len(part)
    moved = cumulated = 0
    for i in range(values):
        v = data[3 + values + i]
        cumulated += part[v] * table_rows - rows * data[3 + v]
        moved += abs(cumulated)
    unit = data[1] * table_rows * max(values - 1, 1)
    return in_rows(data[1] * moved - data[0] * rows * table_rows, unit)


@inner_kernel
def nodes_broken(part: NDArray[np.int64], rows: int, data: NDArray[np.int64]) -> int:
    """td·Σ over levels and nodes of (h·N − n·C)⁺ − tn·levels·n·N."""
    table_rows, levels, values = data[2], data[3], len(part)
    surplus = 0
    at = 4 + values
    for _ in range(levels):
        nodes = data[at]
        x = 0
        for node in range(at + 1, at + 1 + nodes):
            held = 0
            while x < data[node]:
                held += part[data[4 + x]]
                x += 1
            surplus += max(0, held * table_rows - rows * data[node + nodes])
        at += 1 + 2 * nodes
    unit = data[1] * table_rows * max(levels, 1)
    return in_rows(data[1] * surplus - data[0] * rows * table_rows, unit)


@inner_kernel
def carried_broken(
    part: NDArray[np.int64], rows: int, data: NDArray[np.int64], pad: NDArray[np.int64]
) -> int:
    """td·(cheapest transport of (h·N − n·C)⁺, distances in 1/U) − tn·n·N·U."""
    table_rows, unit, values = data[2], data[3], len(part)
    most = data[0] * rows * table_rows * unit
    moved = transport_above(
        part, rows, table_rows, data[4:], unit, data[4 + values :],
        data[4 + values * (values + 1) :], most // data[1], pad,
    )  # fmt: skip
    return in_rows(data[1] * moved - most, data[1] * table_rows * unit)


@inner_kernel
def entropy_broken(part: NDArray[np.int64], rows: int, data: NDArray[np.int64]) -> int:
    """n·(ln l − entropy), by doubles; within 10⁻⁹ a row lawful only as l equal shares."""
    total = 0.0
    largest = held = 0
    for v in range(len(part)):
        if part[v] > 0:
            held += 1
            largest = max(largest, part[v])
            total += part[v] * np.log(part[v])
    surplus = rows * np.log(data[0] / data[1]) - (rows * np.log(rows) - total)
    if surplus < -1e-9 * rows:
        return 0
    if surplus < 1e-9 * rows and held * largest == rows and held * data[1] >= data[0]:
        return 0
    return max(1, int(surplus * ROW))


@inner_kernel
def recursive_broken(part: NDArray[np.int64], rows: int, data: NDArray[np.int64]) -> int:
    """cd·r₁ − cn·(r_l + r_{l+1} + …), which must be below 0, and values lacking to l."""
    largest = 0
    last = rows + 1
    taken = 0
    tail = rows
    while taken < data[2] - 1 and last > 0:  # the l − 1 largest counts, equal ones at once
        count = equal = 0
        for v in range(len(part)):
            if count < part[v] < last:
                count, equal = part[v], 1
            elif part[v] == count:
                equal += 1
        equal = min(equal, data[2] - 1 - taken)
        tail -= equal * count
        taken += equal
        last = count
    lacking = data[2]
    for v in range(len(part)):
        largest = max(largest, part[v])
        lacking -= part[v] > 0
    surplus = data[1] * largest - data[0] * tail
    return in_rows(surplus + 1, data[1]) + ROW * max(0, lacking)
