"""All classes within reach of a bound, and the best release made of them.

Where prices with odd sets nearly reach the cost of a release, few classes have a reduced cost
small enough for a better one (Baldacci, Christofides and Mingozzi, Mathematical Programming 115,
2008, finish vehicle routing that way): an exact set-partitioning problem.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.classes import OddSet, all_classes, new_pad, tolls_of
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.instance import Instance
from incrowd.patterns.prefix_tree import Emission
from incrowd.solution import Solution
from incrowd.solvers.highs import standard_output_kept_clean

MOST_CLASSES = 400_000


class Classes(NamedTuple):
    """Classes, as (pattern, size, rows): int64, shapes (n,), (n,), (n, 2k − 1)."""

    pattern: NDArray[np.int64]
    size: NDArray[np.int64]
    rows: NDArray[np.int64]

    @property
    def taken(self) -> NDArray[np.bool_]:
        """bool, shape (n, 2k − 1): which entries of ``rows`` are filled."""
        return np.arange(self.rows.shape[1]) < self.size[:, None]


def classes_within(lifted: Lifted, instance: Instance, k: int, slack: float) -> Classes | None:
    """List the classes whose reduced cost under prices and odd sets is within ``slack``.

    None when they are more than ``MOST_CLASSES``.
    """
    lists = lifted.lists
    tolls = tolls_of(lifted.sets, instance.distinct)
    pad = new_pad(int(np.diff(lists.offset).max(initial=1)), k)
    pattern, size = np.empty(MOST_CLASSES, np.int64), np.empty(MOST_CLASSES, np.int64)
    rows = np.empty((MOST_CLASSES, 2 * k - 1), np.int64)
    problem = lists, lifted.price, instance.counts, k, slack
    n = all_classes(*problem, tolls, pad, (pattern, size, rows))
    return None if n < 0 else Classes(pattern[:n].copy(), size[:n].copy(), rows[:n].copy())


def pairs_of(classes: Classes, lists: Emission, distinct: int) -> Emission:
    """Return the patterns of some classes, with the rows that these hold."""
    pairs = np.unique(
        np.repeat(classes.pattern, classes.size) * distinct + classes.rows[classes.taken]
    )
    used, first = np.unique(pairs // distinct, return_index=True)
    offset = np.append(first, len(pairs)).astype(np.int64)
    return Emission(lists.cost[used], offset, (pairs % distinct).astype(np.int32))


def best_partition(
    classes: Classes,
    cost: NDArray[np.int64],
    price: NDArray[np.float64],
    best: Solution,
    nodes: int,
    seconds: float,
    sets: Sequence[OddSet] = (),
) -> tuple[Solution, int]:
    """Put a release together from these classes alone.

    Parameters
    ----------
    cost: int64, shape (patterns,): cost per row of each pattern.
    price: float64, shape (distinct,): prices that bound every release, without odd sets; costs are
        reduced by them, so that HiGHS's relative gap is one of small numbers.
    sets: odd sets, which every release obeys: with them branch and bound starts at their bound,
        and looks for better releases than ``best`` only.

    Returns
    -------
    the better of it and ``best``, and a lower bound on all releases made of these classes.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    instance, n = best.instance, len(classes.size)
    if not n:
        return best, best.cost
    matrix = copies_in(classes, instance)
    paid = float(price @ instance.counts)
    reduced = classes.size * cost[classes.pattern] - matrix.T @ price
    counts: Any = instance.counts
    parts = [LinearConstraint(matrix, counts, counts)]
    if sets:
        most: Any = [s.most(instance.counts) for s in sets]
        parts.append(LinearConstraint(groups(sets, matrix), -np.inf, most))
        # nothing dearer is of use: that ends most branches
        parts.append(LinearConstraint(reduced[None, :], -np.inf, best.cost - 1 - paid + 1e-6))
    above = max(1.0, best.cost - paid)
    with standard_output_kept_clean():
        result = milp(
            reduced,
            integrality=np.ones(n),
            bounds=Bounds(0, np.inf),
            constraints=parts,
            options={
                "node_limit": nodes,
                "time_limit": max(0.05, min(seconds, 1e7)),
                "mip_rel_gap": 0.5 / above,
                "presolve": not sets,  # takes long with them, and finds nothing
            },
        )
    bound = -1
    if result.status == 2:  # no release, or no better one, consists of these classes
        return best, best.cost
    if result.mip_dual_bound is not None and np.isfinite(result.mip_dual_bound):
        doubt = 1e-6 * max(above, float(np.abs(reduced).max()))  # as in ``neighbourhood``
        bound = min(math.ceil(paid + result.mip_dual_bound - doubt - 1e-12 * paid), best.cost)
    if result.x is None:
        return best, bound
    found = assembled(classes, np.rint(result.x).astype(np.int64), instance)
    return (found if found is not None and found.cost < best.cost else best), bound


def copies_in(classes: Classes, instance: Instance) -> Any:
    """Return how many copies of each distinct row each class holds, rows × classes; sparse."""
    from scipy.sparse import csc_array

    n = len(classes.size)
    column = np.repeat(np.arange(n), classes.size)
    row = classes.rows[classes.taken]
    return csc_array((np.ones(len(row)), (row, column)), shape=(instance.distinct, n))


def groups(sets: Sequence[OddSet], matrix: Any) -> Any:
    """Return ⌊|C∩S|/q⌋, sets × classes, from the copies of each row in each class; sparse."""
    from scipy.sparse import csr_array

    column = np.concatenate([s.rows for s in sets])
    row = np.repeat(np.arange(len(sets)), [len(s.rows) for s in sets])
    members = csr_array((np.ones(len(row)), (row, column)), shape=(len(sets), matrix.shape[0]))
    held = (members @ matrix).tocoo()
    modulus = np.array([s.modulus for s in sets])
    held.data //= modulus[held.coords[0]]
    held.eliminate_zeros()
    return held.tocsr()


def assembled(classes: Classes, times: NDArray[np.int64], instance: Instance) -> Solution | None:
    """Give every copy its class; None unless each copy is in exactly one."""
    chosen = np.repeat(np.flatnonzero(times), times[times > 0])
    taken = classes.taken[chosen]
    row = classes.rows[chosen][taken]
    if (np.bincount(row, minlength=instance.distinct) != instance.counts).any():
        return None
    name = np.repeat(np.arange(len(chosen)), classes.size[chosen])
    return Solution.of(instance, name[np.argsort(row, kind="stable")])
