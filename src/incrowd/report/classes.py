"""The section on sizes of classes."""

from incrowd.report import plots
from incrowd.report.asked import AT_MOST
from incrowd.report.counts import Bucket, buckets, of_people
from incrowd.report.html import Html, table
from incrowd.report.page import Pictures, Section
from incrowd.report.sections import EACH_CLASS, share
from incrowd.report.view import View


def classes(view: View, pictures: Pictures) -> Section:
    """Sizes of the classes."""
    told = view.sizes if view.crowds is None else view.crowds
    before, now = (None, told) if view.inside is None else view.inside.crowds
    largest = max(int(s.max(initial=1)) for s in (now, before) if s is not None)
    after = buckets(now, largest)
    then = None if before is None else buckets(before, largest)
    if view.people is not None and before is None and view.crowds is None:
        return classes_of_people(view, of_people(after, view.k), pictures)
    what = "rows" if view.people is None else "people"
    figure = pictures.show(
        f"{what.capitalize()} by the size of their class",
        plots.plot_classes(after, then, what),
        f"Bars: {what} in classes of each size" + ("" if then is None else ", before and after"),
        "A class is all rows that agree on every quasi-identifier."
        + ("" if what == "rows" else f" {EACH_CLASS}"),
        bucket_table(after, then, view.rows, what),
        wide=True,
    )
    return Section("classes", "Classes", figure)


def classes_of_people(view: View, found: list[Bucket], pictures: Pictures) -> Section:
    """How many people the classes have, as far as their rows tell."""
    figure = pictures.show(
        "Rows by the people of their class",
        plots.plot_classes(found, None, "rows", "people"),
        "Bars: rows in classes of so many people",
        f"A class is all rows that agree on every quasi-identifier. People of a class: {AT_MOST}.",
        bucket_table(found, None, view.rows, "people"),
        wide=True,
    )
    return Section("classes", "Classes", figure)


def bucket_table(
    after: list[Bucket],
    before: list[Bucket] | None,
    rows: int,
    what: str = "rows",
    groups: str = "classes",
) -> Html:
    """The same as figures; ``groups``: what the classes are called."""
    title = f"{groups.capitalize()} by size"
    if before is None:
        lines = [[b.name, f"{b.classes:,}", f"{b.rows:,}", share(b.rows, rows)] for b in after]
        return table(title, [f"{what} alike", groups, "rows", "share"], lines)
    lines = [
        [b.name, f"{a.classes:,}", f"{a.rows:,}", f"{b.classes:,}", f"{b.rows:,}"]
        for a, b in zip(before, after, strict=True)
    ]
    named = (f"{name} {when}" for when in ("before", "after") for name in (groups, what))
    return table(f"{title}, before and after", [f"{what} alike", *named], lines)
