"""A column's hierarchy level by level, and the editor: values grouped, groups undone, borders.

Ranges have no levels: of them the values in their order are shown, and what neighbours would share.
"""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

import numpy as np

from incrowd.errors import HierarchyError, InputError
from incrowd.hierarchy.build import build_trees
from incrowd.hierarchy.file import HierarchyRows
from incrowd.hierarchy.interval import interval_label
from incrowd.hierarchy.ladder import Ladder
from incrowd.hierarchy.missing import bare_of, declared
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.ranges import NUMBERS, Ranges, kind_of
from incrowd.hierarchy.spec import parse
from incrowd.hierarchy.tree import STAR
from incrowd.tables.base import Column
from incrowd.text.numerals import POINT, finite, with_mark

MOST_SHOWN = 400  # nodes of a level
MOST_EDITED = 2_000  # values of a column whose groups are made by hand
Rows = list[list[str]]


def ladder_of(name: str, column: Column, hierarchy: Any) -> Ladder:
    """Return the ladder of a column under a hierarchy; suppression where it has none."""
    source = parse(hierarchy or "none") if isinstance(hierarchy, str | None) else hierarchy
    return source.build(name, column.values)


def fits(name: str, column: Column, hierarchy: Any) -> None:
    """Raise HierarchyError unless the column's values have a place in its hierarchy."""
    build_trees({name: column.values}, {name: hierarchy})


def preview(
    name: str, column: Column, hierarchy: Any, k: int, marks: Sequence[str], decimal: str
) -> dict[str, Any]:
    """Return the nodes of each level with the rows of each and the node above.

    Of ranges: the values in their order, and what classes of neighbours, k rows each, would show.
    ``marks``: texts for missing values; ``decimal``: what stands before the decimals of numbers.

    Raises
    ------
    HierarchyError: the hierarchy does not fit the column.
    """
    few = len(column.values) <= MOST_EDITED
    kind = kind_of(declared(column.values[:MOST_EDITED], marks), decimal)
    found = {"column": name, "kind": kind, "numbers": kind == NUMBERS}
    rule = bare_of(hierarchy)
    if isinstance(rule, Ranges):
        (family,), _ = build_trees({name: column.values}, {name: hierarchy})
        assert isinstance(family, RangeFamily)
        stated = {name: text or "" for name, text in family.rule.items() if name != "order"}
        order = [leaf for leaf in family.leaves if leaf is not None] if few else []
        return found | {
            "levels": neighbours(family, rows_by(column, family.leaves), k),
            "range": stated | {"file": rule.origin}, "order": order, "editable": False,
        }  # fmt: skip
    levels = levels_of(ladder_of(name, column, hierarchy), column)
    order = sorted(value for value in column.values if value is not None) if few else []
    return found | {"levels": levels, "range": None, "order": order, "editable": few}


def rows_by(column: Column, leaves: Sequence[str | None]) -> Any:
    """int64, shape (leaves,): the rows of each value."""
    place = {value: code for code, value in enumerate(column.values)}
    counts = column.counts
    return np.array([counts[place[leaf]] for leaf in leaves], np.int64)


def neighbours(family: RangeFamily, rows: Any, k: int) -> list[dict[str, Any]]:
    """Return the values in their order, and the ranges of neighbours that are k rows or more."""
    count = len(family.leaves) - len(family.spared) - (None in family.leaves)
    begins, sizes = [], []
    for code in range(count):
        if not sizes or sizes[-1] >= k:
            begins.append(code)
            sizes.append(0)
        sizes[-1] += int(rows[code])
    if len(sizes) > 1 and sizes[-1] < k:  # too few are left for a class of their own
        begins.pop()
        sizes[-2:] = [sum(sizes[-2:])]
    ends = [*(begin - 1 for begin in begins[1:]), count - 1]
    shown = (
        [family.label(low, high) for low, high in zip(begins, ends, strict=True)] if sizes else []
    )
    of = np.searchsorted(begins, np.arange(count), "right") - 1
    values = [
        [family.leaves[code], int(rows[code]), shown[of[code]] if code < count else family.star]
        for code in range(min(len(family.leaves), MOST_SHOWN))
    ]
    ranges = [[text, size, family.star] for text, size in zip(shown, sizes, strict=True)]
    return [
        {"nodes": values, "number": len(family.leaves)},
        {"nodes": ranges[:MOST_SHOWN], "number": len(ranges)},
    ]


def levels_of(ladder: Ladder, column: Column) -> list[dict[str, Any]]:
    """Return the nodes of each level of a ladder, see ``preview``."""
    rows = rows_by(column, ladder.leaves)
    levels = []
    for up in range(ladder.levels):
        node, labels = ladder.node[up], ladder.labels[up]
        above = ladder.node[min(up + 1, ladder.levels - 1)]
        over = ladder.labels[min(up + 1, ladder.levels - 1)]
        total = np.bincount(node, rows, len(labels)).astype(np.int64).tolist()
        first = np.unique(node, return_index=True)[1].tolist()
        nodes = [
            [labels[node[leaf]], total[node[leaf]], over[above[leaf]]]
            for leaf in first[:MOST_SHOWN]
        ]
        levels.append({"nodes": nodes, "number": len(first)})
    return levels


def rows_of(name: str, column: Column, hierarchy: Any) -> Rows:
    """Return a hierarchy as rows, from the leaf to ``*``; the missing value needs none."""
    if len(column.values) > MOST_EDITED:
        raise InputError(
            f"column {name!r} has more than {MOST_EDITED:,} values: group them by a rule or a file"
        )
    ladder = ladder_of(name, column, hierarchy)
    paths = (ladder.path(leaf) for leaf in range(len(ladder.leaves)))
    return [[str(label) for label in path] for path in paths if path[0] is not None]


def grouped(rows: Rows, level: int, members: Sequence[str], name: str) -> Rows:
    """Return the rows with some nodes of a level made one group, or moved into one.

    A new level is made where there is none between that level and the root.

    Raises
    ------
    InputError: no such level or node, or no name.
    """
    name = name.strip()
    height = len(rows[0])
    if not 0 <= level < height - 1:
        raise InputError("nodes of the values' level or of a group's level can be grouped")
    if not name or name == STAR:
        raise InputError("a group needs a name, other than *")
    chosen = set(members)
    missing = chosen - {row[level] for row in rows}
    if missing or not chosen:
        raise InputError("choose nodes of one level to group")
    if level == height - 2:  # only the root is above
        return [
            [*row[: level + 1], name if row[level] in chosen else row[level], STAR] for row in rows
        ]
    over = next((row[level + 2 :] for row in rows if row[level + 1] == name), None)
    over = over or next(row[level + 2 :] for row in rows if row[level] in chosen)
    return [[*row[: level + 1], name, *over] if row[level] in chosen else list(row) for row in rows]


def ungrouped(rows: Rows, level: int, group: str) -> Rows:
    """Return the rows without a group; a level that then says nothing new is dropped.

    Raises
    ------
    InputError: no such group.
    """
    if not 0 < level < len(rows[0]) - 1 or not any(row[level] == group for row in rows):
        raise InputError("choose a group to undo")
    found = [
        [*row[:level], row[level - 1], *row[level + 1 :]] if row[level] == group else list(row)
        for row in rows
    ]
    if all(row[level] == row[level - 1] for row in found):
        return [[*row[:level], *row[level + 1 :]] for row in found]
    return found


def bordered(
    name: str,
    column: Column,
    borders: Sequence[Sequence[Any]],
    marks: Sequence[str] = (),
    decimal: str = POINT,
) -> Rows:
    """Return intervals by their borders, a list for each level; a later level's are among them.

    ``[[18, 30, 65]]`` makes ``under 18``, ``18-29``, ``30-64``, ``65 and more``.  ``marks`` of
    missing values stay; ``decimal`` stands before the decimals of numbers, in the labels too.

    Raises
    ------
    InputError: a border is no number or is not among those below, a value is no number.
    """
    cuts = [_numbers(each) for each in borders]
    for fine, coarse in pairwise(cuts):
        if set(coarse) - set(fine):
            raise InputError("the borders of a level are among those of the level below")
    values = [value for value in column.values if value is not None]
    numbers = {value: finite(value, decimal) for value in values if value not in marks}
    found = [number for number in numbers.values() if number is not None]
    if len(found) < len(numbers):
        raise InputError(f"column {name!r} holds more than numbers: group its values")
    whole = all(number == int(number) for number in (*found, *(c for cut in cuts for c in cut)))

    def label(value: str, cut: Sequence[Decimal]) -> str:
        number = numbers.get(value)
        return value if number is None else _interval(number, cut, whole, decimal)

    return [[value, *(label(value, cut) for cut in cuts), STAR] for value in values]


def _numbers(given: Sequence[Any]) -> list[Decimal]:
    try:
        found = sorted({Decimal(str(border).strip()) for border in given})
    except InvalidOperation:
        found = []
    if not found or not all(border.is_finite() for border in found):
        raise InputError("borders are numbers, such as 18, 30, 45, 65")
    return found


def _interval(number: Decimal, cut: Sequence[Decimal], whole: bool, decimal: str) -> str:
    """Return the label of the interval that holds a number."""
    above = [border for border in cut if border > number]
    below = [border for border in cut if border <= number]
    if not below:
        return f"under {with_mark(f'{above[0]:f}', decimal)}"
    if not above:
        return f"{with_mark(f'{below[-1]:f}', decimal)} and more"
    return interval_label(below[-1], above[0], whole, decimal)


def fitting(name: str, column: Column, rows: Rows) -> Rows:
    """Return the rows if they are a hierarchy of the column.

    Raises
    ------
    HierarchyError: they are not, such as a name that stands for two groups.
    """
    try:
        HierarchyRows(tuple(map(tuple, rows)), "the groups").build(name, column.values)
    except HierarchyError as error:
        raise InputError(str(error)) from None
    return rows


def in_order(name: str, column: Column, values: Sequence[str]) -> Rows:
    """Return the values of a column in an order, a row of one text each.

    Raises
    ------
    InputError: one stands there twice, or there are too many.
    """
    order = [value for value in values if value.strip()]
    if len(set(order)) < len(order):
        raise InputError("a value stands twice in the order")
    if len(column.values) > MOST_EDITED:
        raise InputError(
            f"column {name!r} has more than {MOST_EDITED:,} values: order them in a file, "
            "range:order=FILE"
        )
    return [[value] for value in order]
