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
    """One t-closeness law: ``distance`` is float64, shape (values, values); None means all 1."""

    t: float
    attribute: int
    distance: NDArray[np.float64] | None


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
            recursive += [Recursive(part.c, part.l, a) for a in part.attributes(table)]
        elif isinstance(part, TCloseness):
            for a in part.attributes(table):
                matrix = ground_matrix(part.distance, table.sizes[a])
                if isinstance(matrix, str):
                    return names_of(part, columns)[0]
                closeness.append(Closeness(float(part.t), a, matrix))
        else:
            return names_of(part, columns)[0]
    return Laws(k, tuple(distinct), tuple(frequency), tuple(closeness), tuple(recursive))


def ground_matrix(distance: object, values: int) -> NDArray[np.float64] | str | None:
    """Return the distances between values; None for the equal distance; a text when unknown."""
    if isinstance(distance, Equal):
        return None
    if isinstance(distance, Ordered):
        rank = distance.rank(values)
        return np.abs(rank[:, None] - rank[None, :]) / max(values - 1, 1)
    if isinstance(distance, Hierarchical):
        levels = distance.below_root(values)
        apart = sum((node[:, None] != node[None, :]).astype(np.float64) for node in levels) / max(
            len(levels), 1
        )
        return np.asarray(apart, np.float64).reshape(values, values)
    if isinstance(distance, Metric):
        return np.array(distance.matrix, np.float64)
    return "unknown distance"
