"""Masking the last characters of codes, such as postal codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from incrowd.errors import HierarchyError
from incrowd.hierarchy.ladder import Ladder, apart, distinct
from incrowd.hierarchy.paths import rule_ladder
from incrowd.text.units import counted


@dataclass(frozen=True)
class Prefix:
    """The last n characters become ``*``, for each n: ``91326``, ``9132*``, ``913**``.

    Values of unequal length keep their lengths: each loses its own last n characters, so values
    of different length meet only at the root.  A mask leaves at least one character: a value too
    short for it stays as it was one level below, and its next step is ``*``.  A missing value
    becomes ``*`` only.
    """

    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        steps = (0, *self.counts)
        rising = all(a < b for a, b in pairwise(steps))
        if not self.counts or not rising:
            raise HierarchyError(
                f"{str(self)!r}: prefix takes rising numbers of characters to mask from the end, "
                "at least 1: prefix:1,2"
            )

    def __str__(self) -> str:
        return f"prefix:{','.join(map(str, self.counts))}"

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values, sorted by text.

        Raises
        ------
        HierarchyError: a mask covers every character of every value, or a value looks like a mask.
        """
        known, missing = distinct(values)
        known, declared = apart(known)
        known.sort()
        longest = max(map(len, known), default=None)
        if longest is not None and self.counts[-1] >= longest:
            most = (
                f"so a mask covers at most {longest - 1} of them; '*' itself is added as the last "
                "level"
                if longest > 1
                else "of which a mask leaves nothing: give the column no hierarchy (none)"
            )
            raise HierarchyError(
                f"column {column!r}, {self}: the longest value has {counted(longest, 'character')},"
                f" {most}"
            )
        columns = [known]
        for count in self.counts:
            columns.append([_mask(value, count) for value in known])
        return rule_ladder(column, str(self), columns, missing, declared)


def _mask(value: str, count: int) -> str:
    hidden = min(count, len(value) - 1)
    return value[: len(value) - hidden] + "*" * hidden if hidden > 0 else value
