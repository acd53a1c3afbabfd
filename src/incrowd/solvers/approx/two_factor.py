"""3-anonymity by a minimum 2-factor (Aggarwal et al. 2005, §6)."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.reduce.chain import Level
from incrowd.solvers.approx.cycle_program import minimum_cycles
from incrowd.solvers.approx.deletion import class_cost
from incrowd.solvers.approx.factors import SIZE, by_factor, refuse_factor
from incrowd.solvers.base import Context, Outcome, Scope

BRANCHES = 1_000
TIME = "polynomial time in the worst case, by matchings of gadgets, while they fit into memory"


@dataclass(frozen=True, kw_only=True)
class TwoFactor:
    """Cover the rows with cycles of least total length w, and cut the cycles into 3, 4 or 5 rows.

    The cut is the cheapest one (dynamic programming), so it costs no more than those the paper
    averages over: at most 3w.  Its case (d), which the text leaves out, is a cycle of 3x rows,
    x > 1: of the three ways to cut it into triples each edge lies inside a triple in two, at up
    to 3 stars per unit of length, hence 2w on average.

    OPT ≥ 3w/2 when every column has two values: within 2.  In general a class of 3, 4 or 5 rows
    of cost d a row has a cycle of at most 3d, 4d, 5d, so OPT ≥ w: within 3.
    """

    reductions: Level = "all"
    branches: int = BRANCHES  # of an integer program, before matchings take over

    id = "two-factor"
    guarantee = "3 (2 with two values a column)"
    scope = Scope(models=("3-anonymity",), size=SIZE, time=TIME)
    source = "Aggarwal et al. 2005, §6, Lemmas 10 and 11"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse other models and large tables."""
        return refuse_factor(problem, self.reductions, 3, "forest or engine")

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Return the classes, and 3w/2 or w as bound."""
        find = partial(minimum_cycles, branches=self.branches)
        return by_factor(problem, context, self.reductions, (3, 2), find, cut_cycles)


def cut_cycles(instance: Instance, near: list[list[int]]) -> list[list[int]]:
    """Return the classes of all cycles."""
    return [part for cycle in cycles(near) for part in cut_cycle(instance, cycle)]


def cycles(near: list[list[int]]) -> list[NDArray[np.int64]]:
    """Return the cycles, each as its vertices in order."""
    seen = [False] * len(near)
    found = []
    for first in range(len(near)):
        cycle, u = [], first
        while not seen[u]:
            seen[u] = True
            cycle.append(u)
            u = next((v for v in near[u] if not seen[v]), u)
        if cycle:
            found.append(np.array(cycle, np.int64))
    return found


def cut_cycle(instance: Instance, cycle: NDArray[np.int64]) -> list[list[int]]:
    """Cut a cycle into runs of 3, 4 or 5 copies at least cost."""
    length = len(cycle)
    if length <= 5:
        return [cycle.tolist()]
    twice = np.concatenate([cycle, cycle])
    price = {
        (at, size): size * class_cost(instance, instance.copies[twice[at : at + size]])
        for at in range(length)
        for size in (3, 4, 5)
    }
    best: tuple[int, int, list[int]] | None = None
    for first in range(5):  # some run starts at one of any five neighbours
        least: list[int | None] = [0] + [None] * length
        last = [0] * (length + 1)
        for end in range(3, length + 1):
            for size in (3, 4, 5):
                before = least[end - size] if end >= size else None
                if before is None:
                    continue
                total = before + price[(first + end - size) % length, size]
                now = least[end]
                if now is None or total < now:
                    least[end], last[end] = total, size
        whole = least[length]
        if whole is not None and (best is None or whole < best[0]):
            best = (whole, first, last)
    assert best is not None
    _, first, last = best
    parts, end = [], length
    while end:
        parts.append(twice[(first + np.arange(end - last[end], end)) % length].tolist())
        end -= last[end]
    return parts
