"""The columns that a cheapest partition into pairs and triples may use."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from incrowd.run.stop import Stop

Group = tuple[int, ...]
TOO_MANY = (
    "simplex-matching with a veil: so many releases cost the same that which of them comes first "
    "is not proven; use --method consistent"
)


@dataclass(eq=False)
class Columns:
    """The columns that a cheapest partition may use.

    Attributes
    ----------
    groups: the rows of each.
    masks: the cells it hides, a bit for each column of the table, the first one highest.
    rests: what it costs above its rows' prices; nonnegative.
    step: costs of two partitions of the same rows differ by a multiple of this.
    odd_sets: rows of which some column holds an odd number; they only make it faster.
    chosen: for each row, the column that holds it in the cheapest partition known.
    steps: what the search for a cover may still take.  programs: solved so far.
    """

    groups: Sequence[Group]
    masks: Sequence[int]
    rests: Sequence[int]
    step: int = 1
    odd_sets: Sequence[NDArray[np.int64]] = ()
    stop: Stop = field(default_factory=Stop)
    chosen: dict[int, int] = field(default_factory=dict)
    steps: int = 0
    programs: int = 0

    def choose(self, columns: Iterable[int]) -> None:
        """Let rows stand in these columns."""
        for column in columns:
            self.chosen.update(dict.fromkeys(self.groups[column], column))

    def at(self, columns: Iterable[int]) -> dict[int, set[int]]:
        """Row → those of some columns that hold it."""
        found: dict[int, set[int]] = {}
        for column in columns:
            for row in self.groups[column]:
                found.setdefault(row, set()).add(column)
        return found

    def standing(self, columns: Iterable[int]) -> set[int]:
        """Return the columns that hold, in the known partition, the rows of some columns."""
        return {self.chosen[row] for column in columns for row in self.groups[column]}

    def paid(self, columns: Iterable[int]) -> int:
        """Return what some columns cost above prices."""
        return sum(self.rests[column] for column in columns)

    def stands(self, rows: Iterable[int], columns: set[int]) -> list[int] | None:
        """Return the columns that hold these rows in the known partition, None if not of these."""
        found = {self.chosen[row] for row in rows}
        return list(found) if found <= columns else None
