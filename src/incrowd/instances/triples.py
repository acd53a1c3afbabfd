"""Three-dimensional matching: triples over three disjoint sets."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import FromFile
from incrowd.instances.exact_cover import largest_packing
from incrowd.instances.graph import names

Chosen = tuple[int, ...]
"""An answer: numbers of pairwise disjoint triples."""


Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Triples:
    """Triples of element numbers; elements of the three sets are numbered one after the other.

    Attributes
    ----------
    sizes: how many elements each set has.
    elements: their names, set by set.
    triples: one element number of each set, ascending; no triple occurs twice.
    """

    sizes: tuple[int, int, int]
    elements: tuple[str, ...]
    triples: tuple[Triple, ...]

    @classmethod
    def parse(cls, text: str) -> "Triples":
        """Read three names a line, one of each set; ``#`` starts a comment.

        A line with ``-`` for a name adds only its other elements.  The same name in two columns
        means two elements.  Raises InputError for malformed lines and repeated triples.
        """
        found: list[dict[str, int]] = [{}, {}, {}]
        rows: list[list[str]] = []
        for number, line in enumerate(text.splitlines(), 1):
            words = line.partition("#")[0].replace(",", " ").split()
            if words and len(words) != 3:
                raise InputError(f"triples, line {number}: expected three names, not {len(words)}")
            for word, seen in zip(words, found, strict=False):
                if word != "-":
                    seen.setdefault(word, len(seen))
            if words and "-" not in words:
                rows.append(words)
        x, y, z = (len(seen) for seen in found)
        start = (0, x, x + y)
        triples = [
            tuple(s + seen[w] for s, seen, w in zip(start, found, row, strict=True)) for row in rows
        ]
        if len(set(triples)) < len(triples):
            raise InputError("a triple occurs twice")
        if not triples:
            raise InputError("there is no triple")
        elements = tuple(name for seen in found for name in seen)
        return cls((x, y, z), elements, tuple((a, b, c) for a, b, c in triples))

    def text(self) -> str:
        """The triples, with a line for each element that none of them holds."""
        told = [" ".join(self.elements[e] for e in triple) for triple in self.triples]
        touched = {e for triple in self.triples for e in triple}
        for element, name in enumerate(self.elements):
            if element not in touched:
                line = ["-", "-", "-"]
                line[self.side(element)] = name
                told.append(" ".join(line))
        return "\n".join(told) + "\n"

    def side(self, element: int) -> int:
        """Which of the three sets (0, 1, 2) an element belongs to."""
        return (element >= self.sizes[0]) + (element >= self.sizes[0] + self.sizes[1])

    @property
    def size(self) -> int:
        """Number of elements."""
        return len(self.elements)

    @cached_property
    def holding(self) -> list[list[int]]:
        """The triples that hold each element."""
        found: list[list[int]] = [[] for _ in self.elements]
        for number, triple in enumerate(self.triples):
            for element in triple:
                found[element].append(number)
        return found


@dataclass(frozen=True)
class OfTriples(FromFile):
    """What families of triples share: their file lists them, and a largest matching is best."""

    triples: Triples

    form: ClassVar[type[Triples]] = Triples
    file_format: ClassVar[str] = "triples"
    decision: ClassVar[bool] = False

    def solve_source(self) -> Chosen:
        """Exhaustive search."""
        return largest_packing(self.triples.size, self.triples.triples)


def random_triples(
    rng: np.random.Generator, side: int, triples: int, degree: int, planted: bool
) -> tuple[Triples, Chosen | None]:
    """Random triples over three sets of one size, each element in at most ``degree`` of them.

    If planted, a perfect matching is among them.  Fewer triples than asked are given when the
    degree leaves no room.
    """
    start: list[Triple] = []
    if planted:
        second, third = rng.permutation(side), rng.permutation(side)
        start = [(i, side + int(second[i]), 2 * side + int(third[i])) for i in range(side)]
    load = np.zeros(3 * side, int)
    chosen: dict[Triple, None] = {}
    for triple in [*start, *_draws(rng, side, triples)]:
        if len(chosen) < triples and triple not in chosen and load[list(triple)].max() < degree:
            chosen[triple] = None
            load[list(triple)] += 1
    pool = list(chosen)
    mixed = tuple(pool[int(i)] for i in rng.permutation(len(pool)))
    elements = names(side, "x") + names(side, "y") + names(side, "z")
    place = {triple: number for number, triple in enumerate(mixed)}
    answer = tuple(place[triple] for triple in start) if planted else None
    return Triples((side, side, side), elements, mixed), answer


def _draws(rng: np.random.Generator, side: int, triples: int) -> list[Triple]:
    """All triples in random order where they are few, else many random ones."""
    offset = np.array([0, side, 2 * side])
    if side**3 <= 20_000:
        numbers = np.array(np.unravel_index(rng.permutation(side**3), (side,) * 3)).T
    else:
        numbers = rng.integers(side, size=(20 * triples, 3))
    return [(a, b, c) for a, b, c in (numbers + offset).tolist()]
