"""All classes within reach of a bound, and the program of releases made of them.

Where prices with odd sets nearly reach the cost of a release, few classes have a reduced cost
small enough for a better one (Baldacci, Christofides and Mingozzi, Mathematical Programming 115,
2008, finish vehicle routing that way): an exact set-partitioning problem.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from incrowd.bounds.odd_sets.classes import all_classes
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.bounds.odd_sets.pricing import Classes, OddSet, PricingProblem
from incrowd.instance import Instance
from incrowd.patterns.prefix_tree import Emission

MOST_CLASSES = 400_000


def classes_within(lifted: Lifted, instance: Instance, k: int, slack: float) -> Classes | None:
    """List the classes whose reduced cost under prices and odd sets is within ``slack``.

    None when they are more than ``MOST_CLASSES``.
    """
    problem = PricingProblem.of(lifted.lists, instance.counts, k, lifted.price, lifted.sets)
    room = Classes.room(MOST_CLASSES, k)
    n = all_classes(problem, slack, room)
    return None if n < 0 else room.first(n)


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
