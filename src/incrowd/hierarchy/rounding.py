"""Rounding to multiples, and top and bottom codes at once: changes by rule, without noise."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from incrowd.errors import HierarchyError, TooLongError
from incrowd.hierarchy.interval import Numbered, exact, plain
from incrowd.hierarchy.ladder import Ladder
from incrowd.hierarchy.paths import rule_ladder
from incrowd.hierarchy.ranges import decimal_text, too_long
from incrowd.text.numerals import POINT, with_mark


@dataclass(frozen=True)
class Rounding:
    """Numbers become the nearest multiple of a step, halves away from zero: ``35±2.5``.

    The label says for which numbers it stands, so that no group reads like a value.  Each further
    step is a multiple of the one before, and rounds what that has rounded.  A missing value becomes
    ``*`` only.
    """

    steps: tuple[Decimal, ...]
    decimal: str = POINT

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", exact(self.steps, "round:5,10"))
        if not self.steps or any(not step.is_finite() or step <= 0 for step in self.steps):
            raise HierarchyError(f"{self}: steps of rounding are positive numbers: round:5,10")
        for fine, coarse in pairwise(map(Fraction, self.steps)):
            if coarse <= fine or coarse % fine:
                raise HierarchyError(
                    f"{self}: each step is a multiple of the one before, but {decimal_text(coarse)}"
                    f" follows {decimal_text(fine)}; try {decimal_text(fine * 2)}"
                )

    @property
    def reaches(self) -> list[Fraction]:
        """How far the numbers of a group may be from its multiple, by step.

        Half a step, and of even multiples half of the step before as well: ``round:5,10`` takes 33
        to 35, which is as near to 30 as to 40.
        """
        steps = list(map(Fraction, self.steps))
        found = [steps[0] / 2]
        for fine, coarse in pairwise(steps):
            found.append(found[-1] + coarse // fine // 2 * fine)
        return found

    def __str__(self) -> str:
        return f"round:{','.join(map(plain, self.steps))}"

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values, sorted by number.

        Raises
        ------
        UnreadError: a value is not a number.
        TooLongError: some are too long.
        """
        own = Numbered.of(column, values, str(self), self.decimal)
        pairs = zip(own.texts, own.numbers, strict=True)
        lengthy = sorted(text for text, number in pairs if too_long(Decimal(number)))
        if lengthy:
            raise TooLongError(column, lengthy, str(self))
        columns, now = [own.texts], list(map(Fraction, own.numbers))
        for step, far in zip(map(Fraction, self.steps), self.reaches, strict=True):
            now = [nearest(number, step) for number in now]
            labels = (f"{decimal_text(number)}±{decimal_text(far)}" for number in now)
            columns.append([with_mark(label, self.decimal) for label in labels])
        return rule_ladder(column, str(self), columns, own.missing, own.declared)


def nearest(number: Fraction, step: Fraction) -> Fraction:
    """Return the nearest multiple of a step, halves away from zero."""
    multiple = (2 * abs(number) / step + 1) // 2 * step
    return multiple if number >= 0 else -multiple


@dataclass(frozen=True)
class EndCodes:
    """Numbers below ``bottom`` become ``<18``, those from ``top`` on ``90+``; others stay.

    Either may be None.  A missing value becomes ``*`` only.
    """

    bottom: Decimal | None = None
    top: Decimal | None = None
    decimal: str = POINT

    def __post_init__(self) -> None:
        for name in ("bottom", "top"):
            if (end := getattr(self, name)) is not None:
                object.__setattr__(self, name, *exact([end], "codes:<18,90+"))
        ends = [end for end in (self.bottom, self.top) if end is not None]
        if not ends or sorted(ends) != ends:
            raise HierarchyError(f"{self}: write codes:<18, codes:90+ or codes:<18,90+, rising")

    def __str__(self) -> str:
        low = None if self.bottom is None else f"<{plain(self.bottom)}"
        high = None if self.top is None else f"{plain(self.top)}+"
        return f"codes:{','.join(filter(None, (low, high)))}"

    @classmethod
    def parse(cls, text: str) -> "EndCodes":
        """Read ``<18,90+``, which stands behind ``codes:``.

        Raises
        ------
        HierarchyError: it is written otherwise.
        """
        number = r"-?\d+(?:\.\d+)?"
        found = re.fullmatch(rf"\s*(?:<({number}))?\s*,?\s*(?:({number})\+)?\s*", text)
        if found is None:
            raise HierarchyError(f"'codes:{text}': write codes:<18, codes:90+ or codes:<18,90+")
        low, high = (None if end is None else Decimal(end) for end in found.groups())
        return cls(low, high)

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values, sorted by number.

        Raises
        ------
        UnreadError: a value is not a number.
        """
        own = Numbered.of(column, values, str(self), self.decimal)
        pairs = zip(own.numbers, own.texts, strict=True)
        shown = [self._shown(number) or text for number, text in pairs]
        return rule_ladder(column, str(self), [own.texts, shown], own.missing, own.declared)

    def _shown(self, number: Decimal | int) -> str | None:
        if self.bottom is not None and number < self.bottom:
            return with_mark(f"<{plain(self.bottom)}", self.decimal)
        if self.top is not None and number >= self.top:
            return with_mark(f"{plain(self.top)}+", self.decimal)
        return None
