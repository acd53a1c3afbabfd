"""The section about use: figures of columns with intervals or averages, before and after."""

from itertools import pairwise

from incrowd.report import plots
from incrowd.report.html import Html, cell_text, joined, table
from incrowd.report.page import Pictures, Section, grid, paragraphs
from incrowd.report.sections import alone_table
from incrowd.report.use import (
    Histogram,
    Line,
    Numbers,
    lines_of,
    numbers_of,
    unchanged,
    variance_bounds,
)
from incrowd.report.view import Inside

MOST_HISTOGRAMS = 12
MOST_LINES = 30


def use(inside: Inside, pictures: Pictures) -> Section | None:
    """Means, variances, regressions and histograms of numbers, before and after."""
    columns = numbers_of(inside.release)
    if not columns:
        return None
    words = paragraphs(
        "A range or interval counts by its midpoint; its ends say between which figures the "
        "original's lies. A star may be any value of the column, and an open end (80+) the "
        "greatest. Means and centroids keep the mean of a column except for rounding, medians need "
        "not; both are, as a rule, less spread than the values were."
    )
    parts = [words, moments(columns), lines(columns, unchanged(inside.release))]
    pictured = [histogram(name, found, pictures) for name, found in columns.items()]
    shown = joined(*parts, grid(*pictured[:MOST_HISTOGRAMS]))
    return Section("use", "Use: what analyses say before and after", shown)


def number(x: float) -> str:
    """Return a figure with six digits, all before the point."""
    return f"{x:,.0f}" if 1e5 <= abs(x) < 1e15 else f"{x:,.6g}"


def moments(columns: dict[str, Numbers]) -> Html:
    """Means and variances."""
    rows = []
    for name, c in columns.items():
        sure = ["–", "–"]
        if not c.averages:
            low, high = variance_bounds(c.low, c.high)
            mean = f"{number(c.low.mean())} to {number(c.high.mean())}"
            sure = [mean, f"{number(low)} to {number(high)}"]
        means, variances = (
            (f(c.before), f(c.middle)) for f in (lambda x: x.mean(), lambda x: x.var())
        )
        rows.append(
            [
                cell_text(name),
                "averages" if c.averages else "ranges",
                *map(number, means),
                sure[0],
                *map(number, variances),
                sure[1],
            ]
        )
    head = ["column", "published", "mean before", "after", "surely"]
    return alone_table(
        "Means and variances", [*head, "variance before", "after", "surely"], rows, 2
    )


def lines(columns: dict[str, Numbers], others: dict[str, Numbers]) -> Html | None:
    """Regressions of each pair, of those with a column that is published as it is too."""
    found = lines_of(columns, others)[:MOST_LINES]
    if not found:
        return None
    rows = [[joined(cell_text(y), " on ", cell_text(x)), *map(line, fits)] for x, y, fits in found]
    head = ["regression", "before", "after", "all at the low ends", "all at the high ends"]
    return alone_table("Slopes of least-squares lines (R²)", head, rows)


def line(found: Line | None) -> str:
    """Return a slope and what it explains."""
    return "–" if found is None else f"{number(found.slope)} ({found.share:.3f})"


def histogram(name: str, numbers: Numbers, pictures: Pictures) -> Html:
    """A histogram before and after."""
    found = Histogram.of(numbers)
    edges = [number(x) for x in found.edges]
    names = [f"{a} – {b}" for a, b in pairwise(edges)]
    total = max(len(numbers.rows), 1)
    lines_ = [
        [span, *(f"{int(count):,}" for count in counts)]
        for span, *counts in zip(
            names, found.before, found.middle, found.sure, found.most, strict=True
        )
    ]
    head = ["from – to", "before", "after", "surely", "at most"]
    if numbers.averages:
        head, lines_ = head[:3], [each[:3] for each in lines_]
    return pictures.show(
        joined(cell_text(name), ": histogram"),
        plots.plot_histogram(
            names, (found.before / total).tolist(), (found.middle / total).tolist()
        ),
        "Bars: share of the rows in bins of equal width, before and after",
        "After: by averages." if numbers.averages else "After: by midpoints.",
        table("Rows in bins of equal width", head, lines_),
    )
