"""Prices with odd-set terms: the certificate behind optimal matchings and lifted price bounds.

Copies have integer prices, sets U of copies have integer weights w ≥ 0 and moduli q ≥ 2, and every
class e of k to 2k − 1 copies obeys

    Σ prices of e + Σ w(U)·(|e ∩ U| mod q(U))  ≤  |e| · cost(join of e) · quantum.

A larger class splits into such classes at no extra cost, and over the classes of a partition the
rests of |e ∩ U| sum to at least that of |U|; so no release costs less than
(Σ prices + Σ w(U)·(|U| mod q(U))) / quantum.  With modulus 2 these are the odd sets of matchings.
"""

from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.instance import Instance
from incrowd.solvers.base import Prices


class WeightedSet(NamedTuple):
    """A term on top of prices.

    copies: integer array, not a multiple of ``modulus`` of them.
    weight: ≥ 0, in units of the prices; a class pays it per copy beyond multiples of the modulus.
    """

    copies: NDArray[np.integer]
    weight: int
    modulus: int = 2

    def worth(self) -> int:
        """What every release pays."""
        return int(self.weight) * (len(self.copies) % self.modulus)


@dataclass(frozen=True, eq=False)
class OddSetPrices(Prices):
    """Prices per distinct row, and terms of sets of copies on top."""

    odd_sets: tuple[WeightedSet, ...] = ()

    def bound(self, counts: NDArray[np.int64]) -> int:
        """Return ⌈total / quantum⌉."""
        return -(-self.total(counts) // self.quantum)

    def value(self, counts: NDArray[np.int64]) -> float:
        """Return total / quantum, in units of costs."""
        return self.total(counts) / self.quantum

    def total(self, counts: NDArray[np.int64]) -> int:
        """Return Σ counts·price + Σ of what the sets are worth."""
        prices = int(np.sum(self.price.astype(object) * counts))
        return prices + sum(one.worth() for one in self.odd_sets)


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
    return OddSetPrices(mean.astype(np.int64), quantum * finer, sets)
