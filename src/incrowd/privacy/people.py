"""Classes of people: rows of at least k different persons in every class.

A person may have several rows.  The persons are an attribute that is not published; k of them in a
class is distinct k-diversity of that attribute (Machanavajjhala et al. 2006), with its bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.model import Model, Values, all_of


@dataclass(frozen=True)
class People(DistinctDiversity):
    """Every class holds rows of at least ``l`` different persons.

    Attributes
    ----------
    columns: the columns that together name a person.
    missing: of a row without a value in one of them: ``"own"`` takes it for a person of its own,
        ``"drop"`` leaves it out; ``"error"`` where there may be none.
    linked: whether the rows of a person stay linked, and all of them together are shared by ``l``
        people; that looks at all classes at once, see ``incrowd.persons.records``.
    alike: whether quasi-identifiers that are constant within each person show one cell in all rows
        of a person; likewise, see ``incrowd.persons.alike``.
    whole: whether all quasi-identifiers are such, so that a class has all rows of its people.
    """

    columns: tuple[str, ...] = ()
    missing: str = "error"
    linked: bool = False
    alike: bool = False
    whole: bool = False

    @property
    def title(self) -> str:
        """Text form."""
        each = ", who share all their rows" if self.linked else ""
        each = ", constant columns alike" if self.alike else each
        return f"{self.l} people in every class{each}"

    @property
    def meaning(self) -> str:
        """Its name says it."""
        return ""

    def called(self, columns: Sequence[str]) -> str:
        """The same: the persons' columns are not published."""
        return self.title

    def with_k(self, k: int) -> "People":
        """Another number of people."""
        return replace(self, l=k)

    def claim(self, values: Values) -> list[dict[str, Any]]:
        """How many people, and the columns that name them."""
        rule: dict[str, Any] = {} if self.missing == "error" else {"missing": self.missing}
        rule |= {name: True for name in ("linked", "alike", "whole") if getattr(self, name)}
        return [{"model": "people", "k": self.l, "columns": list(self.columns), **rule}]


def counts_people_alone(model: Model) -> bool:
    """Whether a class is lawful exactly when it has enough rows and enough people."""
    asked = [part for part in model.parts if not part.size_decides]
    return bool(asked) and all(isinstance(part, People) for part in asked)


def as_whole(model: Model) -> Model:
    """Return a model whose people have all rows in one class, where all columns are constant."""
    parts = [replace(one, whole=True) if isinstance(one, People) else one for one in model.parts]
    return all_of(parts)
