"""A hard table: cells, sensitive values, the model to obey, and the cost of a partition."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.problem.instance import Instance, from_codes

Partition = tuple[tuple[int, ...], ...]
"""A release: disjoint classes of row numbers that together hold every row."""


@dataclass(frozen=True)
class ModelSpec:
    """A privacy model as plain data.

    Attributes
    ----------
    kind: ``"k-anonymity"``, ``"l-diversity"`` or ``"t-closeness"``.
    k, l, t: the parameter that ``kind`` needs; ``t`` is exact.
    l_kind: ``"distinct"``, ``"frequency"`` or ``"disjoint"``.
    distance: for t-closeness, the ground distance between sensitive values, in the order of
        ``HardTable.sensitive_alphabet``; None for the equal-distance space.
    """

    kind: str
    k: int | None = None
    l: int | None = None  # noqa: E741 (the field's own letter)
    l_kind: str | None = None
    t: Fraction | None = None
    distance: tuple[tuple[Fraction, ...], ...] | None = None

    def describe(self) -> dict[str, Any]:
        """Plain data for a side file; ``t`` as text and as the nearest number."""
        told: dict[str, Any] = {"kind": self.kind}
        if self.k is not None:
            told["k"] = self.k
        if self.l is not None:
            told |= {"l": self.l, "l_kind": self.l_kind}
        if self.t is not None:
            matrix = self.distance and [[float(d) for d in row] for row in self.distance]
            told |= {"t": str(self.t), "t_number": float(self.t), "distance": matrix or "equal"}
        return told


@dataclass(frozen=True, eq=False)
class HardTable:
    """A table that some source problem became.

    Attributes
    ----------
    columns: names of the quasi-identifiers.
    alphabet: the text of every code.
    codes: int32, shape (rows, columns): quasi-identifiers as places in ``alphabet``.
    model: what a release must obey.
    meaning: for each row, what it stands for in the source problem.
    threshold: for decision problems, the cost a release reaches iff the answer is yes.
    sensitive_columns: names of the sensitive attributes.
    sensitive_alphabet: the text of every sensitive code.
    sensitive: int32, shape (rows, sensitive attributes): places in ``sensitive_alphabet``.
    """

    columns: tuple[str, ...]
    alphabet: tuple[str, ...]
    codes: NDArray[np.int32]
    model: ModelSpec
    meaning: tuple[str, ...]
    threshold: int | None = None
    sensitive_columns: tuple[str, ...] = ()
    sensitive_alphabet: tuple[str, ...] = ()
    sensitive: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 0), np.int32))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def cells(self) -> Iterable[list[str]]:
        """Each row as text, quasi-identifiers first, then sensitive values."""
        for i, row in enumerate(self.codes):
            told = [self.alphabet[c] for c in row]
            if self.sensitive_columns:
                told += [self.sensitive_alphabet[c] for c in self.sensitive[i]]
            yield told

    def class_cost(self, rows: Sequence[int]) -> int:
        """Stars of one class: its size times the columns on which it disagrees."""
        part = self.codes[list(rows)]
        return len(rows) * int((part != part[0]).any(axis=0).sum())

    def cost(self, partition: Partition) -> int:
        """Stars of a release; raises InputError when it is no partition of the rows."""
        check_partition(partition, self.rows)
        return sum(self.class_cost(rows) for rows in partition)

    def to_instance(self) -> tuple[Instance, NDArray[np.int64]]:
        """The instance that solvers take, and for each row the copy it became."""
        dense = np.empty_like(self.codes)
        for j in range(self.codes.shape[1]):
            dense[:, j] = np.unique(self.codes[:, j], return_inverse=True)[1].ravel()
        return from_codes(dense, sensitive=self.sensitive if self.sensitive_columns else None)


class SameClasses:
    """What families share whose source problem is a release of the same rows."""

    def source_to_solution(self, answer: Partition) -> Partition:
        """The same classes."""
        return answer

    def solution_to_source(self, partition: Partition) -> Partition:
        """The same classes."""
        return partition


def encode(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the alphabet of a table of text, in order of appearance, and the table in codes."""
    place: dict[str, int] = {}
    codes = [[place.setdefault(cell, len(place)) for cell in row] for row in rows]
    return tuple(place), np.array(codes, np.int32).reshape(len(rows), -1)


def check_partition(partition: Partition, rows: int) -> None:
    """Raise InputError unless the classes are non-empty and hold each row once."""
    flat = [row for group in partition for row in group]
    if not all(partition) or sorted(flat) != list(range(rows)):
        raise InputError(f"a release must put each of the {rows} rows into exactly one class")


def from_labels(labels: Sequence[int] | NDArray[np.integer]) -> Partition:
    """Turn one class label for each row into a partition."""
    groups: dict[int, list[int]] = {}
    for row, label in enumerate(labels):
        groups.setdefault(int(label), []).append(row)
    return tuple(tuple(group) for group in groups.values())
