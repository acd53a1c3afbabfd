"""Keeping the first characters of codes of unequal length, such as those of diagnoses or trades."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from incrowd.errors import HierarchyError
from incrowd.hierarchy.ladder import Ladder, apart, distinct
from incrowd.hierarchy.paths import rule_ladder


@dataclass(frozen=True)
class Keep:
    """The first n characters stay, for each n from the largest on: ``E11.9``, ``E11*``, ``E*``.

    ``*`` stands for any further characters, or none: ``E11*`` is above ``E11`` as well.  A value
    with fewer characters than n stays as it is at that level.  A missing value becomes ``*`` only.
    """

    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in pairwise((0, *self.counts)))
        if not self.counts or not rising:
            raise HierarchyError(
                f"{str(self)!r}: keep takes rising numbers of first characters, at least 1: "
                "keep:1,3"
            )

    def __str__(self) -> str:
        return f"keep:{','.join(map(str, self.counts))}"

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values, sorted by text.

        Raises
        ------
        HierarchyError: no value is as long as a number of characters to keep, or a value reads
            like a group of others.
        """
        known, missing = distinct(values)
        known, declared = apart(known)
        known.sort()
        longest = max(map(len, known), default=None)
        if longest is not None and self.counts[-1] > longest:
            raise HierarchyError(
                f"column {column!r}, {self}: the longest value has {longest} characters, so "
                f"keeping {self.counts[-1]} groups nothing"
            )
        columns = [known]
        for count in reversed(self.counts):
            below = columns[-1]
            kept = [_kept(value, count) or old for value, old in zip(known, below, strict=True)]
            columns.append(kept)
        return rule_ladder(column, str(self), columns, missing, declared)


def _kept(value: str, count: int) -> str | None:
    return f"{value[:count]}*" if len(value) >= count else None
