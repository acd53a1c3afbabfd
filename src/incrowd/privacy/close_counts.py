"""All histograms that a t-close class of a given size can have: for small classes there are few.

A class of n rows is lawful under equal distance when Σ (h_v − n·q_v)⁺ ≤ n·t.  Near the smallest
lawful size hardly any histogram is: of adult's 14 occupations, two for 7 rows at t = 0.2.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction


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
    """Yield the histograms one by one, by depth-first search over values of falling frequency."""
    rows = sum(table)
    order = sorted(range(len(table)), key=lambda v: -table[v])
    budget = t.numerator * size * rows  # in 1/(denominator · rows) of a row
    unit = t.denominator
    # what is spent at least from each value on, if all values before lie at their quota or above:
    # the rows left minus the quotas left
    quotas = [size * sum(table[v] for v in order[i:]) for i in range(len(order) + 1)]
    counts = [0] * len(table)

    def extend(i: int, left: int, spent: int) -> Iterator[list[int]]:
        if spent + unit * max(0, left * rows - quotas[i]) > budget:
            return
        if i == len(order):
            if left == 0:
                yield counts.copy()
            return
        v = order[i]
        for h in range(left + 1):
            far = unit * max(0, h * rows - size * table[v])
            if spent + far > budget:
                break
            counts[v] = h
            yield from extend(i + 1, left - h, spent + far)
        counts[v] = 0

    yield from extend(0, size, 0)


def least_far(table: Sequence[int], size: int) -> Fraction:
    """Return the least Σ (h_v − n·q_v)⁺ of any histogram of n = ``size`` rows."""
    rows = sum(table)
    rest = sorted((Fraction(size * c, rows) % 1 for c in table), reverse=True)
    return sum((1 - x for x in rest[: int(sum(rest))]), Fraction(0))


def uneven_sizes(table: Sequence[int], t: Fraction, k: int, share: Fraction, most: int) -> int:
    """Return for how many sizes from k on whole rows alone use up a share of what t allows.

    At most ``most``; the last such size counts, whatever lies between.
    """
    uneven = [n for n in range(most) if least_far(table, k + n) > share * t * (k + n)]
    return uneven[-1] + 1 if uneven else 0
