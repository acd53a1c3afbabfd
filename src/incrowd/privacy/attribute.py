"""What the models have in common that look at one sensitive attribute's histogram at a time."""

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes, Histograms
from incrowd.privacy.law import SHARES, Law, limit
from incrowd.privacy.model import Model, Values
from incrowd.privacy.numbers import take_whole, whole
from incrowd.privacy.pricing import Part, shares_part

Figure = int | Fraction | float
Counts = NDArray[np.int64]


class PerAttribute(Model):
    """A model on one histogram, asked of one sensitive attribute or of each (``attribute=None``).

    A group without rows is no class, hence not lawful.  ``numbers``, ``priced`` and ``entry`` are
    what a model may tell of one attribute: see ``law``, ``pricing`` and ``claim`` of ``Model``.
    """

    attribute: int | None
    closed_under_union = True

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

    def numbers(self, table: list[int]) -> tuple[int, list[int]] | None:
        """The kind and the numbers of a law over a class's histogram; None: none is known."""
        return None

    def priced(self, a: int, k: int, table: Group, sizes: int) -> Sequence[Part]:
        """Pricing problems of attribute ``a``: the shares of its values, where they are a law."""
        law = self.numbers(table.histograms[a].tolist())
        return [shares_part(a, k, law[1])] if law is not None and law[0] == SHARES else ()

    def fewest(self, table: Counts) -> int:
        """A lower bound on the different values of a lawful class (≥ 1)."""
        law = self.numbers(table.tolist())
        if law is None or law[0] != SHARES:
            return 1
        unit, values = law[1][0], len(table)
        high = np.cumsum(sorted(law[1][1 : 1 + values], reverse=True))
        enough = int(np.searchsorted(high, unit * (1 - 1e-9))) + 1  # shares are rounded down
        return max(1, min(enough, values), sum(y > 0 for y in law[1][1 + values :]))

    def rows_needed(self) -> int:
        """Rows that the model asks for beside the law of the histogram."""
        return 1

    def one_by_one(self, attributes: int) -> "Sequence[PerAttribute]":
        """The same of each attribute that it is asked of, one model for each."""
        each = range(attributes) if self.attribute is None else [self.attribute]
        return [self.of_attribute(a) for a in each]

    def of_attribute(self, attribute: int) -> "PerAttribute":
        """The same of this attribute."""
        found = copy(self)
        object.__setattr__(found, "attribute", attribute)
        return found

    def entry(self, values: Sequence[str | None]) -> dict[str, Any] | None:
        """The model as plain data, without the column; None: the checker does not know it."""
        return None

    def heavy(self, counts: Counts) -> Counts:
        """The counts of the values of which there may be too many."""
        return counts

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

    def law(self, table: Group) -> Sequence[Law] | None:
        """``numbers`` of every chosen attribute."""
        found = []
        for a in self.attributes(table):
            one = self.numbers(table.histograms[a].tolist())
            if one is None:
                return None
            limit(max(one[1]), self.name)
            found.append(Law(one[0], a, one[1]))
        return found

    def pricing(self, table: Group, k: int, sizes: int = 0) -> Sequence[Part]:
        """``priced`` of every chosen attribute."""
        return [one for a in self.attributes(table) for one in self.priced(a, k, table, sizes)]

    def claim(self, values: Values) -> list[dict[str, Any]] | None:
        """``entry`` of every chosen column."""
        names = list(values)
        found = []
        for name in names if self.attribute is None else [names[self.attribute]]:
            entry = self.entry(values[name])
            if entry is None:
                return None
            found.append(entry | {"column": name})
        return found

    def how_broken(self, table: Group, columns: Sequence[str]) -> str:
        """What the table itself attains, of the first attribute that breaks the model."""
        for a in self.attributes(table):
            counts = table.histograms[a]
            if not self.fits(counts, counts):
                name = repr(columns[a]) if a < len(columns) else f"sensitive attribute {a + 1}"
                attained = float(self.value(counts, counts))
                return f" ({self.title}: for {name} the table attains {attained:.6g})"
        return ""

    def load(self, rest: Group, values: NDArray[np.int32]) -> Counts | None:
        """How frequent the values of each row are, over the attributes that break the model."""
        counts = {a: rest.histograms[a] for a in self.attributes(rest)}
        loads = [self.heavy(h)[values[:, a]] for a, h in counts.items() if not self.fits(h, h)]
        return sum(loads[1:], loads[0]) if loads else None

    def attributes(self, table: Group) -> tuple[int, ...]:
        """Return the indices of the attributes that the model looks at."""
        return chosen(self.attribute, table, self.title)

    def check_attribute(self) -> None:
        """Raise InputError unless ``attribute`` is None or an index."""
        if self.attribute is not None:
            whole(self.attribute, "the index of a sensitive attribute", 0)


@dataclass(frozen=True)
class WholeDiversity(PerAttribute):
    """What distinct and frequency l-diversity share: a whole ``l``, and no class of fewer rows.

    ``kind``: as the option and proofs call it.
    """

    l: int  # noqa: E741  (the field's own letter)
    attribute: int | None = None

    kind: ClassVar[str]
    compares_with_table = False
    stays_lawful = True

    def __post_init__(self) -> None:
        take_whole(self, "l")
        self.check_attribute()

    @property
    def title(self) -> str:
        """Text form."""
        return f"{self.kind} {self.l}-diversity"

    def least(self, table: Counts) -> int:
        """l rows."""
        return self.l

    def entry(self, values: Sequence[str | None]) -> dict[str, Any]:
        """l alone."""
        return {"model": self.kind, "l": self.l}


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
