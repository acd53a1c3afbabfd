"""The distribution of a column, before and after or after alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import leaves_under
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.ranges import number_of
from incrowd.hierarchy.template import Template
from incrowd.tables.base import Column
from incrowd.text.numerals import POINT, pointed

MOST_VALUES = 10
MOST_GENERAL = 4
BINS = 10
CROWDED = 0.6  # share of the rows in one bin from which bins of equal width tell too little
RARE = 0.05  # share of the rows below which the most frequent values are not worth a bar
VALUE, BIN, SPECIAL = "value", "bin", "special"
Counted = tuple[Mapping[str | None, int], Sequence[str | None]]  # rows by value; some of these


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes
    ----------
    label: a value of the table (None: missing), a bin's name where ``kind`` is ``"bin"``, or
        words of ours where it is ``"special"``.
    before, after: rows; ``before`` None where the original is not at hand.
    old, new: values that the bar counts, of the original and of the release, where both are.
    """

    label: str | None
    kind: str
    before: int | None
    after: int
    old: tuple[str | None, ...] = ()
    new: tuple[str | None, ...] = ()

    @classmethod
    def of(cls, label: str | None, kind: str, old: Counted, new: Counted) -> "Bar":
        """Add up the rows of some values, before and after."""
        was, now = (sum(rows.get(value, 0) for value in values) for rows, values in (old, new))
        return cls(label, kind, was, now, tuple(old[1]), tuple(new[1]))


def compared(
    before: Column,
    after: Column,
    star: str,
    tree: Family | None,
    marks: Sequence[str] = (),
    decimal: str = POINT,
    codes: bool = False,
) -> list[Bar]:
    """Compare a column of the original with that of the release.

    Numbers with many values go into bins; a range counts by its midpoint, another generalized value
    in a bin when all that it stands for lies in there, and as ``more general`` otherwise.  An
    average counts as the number that it is, and none of the ``marks``, which stand for missing
    values, as a number.  ``decimal``: what stands before the decimals of numbers.  ``codes``:
    numbers are codes, of which neighbours have nothing in common.
    """
    numbers = None if codes else as_numbers(unmarked(before.values, marks), decimal)
    if len(before.values) > MOST_VALUES + 2 and numbers is not None:
        return binned(before, after, star, tree, numbers, decimal)
    old, new = counted(before), counted(after)
    common = sorted(old, key=lambda v: -old[v])
    head = common[:MOST_VALUES] if len(common) > MOST_VALUES + 1 else common
    if sum(old[v] for v in head) < RARE * sum(old.values()):
        head = []  # next to unique values: none of them stands for anything
    head = in_order(head, decimal)
    bars = [Bar.of(v, VALUE, (old, [v]), (new, [v])) for v in head]
    tail = [v for v in common if v not in set(head)]
    if tail:
        words = "other values" if head else "values, all rare"
        bars.append(Bar.of(f"{len(tail):,} {words}", SPECIAL, (old, tail), (new, tail)))
    most = MOST_GENERAL if head else MOST_VALUES
    general = sorted((v for v in new if v not in old and v != star), key=lambda v: -new[v])
    bars += [Bar.of(v, VALUE, (old, []), (new, [v])) for v in general[:most]]
    if general[most:]:
        averages = as_numbers(general[most:], decimal) is not None and any(
            as_numbers([value], decimal) is not None for value in old
        )
        words = "other values" if averages else "other general values"
        bars.append(Bar.of(words, SPECIAL, (old, []), (new, general[most:])))
    return bars + star_bar(new, star, 0)


def alone(
    after: Column,
    star: str,
    marks: Sequence[str] = (),
    decimal: str = POINT,
    codes: bool = False,
    template: Template | None = None,
) -> list[Bar]:
    """Describe a column of the release by itself: no value or count of the original enters.

    Numbers with many values go into bins where at least half of the cells shown are numbers: the
    few years of a birth date that are still exact would push the decades of all others out.
    None of the ``marks``, which stand for missing values, counts as a number, and no code.
    ``template``: how ranges of numbers are written; they count by their midpoints.
    """
    new = counted(after)
    shown = [v for v in new if v != star]
    between = {} if template is None else middles(template, shown, decimal)
    plain = [v for v in shown if v is None or v not in marks]
    plain = [v for v in plain if v in between or as_numbers([v], decimal) is not None or v is None]
    read = [v if v not in between else None for v in plain]
    numbers = None if codes else as_numbers(read, decimal)
    if between and not codes:
        numbers = np.full(len(plain), np.nan) if numbers is None else numbers
        for i, value in enumerate(plain):
            numbers[i] = between.get(value, numbers[i])
    bars: list[Bar] = []
    half = 2 * sum(new[v] for v in plain) >= sum(new[v] for v in shown)
    if numbers is not None and len(plain) > MOST_VALUES + 2 and half:
        bins = Bins.around(numbers, [new[v] for v in plain])
        total = [0] * len(bins.names)
        for value, at in zip(plain, bins.place(numbers).tolist(), strict=True):
            if value is not None:
                total[at] += new[value]
        bars = [Bar(n, BIN, None, t) for n, t in zip(bins.names, total, strict=True)]
        told = set(plain) - {None}
        texts = {v: new[v] for v in shown if v not in told}
        bars += [  # so that nobody takes a released text such as 20-39 for an interval of ours
            replace(bar, label=f"“{bar.label}”") if bar.label and bar.kind != SPECIAL else bar
            for bar in most_frequent(texts, MOST_GENERAL, decimal)
        ]
    else:
        bars = most_frequent({v: new[v] for v in shown}, MOST_VALUES, decimal)
    return bars + star_bar(new, star, None)


def middles(
    template: Template, texts: Iterable[str | None], decimal: str = POINT
) -> dict[str | None, float]:
    """Return the midpoint of each text that is a range of numbers."""
    found: dict[str | None, float] = {}
    for text in texts:
        ends = None if text is None else template.ends(text)
        numbers = [] if ends is None else [number_of(end, decimal) for end in ends]
        if numbers and None not in numbers:
            found[text] = float(sum(x for x in numbers if x is not None) / 2)
    return found


def most_frequent(counts: dict[str | None, int], most: int, decimal: str = POINT) -> list[Bar]:
    """The most frequent values of a release, numbers in order, the others as one."""
    common = sorted(counts, key=lambda v: -counts[v])
    head = common[:most] if len(common) > most + 1 else common
    bars = [Bar(v, VALUE, None, counts[v]) for v in in_order(head, decimal)]
    tail = common[len(head) :]
    if tail:
        rest = sum(counts[v] for v in tail)
        bars.append(Bar(f"{len(tail):,} other values", SPECIAL, None, rest))
    return bars


def star_bar(new: dict[str | None, int], star: str, before: int | None) -> list[Bar]:
    """The suppressed cells, where there are any."""
    if not new.get(star):
        return []
    return [Bar(f"{star} suppressed", SPECIAL, before, new[star], (), (star,))]


def counted(column: Column) -> dict[str | None, int]:
    """Rows of each value that occurs."""
    counts = column.counts.tolist()
    return {v: n for v, n in zip(column.values, counts, strict=True) if n}


def in_order(values: Sequence[str | None], decimal: str = POINT) -> list[str | None]:
    """Put numbers in order of size; leave others from frequent to rare."""
    numbers = as_numbers(values, decimal)
    if numbers is None:
        return list(values)
    order = np.argsort(np.where(np.isnan(numbers), np.inf, numbers), kind="stable")
    return [values[i] for i in order]


def unmarked(values: Sequence[str | None], marks: Sequence[str]) -> list[str | None]:
    """Return the values, None for those that stand for a missing one."""
    return [None if value in marks else value for value in values]


def as_numbers(values: Sequence[str | None], decimal: str = POINT) -> NDArray[np.float64] | None:
    """float64, shape (values,): the values as numbers, NaN for a missing one; None if one is none.

    Numbers with leading zeros are codes, such as zips.
    """
    found = np.full(len(values), np.nan)
    for i, text in enumerate(values):
        if text is None:
            continue
        value = pointed(text, decimal) or "NaN"
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


@dataclass(frozen=True, eq=False)
class Bins:
    """Intervals of numbers.

    Attributes
    ----------
    edges: float64, shape (bins,): where each begins, ascending; the last has no end.
    """

    edges: NDArray[np.float64]
    names: tuple[str, ...]

    @classmethod
    def around(cls, numbers: NDArray[np.float64], rows: Sequence[int]) -> "Bins":
        """Choose about ten intervals for these numbers, each of so many rows.

        Of equal, round width; where most rows would be in one of them, of about equally many rows.
        """
        there = np.isfinite(numbers)
        known, weight = numbers[there], np.asarray(rows, float)[there]
        order = np.argsort(known)
        known, weight = known[order], weight[order]
        whole = bool((known == np.floor(known)).all())
        edges = round_edges(float(known[0]), float(known[-1]), whole)
        share = np.bincount(np.searchsorted(edges, known, "right") - 1, weight) / weight.sum()
        if share.max() > CROWDED:
            ranks = np.searchsorted(
                np.cumsum(weight), np.arange(BINS) / BINS * weight.sum(), "right"
            )
            edges = np.unique(known[np.minimum(ranks, len(known) - 1)])
        last = np.append(edges[1:], known[-1] + 1)
        names = tuple(
            interval(low, high, whole, i == len(edges) - 1)
            for i, (low, high) in enumerate(zip(edges.tolist(), last.tolist(), strict=True))
        )
        return cls(edges, names)

    def place(self, number: float | NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the bin of each number (NaN: −1)."""
        given = np.asarray(number, float)
        at = np.clip(np.searchsorted(self.edges, given, "right") - 1, 0, len(self.edges) - 1)
        return np.where(np.isnan(given), -1, at).astype(np.int64)


def round_edges(least: float, most: float, whole: bool) -> NDArray[np.float64]:
    """float64, shape (bins,): where about ten intervals of one round width begin."""
    raw = max((most - least) / BINS, 1e-12)
    power = 10.0 ** np.floor(np.log10(raw))
    width = float(next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= raw * 0.999))
    if whole:
        width = max(1.0, float(np.ceil(width)))
    first = float(np.floor(least / width))
    count = max(1, int(np.floor(most / width) - first) + 1)
    return np.asarray((first + np.arange(count)) * width, np.float64)


def interval(low: float, high: float, whole: bool, last: bool) -> str:
    """Return an interval in words, its upper end left out; the last one of all holds it."""
    if not whole:
        return f"{low:.6g} and more" if last else f"{low:.6g} to {high:.6g}"
    if low == high - 1:
        return f"{low:.0f}"
    return f"{low:.0f}–{high - 1:.0f}"


def binned(
    before: Column,
    after: Column,
    star: str,
    tree: Family | None,
    numbers: NDArray[np.float64],
    decimal: str = POINT,
) -> list[Bar]:
    """Compare a column of numbers."""
    old, new = counted(before), counted(after)
    bins = Bins.around(numbers, [old.get(value, 0) for value in before.values])
    place: dict[str | None, int] = dict(
        zip(before.values, bins.place(numbers).tolist(), strict=True)
    )
    if tree is not None:
        gone = [value for value in tree.leaves if value not in place]  # in deleted rows alone
        for value in gone:
            number = as_numbers([value], decimal)
            place[value] = -1 if number is None else int(bins.place(number)[0])
        leaves = np.array([place[value] for value in tree.leaves])
        for label, under in leaves_under(tree, new).items():
            below = np.unique(leaves[under])
            place.setdefault(label, int(below[0]) if len(below) == 1 else -2)
        if isinstance(tree, RangeFamily):
            found = middles(tree.shown, (v for v, at in place.items() if at == -2), decimal)
            place.update((text, int(bins.place(middle))) for text, middle in found.items())
    for value in new:
        average = None if value is None or value in place else as_numbers([value], decimal)
        if average is not None and value != star:
            place[value] = int(bins.place(average)[0])
    missing = [value for value in old if place[value] < 0]
    was, now = ([[] for _ in bins.names] for _ in range(2))
    general: list[str | None] = []
    for value in new:
        at = place.get(value, -2)
        if value not in missing and value != star:
            (now[at] if at >= 0 else general).append(value)
    for value in old:
        if value not in missing:
            was[place[value]].append(value)
    bars = [
        Bar.of(name, BIN, (old, a), (new, b))
        for name, a, b in zip(bins.names, was, now, strict=True)
    ]
    bars += [Bar.of(value, VALUE, (old, [value]), (new, [value])) for value in missing]
    if general:
        bars.append(Bar.of("more general", SPECIAL, (old, []), (new, general)))
    return bars + star_bar(new, star, 0)
