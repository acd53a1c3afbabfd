"""Which models are linear in the number of rows of each kind in a class, and in which form."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.all_of import names_of, parts
from incrowd.privacy.base import Group, Model
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distance import Equal, Hierarchical, Ordered
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.metric import Metric
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness


@dataclass(frozen=True, eq=False)
class Closeness:
    """One t-closeness law.

    ``distance``: int64, shape (values, values), in 1/``unit``; None means that all are 1.
    """

    t: Fraction
    attribute: int
    distance: NDArray[np.int64] | None
    unit: int

    def threshold(self, rows: int) -> float:
        """Return a number that parts the distances that are lawful from those that are not.

        A class of n of the table's N rows is at a multiple of 1/(n·N·unit) from the table.  The
        middle between the largest of these up to t and the least above is as far as can be from
        both, so that no lawful class is lost to a solver's tolerance, and no other one let in.
        """
        grids = [n * rows * self.unit for n in range(1, rows + 1)]
        below = max(Fraction(int(self.t * grid), grid) for grid in grids)
        above = min(Fraction(int(self.t * grid) + 1, grid) for grid in grids)
        return float((below + above) / 2)


@dataclass(frozen=True)
class Recursive:
    """One recursive (c, l)-diversity law: r₁ < c·(r_l + r_{l+1} + …)."""

    c: Fraction
    l: int  # noqa: E741
    attribute: int


@dataclass(frozen=True)
class Laws:
    """A model taken apart: (l, attribute) pairs for two diversities, and the other laws."""

    k: int = 1
    distinct: tuple[tuple[int, int], ...] = ()
    frequency: tuple[tuple[int, int], ...] = ()
    closeness: tuple[Closeness, ...] = ()
    recursive: tuple[Recursive, ...] = ()

    @property
    def attributes(self) -> int:
        """Number of sensitive attributes that the laws look at."""
        looked = [a for _, a in self.distinct + self.frequency]
        return len({*looked, *(law.attribute for law in self.closeness + self.recursive)})


def take_apart(model: Model, table: Group, columns: Sequence[str] = ()) -> Laws | str:
    """Return the laws of ``model``, or the name of a part that is not linear.

    Parameters
    ----------
    columns: names of the sensitive columns, for that name.
    """
    k, distinct, frequency, closeness, recursive = 1, [], [], [], []
    for part in parts(model):
        if isinstance(part, KAnonymity):
            k = max(k, part.k)
        elif isinstance(part, DistinctDiversity):
            distinct += [(part.l, a) for a in part.attributes(table)]
        elif isinstance(part, DisjointDiversity) and len(set(part.columns(table))) == 1:
            distinct.append((part.l, part.columns(table)[0]))
        elif isinstance(part, FrequencyDiversity):
            frequency += [(part.l, a) for a in part.attributes(table)]
        elif isinstance(part, RecursiveDiversity):
            c = attainable(part.c, table.rows)
            recursive += [Recursive(c, part.l, a) for a in part.attributes(table)]
        elif isinstance(part, TCloseness):
            for a in part.attributes(table):
                matrix = ground_matrix(part.distance, table.sizes[a])
                if isinstance(matrix, str):
                    return names_of(part, columns)[0]
                closeness.append(Closeness(part.t, a, *matrix))
        else:
            return names_of(part, columns)[0]
    return Laws(k, tuple(distinct), tuple(frequency), tuple(closeness), tuple(recursive))


def attainable(c: Fraction, rows: int) -> Fraction:
    """Return the least ratio of two numbers of rows that is at least ``c``.

    No class lies between the two, so it is as good a limit as c, and its numbers are small.
    """
    return min(Fraction(-(-c * n // 1), n) for n in range(1, max(rows, 1) + 1))


def ground_matrix(distance: object, values: int) -> tuple[NDArray[np.int64] | None, int] | str:
    """Return the distances between values and their unit's inverse; a text when unknown."""
    if isinstance(distance, Equal):
        return None, 1
    if isinstance(distance, Ordered):
        rank = distance.rank(values)
        return np.abs(rank[:, None] - rank[None, :]), max(values - 1, 1)
    if isinstance(distance, Hierarchical):
        levels = distance.below_root(values)
        apart = np.zeros((values, values), np.int64)
        for node in levels:
            apart += node[:, None] != node[None, :]
        return apart, max(len(levels), 1)
    if isinstance(distance, Metric):
        return distance.units, distance.unit
    return "unknown distance"
