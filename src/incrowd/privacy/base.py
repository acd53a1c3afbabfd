"""What a privacy model is: a predicate on one equivalence class."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Group:
    """The sensitive values of a set of rows: a class, or the whole table.

    Attributes
    ----------
    values: int32, shape (rows, attributes): codes of the sensitive values, copies written out.
    sizes: number of values that each attribute has in the whole table.
    """

    values: NDArray[np.int32]
    sizes: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @cached_property
    def histograms(self) -> tuple[NDArray[np.int64], ...]:
        """One int64 histogram for each sensitive attribute."""
        return tuple(
            np.bincount(self.values[:, a], minlength=size).astype(np.int64)
            for a, size in enumerate(self.sizes)
        )


@runtime_checkable
class Model(Protocol):
    """A predicate on an equivalence class, given the whole table.

    ``closed_under_union``: merging two lawful classes gives a lawful class.  Solvers that rely on
    it must refuse models that lack it.

    Models that look at a class alone, whatever the table, have ``compares_with_table = False``.
    """

    @property
    def name(self) -> str:
        """Text form, e.g. ``5-anonymity``."""
        ...

    @property
    def closed_under_union(self) -> bool:
        """Whether the union of two lawful classes is lawful."""
        ...

    def smallest_class(self, table: Group) -> int:
        """A lower bound on the number of rows of a lawful class (≥ 1)."""
        ...

    def lawful(self, group: Group, table: Group) -> bool:
        """Whether ``group`` is a lawful class of ``table``."""
        ...
