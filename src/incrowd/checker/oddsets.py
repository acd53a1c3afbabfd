"""Odd-set terms: what every lawful release must pay on top of the prices.

Claim.  Let U be a set of rows and q ≥ 2.  However the rows are dealt into classes e, the rests
|e∩U| mod q sum to at least |U| mod q.  So if U has the weight w ≥ 0 and every class e obeys

    Σ prices of e + Σ w_U·(|e∩U| mod q_U)  ≤  |e|·cost(join of e)·quantum,

no release costs less than (Σ prices + Σ w_U·(|U| mod q_U)) / quantum.  Classes of k to 2k−1 rows
are enough: larger ones split without paying more, as rests do not grow when classes are joined.

Check.  With ŷ = price + weights of the sets that hold the row, the left side is at most Σ ŷ.  So
only patterns that break the plain inequality under ŷ can hold a class that breaks this one; in
each of them the classes are tried one by one, under a bound.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incrowd.checker.limits import require_within
from incrowd.checker.rejection import require

Ints = NDArray[np.int64]
# rows, sizes of class and sets of a row that are looked at: so many, and for each row more, at most
TRIES, EACH, MOST = 20_000_000, 2_000, 100_000_000


class OddSets:
    """The sets of a proof: checked on construction.

    Attributes
    ----------
    total: Σ weight·(size mod modulus).
    lift: int64, shape (rows,): per row the weights of the sets that hold it.
    mark: int64, shape (rows,): rows with equal marks are in the same sets.
    """

    def __init__(self, sets: pl.DataFrame, rows: int) -> None:
        sets = sets.cast(pl.Int64)
        at, weight = sets["row"].to_numpy(), sets["weight"].to_numpy()
        modulus = sets["modulus"].to_numpy()
        require(bool(((at >= 0) & (at < rows)).all()), "an odd set holds a row that is not there")
        require(
            bool(((weight >= 0) & (weight < 2**50)).all()), "an odd set's weight is out of range"
        )
        require(not sets.select("set", "row").is_duplicated().any(), "an odd set holds a row twice")
        require(bool(((modulus >= 2) & (modulus < 2**20)).all()), "a modulus is not from 2 to 2^20")
        each = sets.group_by("set").agg(pl.len(), pl.col("weight", "modulus").unique())
        one = (each["weight"].list.len() == 1) & (each["modulus"].list.len() == 1)
        require(bool(one.all()), "an odd set has two weights or moduli")
        each = each.explode("weight", "modulus")
        require(bool((each["len"] % each["modulus"] > 0).all()), "an odd set leaves no rest")
        names = each["set"].to_list()
        self.weight = dict(zip(names, each["weight"].to_list(), strict=True))
        self.modulus = dict(zip(names, each["modulus"].to_list(), strict=True))
        self.total = sum(
            weight * (size % modulus)
            for size, weight, modulus in each.select("len", "weight", "modulus").iter_rows()
        )
        require(self.total < 2**60, "the odd sets' weights are too large")
        self.lift = np.zeros(rows, np.int64)
        np.add.at(self.lift, at, weight)
        held: dict[int, list[int]] = {}
        for row, name in sets.select("row", "set").sort("set").iter_rows():
            held.setdefault(row, []).append(name)
        kinds: dict[tuple[int, ...], int] = {(): 0}
        self.mark = np.zeros(rows, np.int64)
        for row, names in held.items():
            self.mark[row] = kinds.setdefault(tuple(names), len(kinds))
        self.names = list(kinds)
        self.tries = min(TRIES + EACH * rows, MOST)

    def broken(self, price: Ints, copies: Ints, mark: Ints, cost: int, k: int) -> bool:
        """Whether some class of rows (falling lifted prices) of a pattern breaks the inequality."""
        times = np.minimum(copies, 2 * k - 1)
        self._spend(int(times.sum()))
        excess = [int(p) - cost for p in np.repeat(price, times)]
        sums = [0, *np.cumsum(np.array(excess, object)).tolist()]
        names = [self.names[m] for m in np.repeat(mark, times)]
        return self._extend(0, 0, 0, defaultdict(int), excess, sums, names, k)

    def _spend(self, steps: int) -> None:
        """Count steps: a proof may take only so many."""
        self.tries -= steps
        require_within(self.tries >= 0, "the odd sets leave too many classes to try one by one")

    def _extend(
        self,
        start: int,
        size: int,
        value: int,
        held: defaultdict[int, int],
        excess: list[int],
        sums: list[int],
        names: Sequence[tuple[int, ...]],
        k: int,
    ) -> bool:
        """Try all classes that add rows from ``start`` on; ``held``: how many rows of each set."""
        if size >= k and value > 0:
            return True
        for i in range(start, len(excess)):
            if i > start and (excess[i], names[i]) == (excess[i - 1], names[i - 1]):
                continue  # the row before would do as well, and was left out
            room = range(max(1, k - size), 2 * k - size)
            most = [sums[i + n] - sums[i] for n in room if i + n < len(sums)]
            if not most or value + max(most) <= 0 or (i > start and not names[i - 1]):
                return False  # later rows promise no more than is to be had with the last one
            self._spend(len(room) + len(names[i]))
            more = value + excess[i]
            for name in names[i]:
                held[name] += 1
                if held[name] % self.modulus[name] == 0:
                    more -= self.modulus[name] * self.weight[name]
            if self._extend(i + 1, size + 1, more, held, excess, sums, names, k):
                return True
            for name in names[i]:
                held[name] -= 1
        return False
