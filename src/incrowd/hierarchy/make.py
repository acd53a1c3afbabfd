"""Hierarchies made from a column's values and how often each occurs, and their file form."""

import csv
import io
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from itertools import accumulate, pairwise

from incrowd.errors import HierarchyError
from incrowd.hierarchy.interval import DIGITS, Numbered, interval_label
from incrowd.hierarchy.ladder import Ladder, distinct, is_missing
from incrowd.hierarchy.paths import require_no_star, rule_ladder
from incrowd.text.numerals import POINT


def quantile_ladder(
    column: str,
    values: Sequence[str | None],
    counts: Sequence[int],
    groups: Sequence[int],
    decimal: str = POINT,
) -> Ladder:
    """Return the ladder of groups that hold about equally many rows each.

    A number belongs to group ⌊g · (rows with a smaller number) / rows⌋ of g, so equal numbers stay
    together and a coarser level only merges groups of the finer one; empty groups vanish.  Labels
    reach from a group's smallest number to the next group's: ``17-24``, or ``[17.5,24.0)``.

    Parameters
    ----------
    values: the distinct values; missing ones are left to ``*``.
    counts: rows of each value.
    groups: numbers of groups from many to few, each a divisor of the one before.
    decimal: what stands before the decimals of numbers, read and written.

    Raises
    ------
    HierarchyError: a value is not a number, or the numbers of groups do not divide each other.
    """
    rule = f"quantiles {','.join(map(str, groups))}"
    if not groups or groups[-1] < 2 or any(a <= b or a % b for a, b in pairwise(groups)):
        raise HierarchyError(
            f"{rule}: numbers of groups are at least 2 and go from many to few, each a divisor of "
            "the one before: 8,4,2"
        )
    own = Numbered.of(column, values, rule, decimal)
    of_value = dict(zip(values, counts, strict=True))
    rows = [of_value[value] for value in own.texts]
    whole = all(number == int(number) for number in own.numbers)
    ordered = list(map(Decimal, own.numbers))
    until = [0, *accumulate(rows)]
    before = [until[bisect_left(ordered, number)] for number in ordered]  # rows of smaller ones
    columns = [own.texts]
    for many in groups:
        index = [many * below // max(sum(rows), 1) for below in before]
        columns.append(_span_labels(ordered, index, whole, decimal))
    return rule_ladder(column, rule, columns, own.missing, own.declared)


def _span_labels(
    numbers: Sequence[Decimal], index: Sequence[int], whole: bool, decimal: str
) -> list[str]:
    """Return each number's group label: from the group's start up to the next one's."""
    if not numbers:
        return []
    starts = [i for i in range(len(index)) if not i or index[i] != index[i - 1]]
    labels: list[str] = []
    with localcontext() as context:
        context.prec = DIGITS
        for start, end in pairwise([*starts, len(numbers)]):
            if end < len(numbers):
                label = interval_label(numbers[start], numbers[end], whole, decimal)
            elif whole:
                label = interval_label(numbers[start], numbers[-1] + 1, whole)
            else:
                label = interval_label(numbers[start], numbers[-1], whole, decimal)[:-1] + "]"
            labels += [label] * (end - start)
    return labels


def frequency_ladder(
    column: str, values: Sequence[str | None], counts: Sequence[int], thresholds: Sequence[int]
) -> Ladder:
    """Return the ladder that joins, for each threshold t, the values of fewer than t rows.

    They become ``rare (<t)``; the others repeat themselves.

    Raises
    ------
    HierarchyError: the thresholds do not rise, or no value is rarer than the last one.
    """
    rule = f"frequency {','.join(map(str, thresholds))}"
    if not thresholds or any(a >= b for a, b in pairwise([1, *thresholds])):
        raise HierarchyError(f"{rule}: thresholds are rising numbers of rows, at least 2: 10,100")
    known, missing = distinct(values)
    declared = [value for value in known if is_missing(value)]
    known = [value for value in known if not is_missing(value)]
    rows = {value: count for value, count in zip(values, counts, strict=True) if value is not None}
    if known and min(rows[value] for value in known) >= thresholds[-1]:
        raise HierarchyError(
            f"column {column!r}, {rule}: no value is that rare (the rarest has "
            f"{min(rows[value] for value in known)} rows), so there is nothing to group"
        )
    known.sort(key=lambda value: (rows[value], value))
    columns = [known]
    for most in thresholds:
        columns.append([f"rare (<{most})" if rows[v] < most else v for v in known])
    return rule_ladder(column, rule, columns, missing, declared)


def file_rows(ladder: Ladder) -> Iterator[list[str]]:
    """Return the lines of a hierarchy file: each value's labels, from leaf to ``*``.

    A missing value, an empty leaf, has a line where it has a group of its own below ``*``.
    """
    for leaf in range(len(ladder.leaves)):
        path = ladder.path(leaf)
        if any(label is not None for label in path[:-1]):
            yield ["" if label is None else label for label in path]


def file_text(ladder: Ladder) -> str:
    """Return a hierarchy file: ``leaf;level1;…;*``, one line per value, fields quoted if need be.

    Missing values of which only ``*`` is known are left out: so they are read without a line.

    Raises
    ------
    HierarchyError: the column has no values, or ``*`` is one.
    """
    require_no_star(ladder.column, ladder.origin, ladder.leaves)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    writer.writerows(file_rows(ladder))
    if not text.getvalue():
        raise HierarchyError(f"column {ladder.column!r} has no values to make a hierarchy of")
    return text.getvalue()


def integers(text: str, what: str, example: str) -> tuple[int, ...]:
    """Read ``10,100``.

    Raises
    ------
    HierarchyError: not whole numbers between commas.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise HierarchyError(f"{what} {text!r}: expected whole numbers like {example}")
    return tuple(map(int, parts))
