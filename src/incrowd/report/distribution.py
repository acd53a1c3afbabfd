"""The distribution of a column, before and after or after alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.frames.base import Column
from incrowd.hierarchy.tree import Tree

MOST_VALUES = 10
MOST_GENERAL = 4
BINS = 10
VALUE, SPECIAL = "value", "special"


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes
    ----------
    label: a value of the table (None: missing), or words of ours where ``kind`` is ``"special"``.
    before, after: rows; ``before`` None where the original is not at hand.
    """

    label: str | None
    kind: str
    before: int | None
    after: int


def compared(before: Column, after: Column, star: str, tree: Tree | None) -> list[Bar]:
    """Compare a column of the original with that of the release.

    Numbers with many values go into bins; a generalized value counts in a bin when all that it
    stands for lies in there, and as ``more general`` otherwise.
    """
    numbers = as_numbers(before.values)
    if len(before.values) > MOST_VALUES + 2 and numbers is not None:
        return binned(before, after, star, tree, numbers)
    old, new = counted(before), counted(after)
    common = sorted(old, key=lambda v: -old[v])
    head = common[:MOST_VALUES] if len(common) > MOST_VALUES + 1 else common
    head = in_order(head)
    bars = [Bar(v, VALUE, old[v], new.get(v, 0)) for v in head]
    tail = [v for v in common if v not in set(head)]
    if tail:
        was, now = sum(old[v] for v in tail), sum(new.get(v, 0) for v in tail)
        bars.append(Bar(f"{len(tail):,} other values", SPECIAL, was, now))
    general = sorted((v for v in new if v not in old and v != star), key=lambda v: -new[v])
    bars += [Bar(v, VALUE, 0, new[v]) for v in general[:MOST_GENERAL]]
    if general[MOST_GENERAL:]:
        rest = sum(new[v] for v in general[MOST_GENERAL:])
        bars.append(Bar("other general values", SPECIAL, 0, rest))
    return bars + star_bar(new, star, 0)


def alone(after: Column, star: str) -> list[Bar]:
    """Describe a column of the release by itself: no value or count of the original enters."""
    new = counted(after)
    shown = [v for v in new if v != star]
    plain = [v for v in shown if v is None or as_numbers([v]) is not None]
    numbers = as_numbers(plain)
    bars: list[Bar] = []
    if numbers is not None and len(plain) > MOST_VALUES + 2 and 2 * len(plain) >= len(shown):
        bins = Bins.around(numbers)
        total = [0] * len(bins.names)
        for value, at in zip(plain, bins.place(numbers).tolist(), strict=True):
            if value is not None:
                total[at] += new[value]
        bars = [Bar(n, VALUE, None, t) for n, t in zip(bins.names, total, strict=True)]
        told = set(plain) - {None}
        texts = {v: new[v] for v in shown if v not in told}
        bars += [in_quotes(bar) for bar in most_frequent(texts, MOST_GENERAL)]
    else:
        bars = most_frequent({v: new[v] for v in shown}, MOST_VALUES)
    return bars + star_bar(new, star, None)


def in_quotes(bar: Bar) -> Bar:
    """Tell a released text such as 20-39 from an interval of ours."""
    if bar.kind == SPECIAL or not bar.label:
        return bar
    return replace(bar, label=f"“{bar.label}”")


def most_frequent(counts: dict[str | None, int], most: int) -> list[Bar]:
    """The most frequent values of a release, numbers in order, the others as one."""
    common = sorted(counts, key=lambda v: -counts[v])
    head = common[:most] if len(common) > most + 1 else common
    bars = [Bar(v, VALUE, None, counts[v]) for v in in_order(head)]
    tail = common[len(head) :]
    if tail:
        rest = sum(counts[v] for v in tail)
        bars.append(Bar(f"{len(tail):,} other values", SPECIAL, None, rest))
    return bars


def star_bar(new: dict[str | None, int], star: str, before: int | None) -> list[Bar]:
    """The suppressed cells, where there are any."""
    return [Bar(f"{star} suppressed", SPECIAL, before, new[star])] if new.get(star) else []


def counted(column: Column) -> dict[str | None, int]:
    """Rows of each value that occurs."""
    counts = np.bincount(column.codes, minlength=len(column.values)).tolist()
    return {v: n for v, n in zip(column.values, counts, strict=True) if n}


def in_order(values: Sequence[str | None]) -> list[str | None]:
    """Put numbers in order of size; leave others from frequent to rare."""
    numbers = as_numbers(values)
    if numbers is None:
        return list(values)
    order = np.argsort(np.where(np.isnan(numbers), np.inf, numbers), kind="stable")
    return [values[i] for i in order]


def as_numbers(values: Sequence[str | None]) -> NDArray[np.float64] | None:
    """float64, shape (values,): the values as numbers, NaN for a missing one; None if one is none.

    Numbers with leading zeros are codes, such as zips.
    """
    found = np.full(len(values), np.nan)
    for i, value in enumerate(values):
        if value is None:
            continue
        digits = value.lstrip("-")
        if len(digits) > 1 and digits[0] == "0" and digits[1] != ".":
            return None
        try:
            found[i] = float(value)
        except ValueError:
            return None
        if not np.isfinite(found[i]):
            return None
    return found if np.isfinite(found).any() else None


@dataclass(frozen=True)
class Bins:
    """Intervals of equal width; the last one holds its upper end too."""

    low: float
    width: float
    names: tuple[str, ...]

    @classmethod
    def around(cls, numbers: NDArray[np.float64]) -> "Bins":
        """Choose about ten round intervals for these numbers."""
        known = numbers[np.isfinite(numbers)]
        least, most = float(known.min()), float(known.max())
        raw = max((most - least) / BINS, 1e-12)
        power = 10.0 ** np.floor(np.log10(raw))
        width = float(next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= raw * 0.999))
        whole = bool((known == np.floor(known)).all())
        if whole:
            width = max(1.0, float(np.ceil(width)))
        low = float(np.floor(least / width) * width)
        count = max(1, int(np.floor((most - low) / width)) + 1)
        names = tuple(interval(low + i * width, width, whole) for i in range(count))
        return cls(low, width, names)

    def place(self, number: float | NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the bin of each number (NaN: −1)."""
        at = np.floor((np.asarray(number) - self.low) / self.width)
        return np.where(np.isnan(at), -1, np.clip(at, 0, len(self.names) - 1)).astype(np.int64)


def interval(low: float, width: float, whole: bool) -> str:
    """Return an interval in words."""
    if whole:
        last = low + width - 1
        return f"{low:.0f}" if last == low else f"{low:.0f}–{last:.0f}"
    return f"{low:.6g} to {low + width:.6g}"


def binned(
    before: Column, after: Column, star: str, tree: Tree | None, numbers: NDArray[np.float64]
) -> list[Bar]:
    """Compare a column of numbers."""
    bins = Bins.around(numbers)
    place: dict[str | None, int] = dict(
        zip(before.values, bins.place(numbers).tolist(), strict=True)
    )
    if tree is not None:
        leaves = np.array([place[value] for value in tree.leaves])
        for level in range(1, tree.levels - 1):
            for node, label in enumerate(tree.labels[level]):
                below = np.unique(leaves[tree.node[level] == node])
                place.setdefault(label, int(below[0]) if len(below) == 1 else -2)
    old, new = counted(before), counted(after)
    was, now = [0] * len(bins.names), [0] * len(bins.names)
    general = 0
    for value, count in new.items():
        at = place.get(value, -2)
        if value is not None and value != star and at >= 0:
            now[at] += count
        elif value is not None and value != star:
            general += count
    for value, count in old.items():
        if value is not None:
            was[place[value]] += count
    bars = [Bar(*b) for b in zip(bins.names, [VALUE] * len(was), was, now, strict=True)]
    if None in old:
        bars.append(Bar(None, VALUE, old[None], new.get(None, 0)))
    if general:
        bars.append(Bar("more general", SPECIAL, 0, general))
    return bars + star_bar(new, star, 0)
