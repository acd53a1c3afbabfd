"""All classes within reach of a bound, and the program of releases made of them.

Where prices with odd sets nearly reach the cost of a release, few classes have a reduced cost
small enough for a better one (Baldacci, Christofides and Mingozzi, Mathematical Programming 115,
2008, finish vehicle routing that way): an exact set-partitioning problem.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.classes import OddSet, PricingProblem, all_classes
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.instance import Instance
from incrowd.patterns.prefix_tree import Emission

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
    pattern, size = np.empty(MOST_CLASSES, np.int64), np.empty(MOST_CLASSES, np.int64)
    rows = np.empty((MOST_CLASSES, 2 * k - 1), np.int64)
    problem = PricingProblem.of(lifted.lists, instance.counts, k, lifted.price, lifted.sets)
    n = all_classes(problem, slack, (pattern, size, rows))
    return None if n < 0 else Classes(pattern[:n].copy(), size[:n].copy(), rows[:n].copy())


def pairs_of(classes: Classes, lists: Emission, distinct: int) -> Emission:
    """Return the patterns of some classes, with the rows that these hold."""
    pairs = np.unique(
        np.repeat(classes.pattern, classes.size) * distinct + classes.rows[classes.taken]
    )
    used, first = np.unique(pairs // distinct, return_index=True)
    offset = np.append(first, len(pairs)).astype(np.int64)
    return Emission(lists.cost[used], offset, (pairs % distinct).astype(np.int32))


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
