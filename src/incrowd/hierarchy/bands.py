"""Bands of numbers that the user lists, of unequal width, open at either end."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from incrowd.errors import HierarchyError, OutsideError
from incrowd.hierarchy.interval import Numbered, interval_label, plain, whole
from incrowd.hierarchy.ladder import Ladder
from incrowd.hierarchy.paths import rule_ladder
from incrowd.text.numerals import POINT, with_mark

EXAMPLE = "write borders that rise, like bands:0,1,5,18,40,65,80+, coarser ones behind a /"


@dataclass(frozen=True)
class Level:
    """The bands between borders; below the first and from the last on there may be one each.

    Attributes
    ----------
    borders: rising; a band holds its lower border, and not its upper one.
    below, above: whether numbers below the first border, and from the last one on, are a band.
    """

    borders: tuple[Decimal, ...]
    below: bool = False
    above: bool = False

    def __str__(self) -> str:
        texts = [plain(border) for border in self.borders]
        return f"{'<' if self.below else ''}{','.join(texts)}{'+' if self.above else ''}"

    @property
    def codes_ends_alone(self) -> bool:
        """Whether it is a top or a bottom code: one border, and other numbers stay as they are."""
        return len(self.borders) == 1 and self.below != self.above

    def place(self, number: Decimal | int) -> int | None:
        """Return the number of the band, from −1 (below) on; None outside all bands."""
        at = bisect_right(self.borders, number) - 1
        if at < 0:
            return -1 if self.below else None
        if at == len(self.borders) - 1:
            return at if self.above else None
        return at

    def label(self, at: int, whole: bool, decimal: str) -> str:
        """Return what a band reads."""
        if at < 0:
            return with_mark(f"<{plain(self.borders[0])}", decimal)
        if at == len(self.borders) - 1:
            return with_mark(f"{plain(self.borders[-1])}+", decimal)
        return interval_label(self.borders[at], self.borders[at + 1], whole, decimal)

    def contains(self, finer: "Level") -> bool:
        """Whether each of its bands is a union of bands of another level."""
        return set(self.borders) <= set(finer.borders)


@dataclass(frozen=True)
class Bands:
    """Numbers between listed borders: ``bands:0,1,5,18,40,65,80+/0,18,65+``.

    Labels are ``0``, ``1-4``, ``5-17``, …, ``80+`` where all borders and values are whole numbers,
    else ``[5.0,18.0)``.  One border alone is a top code (``bands:90+``) or a bottom code
    (``bands:<18``): other numbers stay as they are.  A missing value becomes ``*`` only.
    """

    levels: tuple[Level, ...]
    decimal: str = POINT

    def __post_init__(self) -> None:
        for level in self.levels:
            if any(a >= b for a, b in pairwise(level.borders)):
                raise HierarchyError(f"{self}: borders must rise; {EXAMPLE}")
            if len(level.borders) == 1 and not (level.below or level.above):
                raise HierarchyError(f"{self}: one border alone makes no band; {EXAMPLE}")
        for finer, coarser in pairwise(self.levels):
            if not coarser.contains(finer):
                raise HierarchyError(
                    f"{self}: each border of {coarser} must be one of {finer}, the level before"
                )

    def __str__(self) -> str:
        return f"bands:{'/'.join(map(str, self.levels))}"

    @classmethod
    def parse(cls, text: str) -> "Bands":
        """Read ``0,18,65+/18,65+``, which stands behind ``bands:``.

        Raises
        ------
        HierarchyError: it is written otherwise.
        """
        return cls(tuple(_level(part, text) for part in text.split("/")))

    def build(self, column: str, values: Sequence[str | None]) -> Ladder:
        """Return the ladder of the values, sorted by number.

        Raises
        ------
        UnreadError: a value is not a number.
        OutsideError: some lie outside all bands.
        """
        own = Numbered.of(column, values, str(self), self.decimal)
        borders = [border for level in self.levels for border in level.borders]
        all_whole = all(map(whole, (*own.numbers, *borders)))
        columns = [own.texts]
        for level in self.levels:
            places = list(map(level.place, own.numbers))
            if None in places and not level.codes_ends_alone:
                pairs = zip(own.texts, places, strict=True)
                outside = sorted(text for text, place in pairs if place is None)
                raise OutsideError(column, outside, str(self))
            columns.append(
                [
                    old if at is None else level.label(at, all_whole, self.decimal)
                    for at, old in zip(places, columns[-1], strict=True)
                ]
            )
        return rule_ladder(column, str(self), columns, own.missing, own.declared)


def _level(part: str, text: str) -> Level:
    found = re.fullmatch(r"\s*(<?)\s*([^<+]*?)\s*(\+?)\s*", part)
    borders = [piece.strip() for piece in found[2].split(",")] if found else []
    if found is None or not all(re.fullmatch(r"-?\d+(\.\d+)?", border) for border in borders):
        raise HierarchyError(f"'bands:{text}': {EXAMPLE}")
    return Level(tuple(map(Decimal, borders)), bool(found[1]), bool(found[3]))
