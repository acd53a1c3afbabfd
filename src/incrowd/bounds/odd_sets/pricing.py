"""What searches for classes go by: odd sets, prices and penalties, and room for what they find."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.kernels.halt import NEVER
from incrowd.lattice.emission import Emission

ENDLESS = 1 << 62
MOST_ENTRIES = 10_000_000  # rows of all classes in one list: 80 MB


class OddSet(NamedTuple):
    """All copies of some distinct rows.

    A class C pays ``penalty``·⌊|C∩S|/``modulus``⌋.
    """

    rows: NDArray[np.int64]
    modulus: int
    penalty: float

    def most(self, counts: NDArray[np.int64]) -> int:
        """Return ⌊|S|/modulus⌋."""
        return int(counts[self.rows].sum()) // self.modulus

    def name(self) -> tuple[int, ...]:
        """Return what tells it apart: modulus and rows."""
        return self.modulus, *self.rows.tolist()


class Classes(NamedTuple):
    """Classes: int64, shapes (n,), (n,), (n, 2k − 1); of ``rows`` the first ``size`` count."""

    pattern: NDArray[np.int64]
    size: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def room(cls, n: int, k: int) -> "Classes":
        """Allocate for n classes, or for fewer where they are large."""
        n = min(n, MOST_ENTRIES // (2 * k - 1))
        return cls(np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 2 * k - 1), np.int64))

    def first(self, n: int) -> "Classes":
        """Return the first n, without holding on to the room of the others."""
        return Classes(*(part[:n].copy() for part in self))

    @property
    def taken(self) -> NDArray[np.bool_]:
        """bool, shape (n, 2k − 1): which entries of ``rows`` are filled."""
        return np.arange(self.rows.shape[1]) < self.size[:, None]

    @property
    def padded(self) -> NDArray[np.int64]:
        """int64, shape (n, 2k − 1): ``rows``, −1 after the last."""
        return np.where(self.taken, self.rows, -1)


class Penalties(NamedTuple):
    """Odd sets by row: sets ``sets[first[r]:first[r + 1]]`` hold distinct row r.

    modulus: int64, shape (sets,); penalty: float64 or int64, shape (sets,): σ of each.
    held: int64, shape (sets,): scratch, how many rows the class at hand shares with each; zero.
    """

    first: NDArray[np.int64]
    sets: NDArray[np.int64]
    modulus: NDArray[np.int64]
    penalty: Any
    held: NDArray[np.int64]


class Pad(NamedTuple):
    """Scratch for one pattern.

    item, worth, ahead: the copies by falling price: row, û − cost, sums of ``worth`` before each.
    place, row, value: the class at hand: positions in ``item``, rows, worth of each beginning.
    best: rows of the dearest class so far.
    """

    item: NDArray[np.int64]
    worth: Any
    ahead: Any
    place: NDArray[np.int64]
    row: NDArray[np.int64]
    value: Any
    best: NDArray[np.int64]


class PricingProblem(NamedTuple):
    """What classes are worth: all that a search for dear ones goes by, and its scratch.

    lists: patterns and the rows that may publish them; k: rows of the smallest class.
    counts: int64, shape (distinct,); price: float64 or int64, shape (distinct,): û.
    unit: what 1 in ``lists.cost`` is in prices and penalties.
    tries: steps that the search of one pattern may take.
    halt: see ``incrowd.kernels.halt``; searches that it ends are not through.
    """

    lists: Emission
    counts: NDArray[np.int64]
    k: int
    price: Any
    penalties: Penalties
    pad: Pad
    unit: int
    tries: int
    halt: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        lists: Emission,
        counts: NDArray[np.int64],
        k: int,
        price: NDArray[Any],
        sets: list[OddSet],
        unit: int = 1,
        tries: int = ENDLESS,
        halt: NDArray[np.int64] = NEVER,
    ) -> "PricingProblem":
        """Index the sets and allocate; costs are of the type of prices: a kernel less."""
        lists = lists._replace(cost=lists.cost.astype(price.dtype))
        penalties = penalties_of(sets, len(counts), price.dtype)
        pad = new_pad(widest(lists, counts, k), k, price.dtype)
        return cls(lists, counts, k, price, penalties, pad, unit, tries, halt)


def penalties_of(sets: list[OddSet], distinct: int, dtype: Any = np.float64) -> Penalties:
    """Index odd sets by row."""
    row = np.concatenate([s.rows for s in sets]) if sets else np.zeros(0, np.int64)
    name = np.repeat(np.arange(len(sets)), [len(s.rows) for s in sets])
    order = np.argsort(row, kind="stable")
    first = np.searchsorted(row[order], np.arange(distinct + 1)).astype(np.int64)
    penalty = np.array([s.penalty for s in sets], dtype)
    modulus = np.array([s.modulus for s in sets], np.int64)
    held = np.zeros(len(sets), np.int64)
    return Penalties(first, name[order].astype(np.int64), modulus, penalty, held)


def charged(penalties: Penalties, penalty: NDArray[Any]) -> Penalties:
    """Return the index with other penalties, and by row only the sets with one."""
    kept = penalty[penalties.sets] > 0
    first = np.concatenate([[0], np.cumsum(kept)])[penalties.first]
    return penalties._replace(first=first, sets=penalties.sets[kept], penalty=penalty)


def widest(lists: Emission, counts: NDArray[np.int64], k: int) -> int:
    """Return the most copies that a pattern may put into a class, row by row, at least 1."""
    copies = np.minimum(counts, 2 * k - 1)[lists.rows[: lists.offset[-1]]]
    before = np.concatenate([[0], np.cumsum(copies)])
    return int(np.diff(before[lists.offset]).max(initial=1))


def new_pad(items: int, k: int, dtype: Any = np.float64) -> Pad:
    """Allocate scratch for patterns of up to so many copies."""
    items += 1
    return Pad(
        np.empty(items, np.int64),
        np.empty(items, dtype),
        np.empty(items + 1, dtype),
        np.empty(2 * k, np.int64),
        np.empty(2 * k, np.int64),
        np.zeros(2 * k, dtype),
        np.empty(2 * k, np.int64),
    )
