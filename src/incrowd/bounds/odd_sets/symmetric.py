"""Odd sets of copies spread over all copies of the same rows."""

from itertools import combinations, product
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.prices import Prices, WeightedSet
from incrowd.problem.instance import Instance


def symmetric(
    instance: Instance,
    price: NDArray[np.int64],
    odd_sets: list[tuple[NDArray[np.int64], int]],
    quantum: int,
    most: int = 20_000,
) -> Prices | None:
    """Turn prices per copy into prices per distinct row, or None beyond ``most`` odd sets.

    The inequality does not change when copies of one row change places; so the mean over all
    such changes obeys it too.  Rounding prices and weights down keeps it.

    Parameters
    ----------
    price: int64, shape (rows,): per copy.
    odd_sets: (copies, weight) of each; modulus 2.
    """
    counts, first = instance.counts, instance.first_copy
    finer = 2 if (counts[counts > 1] == 2).all() else 1
    mean = (np.add.reduceat(price, first[:-1]) * finer) // counts
    spread: dict[tuple[int, ...], int] = {}
    for copies, weight in odd_sets:
        rows, held = np.unique(instance.copies[copies], return_counts=True)
        images = prod(comb(int(counts[r]), int(h)) for r, h in zip(rows, held, strict=True))
        if len(spread) + images > most:
            return None
        share = weight * finer // images
        choices = [
            combinations(range(int(first[r]), int(first[r + 1])), int(h))
            for r, h in zip(rows, held, strict=True)
        ]
        for image in product(*choices):
            key = tuple(copy for part in image for copy in part)
            spread[key] = spread.get(key, 0) + share
    sets = tuple(
        WeightedSet(np.array(key, np.int64), share) for key, share in spread.items() if share
    )
    return Prices(mean.astype(np.int64), quantum * finer, odd_sets=sets)
