"""The optimum of a small table, ties broken by a fixed order over releases.

Of two equally cheap releases the one comes first that shows the first cell, row by row, which only
one of them shows.

**Claim.**  If the optimum of veiled table Y is R and R hides cell (i, c), then the optimum of Y
with that cell veiled is R.

**Argument.**  Lawful releases of Y with the cell veiled are those of Y that hide it: R is one, and
none is new.  Cost and order look at nothing but which cells a release hides, a veiled one costing
what a hidden one does.  So R, which came first among more, comes first among fewer.
"""

import numpy as np

from incrowd.errors import OutOfScopeError
from incrowd.kernels.types import Bools, Ints
from incrowd.veil.lists import Classes, Lawful

MOST_ROWS = 13


def best(codes: Ints, veiled: Bools, weights: Ints, lawful: Lawful) -> Classes:
    """Return the classes of the first of the cheapest lawful releases.

    Parameters
    ----------
    codes: int64, shape (rows, columns).
    veiled: bool, the same shape: cells that nobody looks at.
    weights: int64, shape (columns,): what a hidden cell costs.

    Raises
    ------
    OutOfScopeError: there are more than ``MOST_ROWS`` rows.
    """
    rows = len(codes)
    require_few(rows)
    masks = hidden_of_sets(codes, veiled)
    price = prices(masks, weights, lawful, rows)
    least: list[int | None] = [None] * (1 << rows)
    taken = [0] * (1 << rows)
    least[0] = 0
    for group in range(1, 1 << rows):
        first = group & -group
        others = part = group ^ first
        while True:  # all subsets of the others, with the first row
            own, rest = price[part | first], least[others ^ part]
            if own is not None and rest is not None:
                whole = least[group]
                if whole is None or own + rest < whole:
                    least[group], taken[group] = own + rest, part | first
            if not part:
                break
            part = (part - 1) & others
    of_row, hidden, left = np.empty(rows, np.int64), [], (1 << rows) - 1
    while left:
        group = taken[left]
        of_row[[i for i in range(rows) if group >> i & 1]] = len(hidden)
        hidden.append(masks[group])
        left ^= group
    return Classes(of_row, np.array(hidden, bool).reshape(len(hidden), codes.shape[1]))


def require_few(rows: int) -> None:
    """Raise OutOfScopeError for a table whose sets of rows are too many."""
    if rows > MOST_ROWS:
        raise OutOfScopeError(
            f"subset-dp with a veil serves {MOST_ROWS} rows at most: every set of rows is looked "
            "at, so that ties are broken by a fixed order; leave --method out"
        )


def hidden_of_sets(codes: Ints, veiled: Bools) -> Bools:
    """bool, shape (2^rows, columns): what a class of each set of rows has to hide."""
    rows = len(codes)
    found = np.zeros((1 << rows, codes.shape[1]), bool)
    for group in range(1, 1 << rows):
        last = group.bit_length() - 1
        rest = group ^ (1 << last)
        if rest:
            other = (rest & -rest).bit_length() - 1
            found[group] = found[rest] | (codes[last] != codes[other])
        found[group] |= veiled[last]
    return found


def prices(masks: Bools, weights: Ints, lawful: Lawful, rows: int) -> list[int | None]:
    """Return what each set of rows costs as a class, None where it is unlawful.

    Whole numbers, in whose low bits stands which cells it hides, the first ones highest: sums over
    disjoint classes compare by cost, then by the order over releases.
    """
    columns = masks.shape[1]
    found: list[int | None] = [None] * len(masks)
    for group in range(1, len(masks)):
        members = np.array([i for i in range(rows) if group >> i & 1])
        if not lawful(members, np.zeros(len(members), np.int64)).all():
            continue
        cost = int(weights[masks[group]].sum()) * len(members)
        bits = 0
        for c in np.flatnonzero(masks[group]).tolist():
            for i in members.tolist():
                bits |= 1 << ((rows - 1 - i) * columns + columns - 1 - c)
        found[group] = (cost << (rows * columns)) | bits
    return found
