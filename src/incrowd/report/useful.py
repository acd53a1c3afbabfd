"""The section about use: figures of columns with intervals or averages, before and after."""

from itertools import pairwise

import numpy as np

from incrowd.report import plots
from incrowd.report.distribution import interval
from incrowd.report.html import Html, alone_table, cell_text, joined, table
from incrowd.report.page import Pictures, Section, grid, paragraphs
from incrowd.report.use import Histogram, Line, Numbers, lines_of, unchanged
from incrowd.report.view import Inside
from incrowd.report.weighed import Weighed

MOST_HISTOGRAMS = 12
MOST_LINES = 30
ERROR = "standard error"
CHANGED = ("before", "after", "change", ERROR)


def use(inside: Inside, weighed: Weighed, pictures: Pictures) -> Section | None:
    """Means, variances, regressions and histograms of numbers, before and after."""
    columns, others = map(weighed.counted, (weighed.columns, unchanged(inside.release)))
    others.pop(weighed.name or "", None)  # a weight is no answer
    if not columns:
        return None
    words = paragraphs(
        "A range or interval counts by its midpoint; its ends say between which figures the "
        "original's lies. A star may be any value of the column, and an open end (80+) the "
        "greatest. Means and centroids keep the mean of a column except for rounding, medians need "
        "not; both are, as a rule, less spread than the values were.",
        weighed.words,
    )
    ranged = dict.fromkeys(columns, "ranges") | {
        name: "averages" for name, c in columns.items() if c.averages
    }
    told = columns
    if weighed.after is not weighed.before:  # then weighted figures of the others change, too
        told, ranged = columns | others, dict.fromkeys(others, "as they are") | ranged
    parts = [words, *moments(told, ranged, weighed), lines(columns, others, weighed)]
    pictured = [histogram(name, c, pictures, weighed) for name, c in columns.items()]
    shown = joined(*parts, grid(*pictured[:MOST_HISTOGRAMS]))
    return Section("use", "Use: what analyses say before and after", shown)


def number(x: float, sign: str = "") -> str:
    """Return a figure with six digits, all before the point; a dash for none."""
    if np.isnan(x):
        return "–"
    return f"{x:{sign},.0f}" if 1e5 <= abs(x) < 1e15 else f"{x:{sign},.6g}"


def changed(before: float, after: float, error: float) -> list[str]:
    """Return two figures, their difference and the standard error of the first."""
    return [number(before), number(after), number(after - before, "+"), number(error)]


def moments(columns: dict[str, Numbers], published: dict[str, str], weighed: Weighed) -> list[Html]:
    """Means and variances; ``published``: as what each column is."""
    means, variances = [], []
    for name, c in columns.items():
        was, now = weighed.samples(c)
        ends = (None, None) if c.averages else weighed.ends(c)
        for found, old, new, error, sure in (
            (means, was.mean, now.mean, was.mean_error, ends[0]),
            (variances, was.variance, now.variance, was.variance_error, ends[1]),
        ):
            figures = changed(old(c.before), new(c.middle), error(c.before))
            surely = "–" if sure is None else " to ".join(map(number, sure))
            found.append([cell_text(name), published[name], *figures, surely])
    head = ["column", "published", *CHANGED, "surely"]
    return [
        alone_table(f"{what}, before and after", head, rows, 2)
        for what, rows in (("Means", means), ("Variances", variances))
    ]


def lines(columns: dict[str, Numbers], others: dict[str, Numbers], weighed: Weighed) -> Html | None:
    """Regressions of each pair, of those with a column that is published as it is too."""
    found = lines_of(columns, others, (weighed.before, weighed.after))[:MOST_LINES]
    if not found:
        return None
    rows = []
    for x, y, (before, after, *ends) in found:
        both = ["–", "–"]
        if before is not None and after is not None:
            both = changed(before.slope, after.slope, before.error)[2:]
        fits = [line(before), line(after), *both, *map(line, ends)]
        rows.append([joined(cell_text(y), " on ", cell_text(x)), *fits])
    head = ["regression", *CHANGED, "all at the low ends", "all at the high ends"]
    return alone_table("Slopes of least-squares lines (R²)", head, rows)


def line(found: Line | None) -> str:
    """Return a slope and what it explains."""
    return "–" if found is None else f"{number(found.slope)} ({found.share:.3f})"


def histogram(name: str, numbers: Numbers, pictures: Pictures, weighed: Weighed) -> Html:
    """A histogram before and after."""
    samples = weighed.samples(numbers)
    found = Histogram.of(numbers, samples)
    whole, spans = numbers.whole, pairwise(found.edges.tolist())
    names = [
        interval(a, b, True, False) if whole else f"{number(a)} – {number(b)}" for a, b in spans
    ]
    was, now = (each.weights.sum() for each in samples)
    columns = [found.before / was, found.middle / now, found.error / was]
    shares = [column.tolist() for column in columns[:2]]
    if weighed.weighted:
        columns += [found.sure / now, found.most / now]
    else:
        columns = [found.before, found.middle, found.error, found.sure, found.most]
    head = ["values", "before", "after", ERROR, "surely", "at most"]
    sure = not numbers.averages and weighed.ranged is None
    lines_ = [
        [span, *(weighed.shown(x) for x in each[: 5 if sure else 3])]
        for span, *each in zip(names, *columns, strict=True)
    ]
    return pictures.show(
        joined(cell_text(name), ": histogram"),
        plots.plot_histogram(names, *shares),
        "Bars: share of the rows in bins of one width, before and after",
        "After: by averages." if numbers.averages else "After: by midpoints.",
        table(f"{weighed.what} in bins of one width", head[: 6 if sure else 4], lines_),
    )
