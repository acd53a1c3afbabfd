"""Rows that lack the same cells are released apart; each such stratum is a set of points."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from incrowd.averages.axes import Axis, Ints
from incrowd.hierarchy.averages import MEDIAN

Floats = NDArray[np.float64]
DIGITS = 10**40


@dataclass(frozen=True, eq=False)
class Points:
    """The rows of a stratum, in the columns in which they differ.

    Attributes
    ----------
    rows: int64, shape (n,): rows of the table.
    axes: the columns that vary among these rows.
    place: float64, shape (n, columns): coordinates; what a class costs is the sum of squares about
        its mean, or of distances from its median, of these.
    absolute: bool, shape (columns,): whether distances count, not squares.
    k: least number of rows of a class.
    """

    rows: Ints
    axes: tuple[Axis, ...]
    place: Floats
    absolute: NDArray[np.bool_]
    k: int

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.rows)


def strata_of(axes: Sequence[Axis], place: Ints) -> list[Ints]:
    """Return the rows of each stratum: those in which the same cells are missing, alike.

    They stand by ``place``, each row's: in the order of the table, methods would tell it.
    """
    pattern = np.column_stack([axis.missing for axis in axes])
    _, which = np.unique(pattern, axis=0, return_inverse=True)
    order = np.argsort(place)
    number = which.ravel()[order]
    return [order[np.flatnonzero(number == one)] for one in range(int(number.max(initial=-1)) + 1)]


def points_of(axes: Sequence[Axis], rows: Ints, k: int) -> Points:
    """Return a stratum as points; each coordinate is a difference from the middle row's."""
    able = tuple(axis for axis in axes if axis.price and axis.varies(rows))
    place = np.zeros((len(rows), len(able)))
    for j, axis in enumerate(able):
        numbers = axis.at(rows)
        origin = sorted(numbers)[len(numbers) // 2]
        factor = axis.price if axis.rule.kind == MEDIAN else root(axis.price)
        found = {x: float(factor * (x - origin)) for x in set(numbers)}
        place[:, j] = [found[x] for x in numbers]
    absolute = np.array([axis.rule.kind == MEDIAN for axis in able], bool)
    return Points(rows, able, place, absolute, k)


def root(number: Fraction) -> Fraction:
    """Return the square root of a positive fraction, to 40 digits."""
    top, below = number.numerator, number.denominator
    return Fraction(isqrt(top * below * DIGITS**2), below * DIGITS)
