"""Prosecutor, journalist and marketer risk (El Emam, Dankar 2008; El Emam 2013)."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from incrowd.measures.figures import RiskFigures
from incrowd.measures.people import Agreement, agreement, representatives
from incrowd.privacy.classes import largest_ratio
from incrowd.tables.base import Column


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
