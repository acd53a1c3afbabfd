"""Three-dimensional matching → 3-anonymity with 27 columns, and → t-closeness below 1/2."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import FromFile, Option, Options, whole
from incrowd.instances.exact_cover import largest_packing
from incrowd.instances.graph import names
from incrowd.instances.table import HardTable, ModelSpec, Partition, encode

Chosen = tuple[int, ...]
"""An answer: numbers of pairwise disjoint triples."""
Triple = tuple[int, int, int]
SIDE = Option("side", 5, "elements in each of the three sets")
TRIPLES = Option("triples", 12, "number of triples (a planted matching included)")


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


def element_meaning(problem: Triples) -> tuple[str, ...]:
    """What each element's row stands for."""
    return tuple(
        f"element {name} of set {problem.side(e) + 1}" for e, name in enumerate(problem.elements)
    )


def matched(problem: Triples, partition: Partition) -> Chosen:
    """The triples that are classes of a release."""
    place = {triple: number for number, triple in enumerate(problem.triples)}
    sets = (tuple(sorted(group)) for group in partition if len(group) == 3)
    return tuple(place[s] for s in sets if s in place)  # pyright: ignore[reportArgumentType]


def with_rest(problem: Triples, answer: Chosen, rows: int) -> Partition:
    """The answer's triples as classes, and the other elements (rows < ``rows``) as one more."""
    groups = [problem.triples[t] for t in answer]
    used = {row for group in groups for row in group}
    rest = tuple(row for row in range(rows) if row not in used)
    return (*groups, rest) if rest else tuple(groups)


@dataclass(frozen=True)
class ThreeDimensionalMatching(OfTriples):
    """Max 3DM-3 → 3-anonymity with 27 columns: three rows agree in one column iff a triple."""

    id: ClassVar[str] = "three-dimensional-matching"
    source: ClassVar[str] = "Blocki and Williams 2010, Theorem 2"
    problem: ClassVar[str] = (
        "largest matching among triples over three sets, each element in at most 3 triples"
    )
    equation: ClassVar[str] = (
        "optimum = 27·n − 3·|M'|; 3 more when the largest matching M' leaves 1 or 2 elements over"
    )
    options: ClassVar[tuple[Option, ...]] = (SIDE, TRIPLES)

    def __post_init__(self) -> None:
        if any(len(held) > 3 for held in self.triples.holding):
            raise InputError("an element is in more than 3 triples")

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> "tuple[ThreeDimensionalMatching, Chosen | None]":
        """Draw triples, with a perfect matching if planted."""
        side = whole(options, "side", 1)
        count = whole(options, "triples", side if planted else 1)
        triples, answer = random_triples(rng, side, count, 3, planted)
        return cls(triples), answer

    def to_table(self) -> HardTable:
        """Column (a, b, c) holds an element's a-th, b-th or c-th triple, by the element's set."""
        problem = self.triples
        rows: list[list[str]] = []
        for element, name in enumerate(problem.elements):
            side = problem.side(element)
            slots = [f"t{t + 1}" for t in problem.holding[element]]
            # Empty slots get a symbol that occurs in no other row.
            slots += [f"{'wxy'[side]}:{name}:{free + 1}" for free in range(len(slots), 3)]
            rows.append([slots[place[side]] for place in np.ndindex(3, 3, 3)])
        alphabet, codes = encode(rows)
        columns = tuple(f"c{a + 1}{b + 1}{c + 1}" for a, b, c in np.ndindex(3, 3, 3))
        model = ModelSpec("k-anonymity", k=3)
        return HardTable(columns, alphabet, codes, model, element_meaning(problem))

    def _kept(self, answer: Chosen) -> Chosen:
        """The answer, less one triple when 1 or 2 elements left over could form no class."""
        return answer[:-1] if self.triples.size - 3 * len(answer) in (1, 2) else answer

    def source_to_solution(self, answer: Chosen) -> Partition:
        """Each triple is a class, the elements left over are one more."""
        return with_rest(self.triples, self._kept(answer), self.triples.size)

    def solution_to_source(self, partition: Partition) -> Chosen:
        """The triples among the classes: every other class is suppressed whole."""
        return matched(self.triples, partition)

    def cost_of(self, answer: Chosen) -> int:
        """27·n − 3 for each triple that is kept."""
        return 27 * self.triples.size - 3 * len(self._kept(answer))


@dataclass(frozen=True)
class Closeness(OfTriples):
    """What the two closeness families share: perfect matchings as lawful classes.

    Attributes
    ----------
    triples: over three sets of one size, any number of them with one element.
    t: the closeness, within ``span``.
    """

    t: Fraction

    problem: ClassVar[str] = "perfect matching among triples over three sets of n elements"
    equation: ClassVar[str] = (
        "optimum = 3·n·m − 3·|M'| with M' the largest matching; so ≤ 3·n·(m − 1) iff it is perfect"
    )
    span: ClassVar[tuple[Fraction, Fraction]]  # the least t, and the one that is too large

    def __post_init__(self) -> None:
        if len(set(self.triples.sizes)) > 1:
            raise InputError(f"the three sets must be of one size, not {self.triples.sizes}")
        least, above = self.span
        if not least <= self.t < above:
            raise InputError(f"t must be at least {least} and below {above}, not {self.t}")

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> tuple[Self, Chosen | None]:
        """Draw triples, with a perfect matching if planted."""
        side = whole(options, "side", 1)
        count = whole(options, "triples", side if planted else 1, side**3)
        triples, answer = random_triples(rng, side, count, count, planted)
        return cls.of(triples, options), answer

    def table(self, model: ModelSpec, new: int = 0) -> HardTable:
        """One row per element, then the new; one column per triple, 0 for the elements it holds.

        Other cells are the row's number; the sensitive value is the element's set, 3 if it is new.
        """
        problem, rows = self.triples, self.triples.size + new
        values = [problem.side(e) for e in range(problem.size)] + [3] * new
        codes = np.tile(np.arange(1, rows + 1, dtype=np.int32)[:, None], len(problem.triples))
        for column, triple in enumerate(problem.triples):
            codes[list(triple), column] = 0
        return HardTable(
            tuple(f"e{j + 1}" for j in range(len(problem.triples))),
            tuple(str(i) for i in range(rows + 1)),
            codes,
            model,
            element_meaning(problem) + ("new row",) * new,
            threshold=problem.size * (len(problem.triples) - 1),
            sensitive_columns=("s",),
            sensitive_alphabet=tuple(str(v + 1) for v in range(max(values) + 1)),
            sensitive=np.array(values, np.int32)[:, None],
        )

    def source_to_solution(self, answer: Chosen) -> Partition:
        """Each triple is a class; the rest, as balanced as the table, are one more."""
        return with_rest(self.triples, answer, self.triples.size)

    def solution_to_source(self, partition: Partition) -> Chosen:
        """The triples among the classes: other lawful classes of elements are suppressed whole."""
        return matched(self.triples, partition)

    def cost_of(self, answer: Chosen) -> int:
        """3·n·m − 3·|M'|."""
        return self.triples.size * len(self.triples.triples) - 3 * len(answer)


@dataclass(frozen=True)
class ClosenessMatching(Closeness):
    """3D matching → t-closeness, t < 1/3, three sensitive values at equal distance."""

    t: Fraction = Fraction(0)

    id: ClassVar[str] = "closeness-matching"
    source: ClassVar[str] = "Liang and Yuan 2012, Theorem 6"
    span: ClassVar[tuple[Fraction, Fraction]] = (Fraction(0), Fraction(1, 3))
    options: ClassVar[tuple[Option, ...]] = (
        SIDE,
        TRIPLES,
        Option("t", Fraction(0), "closeness, at least 0 and below 1/3", of_table=True),
    )

    def to_table(self) -> HardTable:
        """One row per element, one column per triple; the sensitive value is the element's set."""
        return self.table(ModelSpec("t-closeness", t=self.t))


@dataclass(frozen=True)
class ClosenessMatchingHalf(Closeness):
    """3D matching → t-closeness, 1/3 ≤ t < 1/2, with new rows of a fourth value halfway."""

    t: Fraction = Fraction(1, 3)

    id: ClassVar[str] = "closeness-matching-half"
    source: ClassVar[str] = "Liang and Yuan 2012, Theorem 7"
    span: ClassVar[tuple[Fraction, Fraction]] = (Fraction(1, 3), Fraction(1, 2))
    options: ClassVar[tuple[Option, ...]] = (
        SIDE,
        TRIPLES,
        Option("t", Fraction(1, 3), "closeness, at least 1/3 and below 1/2", of_table=True),
    )

    @property
    def rows(self) -> int:
        """n' = ⌊3n / (1 − 2t)⌋.

        Rounding down keeps the proof: with a the share of new rows, a class of old rows that lacks
        a set is at distance a/2 + (1 − a)/3 at least, and 3n/n' ≤ (1 − 2t)·9/8 keeps that above t.
        """
        return int(self.triples.size / (1 - 2 * self.t))

    def to_table(self) -> HardTable:
        """The table of ``closeness-matching`` and rows unlike all others, of value 4."""
        half, one, none = Fraction(1, 2), Fraction(1), Fraction(0)
        distance = tuple(
            tuple(none if i == j else half if 3 in (i, j) else one for j in range(4))
            for i in range(4)
        )
        model = ModelSpec("t-closeness", t=self.t, distance=distance)
        return self.table(model, self.rows - self.triples.size)

    def source_to_solution(self, answer: Chosen) -> Partition:
        """Each triple is a class, the other elements are one more, each new row is its own."""
        alone = tuple((row,) for row in range(self.triples.size, self.rows))
        return super().source_to_solution(answer) + alone
