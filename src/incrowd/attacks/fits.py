"""The classes of a release in which a person may stand, and the cheapest of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import WHOLE, ends
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.kernels.types import Ints
from incrowd.published.fitting import Nodes, fitting


@dataclass(frozen=True, eq=False)
class Fits:
    """Pairs of a person and a class above that person, by person, rising cost, falling size.

    Attributes
    ----------
    people: number of people.
    person, place: int64, shape (pairs,).
    cost: int64, shape (pairs,): what the class's labels cost the person.
    """

    people: int
    person: Ints
    place: Ints
    cost: Ints

    @cached_property
    def counts(self) -> Ints:
        """int64, shape (people,): classes that fit each person."""
        return np.bincount(self.person, minlength=self.people).astype(np.int64)

    @cached_property
    def cheapest(self) -> Ints:
        """int64, shape (people,): the cheapest class that fits; −1 where none does.

        Of equally cheap ones the largest, then the first in label order, which tells nothing.
        """
        first = np.cumsum(self.counts) - self.counts
        found = np.full(self.people, -1)
        there = self.counts > 0
        found[there] = self.place[first[there]]
        return found

    @cached_property
    def least(self) -> NDArray[np.bool_]:
        """bool, shape (pairs,): whether the class is one of the person's cheapest."""
        first = np.cumsum(self.counts) - self.counts
        return self.cost == self.cost[first[self.person]]

    def rows(self, sizes: Ints) -> Ints:
        """int64, shape (people,): released rows that fit each person, of classes of ``sizes``."""
        return np.bincount(self.person, sizes[self.place], self.people).astype(np.int64)

    def persons(self, classes: int) -> Ints:
        """int64, shape (classes,): people whom each class fits."""
        return np.bincount(self.place, minlength=classes).astype(np.int64)


def fits_of(trees: tuple[Family, ...], levels: Ints, nodes: Ints, sizes: Ints, codes: Ints) -> Fits:
    """Find all classes that fit each person.

    Parameters
    ----------
    levels, nodes: int64, shape (classes, columns), all rows different; sizes: shape (classes,).
    codes: int64, shape (people, columns): leaves.
    """
    people, columns = codes.shape
    kinds, kind_of = np.unique(codes, axis=0, return_inverse=True)
    kind_of = kind_of.ravel()
    none = np.zeros(len(kinds), np.int64)
    right = np.column_stack([np.zeros(len(levels), np.int64), levels, nodes])
    kind, place = fitting(Nodes(trees, kinds), none, right)
    cost = np.zeros(len(kind), np.int64)
    for j in range(columns):
        cost += cell_costs(trees[j], kinds[kind, j], levels[place, j], nodes[place, j])
    order = np.lexsort((place, -sizes[place], cost, kind))
    kind, place, cost = kind[order], place[order], cost[order]
    width = np.bincount(kind, minlength=len(kinds))
    start = np.cumsum(width) - width
    person = np.repeat(np.arange(people), width[kind_of])
    within = np.arange(len(person)) - np.repeat(
        np.cumsum(width[kind_of]) - width[kind_of], width[kind_of]
    )
    at = start[kind_of[person]] + within
    return Fits(people, person, place[at], cost[at])


def cell_costs(tree: Family, leaves: Ints, levels: Ints, nodes: Ints) -> Ints:
    """int64, shape (cells,): what values below these nodes pay."""
    if not isinstance(tree, RangeFamily):
        return tree.cost[levels, leaves]
    low, end = ends(tree, levels, nodes)
    return np.where(levels == WHOLE, tree.dearest, tree.join_costs(low, end - 1))
