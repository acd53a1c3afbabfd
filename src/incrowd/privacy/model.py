"""What a privacy model is: a predicate on one class, and what it may tell others beside.

A model is one file.  It must say ``name``, ``closed_under_union``, ``smallest_class`` and
``lawful``; with these it is searched, bounded by its smallest class, and checked by its own
definition.  Whatever else it knows it may tell, and nobody asks which class it is:

- ``law`` for the search's kernels, which otherwise call the predicate back;
- ``pricing`` for a bound of its own;
- ``linear`` for integer programs;
- ``claim`` for its place in a proof, where the independent checker knows the model.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.kernels.types import Ints
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.privacy.distance import GroundDistance
from incrowd.privacy.law import Law
from incrowd.privacy.linear import Linear, together
from incrowd.privacy.pricing import Part
from incrowd.text.models import models_in_words

Values = Mapping[str, Sequence[str | None]]
"""Each sensitive column's values by code, columns in the order of the attributes."""


class Model(ABC):
    """A predicate on an equivalence class, given the whole table.

    Attributes
    ----------
    closed_under_union: merging two lawful classes gives a lawful class.  Methods that rely on it
        refuse models that lack it.
    compares_with_table: whether the table matters.  True is the safe answer; others are not served
        beside an earlier release, and with fixed columns only by methods that know the table.
    size_decides: whether a class is lawful exactly when it has ``smallest_class`` rows.
    closed_under_supersets: whether a lawful class stays lawful whatever rows join it.
    stays_lawful: whether the search had better go from one lawful release to the next: where
        prices ask for lawful classes exactly, or hardly a class stays lawful when it is trimmed.
    mended_by_merging: whether methods that rely on closure serve the model though it lacks it, and
        the driver merges classes that are not lawful; see ``incrowd.driver.unions``.
    """

    closed_under_union: bool
    compares_with_table: bool = True
    size_decides: bool = False
    closed_under_supersets: bool = False
    stays_lawful: bool = False
    mended_by_merging: bool = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Text form, e.g. ``5-anonymity``."""

    @abstractmethod
    def smallest_class(self, table: Group) -> int:
        """A lower bound on the number of rows of a lawful class (≥ 1)."""

    @abstractmethod
    def lawful(self, group: Group, table: Group) -> bool:
        """Whether ``group`` is a lawful class of ``table``."""

    def lawful_classes(self, classes: Classes) -> NDArray[np.bool_]:
        """bool, shape (classes,): ``lawful`` of every class; one by one, unless it is known how."""
        number, table = len(classes.sizes), classes.compared
        return np.array([self.lawful(classes.group(i), table) for i in range(number)], bool)

    # What a model is called, and what it is made of.

    def called(self, columns: Sequence[str]) -> str:
        """Text form with the columns looked at; ``columns``: names of the sensitive attributes."""
        return self.name

    @property
    def parts(self) -> "tuple[Model, ...]":
        """The models that all must hold: of a conjunction each, of another itself alone."""
        return (self,)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the parts, each with the columns it looks at."""
        return tuple(part.called(columns) for part in self.parts)

    def in_words(self, columns: Sequence[str]) -> str:
        """Return the name as messages say it, with the columns it looks at."""
        return models_in_words(self.names(columns))

    def __and__(self, other: "Model") -> "Model":
        """Both must hold."""
        return all_of((self, other))

    @property
    def meaning(self) -> str:
        """What it asks of a class, for readers of a report; empty where it tells nothing."""
        return ""

    # What a model may tell of itself.

    def law(self, table: Group) -> Sequence[Law] | None:
        """Integer laws over histograms that hold exactly where the model does; None: none known.

        Raises
        ------
        OutOfScopeError: numbers too large for 64 bits.
        """
        return None

    def stand_in(self, table: Group) -> "Model":
        """A model that implies this one and has a law, where this one has none; else itself."""
        return self

    def in_groups(self, table: Group) -> "tuple[Model, int, NDArray[np.int64]] | None":
        """A model that implies this one and looks at groups of values of one attribute only.

        With that attribute, and the group of each of its values.  None where there is none.
        """
        return None

    def pricing(self, table: Group, k: int, sizes: int = 0) -> Sequence[Part]:
        """Pricing problems of classes of at least k rows; none: only the number of rows is priced.

        ``sizes``: how many sizes of class may be priced one by one.
        """
        return ()

    def uneven_sizes(self, table: Group, k: int) -> int:
        """For how many sizes from k on pricing one by one proves more: those whole rows spoil."""
        return 0

    def linear(self, table: Group) -> Linear | None:
        """The model as constraints linear in the rows of each kind in a class; None: it is not."""
        return None

    def claim(self, values: Values) -> list[dict[str, Any]] | None:
        """The model as plain data, one entry a column, as docs/reference/proof-format.md has it.

        None: the independent checker does not know it, and a proof says that it does not.
        """
        return None

    def closeness(self, attribute: int) -> tuple[Fraction, GroundDistance] | None:
        """The t and the ground distance asked of an attribute, by t-closeness; else None."""
        return None

    def of_people(self, attributes: int) -> "Sequence[Model] | None":
        """The models of the first attributes that say the same where a person has many rows.

        None: it counts rows.
        """
        return None

    def one_by_one(self, attributes: int) -> "Sequence[Any] | None":
        """The model as models of one histogram each, of the first attributes; None: it is none."""
        return None

    def with_k(self, k: int) -> "Model":
        """The model with another k, where it is k-anonymity."""
        return self

    # What a model says of a table that breaks it.

    def how_broken(self, table: Group, columns: Sequence[str]) -> str:
        """What the table as one class lacks, to follow a message; empty when it is lawful."""
        return ""

    def load(self, rest: Group, values: NDArray[np.int32]) -> Ints | None:
        """How frequent each row's values are, where that breaks ``rest``: int64, shape (rows,).

        ``values``: int32, shape (rows, attributes).  None when dropping rows does not help.
        """
        return None


@dataclass(frozen=True)
class AllOf(Model):
    """Every one of ``models`` holds: ``KAnonymity(5) & DistinctDiversity(3)``.

    Closed under union when every part is: a union of lawful classes is lawful for each part.
    """

    models: tuple[Model, ...]

    def __post_init__(self) -> None:
        if not self.models:
            raise InputError("a combination of privacy models needs at least one model")
        flat = tuple(part for model in self.models for part in model.parts)
        object.__setattr__(self, "models", flat)
        traits = ("closed_under_union", "closed_under_supersets", "size_decides", "stays_lawful")
        for trait in traits:
            object.__setattr__(self, trait, all(getattr(m, trait) for m in self.models))
        mended = all(m.closed_under_union or m.mended_by_merging for m in self.models)
        object.__setattr__(self, "mended_by_merging", mended)
        compares = any(model.compares_with_table for model in self.models)
        object.__setattr__(self, "compares_with_table", compares)

    @property
    def name(self) -> str:
        """Text form."""
        return " and ".join(model.name for model in self.models)

    @property
    def parts(self) -> tuple[Model, ...]:
        """The models."""
        return self.models

    def smallest_class(self, table: Group) -> int:
        """The largest of the parts' lower bounds."""
        return max(model.smallest_class(table) for model in self.models)

    def lawful(self, group: Group, table: Group) -> bool:
        """Whether every part holds."""
        return all(model.lawful(group, table) for model in self.models)

    def lawful_classes(self, classes: Classes) -> NDArray[np.bool_]:
        """bool, shape (classes,): whether every part holds, class by class."""
        return reduce(np.logical_and, (model.lawful_classes(classes) for model in self.models))

    def stand_in(self, table: Group) -> Model:
        """The parts' stand-ins."""
        return all_of([model.stand_in(table) for model in self.models])

    def pricing(self, table: Group, k: int, sizes: int = 0) -> Sequence[Part]:
        """Those of all parts: a class has to obey all of them, so each part's bound holds."""
        return [one for model in self.models for one in model.pricing(table, k, sizes)]

    def uneven_sizes(self, table: Group, k: int) -> int:
        """The most that a part asks for."""
        return max(model.uneven_sizes(table, k) for model in self.models)

    def linear(self, table: Group) -> Linear | None:
        """Those of all parts, where each has some."""
        found = [model.linear(table) for model in self.models]
        known = [one for one in found if one is not None]
        return together(known) if len(known) == len(found) else None

    def claim(self, values: Values) -> list[dict[str, Any]] | None:
        """Those of all parts, where each has one."""
        found = [model.claim(values) for model in self.models]
        return None if None in found else [entry for claim in found for entry in claim or ()]

    def with_k(self, k: int) -> Model:
        """The parts with another k."""
        return all_of([model.with_k(k) for model in self.models])

    def how_broken(self, table: Group, columns: Sequence[str]) -> str:
        """What the first part that is broken says."""
        return next(filter(None, (m.how_broken(table, columns) for m in self.models)), "")

    def load(self, rest: Group, values: NDArray[np.int32]) -> Ints | None:
        """The sum over the parts that break."""
        found = [load for m in self.models if (load := m.load(rest, values)) is not None]
        return sum(found[1:], found[0]) if found else None


def all_of(models: Sequence[Model]) -> Model:
    """Return one model that holds where all of ``models`` do."""
    return models[0] if len(models) == 1 else AllOf(tuple(models))


def is_model(given: object) -> bool:
    """Whether something is a privacy model at all."""
    return isinstance(given, Model)


class Claims(NamedTuple):
    """What the independent checker can check of a model, and the parts that it does not know."""

    models: list[dict[str, Any]]
    unchecked: tuple[Model, ...]


def claims_of(model: Model, sensitive: Values) -> Claims:
    """Return a model as plain data, one entry per part and sensitive column, and what is left.

    Parameters
    ----------
    sensitive: each sensitive column's values by code, columns in the order of the attributes.
    """
    claims = [(part, part.claim(sensitive)) for part in model.parts]
    known = [entry for _, claim in claims for entry in claim or ()]
    return Claims(known, tuple(part for part, claim in claims if claim is None))


def essential(model: Model, table: Group) -> Model:
    """Return a model that the same classes of ``table`` obey, with k once at most.

    k-anonymity is left out where the other models' smallest class has k rows anyway, so that
    methods for those models alone serve the combination.  1-anonymity alone stays as it is.
    """

    def least(part: Model) -> int:
        return part.smallest_class(table)

    others = [part for part in model.parts if not part.size_decides]
    sized = sorted((part for part in model.parts if part.size_decides), key=least)[-1:]
    needed = [part for part in sized if least(part) > max(map(least, others), default=0)]
    return all_of([*needed, *others])
