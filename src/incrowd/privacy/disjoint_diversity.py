"""Disjoint l-diversity over several sensitive attributes (Blocki and Williams 2010, Def. 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.attribute import chosen
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.linear import Linear
from incrowd.privacy.model import Model, Values, all_of
from incrowd.privacy.numbers import take_whole, whole
from incrowd.privacy.pricing import Part, distinct_part

Row = tuple[int, ...]


@dataclass(frozen=True)
class DisjointDiversity(Model):
    """Each row has l−1 classmates; all ``l`` differ pairwise in **every** sensitive attribute.

    ``attributes`` are indices of the attributes that count together; None is all of them.  With one
    attribute this is distinct l-diversity.  Closed under union: classmates stay classmates.
    """

    l: int  # noqa: E741
    attributes: tuple[int, ...] | None = None

    closed_under_union = True
    compares_with_table = False

    def __post_init__(self) -> None:
        take_whole(self, "l")
        if self.attributes is not None and not self.attributes:
            raise InputError("disjoint diversity needs at least one sensitive attribute")
        for attribute in self.attributes or ():
            whole(attribute, "the index of a sensitive attribute", 0)

    @property
    def name(self) -> str:
        """Text form."""
        return self.called(())

    @property
    def meaning(self) -> str:
        """In words."""
        return (
            f"each row is one of {self.l:,} rows of its class of which no two share a value in any "
            "of the columns"
        )

    def called(self, columns: Sequence[str]) -> str:
        """Text form with the columns looked at, where ``columns`` says what the attributes are."""
        title = f"disjoint {self.l}-diversity"
        if self.attributes is None:
            return title
        if max(self.attributes) < len(columns):
            return f"{title} of {', '.join(repr(columns[a]) for a in self.attributes)}"
        listed = ", ".join(str(a + 1) for a in self.attributes)
        return f"{title} of sensitive attributes {listed}"

    def columns(self, table: Group) -> list[int]:
        """Return the indices of the attributes that count."""
        if self.attributes is None:
            return list(chosen(None, table, self.name))
        return [a for wanted in self.attributes for a in chosen(wanted, table, self.name)]

    def smallest_class(self, table: Group) -> int:
        """l rows."""
        return self.l

    def lawful(self, group: Group, table: Group) -> bool:
        """Whether each row has its l−1 classmates."""
        return group.rows > 0 and is_disjoint(group.values[:, self.columns(table)], self.l)

    def lawful_classes(self, classes: Classes) -> NDArray[np.bool_]:
        """``lawful`` of every class at once: counts settle most (see ``is_disjoint``)."""
        columns = self.columns(classes.table)
        enough = np.ones(len(classes.sizes), bool)
        ruled_out = np.zeros(len(classes.sizes), np.int64)
        for a in columns:
            histograms = classes.histograms[a]
            enough &= histograms.distinct >= self.l
            ruled_out += histograms.largest
        fits = enough & ((self.l - 1) * ruled_out < classes.sizes)
        if len(set(columns)) == 1:
            return enough
        for i in np.flatnonzero(enough & ~fits):
            fits[i] = is_disjoint(classes.group(int(i)).values[:, columns], self.l)
        return fits

    def stand_in(self, table: Group) -> Model:
        """No value above 1/((l − 1)·s + 1) of a class, for s attributes; for one it is distinct l.

        Any j < l rows that differ everywhere rule out at most j·s values' rows, fewer than all of
        the class, so they can be extended by one more row.
        """
        columns = sorted(set(self.columns(table)))
        if len(columns) == 1:
            return DistinctDiversity(self.l, columns[0])
        share = Fraction(1, (self.l - 1) * len(columns) + 1)
        return all_of([AlphaK(share, attribute=a) for a in columns])

    def pricing(self, table: Group, k: int, sizes: int = 0) -> Sequence[Part]:
        """l values of each attribute, which disjoint rows need."""
        return [distinct_part(self.l, k, a, table) for a in self.columns(table)]

    def linear(self, table: Group) -> Linear | None:
        """l values, where there is one attribute."""
        columns = self.columns(table)
        return Linear(distinct=((self.l, columns[0]),)) if len(set(columns)) == 1 else None

    def of_people(self, attributes: int) -> Sequence[Model]:
        """The same: values are compared, not counted, and copies of a row change nothing."""
        wanted = tuple(range(attributes)) if self.attributes is None else self.attributes
        return [DisjointDiversity(self.l, wanted)]

    def claim(self, values: Values) -> list[dict[str, Any]]:
        """l and all columns at once."""
        names = list(values)
        wanted = range(len(names)) if self.attributes is None else self.attributes
        return [{"model": "disjoint", "l": self.l, "columns": [names[a] for a in wanted]}]

    def attained(self, group: Group, table: Group) -> int:
        """The largest l that a class (at least one row) attains; takes time exponential in it."""
        columns = self.columns(table)
        rows = [tuple(row) for row in np.unique(group.values[:, columns], axis=0).tolist()]
        most = min(len({row[a] for row in rows}) for a in range(len(columns)))
        best = 1
        while best < most and all(has_classmates(row, rows, best + 1) for row in rows):
            best += 1
        return best


def is_disjoint(values: NDArray[np.integer], l: int) -> bool:  # noqa: E741
    """Whether each row of ``values``, shape (rows, attributes), is one of l that differ everywhere.

    More rows than (l − 1)·Σ over attributes of the most frequent value's rows are enough: each of
    the first l−1 rows picked rules out at most that many, so any choice can go on greedily.
    """
    unique = np.unique(values, axis=0)
    ruled_out = sum(int(np.unique(column, return_counts=True)[1].max()) for column in unique.T)
    if len(unique) > (l - 1) * ruled_out:
        return True
    rows = [tuple(row) for row in unique.tolist()]
    return all(has_classmates(row, rows, l) for row in rows)


def has_classmates(row: Row, rows: list[Row], l: int) -> bool:  # noqa: E741
    """Whether ``row`` and l−1 of ``rows`` differ pairwise in every attribute.

    Depth-first; a branch ends when an attribute has too few values left.  NP-hard in general
    (three attributes: three-dimensional matching), fast for the small l of practice.
    """
    if l == 1:
        return True
    left = [other for other in rows if all(a != b for a, b in zip(row, other, strict=True))]
    if not left or any(len({r[a] for r in left}) < l - 1 for a in range(len(row))):
        return False
    if l == 2:
        return True
    # Some set of l−1 rows contains the first row left, or none does: try both.
    for first in range(len(left) - l + 2):
        if has_classmates(left[first], left[first + 1 :], l - 1):
            return True
    return False
