"""Figures of a release: plain matplotlib figures, in colours that the page can replace."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import MissingExtraError
from incrowd.report.counts import Bucket, share_up_to
from incrowd.report.html import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from incrowd.report.association import Pair
    from incrowd.report.distribution import Bar
    from incrowd.report.spread import Spread
    from incrowd.report.subgroups import Subgroup

INK, RULE, BEFORE, AFTER = "#1b1b1f", "#d8d8de", "#c77700", "#0067a5"  # told apart by most eyes
WIDTH = 4.8  # inches: the page shows it about as wide on a telephone
FONT = 10.0
NAME = 22  # characters of a value beside a bar
SHADES = ("#0067a5", "#c77700", "#2a9d6f", "#b04a8f", "#7a6ff0", "#8c6d31", "#5b8db8", "#9a9aa2")


def require_matplotlib() -> None:
    """Raise MissingExtraError, which names what to install, unless matplotlib is there."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "report", "a report or figure")


def canvas(height: float, panels: int = 1) -> "tuple[Figure, list[Axes]]":
    """Return an empty figure in our style, panels below each other; no global state is touched."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height * panels))
    figure.set_facecolor("white")
    axes = [figure.add_subplot(panels, 1, i + 1) for i in range(panels)]
    for ax in axes:
        ax.set_facecolor("none")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        for side in ("left", "bottom"):
            ax.spines[side].set_color(RULE)
        ax.tick_params(colors=INK, labelcolor=INK, labelsize=FONT, color=RULE, length=3)
        ax.grid(color=RULE, linewidth=0.6)
        ax.set_axisbelow(True)
    return figure, axes


def fitted(figure: "Figure") -> "Figure":
    """Return a figure whose axes leave as much room as what is written around them takes.

    Matplotlib's own layouts draw all of that to measure it: half of the time of a figure.
    """
    wide, high = (72 * inches for inches in figure.get_size_inches())  # in points, as all here
    panel = high / len(figure.axes)
    names = max(width_of(ax.get_yticklabels()) for ax in figure.axes)
    for i, ax in enumerate(figure.axes):
        left = names + (28 if ax.get_ylabel() else 11)
        right = width_of(ax.get_xticklabels()[-1:]) / 2 + 3  # the last one may stand at the end
        below = 37 if ax.get_xlabel() else 21
        above = 22 if ax.get_legend() else 8
        above = 40 if ax.get_title("left") else above
        for one in figure.legends:  # of two columns
            above = 15 * (len(one.get_texts()) + 1 >> 1) + 10
        low = high - (i + 1) * panel + below
        sizes = wide - left - right, panel - below - above
        ax.set_position((left / wide, low / high, sizes[0] / wide, sizes[1] / high))
    return figure


def width_of(labels: "Sequence[Text]") -> float:
    """Return the width of the widest of some texts in points."""
    from matplotlib.textpath import text_to_path

    texts = {(one.get_text().replace(r"\$", "$"), one.get_fontproperties()) for one in labels}
    measure = text_to_path.get_text_width_height_descent
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that the measuring font lacks
        return max((measure(text, font, ismath=False)[0] for text, font in texts), default=0.0)


def plain(text: str | None, most: int = NAME) -> str:
    """Return text for a figure: on one line, and no dollar sign starts a formula."""
    if text is None:
        return "missing"
    return (visible(text, most) if text else "empty text").replace("$", r"\$")


def labelled(ax: "Axes", x: str, y: str = "") -> None:
    """Name the axes."""
    ax.set_xlabel(x, fontsize=FONT, color=INK)
    ax.set_ylabel(y, fontsize=FONT, color=INK)


def legend(ax: "Axes", columns: int = 2) -> None:
    """Put the legend above the axes, where no data are."""
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns,
        frameon=False,
        fontsize=FONT,
        labelcolor=INK,
        borderaxespad=0.1,
        handlelength=1.4,
        columnspacing=1.2,
    )


def percent(axis: Any) -> None:
    """Write shares as percents."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1, decimals=0))


def thousands(axis: Any) -> None:
    """Write counts with separators, and only whole ones."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def bars(
    names: Sequence[str | None], after: Sequence[float], before: Sequence[float] | None
) -> "tuple[Figure, Axes]":
    """Draw horizontal bars, the first one at the top; two for each name where ``before`` is."""
    pairs = before is not None
    figure, (ax,) = canvas(0.75 + (0.36 if pairs else 0.25) * max(len(names), 1))
    place = np.arange(len(names))
    if pairs:
        ax.barh(place - 0.2, before, 0.38, color=BEFORE, label="before")
        ax.barh(place + 0.2, after, 0.38, color=AFTER, label="after")
        legend(ax)
    else:
        ax.barh(place, after, 0.66, color=AFTER)
    ax.set_yticks(place, [plain(name) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    return figure, ax


def plot_histogram(
    names: Sequence[str], before: Sequence[float], after: Sequence[float]
) -> "Figure":
    """Draw the shares of the rows in bins, before and after."""
    figure, ax = bars(names, after, before)
    percent(ax.xaxis)
    labelled(ax, "share of rows")
    return fitted(figure)


def plot_classes(
    after: Sequence[Bucket],
    before: Sequence[Bucket] | None = None,
    what: str = "rows",
    alike: str | None = None,
    groups: str = "classes",
) -> "Figure":
    """Draw how many rows, or people, are in classes of each size; ``alike``: what sizes count."""
    then = None if before is None else [bucket.rows for bucket in before]
    names = [b.name for b in after]
    figure, ax = bars(names, [b.rows for b in after], then)
    labelled(ax, f"{what} in {groups} of this size", f"{alike or what} alike")
    thousands(ax.xaxis)
    return fitted(figure)


def plot_shares(
    names: Sequence[str | None], shares: Sequence[float], words: str, mark: float | None = None
) -> "Figure":
    """Draw shares by name, with a line at ``mark``."""
    figure, ax = bars(names, shares, None)
    if mark is not None:
        ax.axvline(mark, color=INK, linewidth=1, linestyle=(0, (4, 2)))
        words += "; dashed: all rows"
    labelled(ax, words)
    percent(ax.xaxis)
    ax.set_xlim(0, max([*shares, mark or 0, 0.01]) * 1.05)
    return fitted(figure)


def plot_subgroups(groups: "Sequence[Subgroup]", words: str, mark: float | None) -> "Figure":
    """Draw the share of changed cells by subgroup of one column."""
    names: list[str | None] = ["all others" if g.rest else g.value for g in groups]
    return plot_shares(names, [g.share for g in groups], words, mark)


def plot_column(found: "Sequence[Bar]") -> "Figure":
    """Draw the distribution of one column."""
    before = [b.before or 0 for b in found] if any(b.before is not None for b in found) else None
    figure, ax = bars([b.label for b in found], [b.after for b in found], before)
    labelled(ax, "rows")
    thousands(ax.xaxis)
    return fitted(figure)


def plot_associations(pairs: "Sequence[Pair]") -> "Figure":
    """Draw Cramér's V of pairs of columns, a line from before to after."""
    names = [f"{plain(p.one, 14)} · {plain(p.other, 14)}" for p in pairs]
    figure, (ax,) = canvas(0.8 + 0.26 * max(len(pairs), 1))
    place = np.arange(len(pairs))
    both = [(i, p) for i, p in enumerate(pairs) if p.before is not None and p.after is not None]
    if both:
        at = [i for i, _ in both]
        before = [p.before or 0.0 for _, p in both]
        after = [p.after or 0.0 for _, p in both]
        ax.hlines(at, before, after, color=RULE, linewidth=2.5)
    for mark, colour, words, which in (
        ("o", BEFORE, "before", [p.before for p in pairs]),
        ("D", AFTER, "after", [p.after for p in pairs]),
    ):
        known = [(v, i) for i, v in enumerate(which) if v is not None]
        if known:
            ax.plot(*zip(*known, strict=True), mark, color=colour, markersize=5, label=words)
    if any(p.before is not None for p in pairs):
        legend(ax)
    ax.set_yticks(place, names)
    ax.set_ylim(len(pairs) - 0.4, -0.6)
    ax.set_xlim(-0.02, 1.02)
    ax.tick_params(axis="y", length=0)
    labelled(ax, "Cramér's V, from 0 to 1")
    return fitted(figure)


def plot_risk(
    after: NDArray[np.int64],
    before: NDArray[np.int64] | None = None,
    k: int | None = None,
    what: str = "rows",
) -> "Figure":
    """Draw the share of rows in classes of at most x rows; their prosecutor risk is at least 1/x.

    Likewise of people (``what``), where sizes are theirs.

    Parameters
    ----------
    after, before: int64, shape (classes,): sizes of the classes.
    """
    require_matplotlib()
    from matplotlib.ticker import LogLocator

    figure, (ax,) = canvas(2.9)
    drawn = ((before, BEFORE, "before", (0, (4, 2))), (after, AFTER, "after", "solid"))
    most = max(int(s.max(initial=1)) for s, *_ in drawn if s is not None)
    for sizes, colour, words, style in drawn:
        if sizes is not None and len(sizes):
            x, y = share_up_to(sizes)
            x, y = np.concatenate([[1.0], x, [most]]), np.concatenate([[0.0], y, [1.0]])
            ax.step(x, y, where="post", color=colour, linestyle=style, linewidth=2, label=words)
    if k is not None and k > 1:
        ax.axvline(k, color=INK, linewidth=1, linestyle=(0, (1, 2)), label=f"k = {k}")
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1 else "")
    ax.minorticks_off()
    ax.set_ylim(-0.02, 1.02)
    percent(ax.yaxis)
    legend(ax, 3)
    labelled(ax, f"x: {what} alike (risk at least 1/x)", f"{what} in classes ≤ x")
    return fitted(figure)


def plot_spread(spread: "Spread") -> "Figure":
    """Draw the share of rows in classes at most t from the table's distribution."""
    figure, (ax,) = canvas(2.7)
    order = np.argsort(spread.t)
    total = np.cumsum(spread.sizes[order]) / spread.sizes.sum()
    most = max(float(spread.t.max()), spread.asked or 0) * 1.05 or 0.05
    x = np.concatenate([[0], spread.t[order], [most]])
    y = np.concatenate([[0], total, [1]])
    ax.step(x, y, where="post", color=AFTER, linewidth=2, label="rows")
    if spread.asked is not None:
        words = f"asked for: t = {spread.asked:.3g}"
        ax.axvline(spread.asked, color=INK, linewidth=1, linestyle=(0, (4, 2)), label=words)
        legend(ax)
    ax.set_xlim(0, most)
    ax.set_ylim(-0.02, 1.02)
    percent(ax.yaxis)
    labelled(ax, f"t: distance of the class ({spread.distance})", "rows in classes ≤ t")
    return fitted(figure)


def plot_farthest(spread: "Spread") -> "Figure":
    """Draw the distribution of the table and of the classes farthest from it, stacked."""
    names = ["the table"]
    names += [f"{n:,} rows, t = {t:.2f}" for n, t in zip(spread.sizes, spread.t, strict=False)]
    names = names[: 1 + len(spread.farthest)]
    figure, (ax,) = canvas(0.9 + 0.11 * len(spread.labels) + 0.34 * len(names))
    shares = np.vstack([spread.table, spread.farthest]) if len(spread.farthest) else spread.table
    shares = np.atleast_2d(shares)
    left, place = np.zeros(len(names)), np.arange(len(names))
    for value, label in enumerate(spread.labels):
        colour = SHADES[value % len(SHADES)]
        width = shares[:, value]
        ax.barh(place, width, 0.7, left, color=colour, label=plain(label, 18))
        left += width
    ax.set_yticks(place, names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(0, 1)
    ax.tick_params(axis="y", length=0)
    percent(ax.xaxis)
    figure.legend(loc="upper left", ncols=2, frameon=False, fontsize=FONT, labelcolor=INK)
    labelled(ax, "rows of the class")
    return fitted(figure)


def plot_frontier(points: "Sequence[Any]") -> "Figure":
    """Draw cost and bound against k; no release reaches below the bound."""
    figure, (ax,) = canvas(2.9)
    k = [p.k for p in points]
    cost, bound = ([getattr(p, f"{name}_fraction") for p in points] for name in ("cost", "bound"))
    ax.fill_between(k, 0, bound, color=BEFORE, alpha=0.15, linewidth=0)
    ax.plot(k, cost, "D-", color=AFTER, markersize=4, linewidth=1.8, label="cost of a release")
    words = "proven: none costs less"
    ax.plot(k, bound, "o--", color=BEFORE, markersize=3.5, linewidth=1.4, label=words)
    ax.set_ylim(bottom=0)
    percent(ax.yaxis)
    thousands(ax.xaxis)
    legend(ax)
    labelled(ax, "k: everybody hides among so many", "share of the most")
    return fitted(figure)


def columns_figure(named: "Sequence[tuple[str, Sequence[Bar]]]") -> "Figure":
    """Draw the distributions of several columns below each other in one figure."""
    most = max((len(found) for _, found in named), default=1)
    figure, axes = canvas(0.9 + 0.3 * most, max(len(named), 1))
    for ax, (name, found) in zip(axes, named, strict=False):
        place = np.arange(len(found))
        ax.barh(place - 0.2, [b.before or 0 for b in found], 0.38, color=BEFORE, label="before")
        ax.barh(place + 0.2, [b.after for b in found], 0.38, color=AFTER, label="after")
        ax.set_yticks(place, [plain(b.label) for b in found])
        ax.set_ylim(len(found) - 0.4, -0.6)
        ax.grid(visible=False, axis="y")
        ax.set_title(plain(name, 40), loc="left", fontsize=FONT + 1.5, color=INK, pad=20)
        legend(ax)
        thousands(ax.xaxis)
    return fitted(figure)
