"""All classes of a release at once: sparse histograms, for vectorised tests and figures."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.base import Group

LARGEST = 2**62
"""Integers stay below this in int64 arrays; beyond, arrays of Python integers take over."""


@dataclass(frozen=True, eq=False)
class Histograms:
    """One sensitive attribute's histograms of all classes, sparse, row by row.

    Class ``i`` holds value ``code[e]`` ``count[e]`` times, for ``e`` in ``start[i]:start[i+1]``.

    Attributes
    ----------
    start: int64, shape (classes + 1,).
    code: int64, shape (entries,): ascending within a class.
    count: int64, shape (entries,): all ≥ 1.
    table: int64, shape (values,): the whole table's histogram.
    """

    start: NDArray[np.int64]
    code: NDArray[np.int64]
    count: NDArray[np.int64]
    table: NDArray[np.int64]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.start) - 1

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """int64, shape (entries,): the class of each entry."""
        return np.repeat(np.arange(self.classes, dtype=np.int64), self.distinct)

    @cached_property
    def distinct(self) -> NDArray[np.int64]:
        """int64, shape (classes,): number of different values."""
        return np.diff(self.start)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """int64, shape (classes,): rows."""
        return self.total(self.count)

    @cached_property
    def largest(self) -> NDArray[np.int64]:
        """int64, shape (classes,): rows of the most frequent value."""
        return np.maximum.reduceat(self.count, self.start[:-1])

    @cached_property
    def rows(self) -> int:
        """Rows of the whole table."""
        return int(self.table.sum())

    def total(self, entries: NDArray) -> NDArray:
        """Sum an array over the entries of each class; same dtype, shape (classes,)."""
        return np.add.reduceat(entries, self.start[:-1])

    def dense(self, index: int) -> NDArray[np.int64]:
        """int64, shape (values,): the histogram of one class."""
        part = slice(self.start[index], self.start[index + 1])
        counts = np.zeros(len(self.table), np.int64)
        counts[self.code[part]] = self.count[part]
        return counts

    def regroup(self, parent: NDArray[np.integer]) -> "Histograms":
        """Return the histograms over coarser values: code ``c`` becomes ``parent[c]``."""
        width = int(parent.max()) + 1
        key = self.owner * width + np.asarray(parent, np.int64)[self.code]
        table = np.bincount(parent, self.table, width).round().astype(np.int64)
        return sparse(key, self.count, self.classes, width, table)


def sparse(
    key: NDArray[np.int64],
    weight: NDArray[np.int64] | None,
    classes: int,
    width: int,
    table: NDArray[np.int64],
) -> Histograms:
    """Add up equal keys ``class · width + code`` into histograms; every class has an entry."""
    if weight is None:
        unique, count = np.unique(key, return_counts=True)
    else:
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        unique, count = ordered[first], np.add.reduceat(weight[order], first)
    start = np.searchsorted(unique, np.arange(classes + 1, dtype=np.int64) * width)
    return Histograms(start.astype(np.int64), unique % width, count.astype(np.int64), table)


def values_by_class(
    classes: NDArray[np.int64], codes: NDArray[np.int64], number: int = 0
) -> NDArray[np.int64]:
    """int64, shape (classes,): how many different codes stand in each class.

    ``number``: of classes, where the last ones may be empty.
    """
    width = int(codes.max(initial=0)) + 1
    pairs = np.unique(classes * width + codes)
    return np.bincount(pairs // width, minlength=max(number, int(classes.max(initial=-1)) + 1))


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a table: which class each row is in, and the rows' sensitive values.

    Attributes
    ----------
    member: int64, shape (rows,): dense class ids, each occurring.
    table: the sensitive values of the same rows.
    whole: what classes are compared with, where that is another table than these rows.
    """

    member: NDArray[np.int64]
    table: Group
    whole: Group | None = None

    @property
    def compared(self) -> Group:
        """The table that classes are compared with."""
        return self.whole or self.table

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """int64, shape (classes,): rows of each class."""
        return np.bincount(self.member).astype(np.int64)

    @cached_property
    def histograms(self) -> tuple[Histograms, ...]:
        """One sparse histogram for each sensitive attribute."""
        return tuple(
            sparse(
                self.member.astype(np.int64) * size + self.table.values[:, a],
                None,
                len(self.sizes),
                size,
                self.compared.histograms[a],
            )
            for a, size in enumerate(self.table.sizes)
        )

    @cached_property
    def _rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(self.member, kind="stable")
        return order, np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def group(self, index: int) -> Group:
        """The sensitive values of one class."""
        order, start = self._rows
        return Group(self.table.values[order[start[index] : start[index + 1]]], self.table.sizes)


def at_most(
    numerator: NDArray, denominator: NDArray, limit: Fraction, strictly: bool = False
) -> NDArray[np.bool_]:
    """Whether numerator/denominator ≤ limit (or < limit), in integers; denominators > 0."""
    left, right = product(numerator, limit.denominator), product(denominator, limit.numerator)
    return np.asarray(left < right if strictly else left <= right, bool)


def product(array: NDArray, factor: int | NDArray) -> NDArray:
    """Return array · factor, in Python integers where int64 could overflow."""
    other = np.asarray(factor)
    if array.dtype != object and other.dtype != object:
        most = max(1, int(np.abs(array).max(initial=0))) * int(np.abs(other).max(initial=0))
        if most < LARGEST:
            return array * other
    return array.astype(object) * (factor if isinstance(factor, int) else other.astype(object))


def largest_ratio(numerator: NDArray, denominator: NDArray) -> Fraction:
    """Return the largest numerator/denominator, exactly; at least one, denominators > 0."""
    value = numerator.astype(float) / denominator.astype(float)
    top = value.max()
    near = np.flatnonzero(value >= top - 1e-9 * abs(top))
    pairs = {(int(a), int(b)) for a, b in zip(numerator[near], denominator[near], strict=True)}
    return max(Fraction(a, b) for a, b in pairs)
