"""No groups at all: a value stays, or becomes ``*``."""

from collections.abc import Sequence
from dataclasses import dataclass

from incrowd.hierarchy.ladder import Ladder, flat


@dataclass(frozen=True)
class Suppression:
    """A value stays, or becomes ``*``: the hierarchy of height 1."""

    def __str__(self) -> str:
        return "none"

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values, sorted by text, a missing one last."""
        return flat(column, values, str(self))
