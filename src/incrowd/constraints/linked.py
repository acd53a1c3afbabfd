"""A solution in which linked columns are suppressed together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.problem.instance import Instance
from incrowd.problem.solution import Solution


@dataclass(frozen=True, eq=False)
class LinkedSolution(Solution):
    """Classes whose linked columns are all kept or all suppressed.

    Attributes
    ----------
    links: lists of columns of height 1, by number, no column twice.
    """

    links: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of_links(
        cls, instance: Instance, classes: NDArray[np.integer], links: tuple[tuple[int, ...], ...]
    ) -> "LinkedSolution":
        """Build from any class ids, renumbered densely."""
        _, dense = np.unique(np.asarray(classes), return_inverse=True)
        return cls(instance, dense.ravel().astype(np.int64), links)

    @cached_property
    def levels(self) -> NDArray[np.int64]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """int64, shape (classes, columns): levels of the joins, raised where a link asks for it."""
        levels = super().levels.copy()
        for link in self.links:
            columns = list(link)
            levels[:, columns] = levels[:, columns].max(axis=1, keepdims=True)
        return levels
