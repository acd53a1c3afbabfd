"""Several models at once: ``KAnonymity(5) & DistinctDiversity(3)``."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import cast

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.privacy.base import Group, Model
from incrowd.privacy.classes import Classes


class Combinable:
    """Gives a model the operator ``&``: both must hold."""

    def __and__(self, other: Model) -> "AllOf":
        return AllOf((*parts(cast(Model, self)), *parts(other)))


def parts(model: Model) -> tuple[Model, ...]:
    """Return the models that ``model`` is made of: its parts, or itself alone."""
    return model.models if isinstance(model, AllOf) else (model,)


def names_of(model: Model, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a model's parts, each with the column it looks at.

    Parameters
    ----------
    columns: the sensitive columns, in the order of the attributes.
    """
    named = [(part, getattr(part, "called", None)) for part in parts(model)]
    return tuple(part.name if called is None else called(columns) for part, called in named)


def in_words(model: Model, columns: Sequence[str]) -> str:
    """Return a model's name as messages say it, with the columns it looks at."""
    return " and ".join(names_of(model, columns))


@dataclass(frozen=True)
class AllOf(Combinable):
    """Every one of ``models`` holds.

    Closed under union when every part is: a union of lawful classes is lawful for each part.
    """

    models: tuple[Model, ...]

    def __post_init__(self) -> None:
        if not self.models:
            raise InputError("a combination of privacy models needs at least one model")

    @property
    def name(self) -> str:
        """Text form."""
        return " and ".join(model.name for model in self.models)

    @property
    def closed_under_union(self) -> bool:
        """Whether every part is."""
        return all(model.closed_under_union for model in self.models)

    @property
    def compares_with_table(self) -> bool:
        """Whether some part does."""
        return any(map(compares_with_table, self.models))

    def smallest_class(self, table: Group) -> int:
        """The largest of the parts' lower bounds."""
        return max(model.smallest_class(table) for model in self.models)

    def lawful(self, group: Group, table: Group) -> bool:
        """Whether every part holds."""
        return all(model.lawful(group, table) for model in self.models)

    def lawful_classes(self, classes: Classes) -> NDArray[np.bool_]:
        """bool, shape (classes,): whether every part holds, class by class."""
        return reduce(np.logical_and, (lawful_classes(model, classes) for model in self.models))


def compares_with_table(model: Model) -> bool:
    """Whether a model compares a class with the whole table; so too if it does not say."""
    return getattr(model, "compares_with_table", True)


def lawful_classes(model: Model, classes: Classes) -> NDArray[np.bool_]:
    """bool, shape (classes,): which classes are lawful; one by one for a foreign model."""
    vectorised = getattr(model, "lawful_classes", None)
    if vectorised is not None:
        return vectorised(classes)
    return np.array(
        [model.lawful(classes.group(i), classes.table) for i in range(len(classes.sizes))], bool
    )
