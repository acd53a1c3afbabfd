"""The best release that publishes given patterns: a flow with lower bounds."""

from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.lattice.emission import Emission
from incrowd.linear.simplex import Simplex
from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution


def dealt(
    lists: Emission,
    opened: NDArray[np.int64],
    instance: Instance,
    k: int,
    seconds: Callable[[], float],
) -> Solution | None:
    """Deal the rows to the patterns ``opened``, each to at least ``k``; None where that fails.

    The vertices of this program are whole (it is a flow), so the simplex method ends at one.

    Parameters
    ----------
    lists: patterns and the rows that may publish them.
    opened: int64, shape (open patterns,): their numbers in ``lists``, ascending.
    """
    pattern = np.repeat(np.arange(len(lists.cost)), np.diff(lists.offset))
    inside = np.isin(pattern, opened)
    place = np.searchsorted(opened, pattern[inside])
    row = lists.rows[inside].astype(np.int64)
    cost = lists.cost[opened][place] / instance.cell
    n = len(row)
    index = np.stack([row, instance.distinct + place], axis=1).ravel()
    shape = instance.distinct + len(opened), n
    matrix = scipy.sparse.csc_array((np.ones(2 * n), index, 2 * np.arange(n + 1)), shape=shape)
    counts = instance.counts.astype(np.float64)
    lower = np.concatenate([counts, np.full(len(opened), float(k))])
    upper = np.concatenate([counts, np.full(len(opened), np.inf)])
    simplex = Simplex(lower, upper, np.zeros(0))
    simplex.add_columns(cost, matrix)
    point = simplex.solve(seconds)
    if point is None:
        return None
    times = np.rint(point.x).astype(np.int64)
    if (np.bincount(row, times, instance.distinct) != instance.counts).any():
        return None  # numerical trouble
    order = np.argsort(row, kind="stable")
    solution = Solution.of(instance, np.repeat(place[order], times[order]))
    return solution if solution.sizes.min() >= k else None
