"""What the models have in common that look at one sensitive attribute's histogram at a time."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.privacy.all_of import Combinable
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes, Histograms
from incrowd.privacy.numbers import whole

Figure = int | Fraction | float
Counts = NDArray[np.int64]


class PerAttribute(Combinable, ABC):
    """A model on one histogram, asked of one sensitive attribute or of each (``attribute=None``).

    A group without rows is no class, hence not lawful.
    """

    attribute: int | None
    closed_under_union = True
    compares_with_table = True  # the safe answer; models that look at a class alone say so

    @property
    @abstractmethod
    def title(self) -> str:
        """The name without the attribute."""

    @abstractmethod
    def fits(self, counts: Counts, table: Counts) -> bool:
        """Whether a class (at least one row) with this histogram is lawful.  Exact."""

    @abstractmethod
    def value(self, counts: Counts, table: Counts) -> Figure:
        """The parameter that a class (at least one row) with this histogram attains."""

    @abstractmethod
    def least(self, table: Counts) -> int:
        """A lower bound on the rows of a lawful class (≥ 1)."""

    @abstractmethod
    def fits_each(self, classes: Histograms) -> NDArray[np.bool_]:
        """bool, shape (classes,): ``fits`` of every class at once.  Exact."""

    @abstractmethod
    def worst(self, classes: Histograms) -> Figure:
        """The least private ``value`` over all classes (at least one)."""

    @property
    def name(self) -> str:
        """Text form."""
        return self.called(())

    def called(self, columns: Sequence[str]) -> str:
        """Text form with the column looked at, where ``columns`` says what the attributes are."""
        if self.attribute is None:
            return self.title
        if self.attribute < len(columns):
            return f"{self.title} of {columns[self.attribute]!r}"
        return f"{self.title} of sensitive attribute {self.attribute + 1}"

    def smallest_class(self, table: Group) -> int:
        """The largest lower bound over the attributes."""
        return max(self.least(table.histograms[a]) for a in self.attributes(table))

    def lawful(self, group: Group, table: Group) -> bool:
        """Whether every chosen attribute's histogram fits."""
        return group.rows > 0 and all(
            self.fits(group.histograms[a], table.histograms[a]) for a in self.attributes(table)
        )

    def lawful_classes(self, classes: Classes) -> NDArray[np.bool_]:
        """bool, shape (classes,): ``lawful`` of every class at once."""
        fits = np.ones(len(classes.sizes), bool)
        for a in self.attributes(classes.table):
            fits &= self.fits_each(classes.histograms[a])
        return fits

    def attributes(self, table: Group) -> tuple[int, ...]:
        """Return the indices of the attributes that the model looks at."""
        return chosen(self.attribute, table, self.title)

    def check_attribute(self) -> None:
        """Raise InputError unless ``attribute`` is None or an index."""
        if self.attribute is not None:
            whole(self.attribute, "the index of a sensitive attribute", 0)


def chosen(attribute: int | None, table: Group, title: str) -> tuple[int, ...]:
    """Return the attributes meant by ``attribute``; raise InputError if the table lacks them."""
    known = len(table.sizes)
    if known == 0:
        raise InputError(f"{title} needs a sensitive attribute: name one with --sensitive")
    if attribute is None:
        return tuple(range(known))
    if attribute >= known:
        raise InputError(
            f"{title} is asked of sensitive attribute {attribute + 1}, the table has {known}"
        )
    return (attribute,)
