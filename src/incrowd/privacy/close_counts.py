"""All histograms that a t-close class of a given size can have: for small classes there are few.

A class of n rows is lawful under equal distance when Σ (h_v − n·q_v)⁺ ≤ n·t.  Near the smallest
lawful size hardly any histogram is: of adult's 14 occupations, two for 7 rows at t = 0.2.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate

import numpy as np

from incrowd.privacy.distance import rounding


def close_counts(table: Sequence[int], t: Fraction, size: int, most: int) -> list[list[int]] | None:
    """Return every histogram of ``size`` rows within ``t`` of the table's; None for over ``most``.

    Each is a list of counts by value.
    """
    found: list[list[int]] = []
    for counts in close_below(table, t, size):
        if len(found) == most:
            return None
        found.append(counts)
    return found


def close_below(table: Sequence[int], t: Fraction, size: int) -> Iterator[list[int]]:
    """Yield the histograms one by one, by depth-first search over values of falling frequency.

    Each beginning that is followed has an end, so one histogram takes few steps.
    """
    rows, unit = sum(table), t.denominator
    order = sorted(range(len(table)), key=lambda v: -table[v])
    budget = t.numerator * size * rows  # in 1/(unit · rows) of a row
    least = least_beyond([table[v] for v in order], size)
    begun: list[tuple[int, int, int, tuple[tuple[int, int], ...]]] = [(0, size, 0, ())]
    while begun:
        first, left, spent, chosen = begun.pop()
        if left == 0:
            counts = [0] * len(table)
            for i, h in chosen:
                counts[order[i]] = h
            yield counts
            continue
        for i in range(first, len(order)):  # the next value that has a row
            if spent + unit * least(i, left) > budget:
                break  # fewer values are left from each later one on
            for h in range(1, left + 1):
                far = spent + unit * max(0, h * rows - size * table[order[i]])
                if far > budget:
                    break
                if far + unit * least(i + 1, left - h) <= budget:
                    begun.append((i + 1, left - h, far, (*chosen, (i, h))))


def least_beyond(falling: Sequence[int], size: int) -> Callable[[int, int], int]:
    """Return the least Σ (h_v − n·q_v)⁺ of so many rows with values from the i-th on, n = ``size``.

    In parts of a row of which there are Σ ``falling``, the falling frequencies.  Up to its quota,
    rounded down, a value costs nothing; one row more the rest of that row; then rows cost 1.
    """
    rows = sum(falling)
    near = [rows - size * c % rows for c in falling]
    whole = sum(size * c >= rows for c in falling)  # of values after them rarer ones cost more

    @cache
    def from_value(i: int) -> tuple[int, list[int]]:
        free = sum(size * c // rows for c in falling[i:whole])
        return free, [0, *accumulate(sorted(near[i : max(i, whole) + size])[:size])]

    def least(i: int, left: int) -> int:
        free, sums = from_value(i)
        over, last = max(0, left - free), len(sums) - 1
        return sums[min(over, last)] + rows * max(0, over - last)

    return least


def least_far(table: Sequence[int], size: int) -> Fraction:
    """Return the least Σ (h_v − n·q_v)⁺ of any histogram of n = ``size`` rows."""
    rows = sum(table)
    return Fraction(rounding(size, np.array(table, np.int64), rows), rows)


def uneven_sizes(table: Sequence[int], t: Fraction, k: int, share: Fraction, most: int) -> int:
    """Return for how many sizes from k on whole rows alone use up a share of what t allows.

    At most ``most``; the last such size counts, whatever lies between.
    """
    uneven = [n for n in range(most) if least_far(table, k + n) > share * t * (k + n)]
    return uneven[-1] + 1 if uneven else 0
