"""All classes within reach of a bound.

Where prices with odd sets nearly reach the cost of a release, few classes have a reduced cost
small enough for a better one (Baldacci, Christofides and Mingozzi, Mathematical Programming 115,
2008, finish vehicle routing that way).
"""

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.odd_sets.classes import all_classes
from incrowd.bounds.odd_sets.lifted import Lifted
from incrowd.bounds.odd_sets.pricing import Classes, PricingProblem
from incrowd.kernels.halt import NEVER
from incrowd.lattice.emission import Emission
from incrowd.problem.instance import Instance

MOST_CLASSES = 400_000


def classes_within(
    lifted: Lifted, instance: Instance, k: int, slack: float, word: NDArray[np.int64] = NEVER
) -> Classes | None:
    """List the classes whose reduced cost under prices and odd sets is within ``slack``.

    None when they are more than ``MOST_CLASSES``, or time ends first (``word``: see
    ``incrowd.kernels.halt``).
    """
    prices = lifted.price, lifted.sets
    problem = PricingProblem.of(lifted.lists, instance.counts, k, *prices, halt=word)
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
