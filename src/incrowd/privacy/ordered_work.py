"""The ordered Earth Mover's Distance of all classes at once, in time of the entries held."""

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.classes import LARGEST, Histograms, product


def ordered_work(classes: Histograms, rank: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
    """Return numerators and denominators of Σ |cumulated (q − p)| / (V − 1), class by class.

    Between two neighbouring values that a class holds, its cumulated count H stays, while the
    table's cumulated count T grows; |H·N − n·T(i)| changes sign once there, and prefix sums of T
    add up either side.  So a class costs its entries, not V.
    """
    values, rows = len(rank), classes.rows
    order = np.argsort(classes.owner * values + rank[classes.code])
    place = rank[classes.code[order]]
    count = classes.count[order]
    running = np.cumsum(count)
    held = running - (running[classes.start[:-1]] - count[classes.start[:-1]])[classes.owner]
    n = classes.sizes[classes.owner]
    inverse = np.argsort(rank)
    table = np.cumsum(classes.table[inverse])
    prefix = np.concatenate([[0], np.cumsum(table)])  # prefix[i] = Σ table[:i]
    end = np.append(place[1:], values)
    end[classes.start[1:] - 1] = values
    wide = int(n.max(initial=0)) * rows * values >= LARGEST
    if wide:
        held, n, prefix, table = (x.astype(object) for x in (held, n, prefix, table))
    # T(i) ≤ H·N/n for places before ``turn``: there H·N − n·T(i) ≥ 0.
    level = held * rows // n
    turn = np.searchsorted(table.astype(np.int64), level.astype(np.int64), side="right")
    turn = np.clip(turn, place, end)
    above = held * rows * (turn - place) - n * (prefix[turn] - prefix[place])
    below = n * (prefix[end] - prefix[turn]) - held * rows * (end - turn)
    first = place[classes.start[:-1]]
    total = classes.total(above + below) + n[classes.start[:-1]] * prefix[first]
    unit = product(classes.sizes, rows)
    return total, product(unit, max(values - 1, 1))
