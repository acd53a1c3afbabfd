"""What analyses say before and after, of columns that intervals or averages have changed.

An interval says where a value is: from its least to its greatest end.  The midpoint stands for it
where one number is needed; and by the ends it is sure between which figures the original's lies.  A
star may be any value of the column, and so may the open end of ``80+``.  An average is a number
itself.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.hierarchy.labels import spans_of
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.ranges import NUMBERS, number_of
from incrowd.kernels.types import Floats
from incrowd.published.base import Published
from incrowd.report.distribution import as_numbers, round_edges, unmarked
from incrowd.report.rules import codes_of
from incrowd.report.sample import Sample, less_one
from incrowd.tables.base import replaced
from incrowd.text.missing import marks_for
from incrowd.text.numerals import COMMA, POINT

LABELLED = ("interval", "bands", "round", "codes")
NUMBER = r"(-?\d+(?:\.\d+)?)"
BETWEEN = re.compile(rf"{NUMBER}-{NUMBER}|\[{NUMBER}[,;]{NUMBER}\)")
ABOUT, ABOVE, BELOW = (
    re.compile(form) for form in (f"{NUMBER}±{NUMBER}", rf"{NUMBER}\+", f"<{NUMBER}")
)
FINE = 1e-9  # share of an interval to which a least point is found


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column in numbers, row by row, where the original has one.

    Attributes
    ----------
    rows: int64: which rows of the original.
    before: float64, shape (rows,).  low, high: likewise, the ends that are published; equal to each
        other where one number is.
    averages: whether averages are published: then these are no bounds.
    """

    rows: NDArray[np.int64]
    before: Floats
    low: Floats
    high: Floats
    averages: bool = False

    @property
    def middle(self) -> Floats:
        """float64, shape (rows,): what an analyst would take."""
        return (self.low + self.high) / 2

    @property
    def whole(self) -> bool:
        """Whether all original numbers are whole."""
        return bool((self.before == np.floor(self.before)).all())


def numbers_of(release: Published) -> dict[str, Numbers]:
    """Return the quasi-identifiers with ranges of numbers, and those that are averaged."""
    averaged = () if release.averaged is None else release.averaged.columns
    found: dict[str, Numbers] = {}
    for tree in release.trees:
        ranged = isinstance(tree, RangeFamily) and tree.rule["kind"] == NUMBERS
        rule = str(release.policy.hierarchies.get(tree.column)).partition(":")[0]
        if (
            ranged or rule in LABELLED or tree.column in averaged
        ) and tree.column in release.edit.replacements:
            column = release.source.encode(tree.column)
            texts, ids = replaced(column, release.edit.replacements[tree.column])
            mark = release.policy.decimal
            if isinstance(tree, RangeFamily):
                ends = ends_of(tree, texts, mark)
            else:
                ends = ends_told(texts, mark) if rule in LABELLED else points(texts, mark)
            own = points(unmarked(column.values, marks_for(release.policy.na, tree.column)), mark)
            known = own[0][column.codes]
            rows = np.flatnonzero(~np.isnan(known))
            known, low, high = known[rows], ends[0][ids][rows], ends[1][ids][rows]
            low = np.where(np.isnan(low), known.min(initial=np.inf), low)  # a star
            high = np.where(np.isnan(high), known.max(initial=-np.inf), high)
            found[tree.column] = Numbers(rows, known, low, high, tree.column in averaged)
    return {name: numbers for name, numbers in found.items() if len(numbers.rows)}


def unchanged(release: Published) -> dict[str, Numbers]:
    """Return the columns of numbers that are published as they are; no codes."""
    policy, found = release.policy, {}
    names = (*release.roles.sensitive, *release.roles.keep)
    codes = codes_of(policy, names)
    for name in (name for name in names if name not in codes):
        try:
            column = release.source.encode(name)
        except InputError:  # it has no text form
            continue
        own = as_numbers(unmarked(column.values, marks_for(policy.na, name)), policy.decimal)
        if own is not None:
            known = own[column.codes]
            rows = np.flatnonzero(~np.isnan(known))
            found[name] = Numbers(rows, known[rows], known[rows], known[rows])
    return found


def points(texts: list[str | None], decimal: str) -> tuple[Floats, Floats]:
    """float64, twice: the number that each text is, NaN for none."""
    read = [None if text is None else number_of(text, decimal) for text in texts]
    found = np.array([np.nan if x is None else float(x) for x in read])
    return found, found


def ends_of(family: RangeFamily, texts: list[str | None], decimal: str) -> tuple[Floats, Floats]:
    """float64, twice: the ends of the interval that each text is; NaN for a star."""
    low, high = (ends.copy() for ends in points(texts, decimal))
    spans = spans_of(family, texts)
    for place, text in enumerate(texts):
        if text in spans:
            a, b = spans[text]
            low[place] = float(number_of(family.first[a], decimal) or Fraction(0))
            high[place] = float(number_of(family.last[b], decimal) or Fraction(0))
    return low, high


def ends_told(texts: list[str | None], decimal: str) -> tuple[Floats, Floats]:
    """float64, twice: the ends that labels of rules tell, such as ``30-39``; NaN for open ones."""
    low, high = (ends.copy() for ends in points(texts, decimal))
    for place, text in enumerate(texts):
        plain = (text or "").replace(COMMA, POINT) if decimal == COMMA else text or ""
        if found := BETWEEN.fullmatch(plain):
            low[place], high[place] = (float(end) for end in found.groups() if end is not None)
        elif found := ABOUT.fullmatch(plain):
            middle, half = map(float, found.groups())
            low[place], high[place] = middle - half, middle + half
        elif found := ABOVE.fullmatch(plain):
            low[place] = float(found[1])
        elif found := BELOW.fullmatch(plain):
            high[place] = float(found[1])
    return low, high


def mean_bounds(low: Floats, high: Floats, least: Floats, most: Floats) -> tuple[float, float]:
    """Return between which figures the mean of numbers in these intervals lies.

    Each number's weight lies between ``least`` and ``most``, too.  Where the mean is least, all
    numbers stand at their low ends; up to some point they weigh the most, beyond it the least.
    """

    def smallest(ends: Floats) -> float:
        order = np.argsort(ends)
        x, few, many = ends[order], least[order], most[order]
        weight, total = (
            np.append(0, np.cumsum(many * z)) + np.append(np.cumsum((few * z)[::-1])[::-1], 0)
            for z in (np.ones(len(x)), x)
        )
        return float((total[weight > 0] / weight[weight > 0]).min())

    return smallest(low), -smallest(-high)


def variance_bounds(
    low: Floats, high: Floats, weights: Floats | None = None
) -> tuple[float, float]:
    """Return between which figures the variance (over n − 1) of numbers in these intervals lies.

    The least is that about the point from which the intervals are least far in all: a convex
    function of it.  The greatest is no more than the squares of their far ends about any point,
    least of all, which is convex too.
    """

    def near(c: float) -> float:
        apart = np.maximum(np.maximum(low - c, c - high), 0)
        return float(np.average(apart * apart, weights=weights))

    def far(c: float) -> float:
        far_ends = np.maximum(abs(low - c), abs(high - c))
        return float(np.average(far_ends**2, weights=weights))

    start, end = float(low.min()), float(high.max())
    by = less_one(len(low) if weights is None else int((weights > 0).sum()))
    return by * least(near, start, end), by * least(far, start, end)


def least(function: Callable[[float], float], start: float, end: float) -> float:
    """Return the least value of a convex function between two points."""
    if start == end:
        return function(start)
    within = {"xatol": (end - start) * FINE}
    found = scipy.optimize.minimize_scalar(
        function, bounds=(start, end), method="bounded", options=within
    )
    return min(float(found.fun), function(start), function(end))


@dataclass(frozen=True)
class Line:
    """A least-squares line: its slope, and the share of the variance that it explains.

    ``error``: the slope's standard error, of a sample.
    """

    slope: float
    share: float
    error: float = np.nan

    @classmethod
    def through(cls, x: Floats, y: Floats, sample: Sample | None = None) -> "Line | None":
        """Fit a line; None where one of the columns has one value."""
        sample = sample or Sample(np.ones(len(x)))
        across, up = x - sample.mean(x), y - sample.mean(y)
        both, wide, tall = (sample.mean(a * b) for a, b in ((across, up), (across,) * 2, (up, up)))
        if not wide or not tall:
            return None
        slope = both / wide
        error = sample.mean_error(across * (up - slope * across) / wide)  # each row's influence
        return cls(slope, slope * both / tall, error)


def lines_of(
    columns: Mapping[str, Numbers],
    others: Mapping[str, Numbers] | None = None,
    samples: tuple[Sample, Sample] | None = None,
) -> list[tuple[str, str, list[Line | None]]]:
    """Return each pair of columns with the lines before, by midpoints, by low and by high ends.

    ``others``: columns that are published as they are; of two such nothing is said.  Where no
    column of a pair shows intervals there are no ends, and None for them.  ``samples``: what rows
    count for, before and after.
    """
    found = []
    names = list(columns)
    every = {**columns, **(others or {})}
    for i, x in enumerate(names):
        for y in (*names[i + 1 :], *(others or ())):
            a, b = every[x], every[y]
            common = np.intersect1d(a.rows, b.rows)
            if not len(common):
                continue
            one, two = (np.searchsorted(c.rows, common) for c in (a, b))
            apart = any(not c.averages and (c.low < c.high).any() for c in (a, b))
            ends = ("low", "high") if apart else ()
            forms = ("before", "middle", *ends)
            pairs = ((getattr(a, form)[one], getattr(b, form)[two]) for form in forms)
            counted = (None, None) if samples is None else (each.of(common) for each in samples)
            was, now = counted
            lines = [
                Line.through(*pair, was if form == "before" else now)
                for form, pair in zip(forms, pairs, strict=True)
            ]
            found.append((x, y, lines if ends else [*lines, None, None]))
    return found


@dataclass(frozen=True, eq=False)
class Histogram:
    """Rows in bins of one round width, or what they count for.

    Attributes
    ----------
    edges: float64, shape (bins + 1,); a bin holds its lower one.  before, middle: float64, shape
        (bins,): rows, as they were and by midpoints.  error: standard errors of those before.
        sure, most: rows whose interval lies in the bin, and whose interval meets it.
    """

    edges: Floats
    before: Floats
    middle: Floats
    error: Floats
    sure: Floats
    most: Floats

    @classmethod
    def of(cls, numbers: Numbers, samples: tuple[Sample, Sample] | None = None) -> "Histogram":
        """Count the rows of a column; ``samples``: what each counts for, before and after."""
        ends = float(numbers.before.min()), float(numbers.before.max())
        begins = round_edges(*ends, numbers.whole)
        width = begins[1] - begins[0] if len(begins) > 1 else 1.0
        edges = np.append(begins, begins[-1] + width)
        was, now = samples or (Sample(np.ones(len(numbers.rows))),) * 2
        low, high = (bins_of(edges, each) for each in (numbers.low, numbers.high))
        bins = np.arange(len(begins))
        within = (low[:, None] <= bins) & (high[:, None] >= bins)
        place = bins_of(edges, numbers.before)
        share, error = was.shares(place, len(begins))
        middles = bins_of(edges, numbers.middle)[:, None]
        total = was.weights.sum()
        middle, sure, most = (
            now.weights @ there
            for there in (middles == bins, within & (low == high)[:, None], within)
        )
        return cls(edges, share * total, middle, error * total, sure, most)


def bins_of(edges: Floats, numbers: Floats) -> NDArray[np.int64]:
    """int64: the bin of each number; what lies outside is in the first or the last one."""
    return np.clip(np.searchsorted(edges, numbers, "right") - 1, 0, len(edges) - 2).astype(np.int64)
