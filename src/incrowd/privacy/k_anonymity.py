"""k-anonymity: every class has at least k rows (Samarati and Sweeney 1998)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.privacy.law import ROWS, Law
from incrowd.privacy.linear import Linear
from incrowd.privacy.model import Model, Values
from incrowd.privacy.numbers import take_whole
from incrowd.text.units import counted


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every class has at least ``k`` rows."""

    k: int

    closed_under_union = True
    compares_with_table = False
    size_decides = True
    closed_under_supersets = True
    stays_lawful = True

    def __post_init__(self) -> None:
        take_whole(self, "k")

    @property
    def name(self) -> str:
        """Text form."""
        return f"{self.k}-anonymity"

    def smallest_class(self, table: Group) -> int:
        """k rows."""
        return self.k

    def lawful(self, group: Group, table: Group) -> bool:
        """At least k rows."""
        return group.rows >= self.k

    def lawful_classes(self, classes: Classes) -> NDArray[np.bool_]:
        """bool, shape (classes,): ``lawful`` of every class at once."""
        return classes.sizes >= self.k

    def law(self, table: Group) -> Sequence[Law]:
        """The number of rows."""
        return (Law(ROWS, 0, (self.k,)),)

    def linear(self, table: Group) -> Linear:
        """The number of rows."""
        return Linear(self.k)

    def claim(self, values: Values) -> list[dict[str, Any]]:
        """k alone."""
        return [{"model": "k-anonymity", "k": self.k}]

    def of_people(self, attributes: int) -> Sequence[Model]:
        """Itself: k rows are asked for beside k people."""
        return (self,)

    def with_k(self, k: int) -> Model:
        """Another k."""
        return KAnonymity(k)

    def how_broken(self, table: Group, columns: Sequence[str]) -> str:
        """How many rows there are."""
        few = f"; it has {counted(table.rows, 'row')}, fewer than {self.k}"
        return few if table.rows < self.k else ""
