"""What risk is left in a release and what use: the figures of one screen."""

from typing import Any

import numpy as np

from incrowd.measures import Measure, measure
from incrowd.release import Release
from incrowd.report.association import associations
from incrowd.report.counts import EDGES
from incrowd.report.view import bars_of
from incrowd.tables.base import Column, Source, Table, narrowed
from incrowd.tables.whose import OwnedTable, owners

LARGEST = 100  # sizes of classes from there on are one bar
SUBSETS = 2  # columns that stand together in the list of those that tell people apart
MOST_SUBSETS = 12


def measured(source: Source, release: Release, population: Source | None) -> Measure:
    """Measure the original on the release's quasi-identifiers."""
    person = release.roles.person or None
    return measure(
        source, qi=release.roles.qi, population=population, subsets=SUBSETS, person=person
    )


def figures_of(release: Release, before: Measure, population: Source | None) -> dict[str, Any]:
    """Return the figures of a release beside the original's.

    Parameters
    ----------
    before: of the original, see ``measured``.
    population: a table of everybody whom the rows may stand for, or None.
    """
    star = release.policy.star
    person, table = with_owners(release)
    whose = release.roles.person
    everyone: Table | None = population
    lacks = everyone is not None and not {*whose} <= {*everyone.columns}
    if everyone is not None and person is not None and not lacks:
        everyone = OwnedTable(everyone, person, owners(everyone, whose))
    after = measure(
        table, qi=release.roles.qi, population=everyone, subsets=SUBSETS, star=star, person=person
    )
    return {
        "k": release.k,
        "people": release.people,
        "rows": release.rows,
        **sizes(before, after),
        "risk": risks(before, after, release.k, lacks),
        "subsets": subsets(before, after),
        **use(release),
    }


def with_owners(release: Release) -> tuple[str | None, Table]:
    """Return the released table, with whose each row is where people are counted."""
    owners = release.owners
    if owners is None:
        return None, release.table
    order = release.edit.order
    there = owners if order is None else owners[order]
    name = "+".join(release.roles.person)
    while name in release.table.columns:  # as a pseudonym
        name += "+"
    texts = [f"{i:012}" for i in range(int(owners.max(initial=-1)) + 1)]
    return name, OwnedTable(release.table, name, Column.of(texts, there))


def sizes(before: Measure, after: Measure) -> dict[str, Any]:
    """Return rows (or people, once a class) by the size of their class, before and after."""
    edges = [edge for edge in EDGES if edge <= LARGEST]
    names = [
        f"{low:,}+" if i + 1 == len(edges) else
        f"{low}" if edges[i + 1] == low + 1 else f"{low}–{edges[i + 1] - 1}"
        for i, low in enumerate(edges)
    ]  # fmt: skip
    return {"sizes": names, "before": binned(before, edges), "after": binned(after, edges)}


def binned(found: Measure, edges: list[int]) -> list[int]:
    """Return the rows, or people, of classes of each range of sizes."""
    size = np.array(list(found.histogram), np.int64)
    rows = size * np.array(list(found.histogram.values()), np.int64)
    place = np.searchsorted(edges, size, side="right") - 1
    return np.bincount(place, rows, len(edges)).astype(np.int64).tolist()


def risks(before: Measure, after: Measure, k: int, lacks: bool) -> list[dict[str, Any]]:
    """Return the risks by name; ``kind`` says how the numbers read.

    ``lacks``: people are counted, and the population lacks the columns that name them.
    """
    was, now = before.risk, after.risk
    if was is None or now is None:
        return []
    all_, one, each = ("rows", "row", "") if after.people is None else (
        "people", "person", ", each once a class")  # fmt: skip
    mean = "all rows" if after.people is None else "all people, each by the riskiest row"
    knows = f"who knows that a person is in the table finds the {one}"
    each_row = ", each of whose rows counts as a person," * lacks
    found: list[tuple[str, str, str, Any, Any]] = [
        ("Alone", "rows that nobody else agrees with", "rows",
         before.unique_rows, after.unique_rows),
        ("Too few", f"{all_} in a class of fewer than {k}{each}", "rows",
         fewer(before, k), fewer(after, k)),
        ("Prosecutor, highest", f"{knows}, at worst", "share",
         was.prosecutor_highest, now.prosecutor_highest),
        ("Prosecutor, on average", f"the same, over {mean}", "share",
         was.prosecutor_average, now.prosecutor_average),
        ("Journalist, highest",
         f"who only knows the population{each_row} finds the {one}, at worst", "share",
         was.journalist_highest, now.journalist_highest),
        ("Marketer", f"{all_} linked rightly by who links them all{each}", "share",
         was.marketer, now.marketer),
    ]  # fmt: skip
    names = ("name", "meaning", "kind", "before", "after")
    known = [line for line in found if line[3] is not None and line[4] is not None]
    return [dict(zip(names, (*line[:3], *map(float, line[3:])), strict=True)) for line in known]


def fewer(found: Measure, k: int) -> int:
    """Return the rows, or people, of classes of fewer than k."""
    return sum(size * number for size, number in found.histogram.items() if size < k)


def subsets(before: Measure, after: Measure) -> list[list[Any]]:
    """Return columns that tell people apart: rows unique on them before and after, most first."""
    later = {each.columns: each.unique_rows for each in after.subsets}
    most = sorted(before.subsets, key=lambda each: -each.unique_rows)[:MOST_SUBSETS]
    return [[list(each.columns), each.unique_rows, later[each.columns]] for each in most]


def use(release: Release) -> dict[str, Any]:
    """Return what is left to use: distributions and associations before and after."""
    names = [*release.roles.qi, *release.roles.sensitive]
    before = {name: narrowed(release.source.encode(name)) for name in names}
    after = {name: narrowed(release.table.encode(name).compact()) for name in names}
    bars = {
        name: [[bar.label, bar.before, bar.after, bar.kind] for bar in found]
        for name, found in bars_of(release, before, after).items()
    }
    compared = associations(before, after, release.policy.star)
    pairs = [[pair.one, pair.other, pair.before, pair.after] for pair in compared]
    return {"bars": bars, "pairs": pairs}
