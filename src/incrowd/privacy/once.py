"""Models of histograms in which a person counts once for each value, however many rows there are.

A person may have several rows of one value in a class: of such a pair (person, value) one counts,
in the class and in the table.  So what a model says of rows is said of pairs.  The rule, and what
it protects: docs/how-to/people.md.

Not closed under union: two classes may hold the same pair, which counts once in their union.  Of
{(A, x), (B, y)} and {(C, x), (B, y)} each is half x, their union is two thirds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.attribute import Counts, PerAttribute
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes, sparse
from incrowd.privacy.law import DISTINCT, ONCE, Law, limit
from incrowd.privacy.model import Model, Values
from incrowd.privacy.pricing import Part, distinct_part


@dataclass(frozen=True, eq=False)
class Once(Model):
    """A model of one attribute's histogram, asked of the pairs of person and value.

    Attributes
    ----------
    model: asked of one attribute, which it names.
    pairs: the attribute whose values are the pairs.
    value_of: int64, shape (pairs,): the value in each pair.  A part of the table, as fixed columns
        make, may lack the last of them, and its histogram is shorter then.
    """

    model: PerAttribute
    pairs: int
    value_of: NDArray[np.int64]

    closed_under_union = False
    mended_by_merging = True
    stays_lawful = True

    @property
    def compares_with_table(self) -> bool:  # type: ignore[override]
        """As the model does."""
        return self.model.compares_with_table

    @property
    def name(self) -> str:
        """Text form."""
        return self.called(())

    @property
    def meaning(self) -> str:
        """That of the model."""
        return self.model.meaning

    def called(self, columns: Sequence[str]) -> str:
        """Text form with the column looked at."""
        return f"{self.model.called(columns)} (each value of a person once)"

    @property
    def attribute(self) -> int:
        """The attribute whose values are counted."""
        return self.model.attribute or 0

    def counted(self, pairs: Counts) -> Counts:
        """int64, shape (values,): people with each value; ``pairs``: rows of each pair."""
        width = int(self.value_of.max(initial=-1)) + 1
        held = self.value_of[: len(pairs)][pairs > 0]
        return np.bincount(held, minlength=width).astype(np.int64)

    def seen(self, group: Group) -> Counts:
        """``counted`` of a class or table."""
        return self.counted(group.histograms[self.pairs])

    def smallest_class(self, table: Group) -> int:
        """Of so many pairs, hence rows."""
        return self.model.least(self.seen(table))

    def lawful(self, group: Group, table: Group) -> bool:
        """Whether the pairs obey the model."""
        return group.rows > 0 and self.model.fits(self.seen(group), self.seen(table))

    def lawful_classes(self, classes: Classes) -> NDArray[np.bool_]:
        """bool, shape (classes,): ``lawful`` of every class at once."""
        found, table = classes.histograms[self.pairs], self.seen(classes.compared)
        key = found.owner * len(table) + self.value_of[found.code]
        return self.model.fits_each(sparse(key, None, found.classes, len(table), table))

    def law(self, table: Group) -> Sequence[Law] | None:
        """The model's law over the people with each value."""
        seen = self.seen(table)
        inner = self.model.numbers(seen.tolist())
        if inner is None:
            return None
        limit(max(inner[1]), self.name)
        value_of = self.value_of[: len(table.histograms[self.pairs])]  # the numbers begin behind it
        data = [inner[0], len(seen), *value_of.tolist(), *inner[1]]
        found = [Law(ONCE, self.pairs, data)]
        if self.model.rows_needed() > 1:
            found.append(Law(DISTINCT, self.pairs, [self.model.rows_needed()]))
        return found

    def stand_in(self, table: Group) -> Model:
        """The model's stand-in, where it is one of the same histogram."""
        other = self.model.stand_in(table)
        return Once(other, self.pairs, self.value_of) if isinstance(other, PerAttribute) else self

    def pricing(self, table: Group, k: int, sizes: int = 0) -> Sequence[Part]:
        """So many values as every lawful histogram has; more of its shares rows do not tell."""
        return [distinct_part(self.model.fewest(self.seen(table)), k, self.attribute, table)]

    def claim(self, values: Values) -> list[dict[str, Any]] | None:
        """The model's entry; the proof says whose each row is where it counts people."""
        name = list(values)[self.attribute]
        entry = self.model.entry(values[name])
        return None if entry is None else [entry | {"column": name, "once": True}]

    def how_broken(self, table: Group, columns: Sequence[str]) -> str:
        """What the table itself attains."""
        seen = self.seen(table)
        if self.model.fits(seen, seen):
            return ""
        attained = float(self.model.value(seen, seen))
        return f" ({self.called(columns)}: the table attains {attained:.6g})"

    def load(self, rest: Group, values: NDArray[np.int32]) -> Counts | None:
        """How many people have the value of each row, where that breaks the model."""
        seen = self.seen(rest)
        if self.model.fits(seen, seen):
            return None
        return self.model.heavy(seen)[values[:, self.attribute]]
