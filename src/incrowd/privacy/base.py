"""What a privacy model looks at: the sensitive values of a class, and of the whole table."""

from dataclasses import dataclass
from functools import cached_property

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
