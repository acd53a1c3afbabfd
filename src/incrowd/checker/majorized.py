"""Entropy and recursive diversity by size of class: classes as uneven as the law allows.

Both laws look at the counts of the values alone, and hold of whatever a lawful class's counts
majorize: counts with the same sum whose j largest sum to no more, for each j.  (Entropy is concave,
and recursive diversity bounds a sum of largest counts.)  So the lawful counts of n rows are those
that one of the most uneven lawful ones majorizes, and these are few.

For one of them let f(j) be the sum of its j largest.  Counts whose values, any j of them, sum to
f(j) at most are a polymatroid: the dearest row that fits, taken again and again, makes the dearest
class, and a row that does not fit never does later.  Larger classes are bounded by the largest
share of a value alone.  Proof: docs/explanation/proof.md, "Lawful classes".
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.checker.models import lawful

Ints = NDArray[np.int64]
SIZES, LARGEST = 8, 24  # of class, asked one by one; rows up to which the counts can be listed
PARTS = 1000  # of a row, in which the largest share is told
BIG = 1 << 40


def sizes_from(k: int) -> int:
    """Return how many sizes from k on are asked: none where they are too large to list counts."""
    return SIZES if k + SIZES - 1 <= LARGEST else 0


def entropy_cap(l: Fraction, values: int) -> Fraction:  # noqa: E741
    """Return a share, in 1/PARTS, above which no value can be in a class of entropy ≥ log l.

    A share p leaves at most h(p) = −p·log p − (1−p)·log((1−p)/(values−1)), which falls for
    p ≥ 1/values; h(a/PARTS) ≤ log l is decided in whole numbers.
    """
    low, high = -(-PARTS // values), PARTS
    while low < high:
        a = (low + high) // 2
        rest = PARTS - a
        most = PARTS**PARTS * (values - 1) ** rest * l.denominator**PARTS
        if most <= a**a * rest**rest * l.numerator**PARTS:
            high = a
        else:
            low = a + 1
    return Fraction(low, PARTS)


def tops_of(model: dict[str, Any], k: int, values: int) -> list[list[int]]:
    """Return f(1), f(2), …, f = n for each of the most uneven lawful counts of each size n."""
    found = []
    for n in range(k, k + sizes_from(k)):
        known: list[list[int]] = []
        for counts in falling(n, n, values):  # what majorizes others comes before them
            tops = np.cumsum(counts).tolist()
            if all(beyond(one, tops) for one in known) and lawful(model, named(counts), named(())):
                known.append(tops)
        found += known
    return found


def named(counts: Sequence[int]) -> Any:
    """Return a histogram of some values with these counts."""
    return {(str(j),): x for j, x in enumerate(counts)}


def beyond(known: Sequence[int], tops: Sequence[int]) -> bool:
    """Whether some j largest counts sum to more than those of ``known``."""
    return any(x > known[min(j, len(known) - 1)] for j, x in enumerate(tops))


def falling(rows: int, largest: int, values: int) -> Iterator[list[int]]:
    """Yield all falling counts of so many rows, the largest first."""
    if not rows:
        yield []
    for first in range(min(rows, largest) if values else 0, 0, -1):
        for rest in falling(rows - first, first, values - 1):
            yield [first, *rest]


def uneven_exceeds(tops: Sequence[Sequence[int]], e: Ints, value: Ints, group: Ints) -> Any:
    """Whether some class that one of the tops allows has a positive sum of e; per group.

    One entry for each row; in a group, e falls.
    """
    found = np.zeros(int(group.max(initial=-1)) + 1, bool)
    for top in tops:
        asked = ~found[group]
        if not asked.any():
            break
        kept = np.unique(group[asked])
        number = np.searchsorted(kept, group[asked])
        found[kept] = dearest(top, e[asked], value[asked], number) > 0
    return found


def dearest(tops: Sequence[int], e: Ints, value: Ints, group: Ints) -> Ints:
    """Return the largest sum of e over classes that the tops allow; per group, −2⁶² for none.

    All groups take their rows side by side, the dearest first.
    """
    n = tops[-1]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(starts[1:], len(group))
    most = np.array([*tops, *[n] * (n - len(tops))])  # f(j) for j = 1 … n
    held = np.zeros((len(starts), int(value.max(initial=0)) + 1), np.int64)
    falls = np.zeros((len(starts), n), np.int64)  # the counts, largest first
    total, taken = np.zeros(len(starts), np.int64), np.zeros(len(starts), np.int64)
    at, open_ = starts.copy(), np.arange(len(starts))
    while len(open_):
        entry = at[open_]
        has = held[open_, value[entry]]
        place = (falls[open_] > has[:, None]).sum(axis=1)  # where a count that large may grow
        room = most - np.cumsum(falls[open_], axis=1)
        room = np.where(np.arange(n) >= place[:, None], room, BIG).min(axis=1) > 0
        some, entry, place = open_[room], entry[room], place[room]
        held[some, value[entry]] += 1
        falls[some, place] += 1
        total[some] += e[entry]
        taken[some] += 1
        at[open_] += 1
        open_ = open_[(at[open_] < ends[open_]) & (taken[open_] < n)]
    return np.where(taken == n, total, -(2**62))
