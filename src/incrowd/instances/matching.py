"""Three-dimensional matching → 3-anonymity with 27 columns, and → t-closeness below 1/2."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import Option, Options, whole
from incrowd.instances.table import HardTable, ModelSpec, Partition, encode
from incrowd.instances.triples import Chosen, OfTriples, Triples, random_triples

SIDE = Option("side", 5, "elements in each of the three sets")
TRIPLES = Option("triples", 12, "number of triples (a planted matching included)")


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
