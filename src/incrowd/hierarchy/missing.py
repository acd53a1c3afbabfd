"""Hierarchies that spare what stands for a missing value, such as ``NA`` and ``-99``.

Each stays a value of its own, for rows are held alike by what is published: ``NA`` and an empty
cell differ there.  Only what a rule would make of it is kept from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from incrowd.hierarchy.costs import Cost
from incrowd.hierarchy.family import FamilySource
from incrowd.hierarchy.ladder import Declared, Ladder, Source


def declared(values: Sequence[str | None], marks: Sequence[str]) -> tuple[str | None, ...]:
    """Return the values, those that stand for a missing one declared."""
    return tuple(Declared(v) if v is not None and v in marks else v for v in values)


@dataclass(frozen=True)
class Sparing:
    """A hierarchy that leaves marks of missing values as they are, below ``*``.

    Attributes
    ----------
    source: of the other values, and of marks that it lists itself, as a file may.
    """

    source: Source
    marks: tuple[str, ...]

    def __str__(self) -> str:
        return str(self.source)

    @property
    def path(self) -> Any:
        """The file that the hierarchy is, where it is one."""
        return getattr(self.source, "path", str(self.source))

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder; see ``Source``."""
        ladder = self.source.build(column, declared(values, self.marks))
        labels = tuple(
            tuple(None if text is None else str(text) for text in level) for level in ladder.labels
        )
        return replace(ladder, labels=labels)


class SparingFamily(Sparing):
    """The same of a source that makes a column's family as a whole."""

    source: Any

    def family(self, column: str, values: Sequence[str | None], cost: Cost) -> Any:
        """Return the family and its unit; see ``FamilySource``."""
        return self.source.family(column, declared(values, self.marks), cost)

    def ends_in(
        self, column: str, values: Sequence[str | None], published: Sequence[str | None]
    ) -> tuple[str, ...]:
        """Return the values that published labels name; see ``FamilySource``."""
        shown = [text for text in published if text not in self.marks]
        return self.source.ends_in(column, declared(values, self.marks), shown)


def sparing(source: Source, marks: Sequence[str]) -> Source:
    """Return the source, sparing marks if there are any."""
    if not marks:
        return source
    kind = SparingFamily if isinstance(source, FamilySource) else Sparing
    return kind(source, tuple(marks))


def bare_of(source: Any) -> Any:
    """Return the source of the values other than marks."""
    return source.source if isinstance(source, Sparing) else source
