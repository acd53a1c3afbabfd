"""One integer law over a class's histogram, as a model states it for the search's kernels.

All numbers are integers.  Irrational shares are rounded to the strict side in steps far below
1/rows, so a kernel never admits a class that the exact definition refuses.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import OutOfScopeError

SHARES, DISTINCT, EQUAL, CUMULATED, NODES, ENTROPY, RECURSIVE, CARRIED, CALLED, ROWS = range(10)
ONCE, COUNTED = 10, 11
STEP = Fraction(1, 2**60)
LARGEST = 2**62


class Law(NamedTuple):
    """A law of a kind with its numbers, on one attribute's histogram.

    The kinds and their numbers: SHARES ``shares``; DISTINCT l; EQUAL, CUMULATED, NODES and CARRIED
    (``incrowd.privacy.t_closeness``); ENTROPY numerator and denominator of l; RECURSIVE those of c,
    and l; ROWS the least number of rows, whatever the attribute; ONCE another kind, the number of
    values that it looks at, the value of each of the attribute's own (of which any number of rows
    count once), and the other kind's numbers.  Kernels ask that kind of a histogram of those that
    count once, and COUNTED of DISTINCT: the l values are the sum of such a histogram.
    """

    kind: int
    attribute: int
    data: Sequence[int]

    def implies(self, other: "Law") -> bool:
        """Whether all that obeys this one obeys ``other``; False also where that is not known."""
        if (self.kind, self.attribute) != (other.kind, other.attribute):
            return False
        if self.kind == DISTINCT:
            return self.data[0] >= other.data[0]
        if self.kind != SHARES:
            return tuple(self.data) == tuple(other.data)
        highs = len(self.data) // 2  # shares of D: of ours and of theirs, all in one unit
        pairs = [
            (x * other.data[0], y * self.data[0])
            for x, y in zip(self.data[1:], other.data[1:], strict=True)
        ]
        lower = all(ours <= theirs for ours, theirs in pairs[:highs])
        return lower and all(ours >= theirs for ours, theirs in pairs[highs:])


def strictest(given: Sequence[Any]) -> list[Any]:
    """Return what no other one ``implies``, of laws or of parts of a price; equal ones once."""
    kept: list[Any] = []
    for one in given:
        if not any(known.implies(one) for known in kept):
            kept = [known for known in kept if not one.implies(known)] + [one]
    return kept


class Laws(NamedTuple):
    """Several laws in flat arrays, the form that kernels take.

    Law i looks at ``width[i]`` places of a class's histogram from ``place[i]``; its numbers stand
    in ``data`` from ``first[i]``.  ``least`` (shape (1,)) is the least number of rows.  ``pad`` is
    room to calculate in, for one thread at a time: law i's own from ``room[i]`` on.  ``once``
    (shape (places,)): the place where what stands at a place counts once, however many rows of a
    class have it, or −1 where there is none.  ``rare``: the address of the kernel that is asked of
    laws of kinds that few models have, which other kernels hold no code for; 0 if there are none.
    """

    least: NDArray[np.int64]
    kind: NDArray[np.int64]
    place: NDArray[np.int64]
    width: NDArray[np.int64]
    first: NDArray[np.int64]
    data: NDArray[np.int64]
    room: NDArray[np.int64]
    pad: NDArray[np.int64]
    once: NDArray[np.int64]
    rare: int


def shares(
    name: str, rows: int, unit: int, high: Sequence[Fraction], low: Sequence[Fraction] | None = None
) -> tuple[int, list[int]]:
    """Return the law y(v)·n ≤ D·h(v) ≤ x(v)·n: its kind, and as numbers D, all x, all y.

    Parameters
    ----------
    name: of the model, for a message; rows: of the table.
    unit: of which rational shares are multiples of 1/unit.
    high, low: the largest and least share of each value in a class; by default none is asked for.
    """
    low = [Fraction(0)] * len(high) if low is None else low
    # Rational shares are multiples of 1/unit; the rest gets what room is left for finer steps.
    limit(unit * rows, name)
    while unit * rows < LARGEST // 4:
        unit *= 2
    return SHARES, [unit, *(x * unit // 1 for x in high), *(-(-y * unit // 1) for y in low)]


def limit(size: int, name: str) -> None:
    """Raise OutOfScopeError when sums may leave 64 bits."""
    if size >= LARGEST:
        raise OutOfScopeError(
            f"{name} needs numbers too large for this table; write its parameter with fewer digits"
        )


def below(fits: Callable[[Fraction], bool], guess: float) -> Fraction:
    """Return a fraction just below the threshold of ``fits``, which a double guesses."""
    step = max(Fraction(guess) / 2**50, STEP)
    found = Fraction(guess) + step
    while not fits(found):
        found -= step
    return found
