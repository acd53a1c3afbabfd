"""The section for the publisher alone that counts people and households."""

from dataclasses import dataclass

import numpy as np

from incrowd.kernels.types import Ints
from incrowd.measures.figures import GroupFigures
from incrowd.measures.people import agreement, counting, fewest_of, group_figures
from incrowd.report.html import Html, alone_table, cell_text, joined
from incrowd.report.page import Section, paragraphs
from incrowd.report.view import Inside, View
from incrowd.tables.base import Table
from incrowd.tables.whose import owners


@dataclass(frozen=True)
class Counted:
    """What one table says.

    Attributes
    ----------
    least: int64, shape (people,): people, or rows, of the smallest class of each.
    groups: of households, where a column names them.
    """

    least: Ints
    groups: GroupFigures | None


def people(view: View, inside: Inside) -> Section | None:
    """Risk of people and households before and after; None where nobody said who they are."""
    if not view.rows or not (inside.release.roles.person or inside.group):
        return None
    release = inside.release
    order = release.edit.order
    whose, group = release.owners if release.roles.person else None, None
    if inside.group is not None:
        group = owners(inside.before, [inside.group]).codes.astype(np.int64)
    was = counted(inside.before, release.roles.qi, whose, group)
    there = [each if each is None or order is None else each[order] for each in (whose, group)]
    now = counted(view.after, release.roles.qi, *there)
    lines = [] if whose is None else people_lines(was, now)
    lines += group_lines(was.groups, now.groups)
    words = "The risk of a person is that of the person's riskiest row"
    words = f"{words}: 1 divided by the people of its class." if whose is not None else ""
    named: Html | None = None
    if inside.group is not None:
        named = joined("A household (", cell_text(inside.group), ") has the risk of its riskiest ",
                       "member; a row without a value is a household of its own.")  # fmt: skip
    body = joined(
        paragraphs(words or None, named),
        alone_table("People and households, before and after", ["", "before", "after"], lines),
    )
    return Section("people", "People", body)


def counted(table: Table, qi: tuple[str, ...], whose: Ints | None, group: Ints | None) -> Counted:
    """Count in one table; ``whose``, ``group``: int64, shape (rows,), of its rows."""
    columns = [table.encode(name) for name in qi]
    rows = agreement([(c.codes, len(c.values)) for c in columns], table.rows)
    found = counting(rows, whose)
    each = np.arange(table.rows) if whose is None else whose
    least = fewest_of(found.sizes[found.member], each)
    return Counted(least, None if group is None else group_figures(found, group))


def people_lines(was: Counted, now: Counted) -> list[list[str]]:
    """Lines of the table about people."""
    return [
        ["people", *(f"{len(c.least):,}" for c in (was, now))],
        ["fewest people in a class", *(f"{int(c.least.min()):,}" for c in (was, now))],
        ["highest risk of a person", *(f"{1 / int(c.least.min()):.2%}" for c in (was, now))],
        [
            "people at that risk",
            *(f"{int((c.least == c.least.min()).sum()):,}" for c in (was, now)),
        ],
        ["mean risk of a person", *(f"{float((1 / c.least).mean()):.2%}" for c in (was, now))],
        ["people alone in a class", *(f"{int((c.least == 1).sum()):,}" for c in (was, now))],
    ]


def group_lines(was: GroupFigures | None, now: GroupFigures | None) -> list[list[str]]:
    """Lines of the table about households."""
    if was is None or now is None:
        return []
    both = was, now
    return [
        ["households", *(f"{g.groups:,}" for g in both)],
        ["highest risk of a household", *(f"{float(g.highest):.2%}" for g in both)],
        ["mean risk of a household", *(f"{g.average:.2%}" for g in both)],
        ["households at the highest risk", *(f"{g.groups_at_highest:,}" for g in both)],
        ["fewest households in a class", *(f"{g.fewest:,}" for g in both)],
    ]
