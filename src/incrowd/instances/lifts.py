"""From k-anonymity to t-closeness, and from k = n/2 to smaller shares of the rows."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import Option, Options, whole
from incrowd.instances.plain import OfTable, PlainTable, best_partition, plant_classes, random_table
from incrowd.instances.table import HardTable, ModelSpec, Partition, SameClasses, check_partition

ROWS = Option("rows", 10, "rows of the random table")
COLUMNS = Option("columns", 6, "columns of the random table")
VALUES = Option("values", 3, "values of each column")


def draw(
    rng: np.random.Generator, planted: bool, rows: int, k: int, options: Options
) -> tuple[PlainTable, Partition | None]:
    """A random table, with a known optimum if planted."""
    columns, values = whole(options, "columns", 1), whole(options, "values", 1)
    if planted:
        return plant_classes(rng, rows, columns, values, k)
    return random_table(rng, rows, columns, values), None


@dataclass(frozen=True)
class ClosenessLift(SameClasses, OfTable):
    """k-anonymity → t-closeness with t = 1 − k/n: every row gets a sensitive value of its own.

    A class of r rows is at distance 1 − r/n from the table, so it is t-close iff r ≥ k.
    """

    k: int = 3

    id: ClassVar[str] = "closeness-lift"
    source: ClassVar[str] = "Liang and Yuan 2012, Lemma 1"
    problem: ClassVar[str] = "k-anonymity of a table"
    equation: ClassVar[str] = "optimum = the table's k-anonymity optimum"
    options: ClassVar[tuple[Option, ...]] = (
        Option("k", 3, "smallest class, at least 2", of_table=True),
        ROWS,
        COLUMNS,
        VALUES,
    )

    def __post_init__(self) -> None:
        if not 2 <= self.k <= len(self.table.cells):
            raise InputError(f"k must be from 2 to the number of rows, not {self.k}")

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> "tuple[ClosenessLift, Partition | None]":
        """Draw a table, with a known k-anonymity optimum if planted."""
        k = whole(options, "k", 2)
        table, answer = draw(rng, planted, whole(options, "rows", k), k, options)
        return cls.of(table, options), answer

    def to_table(self) -> HardTable:
        """The same quasi-identifiers, a sensitive value for each row, t = 1 − k/n."""
        n = len(self.table.cells)
        plain = self.table.hard_table(ModelSpec("t-closeness", t=1 - Fraction(self.k, n)))
        return replace(
            plain,
            sensitive_columns=("sensitive" if "s" in plain.columns else "s",),
            sensitive_alphabet=tuple(str(i + 1) for i in range(n)),
            sensitive=np.arange(n, dtype=np.int32)[:, None],
        )

    def solve_source(self) -> Partition:
        """Dynamic programming over sets of rows."""
        model = ModelSpec("k-anonymity", k=self.k)
        return best_partition(self.table.hard_table(model), self.k)

    def cost_of(self, answer: Partition) -> int:
        """Cost of the same classes."""
        return self.table.hard_table(ModelSpec("k-anonymity", k=self.k)).cost(answer)


@dataclass(frozen=True)
class Padding(OfTable):
    """(n/2)-anonymity → (cn)-anonymity, c ≤ 1/3: equal new rows, n·m columns apart from the old."""

    c: Fraction = Fraction(1, 3)

    id: ClassVar[str] = "padding"
    source: ClassVar[str] = "Liang and Yuan 2012, Theorem 4"
    problem: ClassVar[str] = "(n/2)-anonymity of a table with an even number n of rows"
    equation: ClassVar[str] = "optimum = the table's (n/2)-anonymity optimum"
    options: ClassVar[tuple[Option, ...]] = (
        Option("c", Fraction(1, 3), "k as a share of the rows, above 0, at most 1/3", True),
        Option("rows", 8, "rows of the random table, an even number"),
        COLUMNS,
        VALUES,
    )

    def __post_init__(self) -> None:
        n = len(self.table.cells)
        if n < 4 or n % 2:
            # With n odd and c = 1/3 the new rows are one too few for a class of their own.
            raise InputError(f"the table needs an even number ≥ 4 of rows, not {n}")
        if not 0 < self.c <= Fraction(1, 3):
            raise InputError(f"c must be above 0 and at most 1/3, not {self.c}")

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> "tuple[Padding, Partition | None]":
        """Draw a table, with a known (n/2)-anonymity optimum if planted."""
        rows = whole(options, "rows", 4)
        table, answer = draw(rng, planted, rows, rows // 2, options)
        return cls.of(table, options), answer

    @property
    def half(self) -> int:
        """n/2."""
        return len(self.table.cells) // 2

    def to_table(self) -> HardTable:
        """n' = ⌊n / 2c⌋ rows and m + n·m columns; k = ⌈c·n'⌉ = n/2."""
        plain = self.table.hard_table(ModelSpec("k-anonymity", k=self.half))
        n, m = plain.codes.shape
        rows = int(n / (2 * self.c))
        old, new = _fresh(plain.alphabet)
        codes = np.full((rows, m + n * m), len(plain.alphabet) + 1, np.int32)
        codes[:n, :m] = plain.codes
        codes[:n, m:] = len(plain.alphabet)
        return HardTable(
            plain.columns + tuple(f"pad{j + 1}" for j in range(n * m)),
            (*plain.alphabet, old, new),
            codes,
            plain.model,
            plain.meaning + ("new row",) * (rows - n),
        )

    def solve_source(self) -> Partition:
        """Dynamic programming over sets of rows."""
        return best_partition(
            self.table.hard_table(ModelSpec("k-anonymity", k=self.half)), self.half
        )

    def source_to_solution(self, answer: Partition) -> Partition:
        """The same classes, and the new rows as one more."""
        n = 2 * self.half
        return (*answer, tuple(range(n, int(n / (2 * self.c)))))

    def solution_to_source(self, partition: Partition) -> Partition:
        """The classes of old rows; if one has new rows too, all old rows as one class."""
        n = 2 * self.half
        check_partition(partition, int(n / (2 * self.c)))
        old = tuple(group for group in partition if min(group) < n)
        return (tuple(range(n)),) if any(max(group) >= n for group in old) else old

    def cost_of(self, answer: Partition) -> int:
        """Cost of the same classes in the source table."""
        return self.table.hard_table(ModelSpec("k-anonymity", k=self.half)).cost(answer)


def _fresh(alphabet: tuple[str, ...]) -> tuple[str, str]:
    """Two symbols that do not occur in an alphabet."""
    mark = "λ"
    while f"{mark}1" in alphabet or f"{mark}2" in alphabet:
        mark += "λ"
    return f"{mark}1", f"{mark}2"
