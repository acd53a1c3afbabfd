"""Prices with odd-set terms: the certificate behind an optimal matching.

Copies have integer prices, odd sets of copies have integer weights w ≥ 0, and every class e of two
or three copies obeys

    Σ prices of e + Σ {w(U) : |e ∩ U| odd}  ≤  |e| · cost(join of e) · quantum.

A larger class splits into such classes at no extra cost, and every partition has a class that meets
U in an odd number of copies; so no release costs less than (Σ prices + Σ weights) / quantum.
"""

from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from incrowd.instance import Instance
from incrowd.solvers.base import Prices


@dataclass(frozen=True, eq=False)
class OddSetPrices(Prices):
    """Prices per distinct row, and odd sets on top.

    Attributes
    ----------
    odd_sets: (copies, weight) of each: int64 array of an odd number of copies, int ≥ 0.
    """

    odd_sets: tuple[tuple[NDArray[np.int64], int], ...] = ()

    def bound(self, counts: NDArray[np.int64]) -> int:
        """Return ⌈(Σ counts·price + Σ weights) / quantum⌉."""
        return -(-self.total(counts) // self.quantum)

    def value(self, counts: NDArray[np.int64]) -> float:
        """Return (Σ counts·price + Σ weights) / quantum, in units of costs."""
        return self.total(counts) / self.quantum

    def total(self, counts: NDArray[np.int64]) -> int:
        """Return Σ counts·price + Σ weights."""
        prices = int(np.sum(self.price.astype(object) * counts))
        return prices + sum(weight for _, weight in self.odd_sets)


def symmetric(
    instance: Instance,
    price: NDArray[np.int64],
    odd_sets: list[tuple[NDArray[np.int64], int]],
    quantum: int,
    most: int = 20_000,
) -> OddSetPrices | None:
    """Turn prices per copy into prices per distinct row, or None beyond ``most`` odd sets.

    The inequality does not change when copies of one row change places; so the mean over all
    such changes obeys it too.  Rounding prices and weights down keeps it.

    Parameters
    ----------
    price: int64, shape (rows,): per copy.
    odd_sets: (copies, weight) of each.
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
    sets = tuple((np.array(key, np.int64), share) for key, share in spread.items() if share)
    return OddSetPrices(mean.astype(np.int64), quantum * finer, sets)
