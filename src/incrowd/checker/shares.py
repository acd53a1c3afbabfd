"""Models that bound each value's share of a class: (α,k)-anonymity, β-likeness, δ-disclosure.

Write n for the rows of a class, h for those with a value, N and C for the same of the table.

    alpha-k           n ≥ k, and h ≤ α·n for every value (or every one of ``values``)
    basic-beta        g ≤ β for the gain g = hN/(nC) − 1
    enhanced-beta     g ≤ β and g ≤ −ln(C/N), that is e^g ≤ N/C, where g > 0
    delta-disclosure  |ln(hN/(nC))| < δ, that is e^δ > hN/(nC) and e^δ > nC/(hN), for every value

The logarithms are only ever asked whether e^x > y for rational x and y, and that is decided: e^x
is irrational for rational x ≠ 0 (Lindemann 1882), so it differs from y, and sums of fractions
that close in on it from both sides tell on which side y lies.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import exp, log
from typing import Any

from incrowd.checker.rejection import require

NAMES = {"alpha-k": "alpha", "basic-beta": "beta", "enhanced-beta": "beta"}
NAMES |= {"delta-disclosure": "delta"}
MOST_VALUES, MOST_STEPS = 10_000, 10**7  # guarded by name; sizes of class times values
FINE = Fraction(1, 2**40)  # relative error of shares that no fraction can hold
Share = tuple[Fraction, Fraction]


def exp_exceeds(x: Fraction, y: Fraction) -> bool:
    """Whether e^x > y, for x ≥ 0 and y < 2^1000: by doubles where they are sure, else exactly."""
    if y < 1 or x > 700:
        return True
    apart = float(x) - log(y)
    return apart > 0 if abs(apart) > 1e-9 * (1 + float(x)) else series_exceeds(x, y)


def series_exceeds(x: Fraction, y: Fraction) -> bool:
    """Whether Σ x^i/i! > y.  From i ≥ 2x on, each term is at most half of the one before."""
    total = term = Fraction(1)
    i = 0
    while total <= y:
        i += 1
        term *= x / i
        if i >= 2 * x and total + 2 * term <= y:
            return False
        total += term
    return True


def fits(
    kind: str, limit: Fraction, k: int, group: Sequence[int], table: Sequence[int], rows: int
) -> bool:
    """Whether a class with these counts obeys; ``table``: of the same values; ``rows``: all of it.

    For (α,k)-anonymity only the guarded values' counts matter, and the last one is of all others.
    """
    n = sum(group)
    if kind == "alpha-k":
        return n >= k and all(h <= limit * n for h in group[:-1])
    ratios = [Fraction(h * rows, n * c) for h, c in zip(group, table, strict=True)]
    if kind == "delta-disclosure":
        return all(r > 0 and exp_exceeds(limit, max(r, 1 / r)) for r in ratios)
    if any(r - 1 > limit for r in ratios):
        return False
    rare = [(r - 1, Fraction(rows, c)) for r, c in zip(ratios, table, strict=True) if r > 1]
    return kind == "basic-beta" or not any(exp_exceeds(g, y) for g, y in rare)


def counted(model: Mapping[str, Any], group: Mapping[Any, int], table: Mapping[Any, int]) -> Any:
    """Return the counts of class and table, and its rows, as ``fits`` asks for them.

    Keys are 1-tuples.  Of the values that a class lacks one stands for all: none of their number
    says more than that they are lacking, and a class is asked for in the time that its rows take.
    """
    if model.get("model") == "alpha-k":
        counts = [group[(v,)] for v in guarded(model, [value for (value,) in group])]
        return [*counts, sum(group.values()) - sum(counts)], [], rows_of(table)
    guarded(model, ())  # these name none
    lacking = len(table) > len(group)
    both = [*group.values(), *[0] * lacking], [*(table[v] for v in group), *[1] * lacking]
    return *both, rows_of(table)


def rows_of(table: Any) -> int:
    """Return how many rows a histogram has: as it says, or counted."""
    known = getattr(table, "rows", None)
    return sum(table.values()) if known is None else known


def guarded(model: Mapping[str, Any], known: Sequence[Any]) -> list[Any]:
    """Return the values that the model speaks of: those it names, or all."""
    if "values" not in model:
        return list(known)
    named: Any = model["values"]
    fine = model.get("model") == "alpha-k" and isinstance(named, list)
    fine = fine and all(v is None or isinstance(v, str) for v in named)  # the number 1 is no "1"
    fine = fine and 0 < len(named) <= MOST_VALUES  # to guard nothing would be no model
    require(fine and len({*named}) == len(named), "the model guards no set of values")
    wanted = {*named}
    return [value for value in known if value in wanted]


def limits(model: Mapping[str, Any], limit: Fraction, table: Mapping[Any, int]) -> dict[Any, Share]:
    """Return per value (y, x) such that y·n ≤ h ≤ x·n in every lawful class of n rows."""
    rows, kind = sum(table.values()), model.get("model")
    if kind == "alpha-k":
        named, one = {*guarded(model, list(table))}, Fraction(1)
        return {v: (Fraction(0), min(one, limit) if v in named else one) for v in table}
    most = exp_above(limit) if kind == "delta-disclosure" else 1 + limit
    found = {}
    for value, count in table.items():
        share, low, gain = Fraction(count, rows), Fraction(0), most
        if kind == "delta-disclosure":  # h ≥ 1, which is n/rows at least
            low = max(share / most, Fraction(1, rows))
        elif kind == "enhanced-beta":
            gain = min(most, 1 + ln_above(1 / share))
        found[value] = (low, min(Fraction(1), share * gain))
    return found


def exp_above(x: Fraction) -> Fraction:
    """Return a fraction above e^x, hardly larger; for x > 60 one that is as good as infinite."""
    y = Fraction(2**100) if x > 60 else Fraction(exp(float(x))) * (1 + FINE)
    while x <= 60 and series_exceeds(x, y):
        y *= 1 + FINE
    return y


@lru_cache(1 << 12)
def ln_above(y: Fraction) -> Fraction:
    """Return a fraction above ln y for y ≥ 1, hardly larger."""
    x = Fraction(log(y)) + FINE
    while not series_exceeds(x, y):
        x += FINE
    return x


def least(shares: Mapping[Any, Share], table: Mapping[Any, int], steps: int) -> int:
    """Return the least number of rows for which whole counts can lie between the shares.

    Or a smaller number, where it takes more than so many ``steps`` to find.
    """
    alike = Counter((*shares[v], count) for v, count in table.items())
    kinds = [
        (y.numerator, y.denominator, x.numerator, x.denominator, count, values)
        for (y, x, count), values in alike.items()
    ]
    rows = min(sum(table.values()), steps // max(1, len(kinds)))
    for n in range(1, rows):
        least = most = 0
        for a, b, c, d, count, values in kinds:
            low, high = -(-a * n // b), min(count, c * n // d)
            if low > high:
                break
            least, most = least + low * values, most + high * values
        else:
            if least <= n <= most:
                return n
    return max(rows, 1)
