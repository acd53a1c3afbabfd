"""Prosecutor, journalist and marketer risk (El Emam, Dankar 2008; El Emam 2013); who is unique."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from incrowd.measures.figures import RiskFigures, SubsetFigures
from incrowd.measures.people import Agreement, Codes, agreement, representatives
from incrowd.privacy.classes import largest_ratio, values_by_class
from incrowd.tables.base import Column

TABLE = 2**24
"""Counting into a table of that many places beats sorting."""


def risk_figures(sizes: NDArray[np.int64], people: NDArray[np.int64] | None) -> RiskFigures:
    """Work out the risks of classes of these sizes (at least one).

    Parameters
    ----------
    sizes: int64, shape (classes,): rows, or people where they are counted.
    people: int64, shape (classes,): people of the population whom each class may stand for, or
        None without a population.
    """
    rows, classes = int(sizes.sum()), len(sizes)
    smallest = int(sizes.min())
    highest = average = uncovered = None
    marketer = classes / rows
    if people is not None:
        short = people < sizes
        uncovered = int(sizes[short].sum())
        crowd = np.maximum(people, sizes)
        highest = largest_ratio(np.ones_like(crowd), crowd)
        marketer = average = float((sizes / crowd).sum()) / rows
    return RiskFigures(
        prosecutor_highest=Fraction(1, smallest),
        prosecutor_average=classes / rows,
        rows_at_highest=smallest * int((sizes == smallest).sum()),
        journalist_highest=highest,
        journalist_average=average,
        marketer=marketer,
        uncovered_rows=uncovered,
    )


def people_behind(
    table: Sequence[Column],
    agreed: Agreement,
    population: Sequence[Column],
    star: str,
    whose: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """int64, shape (classes,): people of the population whom each class of the table may stand for.

    A cell of the table that is the star may stand for any value; any other cell, a missing one
    too, stands for itself only.  ``whose``: int64, shape (rows of the population,): whose each of
    its rows is; None: each row is a person.
    """
    first = representatives(agreed)
    cells = np.column_stack([column.codes[first] for column in table])
    starred = np.column_stack([column.shows(star)[first] for column in table])
    others = np.column_stack(
        [other.among(mine.values) for mine, other in zip(table, population, strict=True)]
    )
    everyone = np.arange(len(others)) if whose is None else whose
    people = np.zeros(len(first), np.int64)
    patterns, which = np.unique(starred, axis=0, return_inverse=True)
    for i, pattern in enumerate(patterns):
        mine = np.flatnonzero(which.ravel() == i)
        shown = np.flatnonzero(~pattern)
        people[mine] = _matches(cells[np.ix_(mine, shown)], others[:, shown], everyone)
    return people


def _matches(
    classes: NDArray[np.int32], people: NDArray[np.int32], whose: NDArray[np.int64]
) -> NDArray[np.int64]:
    """int64, shape (classes,): people who agree with each class in all the columns."""
    known = (people >= 0).all(axis=1)
    both = np.vstack([classes, people[known]])
    columns = [(np.ascontiguousarray(c), int(c.max(initial=0)) + 1) for c in both.T]
    agreed = agreement(columns, len(both))
    each = np.column_stack([agreed.member[len(classes) :], whose[known]])
    counts = np.bincount(np.unique(each, axis=0)[:, 0], minlength=len(agreed.sizes))
    return counts[agreed.member[: len(classes)]].astype(np.int64)


def subset_figures(
    names: Sequence[str],
    columns: Sequence[Codes],
    agreed: Agreement,
    most: int,
    whose: NDArray[np.int64] | None = None,
) -> tuple[SubsetFigures, ...]:
    """Count, for each subset of at most ``most`` columns, the rows that are unique on it.

    Works on distinct rows with their copies, not on the rows.  ``whose``: int64, shape (rows,):
    whose each row is, where people are counted; None: each row is a person.
    """
    rows = int(agreed.sizes.sum())
    first, weight = representatives(agreed), agreed.sizes
    if whose is not None:
        key = agreed.member * (int(whose.max(initial=0)) + 1) + whose
        _, first, weight = np.unique(key, return_index=True, return_counts=True)
    short = [(codes[first], values) for codes, values in columns]
    found = []
    for size in range(1, min(most, len(names)) + 1):
        level = []
        for chosen in combinations(range(len(names)), size):
            some = [short[j] for j in chosen]
            if whose is None:
                counts = sizes = class_sizes(some, weight)
            else:
                member = agreement(some, len(first)).member
                counts = np.bincount(member, weight).astype(np.int64)
                sizes = values_by_class(member, whose[first])
            unique = int(counts[sizes == 1].sum())
            level.append(
                SubsetFigures(
                    columns=tuple(names[j] for j in chosen),
                    unique_rows=unique,
                    unique_fraction=unique / rows if rows else 0.0,
                    smallest_class=int(sizes.min()) if rows else 0,
                    classes=len(sizes),
                )
            )
        found += sorted(level, key=lambda s: (-s.unique_rows, s.smallest_class))
    return tuple(found)


def class_sizes(columns: Sequence[Codes], weight: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64: sizes of the classes of rows that agree on ``columns``; each row counts ``weight``."""
    width = 1
    for _, values in columns:
        width *= max(values, 1)
    if width <= TABLE:
        key = np.zeros(len(weight), np.int64)
        for codes, values in columns:
            key = key * values + codes
        counts = np.bincount(key, weight, width)
        return counts[counts > 0].round().astype(np.int64)
    agreed = agreement(columns, len(weight))
    return np.bincount(agreed.member, weight).round().astype(np.int64)
