"""How strongly two columns go together: Cramér's V, corrected for bias (Bergsma 2013)."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from incrowd.measures.people import dense
from incrowd.tables.base import Column

MOST_COLUMNS = 12


@dataclass(frozen=True)
class Pair:
    """Two columns.

    Attributes
    ----------
    before, after: V in the original and in the release, from 0 (independent) to 1; None where a
        column has fewer than two values, or, for ``before``, where the original is not at hand.
    rows: rows of the release in which neither cell is suppressed; ``after`` is theirs.
    """

    one: str
    other: str
    before: float | None
    after: float | None
    rows: int


def associations(
    original: Mapping[str, Column], released: Mapping[str, Column], star: str
) -> list[Pair]:
    """Compare every two of the first columns; the strongest pairs first.

    Parameters
    ----------
    original: the same columns before, or none at all.
    """
    names = list(released)[:MOST_COLUMNS]
    shown = {name: ~released[name].shows(star) for name in names}
    found = []
    for one, other in combinations(names, 2):
        rows = shown[one] & shown[other]
        then = cramers_v(original[one].codes, original[other].codes) if original else None
        now = cramers_v(released[one].codes[rows], released[other].codes[rows])
        found.append(Pair(one, other, then, now, int(rows.sum())))
    return sorted(found, key=strength, reverse=True)


def strength(pair: Pair) -> float:
    """V in the original, or else in the release."""
    known = pair.before if pair.before is not None else pair.after
    return -1.0 if known is None else known


def cramers_v(one: NDArray[np.integer], other: NDArray[np.integer]) -> float | None:
    """Return the bias-corrected V of two columns of codes; only counts that occur are looked at.

    None for fewer than two rows or a column with a single value.
    """
    n = len(one)
    if n < 2:
        return None
    width = int(other.max()) + 1
    left = np.bincount(one)
    right = np.bincount(other)
    r, c = int((left > 0).sum()), int((right > 0).sum())
    if r < 2 or c < 2:
        return None
    key = one.astype(np.int64) * width + other
    member, pairs = dense(key, (int(one.max()) + 1) * width)
    count = np.bincount(member, minlength=pairs)
    first = np.empty(pairs, np.int64)
    first[member] = np.arange(n)
    expected = left[one[first]].astype(float) * right[other[first]]
    phi2 = float((count.astype(float) ** 2 / expected).sum()) - 1
    corrected = max(0.0, phi2 - (r - 1) * (c - 1) / (n - 1))
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return min(1.0, float(np.sqrt(corrected / least))) if least > 0 else None
