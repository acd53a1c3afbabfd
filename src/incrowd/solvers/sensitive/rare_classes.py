"""Classes for values so rare that only large classes may hold one of them.

Where a law caps a value at the share c of a class, a row of it needs a class of 1/c rows: under
enhanced 1-likeness one of nine soldiers among 30,162 people needs 1,676, and all of them half the
table.  A search by moves of single rows never forms such classes.  They are formed first, one by
one: of all patterns the class of least reduced cost that the rows left allow, dearest rows first.
Then some of them give up their rows and are formed anew, while that lowers what they cost above
the prices of their rows.

δ-disclosure asks every class for copies of every value, which allows a few large classes only: the
least ones are formed in the patterns that save most, and the search fills them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.pricing import Shares
from incrowd.kernels.jit import lean_kernel
from incrowd.lattice.emission import Emission
from incrowd.privacy.laws import histogram
from incrowd.privacy.violation import violation
from incrowd.solvers.sensitive.assignment import Rules
from incrowd.solvers.sensitive.prune import owners

RARE = 20  # rows of the smallest class with a value, from which on the value counts as rare
MOST_RARE = 2000  # copies of a value, beyond which to form their classes takes too long
MOST_HOSTS = 60  # classes that the scarcest value allows, beyond which they are not few
AGAIN = 200  # times that some classes of a value are formed anew
NOISE = 1.0  # then, reduced costs are off by up to this share of the cost
FAR = 1e300


@lean_kernel
def dearest_class(
    begin: int, end: int, size: int, rows: Any, left: Any, price: Any, value: Any, caps: Any,
    lows: Any, held: Any, amount: Any,
) -> float:  # fmt: skip
    """Return the price of the dearest class with lows ≤ copies of a value ≤ caps; −``FAR``: none.

    ``rows[begin:end]`` fall in price.  ``amount`` (per row of them) is what the class holds.
    """
    held[:] = 0
    total = 0.0
    have = 0
    for i in range(begin, end):
        r = rows[i]
        a = min(left[r], lows[value[r]] - held[value[r]], size - have)
        amount[i - begin] = a
        total += a * price[r]
        held[value[r]] += a
        have += a
    for v in range(lows.size):
        if held[v] < lows[v]:
            return -FAR
    for i in range(begin, end):
        if have >= size:
            break
        r = rows[i]
        a = min(left[r] - amount[i - begin], caps[value[r]] - held[value[r]], size - have)
        amount[i - begin] += a
        total += a * price[r]
        held[value[r]] += a
        have += a
    return total if have == size else -FAR


@lean_kernel
def best_pattern(
    patterns: Any, noise: Any, size: int, cost: Any, offset: Any, rows: Any, left: Any,
    price: Any, value: Any, caps: Any, lows: Any, held: Any, amount: Any,
) -> int:  # fmt: skip
    """Return the pattern whose class within caps and lows has the least reduced cost, or −1."""
    best = FAR
    best_p = -1
    for x in range(patterns.size):
        p = patterns[x]
        total = dearest_class(
            offset[p], offset[p + 1], size, rows, left, price, value, caps, lows, held, amount
        )
        if total > -FAR:
            reduced = size * cost[p] * (1.0 + noise[x]) - total
            if reduced < best:
                best = reduced
                best_p = p
    return best_p


class RareClass(NamedTuple):
    """A class: its pattern, its rows and how many copies of each, its reduced cost."""

    pattern: int
    rows: NDArray[np.int32]
    amount: NDArray[np.int64]
    reduced: float


@dataclass
class RareClasses:
    """The classes formed, and the copies left.

    Attributes
    ----------
    emission: the patterns that may hold such classes; price: float64, shape (distinct,).
    shares: what the model allows; left: int64, shape (distinct,): copies without a class.
    """

    emission: Emission
    price: NDArray[np.float64]
    shares: Shares
    rules: Rules
    left: NDArray[np.int64]
    rng: np.random.Generator
    stop: Callable[[], bool]

    def __post_init__(self) -> None:
        e = self.emission
        self.owner = owners(e)
        self.rows = e.rows[np.lexsort((-self.price[e.rows], self.owner))]
        self.held = np.zeros(len(self.shares.caps), np.int64)
        self.amount = np.zeros(int(np.diff(e.offset).max(initial=0)), np.int64)
        self.whole = self.left.copy()

    def rare_values(self) -> list[int]:
        """Values of some rows that only large classes may hold, the rarest first."""
        there = np.bincount(self.shares.value, self.left, len(self.shares.caps))
        few = np.flatnonzero((there > 0) & (there <= MOST_RARE))
        rare = [int(v) for v in few if self.shares.caps[v] * RARE < 1]
        return sorted(rare, key=lambda v: self.shares.caps[v])

    def form_all(self, v: int) -> list[RareClass]:
        """Form classes for the copies of v, and then some of them anew."""
        classes = self.form(v, 0.0)
        for _ in range(AGAIN if len(classes) > 1 else 0):
            if self.stop():
                break
            some = min(len(classes), 2 + int(self.rng.integers(3)))
            odds = np.array([max(formed.reduced, 0.0) + 1e-9 for formed in classes])
            out = self.rng.choice(len(classes), some, replace=False, p=odds / odds.sum())
            gone = [classes[z] for z in out]
            self.give_up(gone)
            new = self.form(v, NOISE)
            before = sum(formed.reduced for formed in gone)
            if len(new) >= len(gone) and sum(formed.reduced for formed in new) < before:
                kept = [formed for z, formed in enumerate(classes) if z not in out]
                classes = kept + new
                continue
            self.give_up(new)
            self.take(gone)
        return classes

    def take(self, classes: list[RareClass]) -> None:
        """The copies of these classes are no longer left."""
        for formed in classes:
            self.left[formed.rows] -= formed.amount

    def give_up(self, classes: list[RareClass]) -> None:
        """The copies of these classes are left again."""
        for formed in classes:
            self.left[formed.rows] += formed.amount

    def form(self, v: int, noise: float) -> list[RareClass]:
        """Form classes with one copy of v each, until no pattern can hold another."""
        size = max(int(self.rules.least[0]), int(np.ceil(1 / self.shares.caps[v] - 1e-6)))
        caps, lows = self.limits(size)
        caps[v] = lows[v] = 1
        pairs = np.flatnonzero(self.shares.value[self.rows] == v)
        classes: list[RareClass] = []
        while not self.stop():
            patterns = np.unique(self.owner[pairs[self.left[self.rows[pairs]] > 0]])
            off = noise * self.rng.random(len(patterns))
            lists = self.emission.cost, self.emission.offset, self.rows
            p = best_pattern(patterns, off, size, *lists, *self.state(caps, lows))
            formed = self.class_of(p, size, caps, lows) if p >= 0 else None
            if formed is None:
                break
            self.take([formed])
            classes.append(formed)
        return classes

    def hosts(self) -> list[RareClass]:
        """Form least classes in the patterns that save most where each copy goes to the cheapest.

        For models that ask each class for some copies of values so scarce that classes are few; the
        root keeps some, too.
        """
        size, caps, lows = self.least_class()
        cost, owner = self.emission.cost, self.owner
        paid = np.full(len(self.left), cost.max(initial=0))
        total = np.bincount(self.shares.value, self.left, len(lows))
        open_now = np.zeros(len(cost), np.bool_)
        classes: list[RareClass] = []
        if not lows.any() or (total[lows > 0] // lows[lows > 0]).min() > MOST_HOSTS:
            return classes
        while (total >= (len(classes) + 2) * lows).all() and not self.stop():
            less = np.maximum(paid[self.rows] - cost[owner], 0) * self.whole[self.rows]
            saving = np.bincount(owner, less, len(cost))
            saving[open_now] = 0
            some = np.argsort(-saving, kind="stable")[: int((saving > 0).sum())].tolist()
            found = (self.class_of(p, size, caps, lows) for p in some)
            formed = next((one for one in found if one is not None), None)
            if formed is None:
                break
            self.take([formed])
            open_now[formed.pattern] = True
            rows = self.rows[owner == formed.pattern]
            paid[rows] = np.minimum(paid[rows], cost[formed.pattern])
            classes.append(formed)
        return classes

    def least_class(self) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
        """Return the least size that the shares allow, and the limits at that size."""
        size = int(self.rules.least[0])
        caps, lows = self.limits(size)
        while size < self.left.sum() and (caps.sum() < size or (lows > caps).any()):
            size += 1
            caps, lows = self.limits(size)
        return size, caps, lows

    def limits(self, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the most and the least copies of each value in a class of this size."""
        most = np.floor(self.shares.caps * size + 1e-7).astype(np.int64)
        return most, np.ceil(self.shares.lows * size - 1e-7).astype(np.int64)

    def state(self, caps: NDArray[np.int64], lows: NDArray[np.int64]) -> tuple[Any, ...]:
        """What the kernels work on."""
        return self.left, self.price, self.shares.value, caps, lows, self.held, self.amount

    def class_of(
        self, p: int, size: int, caps: NDArray[np.int64], lows: NDArray[np.int64]
    ) -> RareClass | None:
        """Return the dearest class of pattern p within caps and lows, None if it is not lawful."""
        begin, end = self.emission.offset[p], self.emission.offset[p + 1]
        total = dearest_class(begin, end, size, self.rows, *self.state(caps, lows))
        if total <= -FAR:
            return None
        amount = self.amount[: end - begin]
        chosen = np.flatnonzero(amount)
        rows, amount = self.rows[begin:end][chosen], amount[chosen]
        hist = histogram(self.rules.laws, np.repeat(self.rules.places[rows], amount, axis=0))
        if violation(self.rules.laws, hist, size) > 0:
            return None
        return RareClass(p, rows, amount, size * float(self.emission.cost[p]) - total)


def rare_classes(
    emission: Emission,
    price: NDArray[np.float64],
    shares: Shares | None,
    rules: Rules,
    first_copy: NDArray[np.int64],
    seed: int,
    stop: Callable[[], bool] = lambda: False,
) -> NDArray[np.int64]:
    """Return the pattern of each copy that has a class; int64 (copies,), −1 for others.

    The classes are lawful.  No copy has a class where the model does not cap shares, or where no
    value is rare.
    """
    pattern = np.full(int(first_copy[-1]), -1, np.int64)
    if shares is None:
        return pattern
    left, rng = np.diff(first_copy), np.random.default_rng([seed, 61])
    forming = RareClasses(emission, price, shares, rules, left.copy(), rng, stop)
    if shares.lows.any():
        classes = forming.hosts() if rules.least[0] > RARE else []
    else:
        classes = [formed for v in forming.rare_values() for formed in forming.form_all(v)]
    for one in classes:
        for r, a in zip(one.rows.tolist(), one.amount.tolist(), strict=True):
            pattern[first_copy[r] + left[r] - a : first_copy[r] + left[r]] = one.pattern
            left[r] -= a
    return pattern
