"""The sections for the publisher alone: risk, sensitive columns, frontier, how to do it again."""

import platform
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.measures.figures import RiskFigures
from incrowd.measures.loss import column_figures
from incrowd.measures.risk import risk_figures
from incrowd.policy.base import ROLES
from incrowd.policy.spell import ascii_of, call_of
from incrowd.published.base import Published
from incrowd.report import plots
from incrowd.report.combined import MOST_PICTURED, by_combination, columns_of
from incrowd.report.counts import EDGES, share_at
from incrowd.report.html import Html, alone_table, cell_text, joined, listed, table, tag, visible
from incrowd.report.page import Pictures, Section, grid, paragraphs
from incrowd.report.sections import EACH_CLASS
from incrowd.report.spread import Spread, spreads
from incrowd.report.view import Inside, View
from incrowd.text.shell import shell_line
from incrowd.text.units import shown, shown_gap, three_places

FINDS_ROW = (
    "Somebody who knows all quasi-identifiers of a person in the table finds the row with a "
    "probability of 1 divided by the size of its class."
)
FINDS_PERSON = (
    "Somebody who knows all quasi-identifiers of a row of a person finds the person with a "
    f"probability of 1 divided by the people of its class. {EACH_CLASS}"
)
CLASS_BY_CLASS = ", a person once in each class"  # so more than there are, perhaps
FRESH = "shuffled afresh"


def risk(view: View, inside: Inside, pictures: Pictures) -> Section | None:
    """Prosecutor and marketer risk before and after: of rows, or of people where they count."""
    if not view.rows:
        return None
    if view.combinations:
        return by_combination(view, inside)
    before, after = inside.crowds
    was, now = (risk_figures(sizes, None) for sizes in (before, after))
    one, all_ = ("row", "rows") if view.people is None else ("person", "people")
    lines = [
        [words, figure(was), figure(now)]
        for words, figure in (
            (f"highest risk of a {one} (prosecutor)", highest),
            (f"{all_} at that risk", lambda r: f"{r.rows_at_highest:,}"),
            ("mean risk of a row (prosecutor)", lambda r: f"{r.prosecutor_average:.2%}"),
        )[: 3 if view.people is None else 1]  # a section of theirs counts each of the people once
    ]
    right = f"{all_} an attacker links rightly (marketer)"
    lines.append([right, *(f"{len(s):,} of {int(s.sum()):,}" for s in (before, after))])
    alone_before, alone_after = (share_at(s, 1) for s in (before, after))
    lines.append([f"{all_} alone in their class", f"{alone_before:.2%}", f"{alone_after:.2%}"])
    curve = pictures.show(
        f"Share of {all_} in small classes",
        plots.plot_risk(after, before, view.k, all_),
        f"Curves: share of {all_} in classes of at most x {all_}, before and after",
        FINDS_ROW if view.people is None else FINDS_PERSON,
        curve_table(after, before, all_),
        wide=True,
    )
    title = f"Risk of being found, before and after{'' if view.people is None else CLASS_BY_CLASS}"
    figures = alone_table(title, ["", "before", "after"], lines)
    return Section("risk", "Risk", joined(curve, figures))


def highest(found: RiskFigures) -> str:
    """The prosecutor's highest risk in words."""
    return f"{float(found.prosecutor_highest):.2%}"


def curve_table(after: NDArray[np.int64], before: NDArray[np.int64], what: str = "rows") -> Html:
    """The same as figures."""
    largest = max(int(after.max(initial=1)), int(before.max(initial=1)))
    lines = [
        [f"{x:,}", f"{share_at(before, x):.2%}", f"{share_at(after, x):.2%}"]
        for x in EDGES
        if x <= largest
    ]
    caption = f"Share of {what} in classes of at most x {what}"
    return table(caption, ["x", "before", "after"], lines)


def lost(view: View, inside: Inside) -> Section | None:
    """What each column lost, as figures."""
    if not view.rows:
        return None
    lines = []
    for name in view.qi:
        before = inside.before.encode(name).compact()
        star, tree = view.star, inside.trees[name]
        found = column_figures(name, view.columns[name], star, before, tree)
        part = found.entropy_loss_fraction
        lines.append(
            [
                cell_text(name),
                f"{view.changed[name]:,}",
                f"{found.stars:,}",
                f"{len(before.values):,}",
                f"{found.values - (found.stars > 0):,}",
                "–" if part is None else f"{part:.1%}",
            ]
        )
    head = ["column", "changed", "stars", "values before", "values after", "entropy lost"]
    note = paragraphs(
        "Entropy lost: non-uniform entropy (Gionis and Tassa 2009), as a share of what suppressing "
        "the whole column loses."
    )
    body = joined(note, alone_table("What each quasi-identifier lost", head, lines))
    return Section("lost", "What is lost", body)


def sensitive(view: View, inside: Inside, pictures: Pictures) -> Section | None:
    """Sensitive columns: each class against the table, or each group of a combination."""
    if not view.combinations:
        title = "Sensitive columns within classes"
        items = spread(view, inside, pictures, view.qi, "classes", None)
    else:
        title, items = "Sensitive columns within groups", []
        for one in view.combinations[:MOST_PICTURED]:
            of = joined(" of ", columns_of(one))
            items += spread(view, inside, pictures, one.columns, "groups", of)
    return Section("sensitive", title, grid(*items)) if items else None


def spread(
    view: View, inside: Inside, pictures: Pictures, qi: tuple[str, ...], what: str, of: Html | None
) -> list[Html]:
    """Return what is shown of rows alike in some columns, which are called ``what`` ``of``."""
    items = []
    for found in spreads(view.columns, qi, view.sensitive, inside.release.model, view.decimal):
        items.append(
            pictures.show(
                joined(cell_text(found.column), f": distance of {what}", of, " from the table"),
                plots.plot_spread(found),
                f"Curve: share of rows in {what} at most t from the table's distribution",
                f"Earth Mover's Distance, {found.distance} distance. The farther to the right, "
                f"the more one of the {what} tells about its people.",
                spread_table(found, what),
            )
        )
        items.append(
            pictures.show(
                joined(cell_text(found.column), f": the farthest {what}", of),
                plots.plot_farthest(found),
                f"Stacked bars: values in the table and in the {what} farthest from it",
                None,
                farthest_table(found, what),
            )
        )
    return items


def spread_table(spread: Spread, what: str) -> Html:
    """The same as figures."""
    ascending = np.argsort(spread.t)
    total = np.cumsum(spread.sizes[ascending]) / spread.sizes.sum()
    lines = []
    for part in (0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0):
        at = min(int(np.searchsorted(total, part - 1e-12)), len(total) - 1)
        lines.append([f"{part:.0%} of rows", f"{spread.t[ascending][at]:.3f}"])
    return table(f"Distance t that {what} of so many rows keep", ["rows", "t at most"], lines)


def farthest_table(spread: Spread, what: str) -> Html:
    """The same as figures."""
    heads = [cell_text(label, 24) for label in spread.labels]
    lines = [["the table", "", *(f"{s:.1%}" for s in spread.table)]]
    for i, shares in enumerate(spread.farthest):
        name = f"{spread.sizes[i]:,} rows"
        lines.append([name, f"{spread.t[i]:.3f}", *(f"{s:.1%}" for s in shares)])
    return table(f"Values in the farthest {what}", ["rows", "t", *heads], lines)


def frontier(inside: Inside, pictures: Pictures) -> Section | None:
    """Cost and bound against k."""
    found = inside.frontier
    if found is None or not found.points:
        return None
    told = ((p, shown(p.cost), shown(p.lower_bound), shown_gap(p.gap)) for p in found.points)
    lines = [[f"{p.k:,}", *figures, f"{p.cost_fraction:.1%}"] for p, *figures in told]
    figure = pictures.show(
        "Cost and bound against k",
        plots.plot_frontier(found.points),
        "Curves: cost of a release, and the proven bound, against k",
        "Shares of the release in which every cell is a star. No release lies in the shaded area.",
        table("Cost and bound against k", ["k", "cost", "bound", "gap", "share"], lines),
        wide=True,
    )
    return Section("frontier", "What another k would cost", figure)


def again(view: View, inside: Inside) -> Section:
    """All that a colleague needs to make the release again."""
    release = inside.release
    parts = []
    if inside.command is not None:
        parts.append(tag("h3", "Command"))
        parts.append(tag("pre", tag("code", shell_line(inside.command))))
    if inside.policy_file is not None:
        parts.append(tag("h3", "Policy file"))
        lines_of = (visible(line, 500) for line in inside.policy_file.splitlines())
        parts.append(tag("pre", tag("code", "\n".join(lines_of))))
    parts.append(tag("h3", "From Python"))
    parts.append(tag("pre", tag("code", python_call(release, inside.input, view.earlier > 0))))
    lines: list[list[Any]] = [
        ["seed of the search", str(release.seed)],
        ["method that ran", release.method],
        ["how the search ended", release.ended],
        ["seconds", f"{release.seconds:.1f}"],
        ["identifiers left out", listed(map(cell_text, release.roles.id)) or "–"],
        ["order of rows", order_of(release)],
    ]
    if inside.input is not None:
        lines.append(["original", cell_text(inside.input[0])])
        lines.append(["SHA-256 of the original", inside.input[1]])
    lines += [[name, version] for name, version in versions()]
    coins = "The veil's random draws are not kept: the same call makes another release."
    note = "The same original, call and versions give the same release"
    note += ", in another order of rows" if order_of(release) == FRESH else ""
    if release.policy.time_limit is not None:
        note += "; what is found within a time limit depends on the machine"
    if release.roles.pseudonym:
        note += "; pseudonyms are the same only with the same key file"
    note += "."
    body = joined(
        paragraphs(note if release.veil is None else coins),
        *parts,
        alone_table("Facts of this run", ["fact", "value"], lines, 9),
    )
    return Section("again", "To make it again", body)


def order_of(release: Published) -> str:
    """How the rows of a release are ordered."""
    policy = release.policy
    if policy.order == "keep":
        return "the original's"
    return FRESH if policy.seed is None else "shuffled by the seed and the original's cells"


PACKAGES = ("incrowd", "numpy", "numba", "polars", "scipy", "highspy")
ADDED = "new_rows,\n    existing=earlier_release"


def python_call(release: Published, file: tuple[str, str] | None, added: bool = False) -> str:
    """Return the call of ``incrowd.anonymize`` that makes the release, defaults left out.

    added: its rows are those of an earlier release and new ones, which the call names apart.
    """
    roles = {role: list(getattr(release.roles, role)) for role in ROLES}
    policy = replace(release.policy, **roles)
    if added:
        return f"{call_of(policy, ADDED)}.whole(earlier_original, earlier_proof, earlier_release)"
    return call_of(policy, "frame" if file is None else ascii_of(file[0]))


def versions() -> list[tuple[str, str]]:
    """Versions of what the result may depend on, where installed."""
    found = [("Python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return found


HEADS = ["attack", "tries", "right", "control", "risk", "95 % interval"]


def attacks(inside: Inside) -> Section | None:
    """What attacks on the release found, each against its control."""
    if inside.attacks is None:
        return None
    found = inside.attacks.record()["attacks"]
    if not found:
        return None
    note = (
        "Attacks that a reader of the release could make, counted with the original at hand. Risk: "
        "(right − control)/(1 − control), which is 0 where the release tells no more of its people "
        "than the control."
    )
    sentences = [tag("p", tag("b", named(one), ": "), one["sentence"]) for one in found]
    sentences.append(paragraphs(*inside.attacks.advice))
    lines = [line(one) for one in found]
    body = joined(
        paragraphs(note, *inside.attacks.notes),
        alone_table("Attacks on this release", HEADS, lines),
        *sentences,
    )
    return Section("attacks", "Attacks", body)


def line(one: Mapping[str, Any]) -> list[Any]:
    """Return one line of the table."""
    tried, control = one["tries"] > 0, one["control_tries"] > 0
    return [
        named(one),
        f"{one['tries']:,}",
        f"{one['rate']:.1%}" if tried else "–",
        f"{one['control_rate']:.1%}" if control else "–",
        three_places(one["risk"]),
        f"{three_places(one['low'])} to {three_places(one['high'])}",
    ]


def named(one: Mapping[str, Any]) -> Html:
    """Return the attack's name, and the column that it guesses."""
    if one["column"] is None:
        return cell_text(one["name"])
    return joined(cell_text(one["name"]), " (", cell_text(one["column"]), ")")
