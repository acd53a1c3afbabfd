"""Codes by their characters: postal codes lose the last ones, diagnoses keep the first."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from incrowd.errors import HierarchyError
from incrowd.hierarchy.ladder import Ladder, apart, distinct
from incrowd.hierarchy.paths import rule_ladder
from incrowd.text.units import counted


@dataclass(frozen=True)
class Characters(ABC):
    """A number of characters for each level."""

    counts: tuple[int, ...]

    rule: ClassVar[str]
    takes: ClassVar[str]

    def __post_init__(self) -> None:
        if isinstance(self.counts, int):
            object.__setattr__(self, "counts", (self.counts,))
        whole = all(isinstance(count, int) for count in self.counts)
        rising = whole and all(a < b for a, b in pairwise((0, *self.counts)))
        if not self.counts or not rising:
            raise HierarchyError(f"{str(self)!r}: {self.rule} takes rising numbers of {self.takes}")

    def __str__(self) -> str:
        return f"{self.rule}:{','.join(map(str, self.counts))}"

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values, sorted by text.

        Raises
        ------
        HierarchyError: the values are too short, or one reads like a group of others.
        """
        known, missing = distinct(values)
        known, declared = apart(known)
        known.sort()
        longest = max(map(len, known), default=None)
        if longest is not None and (fault := self.fault(longest)):
            raise HierarchyError(
                f"column {column!r}, {self}: the longest value has {counted(longest, 'character')},"
                f" {fault}"
            )
        return rule_ladder(column, str(self), [known, *self.groups(known)], missing, declared)

    @abstractmethod
    def fault(self, longest: int) -> str | None:
        """Say why values of at most so many characters are too short; None where they are not."""

    @abstractmethod
    def groups(self, known: list[str]) -> list[list[str]]:
        """Return what each value becomes, level by level."""


@dataclass(frozen=True)
class Keep(Characters):
    """The first n characters stay, for each n from the largest on: ``E11.9``, ``E11*``, ``E*``.

    ``*`` stands for any further characters, or none: ``E11*`` is above ``E11`` as well.  A value
    with fewer characters than n stays as it is at that level.  A missing value becomes ``*`` only.
    """

    rule = "keep"
    takes = "first characters, at least 1: keep:1,3"

    def fault(self, longest: int) -> str | None:
        """The largest number of characters must be there to keep."""
        most = self.counts[-1]
        return f"so keeping {most} groups nothing" if most > longest else None

    def groups(self, known: list[str]) -> list[list[str]]:
        """From the largest number on."""
        found = [known]
        for count in reversed(self.counts):
            both = zip(known, found[-1], strict=True)
            found.append([f"{v[:count]}*" if len(v) >= count else below for v, below in both])
        return found[1:]


@dataclass(frozen=True)
class Prefix(Characters):
    """The last n characters become ``*``, for each n: ``91326``, ``9132*``, ``913**``.

    Values of unequal length keep their lengths: each loses its own last n characters, so values
    of different length meet only at the root.  A mask leaves at least one character: a value too
    short for it stays as it was one level below, and its next step is ``*``.  A missing value
    becomes ``*`` only.
    """

    rule = "prefix"
    takes = "characters to mask from the end, at least 1: prefix:1,2"

    def fault(self, longest: int) -> str | None:
        """A mask must leave a character of some value."""
        if self.counts[-1] < longest:
            return None
        if longest == 1:
            return "of which a mask leaves nothing: give the column no hierarchy (none)"
        most = f"so a mask covers at most {longest - 1} of them"
        return f"{most}; '*' itself is added as the last level"

    def groups(self, known: list[str]) -> list[list[str]]:
        """From the smallest number on."""
        return [[_mask(value, count) for value in known] for count in self.counts]


def _mask(value: str, count: int) -> str:
    hidden = min(count, len(value) - 1)
    return value[: len(value) - hidden] + "*" * hidden if hidden > 0 else value
