"""Exact dynamic programming over subsets, by the lowest row that is still free."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.solvers.exact.dynamic import DynamicProgram
from incrowd.solvers.exact.submultiset_kernels import lowest_row_dp
from incrowd.solvers.exact.submultisets import SubMultisets


@dataclass(frozen=True, kw_only=True)
class SubsetDP(DynamicProgram):
    """OPT(S) = min over lawful classes C ∋ lowest row of S of |C|·cost(join C) + OPT(S∖C).

    Copies of one row are alike, so S ranges over sub-multisets: ∏(copies + 1) states.  Serves any
    model at all: it tries every partition, and asks the model about every histogram once.
    """

    id = "subset-dp"
    source = "dynamic programming over subsets; compare Blocki & Williams 2010, Theorem 3"
    effort = "it goes through all subsets of the {} distinct rows, and can do so up to about 19"

    def recurrence(self, parts: SubMultisets) -> Callable[..., Any]:
        """The class of the lowest row, and the optimum of the others."""
        return partial(lowest_row_dp, parts.counts, parts.place, parts.price)

    def classes(self, choice: NDArray[np.int64]) -> list[int]:
        """Each choice is a class."""
        return self.classes_of(choice, len(choice) - 1)

    def classes_of(self, choice: NDArray[np.int64], rest: int) -> list[int]:
        """Return the classes of a sub-multiset's optimum."""
        chosen: list[int] = []
        while rest:
            chosen.append(int(choice[rest]))
            rest -= chosen[-1]
        return chosen
