"""The sections on combinations of columns that have a k of their own; classes have none there."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.combination import Combination
from incrowd.report import plots
from incrowd.report.classes import bucket_table
from incrowd.report.counts import buckets, class_sizes, share_at
from incrowd.report.html import Html, alone_table, cell_text, joined, listed
from incrowd.report.page import Pictures, Section, grid, paragraphs
from incrowd.report.view import Inside, View

MOST_PICTURED = 8  # combinations; the table has all


def columns_of(one: Combination) -> Html:
    """Name the columns of a combination."""
    return listed(map(cell_text, one.columns))


def groups(view: View, pictures: Pictures) -> Section:
    """How many rows agree in each combination; before and after in a report for the publisher."""
    after = [class_sizes(view.after, one.columns) for one in view.combinations]
    lines = [
        [columns_of(one), f"{one.k:,}", *(f"{n:,}" for n in (min(s), len(s), max(s)))]
        for one, s in zip(view.combinations, after, strict=True)
        if len(s)
    ]
    head = ["combination", "asked for", "rows of the smallest group", "groups", "of the largest"]
    items = []
    for one, sizes in [*zip(view.combinations, after, strict=True)][:MOST_PICTURED]:
        was = None if view.inside is None else class_sizes(view.inside.before, one.columns)
        largest = max(int(s.max(initial=1)) for s in (sizes, was) if s is not None)
        now = buckets(sizes, largest)
        then = None if was is None else buckets(was, largest)
        items.append(
            pictures.show(
                joined("Rows by the size of their group: ", columns_of(one)),
                plots.plot_classes(now, then, groups="groups"),
                "Bars: rows in groups of each size" + ", before and after" * (then is not None),
                None,
                bucket_table(now, then, view.rows, groups="groups"),
            )
        )
    words = "A group is all rows that agree on every column of the combination."
    if len(view.combinations) > MOST_PICTURED:
        words += f" Pictured are the first {MOST_PICTURED} combinations."
    figures = alone_table("Groups by combination", head, lines)
    return Section("classes", "Groups", joined(paragraphs(words), figures, grid(*items)))


def by_combination(view: View, inside: Inside) -> Section:
    """Who is found by the columns of a combination, before and after; there are some rows."""
    tables = inside.before, view.after
    lines = []
    for one in view.combinations:
        both = [class_sizes(table, one.columns) for table in tables]
        lines.append([columns_of(one), *(x for each in risks(both) for x in each)])
    what = ("highest risk", "mean risk", "rows alone")
    head = ["combination", *(f"{word}, {when}" for word in what for when in ("before", "after"))]
    note = (
        "Somebody who knows the columns of one combination of a person in the table, and no other "
        "quasi-identifier, finds the row with a probability of 1 divided by the size of its group. "
        "Who knows more columns may find more: incrowd measure --subsets tells by which."
    )
    table = alone_table("Risk of being found by a combination, before and after", head, lines)
    return Section("risk", "Risk", joined(paragraphs(note), table))


def risks(both: Sequence[NDArray[np.int64]]) -> tuple[list[str], ...]:
    """Return highest and mean risk and the rows that are alone, each before and after."""
    return (
        [f"{1 / int(sizes.min()):.2%}" for sizes in both],
        [f"{len(sizes) / int(sizes.sum()):.2%}" for sizes in both],
        [f"{share_at(sizes, 1):.2%}" for sizes in both],
    )
