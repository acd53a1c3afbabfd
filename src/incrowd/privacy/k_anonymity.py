"""k-anonymity: every class has at least k rows (Samarati and Sweeney 1998)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.all_of import Combinable
from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.privacy.numbers import take_whole


@dataclass(frozen=True)
class KAnonymity(Combinable):
    """Every class has at least ``k`` rows."""

    k: int

    def __post_init__(self) -> None:
        take_whole(self, "k")

    @property
    def name(self) -> str:
        """Text form."""
        return f"{self.k}-anonymity"

    closed_under_union = True
    compares_with_table = False

    def smallest_class(self, table: Group) -> int:
        """k rows."""
        return self.k

    def lawful(self, group: Group, table: Group) -> bool:
        """At least k rows."""
        return group.rows >= self.k

    def lawful_classes(self, classes: Classes) -> NDArray[np.bool_]:
        """bool, shape (classes,): ``lawful`` of every class at once."""
        return classes.sizes >= self.k
