"""Two tables without a source problem: one release is forced, or its optimum is known."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.base import Option, Options, whole
from incrowd.instances.plain import best_partition
from incrowd.instances.table import HardTable, ModelSpec, Partition, SameClasses


class Fixed(SameClasses):
    """What families share that have no source problem: a release is its own answer."""

    id: ClassVar[str]
    file_format: ClassVar[str] = ""
    decision: ClassVar[bool] = False

    @classmethod
    def read(cls, text: str, options: Options) -> Self:
        """There is nothing to read."""
        raise InputError(f"{cls.id} has no source problem to read; leave the file out")

    def text(self) -> str:
        """Nothing."""
        return ""


@dataclass(frozen=True)
class DistanceTwins(Fixed):
    """k vectors at equal distance 2l, l = 2^(k−2), whose one class is dear or cheap.

    Methods that look only at distances between rows cannot tell the two, and their costs differ
    by a factor of Θ(k).
    """

    k: int = 4
    twin: str = "blocks"

    id: ClassVar[str] = "distance-twins"
    source: ClassVar[str] = (
        "Aggarwal et al. 2005, section 4, limitations of the graph representation"
    )
    problem: ClassVar[str] = "none: all k rows must form one class"
    equation: ClassVar[str] = "optimum = k²·l for blocks, k·(4l − 2) for halves, l = 2^(k−2)"
    options: ClassVar[tuple[Option, ...]] = (
        Option("k", 4, "rows, and the smallest class"),
        Option("twin", "blocks", "the dear table or the cheap one", choices=("blocks", "halves")),
    )

    def __post_init__(self) -> None:
        if not 2 <= self.k <= 20:
            raise InputError(f"k must be from 2 to 20 (columns grow as 2^k), not {self.k}")
        if self.twin not in ("blocks", "halves"):
            raise InputError(f"twin must be 'blocks' or 'halves', not {self.twin!r}")

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> "tuple[DistanceTwins, Partition | None]":
        """Nothing is random; the forced release is the planted one."""
        made = cls(whole(options, "k", 2, 20), str(options["twin"]))
        return made, made.solve_source()

    def to_table(self) -> HardTable:
        """Blocks: row i has ones in the i-th of k blocks of l columns.

        Halves: row i splits 4l = 2^k columns into 2^i blocks, ones in the first, third, ...
        """
        k, size = self.k, 2 ** (self.k - 2)
        if self.twin == "blocks":
            codes = np.kron(np.eye(k, dtype=np.int32), np.ones((1, size), np.int32))
        else:
            place = np.arange(4 * size)
            codes = np.array([1 - (place >> (k - i) & 1) for i in range(1, k + 1)], np.int32)
        return HardTable(
            tuple(f"q{j + 1}" for j in range(codes.shape[1])),
            ("0", "1"),
            codes.astype(np.int32),
            ModelSpec("k-anonymity", k=k),
            tuple(f"vector {i + 1}" for i in range(k)),
        )

    def solve_source(self) -> Partition:
        """All rows in one class."""
        return (tuple(range(self.k)),)

    def cost_of(self, answer: Partition) -> int:
        """k²·l for blocks; k·(4l − 2) for halves, whose first and last columns are constant."""
        size = 2 ** (self.k - 2)
        return self.k * (self.k * size if self.twin == "blocks" else 4 * size - 2)


@dataclass(frozen=True)
class TwoFactorTight(Fixed):
    """The eight vectors along one cycle of the 4-cube, k = 3: a best 2-factor costs a third."""

    id: ClassVar[str] = "two-factor-tight"
    source: ClassVar[str] = "Aggarwal et al. 2005, section 6"
    problem: ClassVar[str] = "none: 3-anonymity of eight fixed rows"
    equation: ClassVar[str] = "optimum = 3 · (weight of the least 2-factor, the cycle of the rows)"
    options: ClassVar[tuple[Option, ...]] = ()

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> "tuple[TwoFactorTight, Partition | None]":
        """Nothing is random; the two runs of four rows are the planted release."""
        return cls(), ((0, 1, 2, 3), (4, 5, 6, 7))

    def to_table(self) -> HardTable:
        """Rows 0000, 0001, 0011, 0111, 1111, 1110, 1100, 1000."""
        ones = np.tri(4, 4, -1, dtype=np.int32)[:, ::-1]
        codes = np.vstack([ones, 1 - ones]).astype(np.int32)
        return HardTable(
            ("q1", "q2", "q3", "q4"),
            ("0", "1"),
            codes,
            ModelSpec("k-anonymity", k=3),
            tuple(f"vector {i + 1}" for i in range(8)),
        )

    def cycle(self) -> int:
        """Length of the cycle through all rows in their order, in cells that differ."""
        codes = self.to_table().codes
        return int((codes != np.roll(codes, 1, axis=0)).sum())

    def solve_source(self) -> Partition:
        """Dynamic programming over sets of rows."""
        return best_partition(self.to_table(), 3)

    def cost_of(self, answer: Partition) -> int:
        """Three times the cycle for an optimal release."""
        return 3 * self.cycle()
