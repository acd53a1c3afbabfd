"""Exact balanced split recursion (Blocki and Williams, Theorem 3; Liang and Yuan, Theorem 8)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.solvers.exact.dynamic import DynamicProgram
from incrowd.solvers.exact.submultiset_kernels import balanced_split_dp
from incrowd.solvers.exact.submultisets import SubMultisets


@dataclass(frozen=True, kw_only=True)
class SplitRecursion(DynamicProgram):
    """OPT(S) is the better of two splits of S.

    1. If one class C of an optimum has more than half the rows: price(C) + OPT(S∖C).
    2. Otherwise its classes fall into two bunches with between a quarter and three quarters of
       the rows each: OPT(T) + OPT(S∖T).

    The papers recurse from the top in polynomial space and time 2^O(n); here every sub-multiset
    is solved once, smallest number first, so that the time is ∏ (c+1)(c+2)/2 ≤ 3^n.
    """

    id = "split-recursion"
    source = "Blocki & Williams 2010, Theorem 3; Liang & Yuan 2012, Theorem 8"
    effort = "its time is exponential in the {} distinct rows, and about 19 can be done"

    def recurrence(self, parts: SubMultisets) -> Callable[..., Any]:
        """The better of the two splits."""
        return partial(balanced_split_dp, parts.counts, parts.place, parts.size, parts.price)

    def classes(self, choice: NDArray[np.int64]) -> list[int]:
        """A choice below 0 is a class, one above a bunch of them."""
        chosen, todo = [], [len(choice) - 1]
        while todo:
            whole = todo.pop()
            part = int(choice[whole])
            if part < 0:
                chosen.append(-part)
            else:
                todo.append(part)
            rest = whole - abs(part)
            if rest:
                todo.append(rest)
        return chosen
