"""The sections of a report."""

import numpy as np

from incrowd.report import plots
from incrowd.report.association import MOST_COLUMNS, Pair, associations
from incrowd.report.distribution import BIN, SPECIAL, Bar, alone, compared
from incrowd.report.html import Html, cell_text, facts, joined, table, tag
from incrowd.report.page import Pictures, Section, grid, paragraphs
from incrowd.report.subgroups import Subgroup, starred, subgroups
from incrowd.report.view import View
from incrowd.report.weighed import Weighed
from incrowd.tables.base import Column
from incrowd.text.units import counted, shown, shown_gap, shown_price, three_places

EACH_CLASS = "A person counts in each class that holds rows of this person."
MOST_PAIRS = 15  # in a picture; the table beside it has all
MOST_BARS = 30  # likewise
MOST_SUBGROUPS = 12  # columns whose subgroups are shown
MOST_SHOWN = 40  # columns whose distribution is shown


def share(part: float, whole: float) -> str:
    """Return a share in percent, one decimal."""
    return f"{part / whole:.1%}" if whole else "–"


def in_short(view: View) -> Html:
    """Return the figures that come first."""
    changed = sum(view.changed.values())
    bound = shown(view.lower_bound)
    proof = "proven optimal" if view.status == "optimal" else f"gap at most {shown_gap(view.gap)}"
    pairs = [
        *crowds(view),
        ("cells changed", small(share(changed, view.cells), f"{changed:,} of {view.cells:,}")),
        ("cost", small(shown(view.cost), f"{view.cost_fraction:.1%} of the most possible")),
        ("no release costs less than", small(bound, proof)),
    ]
    return facts(pairs)


def crowds(view: View) -> list[tuple[str, Html]]:
    """How many rows there are, and in what crowds they hide."""
    rows = f"{view.rows:,}"
    if view.combinations:
        number, words = f"{len(view.combinations):,}", "in each, all rows hide as asked for"
        return [("rows", small(rows, "")), ("combinations of columns", small(number, words))]
    smallest = int(view.sizes[0]) if len(view.sizes) else 0
    in_classes = small(rows, f"in {counted(len(view.sizes), 'class', 'classes')}")
    return [("rows", in_classes), crowd(view, smallest)]


def crowd(view: View, smallest: int) -> tuple[str, Html]:
    """Among how many everybody hides: people where they are counted, else rows."""
    if view.people is None:
        words = f"rows at least; asked for: {view.k:,}"
        return "every row hides among", small(f"{smallest:,}", words)
    words = f"people at least; asked for: {view.k:,}; rows: {smallest:,}"
    return "everybody hides among", small(f"{view.people:,}", words)


def small(figure: str, words: str) -> Html:
    """A figure with words below."""
    return joined(figure, tag("small", words))


def done(view: View) -> Section:
    """What was done: cost and bound in words."""
    gone = ""
    others = f"lawful release of the {'rows kept' if view.suppressed_rows else 'same table'}"
    if view.earlier:
        gone = (
            f"{view.earlier:,} of the {view.rows:,} rows were published before and stand here as "
            "they did; cost and bound are those of all rows. "
        )
    gone += left_out(view)
    if view.deleted is not None:
        others += " with such deletions"
    if view.status == "optimal":
        proof = f"This is proven optimal: no {others} costs less."
    elif view.lower_bound == 0:
        proof = f"No bound was found: whether a {others} costs less is not known."
    else:
        proof = (
            f"No {others} costs less than {shown(view.lower_bound)}: "
            f"at most {shown_gap(view.gap)} of the cost could be spared."
        )
    made = f"the method {view.method} of incrowd {view.version}"
    if view.method == "auto":
        made = f"a method that incrowd {view.version} chose"
    body = paragraphs(
        f"{sum(view.changed.values()):,} of {view.cells:,} cells were changed, by {made}; "
        "every other published cell"
        f"{' but the pseudonyms' if view.pseudonyms else ''} is the original one. "
        f"{gone}The cost is {shown(view.cost)}. {proof} "
        "Cells, classes and cost were re-checked by code that the search does not share."
    )
    return Section("done", "What was done", body)


def left_out(view: View) -> str:
    """What is said of rows that are not published."""
    says = ""
    if rows := view.suppressed_rows:
        says = (
            f"{counted(rows, 'row was', 'rows were')} left out, because the table broke the model; "
            "the cost counts each as a row of stars. "
        )
    if view.deleted is not None:
        deleted, price = view.deleted
        says += (
            f"{counted(deleted, 'row was', 'rows were')} deleted, which costs {shown_price(price)} "
            "for each. "
        )
    if view.inside is not None and (rows or (view.deleted and view.deleted[0])):
        says += "Figures before are those of the rows that stayed. "
    return says


def changes(view: View, pictures: Pictures) -> Section:
    """Changed cells by column and by subgroup."""
    ranked = sorted(view.changed, key=lambda c: -view.changed[c])
    shares = [view.changed[c] / max(view.rows, 1) for c in ranked]
    lines = [
        [cell_text(c), f"{view.changed[c]:,}", share(view.changed[c], view.rows)] for c in ranked
    ]
    items: list[Html] = [
        pictures.show(
            "Changed cells by column",
            plots.plot_shares(
                ranked[:MOST_BARS], shares[:MOST_BARS], "share of the column's cells"
            ),
            "Bars: share of changed cells of each quasi-identifier",
            f"The {MOST_BARS} most changed of {len(ranked)}." if len(ranked) > MOST_BARS else None,
            table("Changed cells by column", ["column", "cells", "share"], lines),
        )
    ]
    groups = subgroups_of(view)
    mark = float(np.mean(shares)) if view.inside is not None and shares else None
    what, words = "changed cells", None
    if view.inside is None:
        what = "stars elsewhere"
        words = "Share of stars in the other quasi-identifiers, over the rows with this cell told."
    for name, found in list(groups.items())[:MOST_SUBGROUPS]:
        items.append(
            pictures.show(
                joined(what[0].upper() + what[1:], " by ", cell_text(name)),
                plots.plot_subgroups(found, "share of cells", mark),
                f"Bars: share of {what} by subgroup",
                words,
                subgroup_table(found, what),
            )
        )
    return Section("changes", "Who and what pays for it", grid(*items))


def subgroups_of(view: View) -> dict[str, list[Subgroup]]:
    """Subgroups by the original's values inside; else by what is released, stars alone counted."""
    found: dict[str, list[Subgroup]] = {}
    everywhere = [view.columns[name] for name in view.qi]
    if view.inside is None and not starred(everywhere, view.star, view.rows).any():
        return found
    for name in view.published:
        if view.inside is not None:
            column = view.inside.before.encode(name)
            found[name] = subgroups(name, column, view.inside.changed_by_row, len(view.qi))
        else:
            others = [c for c in view.qi if c != name]
            stars = starred([view.columns[c] for c in others], view.star, view.rows)
            told = starred([view.columns[name]], view.star, view.rows) == 0
            column = Column(view.columns[name].values, view.columns[name].codes[told])
            found[name] = subgroups(name, column, stars[told], len(others))
    return {name: groups for name, groups in found.items() if groups}


def subgroup_table(found: list[Subgroup], what: str) -> Html:
    """The same as figures."""
    lines = [
        [tag("em", "all others") if g.rest else cell_text(g.value), f"{g.rows:,}", f"{g.share:.1%}"]
        for g in found
    ]
    return table(f"Share of {what} by subgroup", ["subgroup", "rows", "share"], lines)


def columns(view: View, pictures: Pictures, weighed: Weighed | None = None) -> Section:
    """The distribution of every column; ``weighed``: what rows count for in a comparison."""
    inside = view.inside
    items = []
    for name in view.published[:MOST_SHOWN]:
        ways = (view.marks(name), view.decimal, name in view.codes)
        figures, caption = None, "Rows by value"
        if inside is None or name not in view.qi:
            bars = alone(view.columns[name], view.star, *ways, view.templates.get(name))
        else:
            tree = inside.trees[name]
            before, after = inside.before.encode(name), view.columns[name]
            bars = compared(before, after, view.star, tree, *ways)
            weighed = weighed or Weighed.of(inside)
            figures = weighed.bars(bars, before, after, inside.release.edit.order)
            caption = f"{weighed.what} by value, before and after"
        changed = view.changed.get(name)
        words = "Published unchanged." if changed is None else f"{changed:,} cells changed."
        if any((bar.label or "").startswith("“") for bar in bars):
            words += " Exact numbers are grouped; texts in quotes are released as they stand."
        if name in view.templates and any(bar.kind == BIN for bar in bars):
            words += " Ranges count in bins by their midpoints."
        items.append(
            pictures.show(
                cell_text(name),
                plots.plot_column(bars),
                "Bars: rows with each value of the column",
                words,
                bar_table(bars, caption, figures),
            )
        )
    notes = [None if weighed is None else weighed.words]
    if len(view.published) > MOST_SHOWN:
        notes.append(Html(f"The first {MOST_SHOWN} of {len(view.published)} columns."))
    return Section("columns", "Columns", joined(paragraphs(*notes), grid(*items)))


def bar_table(bars: list[Bar], caption: str, figures: list[list[str]] | None) -> Html:
    """The same as figures; ``figures``: before, after and a standard error of each bar."""
    head = ["value", "rows"] if figures is None else ["value", "before", "after", "standard error"]
    figures = figures or [[f"{bar.after:,}"] for bar in bars]
    names = [tag("em", bar.label) if bar.kind == SPECIAL else cell_text(bar.label) for bar in bars]
    return table(caption, head, [[name, *each] for name, each in zip(names, figures, strict=True)])


def relations(view: View, pictures: Pictures) -> Section | None:
    """How strongly columns go together."""
    inside = view.inside
    before = {} if inside is None else {n: inside.before.encode(n) for n in view.published}
    pairs = [
        p
        for p in associations(before, view.columns, view.star)
        if p.before is not None or p.after is not None
    ]
    if not pairs:
        return None
    words = (
        "Cramér's V, corrected for bias (Bergsma 2013). In the release: over the rows in which "
        "neither cell is suppressed; a general value counts as a value of its own. Where few rows "
        "are left, those are the frequent combinations, and V may be far from that of all rows."
    )
    if len(view.published) > MOST_COLUMNS:
        words += f" The first {MOST_COLUMNS} columns."
    if len(pairs) > MOST_PAIRS:
        words += f" The {MOST_PAIRS} strongest pairs."
    figure = pictures.show(
        "Pairs of columns, before and after" if before else "Pairs of columns",
        plots.plot_associations(pairs[:MOST_PAIRS]),
        "Dots: Cramér's V of pairs of columns",
        words,
        pair_table(pairs[:MOST_PAIRS], bool(before)),
        wide=True,
    )
    if len(pairs) > MOST_PAIRS:
        every = tag("summary", f"All {len(pairs)} pairs")
        figure = joined(figure, tag("details", every, pair_table(pairs, bool(before))))
    return Section("relations", "What goes together", figure)


def pair_table(pairs: list[Pair], compare: bool) -> Html:
    """The same as figures."""

    def names(pair: Pair) -> Html:
        return joined(cell_text(pair.one), " · ", cell_text(pair.other))

    if compare:
        lines = [
            [names(p), three_places(p.before), three_places(p.after), f"{p.rows:,}"] for p in pairs
        ]
        return table("Cramér's V of pairs", ["columns", "before", "after", "rows after"], lines)
    lines = [[names(p), three_places(p.after), f"{p.rows:,}"] for p in pairs]
    return table("Cramér's V of pairs", ["columns", "V", "rows"], lines)


def limits(view: View) -> Section:
    """What the release does not promise, and what an external report leaves out."""
    one, several, by = "class", "classes", "quasi-identifiers"
    if view.combinations:
        one, several, by = "group", "groups", "columns of one combination"
    texts = [
        f"k-anonymity keeps a row from being told apart from the others of its {one} by the {by}. "
        f"The rows of a {one} may still share a sensitive value. Nor does it protect when a second "
        f"release of the same people is published: fewer values are in both {several} of a person."
    ]
    if not view.averaged:
        texts.append(
            "Suppressed cells are not missing at random: rare combinations lose most. Treat a star "
            "as “not told”, not as a value; tails and small groups are thinner than they were."
        )
    if view.sensitive:
        texts.append(
            f"That a {one} holds several sensitive values does not limit what can be inferred: a "
            "reader who learns across classes how columns go together may be surer of one of them."
        )
    if view.inside is not None:
        texts.append(
            "A standard error says how far the figure before would move if another sample of the "
            "same size were drawn. A change far below it matters little to whoever draws "
            "conclusions about more people than those of the table. All rows of a person count as "
            "one draw where people are named."
        )
    else:
        texts.append(
            "This report is made only from the released table and the publisher's stated rules. "
            "It does not compare distributions with the original, because where few cells are "
            "hidden such a comparison tells them. For the same reason it has no risk figures and "
            "no seed, and of the original it gives only the cost and the bound."
        )
    return Section("limits", "How to read this release", paragraphs(*texts))
