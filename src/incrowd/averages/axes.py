"""A column that is averaged: its numbers as whole ones, and what a class costs in it, exactly."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.averages import CENTROID, MEDIAN, MOST_DIGITS, Averages, rounded
from incrowd.tables.base import Column, Replacement, narrow
from incrowd.text.exact import decimals

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)  # which would quote cells
class Axis:
    """One averaged column.

    Attributes
    ----------
    column, rule: its name, and the average that is published.
    digits: decimals that are published.
    texts, codes: the distinct cells, and int, shape (rows,): index into them.
    numbers: the whole number that each distinct cell is, times ``unit``; None where missing.
    unit: a power of ten.
    price: what a class costs for each unit of its spread; 0 where the column has one number.
    """

    column: str
    rule: Averages
    digits: int
    texts: tuple[str | None, ...]
    codes: NDArray[np.integer]
    numbers: tuple[int | None, ...]
    unit: int
    price: Fraction = Fraction(0)

    @classmethod
    def of(cls, name: str, column: Column, rule: Averages, marks: Iterable[str]) -> "Axis":
        """Read a column.

        Parameters
        ----------
        marks: texts that stand for a missing value.

        Raises
        ------
        UnnumberedError: some cell is no number.
        """
        column, spared = column.compact(), {*marks}
        known = [None if text in spared else text for text in column.values]
        once = [None, *(text for text in known if text is not None)]
        found = dict(zip(once, rule.numbers(name, once), strict=True))
        numbers = [found[text] for text in known]
        unit = 10 ** decimals(numbers)
        whole = tuple(None if x is None else x.numerator * (unit // x.denominator) for x in numbers)
        digits = rule.rounding(numbers)
        return cls(name, rule, digits, column.values, column.codes, whole, unit)

    def as_held(self, held: Callable[[float], int | None]) -> "Axis":
        """Return the column with no more decimals, where none are asked for, than its type holds.

        held: how many decimals it holds of numbers up to one; None for any number.
        """
        largest = max((abs(x) for x in self.numbers if x is not None), default=0)
        most = held(largest / self.unit) if self.rule.digits is None else None
        if most is None or most >= self.digits:
            return self
        return replace(self, digits=max(most, -MOST_DIGITS))

    @property
    def published(self) -> str:
        """What is published of each class, in words."""
        if self.digits >= 0:
            return f"{self.rule.kind}, {self.digits} decimal{'' if self.digits == 1 else 's'}"
        return f"{self.rule.kind}, multiples of {10**-self.digits:,}"

    @property
    def missing(self) -> Ints:
        """int64, shape (rows,): number of the text that stands for a missing cell, −1 for none."""
        place = [code if number is None else -1 for code, number in enumerate(self.numbers)]
        return np.array([*place, -1], np.int64)[self.codes]

    def at(self, rows: Ints) -> list[int]:
        """Return the numbers of rows, of which none is missing."""
        return [self.numbers[code] or 0 for code in self.codes[rows].tolist()]

    def varies(self, rows: Ints) -> bool:
        """Whether these rows have several numbers."""
        return len({self.numbers[code] for code in np.unique(self.codes[rows]).tolist()}) > 1

    def spread(self, numbers: Sequence[int]) -> Fraction:
        """Return the spread of a class: squares about its mean, or distances from its median."""
        if self.rule.kind == MEDIAN:
            return Fraction(distances(sorted(numbers)))
        return Fraction(squares(numbers), len(numbers))

    def average(self, numbers: Sequence[int]) -> Fraction:
        """Return the average of a class, not rounded."""
        if self.rule.kind == MEDIAN:
            ordered, middle = sorted(numbers), len(numbers) // 2
            twice = ordered[middle] + ordered[-middle - 1]
            return Fraction(twice, 2 * self.unit)
        return Fraction(sum(numbers), len(numbers) * self.unit)

    def shown(self, members: Sequence[Ints], rows: int) -> Replacement:
        """Return what each row shows: a cell that reads as its class's average stays as it is."""
        names: dict[str | None, int] = {}
        ids = np.full(rows, -1, np.int64)
        for member in members:
            codes = np.unique(self.codes[member])
            if self.numbers[codes[0]] is None:
                continue
            average = self.average(self.at(member))
            if len(codes) == 1 and rounded(average, self.digits) == average:
                continue
            text = self.rule.text(average, self.digits)
            ids[member] = names.setdefault(text, len(names))
        return Replacement(tuple(names), ids.astype(narrow(len(names))))


def squares(numbers: Sequence[int]) -> int:
    """Return n times the sum of squares about the mean of n numbers."""
    total = sum(numbers)
    return len(numbers) * sum(x * x for x in numbers) - total * total


def distances(ordered: Sequence[int]) -> int:
    """Return the sum of distances from the median of rising numbers."""
    half = len(ordered) // 2
    return sum(ordered[len(ordered) - half :]) - sum(ordered[:half])


def priced(axes: Sequence[Axis], weights: Mapping[str, Fraction]) -> tuple[Axis, ...]:
    """Return the axes with their prices: all rows in one class would cost their weight each.

    A column of means or medians is measured by its own spread, so that its unit does not matter;
    centroids by that of all their columns together.
    """
    known = [np.flatnonzero(axis.missing < 0) for axis in axes]
    own = [Fraction(weights.get(axis.column, 1)) for axis in axes]
    spread = [  # in the columns' own units
        axis.spread(axis.at(rows)) / axis.unit**2 if len(rows) else Fraction(0)
        for axis, rows in zip(axes, known, strict=True)
    ]
    together = [j for j, axis in enumerate(axes) if axis.rule.kind == CENTROID]
    finished = []
    for j, axis in enumerate(axes):
        mine = together if j in together else [j]
        worth = sum(own[i] * len(known[i]) for i in mine)
        whole = sum(own[i] * spread[i] for i in mine) * axis.unit**2
        finished.append(replace(axis, price=own[j] * worth / whole if whole else Fraction(0)))
    return tuple(finished)


def cost_of(axes: Sequence[Axis], members: Sequence[Ints]) -> Fraction:
    """Return what classes cost together, exactly."""
    total = Fraction(0)
    for axis in axes:
        if not axis.price:
            continue
        parts: dict[int, int] = {}  # numerators by denominator: sums of whole numbers are quick
        for member in members:
            if axis.numbers[int(axis.codes[member[0]])] is None:
                continue
            found = axis.spread(axis.at(member))
            parts[found.denominator] = parts.get(found.denominator, 0) + found.numerator
        total += axis.price * sum(Fraction(top, below) for below, top in parts.items())
    return total


def members_of(classes: NDArray[np.integer]) -> list[Ints]:
    """Return the rows of each class: int64, rising; ``classes``: dense numbers from 0."""
    order = np.argsort(classes, kind="stable").astype(np.int64)
    ends = np.cumsum(np.bincount(classes))[:-1]
    return [part for part in np.split(order, ends) if len(part)]
