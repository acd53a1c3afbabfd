"""Exact k-anonymity by a kernel for few columns and a small budget of stars."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.chain import presolve
from incrowd.solvers.approx.m_approximation import MApproximation
from incrowd.solvers.base import Context, Outcome, Scope, Solver, refuse_other_models
from incrowd.solvers.exact.split_recursion import SplitRecursion
from incrowd.solvers.exact.submultisets import MOST_DISTINCT, work
from incrowd.solvers.fpt.pattern_milp import PatternMILP

MOST_KEYS = 4_000_000  # column subsets × distinct rows
MOST_PAIRS = 50_000_000  # of a rare row and another that are compared
EASY = 5_000_000  # steps of the split recursion


@dataclass(frozen=True, kw_only=True)
class BudgetKernel:
    """Keep the rows that a release of cost e can touch, and solve their table exactly.

    With E = ⌊e / cheapest star⌋: rows with fewer than k copies; rows with k to k + E − 1 copies
    within distance e/k of one; and for each pattern of these one row with more copies.  All others
    stay as they are in some optimum, if it costs at most e.  e doubles until the kernel's optimum
    is no more.
    """

    id = "budget-kernel"
    guarantee = "exact"
    scope = Scope(
        models=("k-anonymity",),
        hierarchies=False,
        size=f"2^columns × distinct rows ≤ {MOST_KEYS:,}; the kernel must fit pattern-milp",
    )
    source = "this project (explanation: few columns); Bonizzoni et al. 2009, parameters ⟨m, e⟩"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse other models, hierarchies, and kernels that no exact method can do."""
        if other := refuse_other_models(problem):
            return other
        instance = problem.instance
        if not instance.plain or any(tree.dearest == 0 for tree in instance.trees):
            return "it serves suppression where stars cost, no ranges; use pattern-milp or engine"
        small = presolve(problem, "all").problem
        if small.instance.distinct << small.instance.columns > MOST_KEYS:
            return f"2^{small.instance.columns} patterns a row are too many; use engine"
        if len(rare(small)) * small.instance.distinct > MOST_PAIRS:
            return f"{len(rare(small)):,} rows with too few copies are too many; use engine"
        top = upper(small, Context())
        if top is None or top.cost == 0:
            return None
        reason = inner(part := touched(small, top.cost)[0]).refuse(part)
        return None if reason is None else f"of its kernel is to be said: {reason}"

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Solve kernels of growing budgets; bound = cost when it finishes."""
        reduced = presolve(problem, "all")
        small = reduced.problem
        top = upper(small, context)
        if top is None:
            return Outcome(None)
        if top.cost == 0:
            return Outcome(reduced.lift(top), 0)
        budget, known = max(least(small), 1), 0
        while True:
            part, kept = touched(small, budget)
            if inner(part).refuse(part) is not None and budget < top.cost:
                budget = top.cost
                continue
            context.tell(f"kernel of {part.instance.rows} rows", bound=known)
            found = inner(part).run(part, context)
            if found.ended != "finished":
                return Outcome(reduced.lift(top), max(known, min(found.bound, budget)), found.ended)
            if found.solution is not None and found.solution.cost <= budget:
                whole = Solution.of(small.instance, in_table(small.instance, kept, found.solution))
                return Outcome(reduced.lift(whole), min(found.bound, whole.cost))
            # Nothing costs ``budget`` or less; that of a known release's cost holds an optimum.
            known, budget = budget + 1, min(2 * budget, top.cost)


def upper(problem: Problem, context: Context) -> Solution | None:
    """Return a release at once, or None when there is none."""
    instance = problem.instance
    if instance.rows < max(problem.smallest_class, 1):
        return None
    if not len(rare(problem)):
        return Solution(instance, instance.copies)
    found = MApproximation().run(problem, context).solution
    return found if found is not None else Solution.of(instance, np.zeros(instance.rows, np.int64))


def rare(problem: Problem) -> NDArray[np.intp]:
    """The rows with fewer than k copies."""
    return np.flatnonzero(problem.instance.counts < problem.smallest_class)


def stars(instance: Instance) -> NDArray[np.int64]:
    """int64, shape (columns,): what a star costs."""
    return np.array([tree.dearest for tree in instance.trees], np.int64)


def least(problem: Problem) -> int:
    """What rows with fewer than k copies pay at least: a star each."""
    cheapest = int(stars(problem.instance).min(initial=1 << 60)) if problem.instance.trees else 0
    return int(problem.instance.counts[rare(problem)].sum()) * cheapest


def inner(problem: Problem) -> Solver:
    """The exact method for a kernel: in whole numbers where that is a moment's work."""
    small = presolve(problem, "all").problem.instance
    if small.distinct <= MOST_DISTINCT and work(small) <= EASY:
        return SplitRecursion(reductions="all")
    return PatternMILP()


def touched(problem: Problem, budget: int) -> tuple[Problem, NDArray[np.intp]]:
    """Return the kernel for a budget, and the rows of the instance that it keeps."""
    instance, k = problem.instance, problem.smallest_class
    star, few = stars(instance), rare(problem)
    most = budget // int(star.min()) if len(star) else 0  # rows with a star: the text's E
    fat = instance.counts >= k + most
    # Of the rare rows all but k pay for a star outside the classes between a row and a rare one.
    others = max(int(instance.counts[few].sum()) - k, 0) * int(star.min(initial=0))
    near = np.zeros(instance.distinct, bool)
    for r in few:
        apart = (instance.codes != instance.codes[r]) @ star
        near |= k * apart <= budget - others
    near[few] = True
    core = np.flatnonzero(near & ~fat)
    kept = np.union1d(core, donors(instance.codes, core, np.flatnonzero(near & fat)))
    sensitive = None if instance.sensitive is None else instance.sensitive[kept]
    part = replace(
        instance,
        codes=np.ascontiguousarray(instance.codes[kept]),
        counts=instance.counts[kept],
        sensitive=sensitive,
    )
    return replace(problem, instance=part), kept


def donors(
    codes: NDArray[np.int32], core: NDArray[np.intp], fat: NDArray[np.intp]
) -> NDArray[np.intp]:
    """For each pattern of a core row, one row among ``fat`` that matches it, where there is one."""
    found: set[int] = set()
    if not len(core) or not len(fat):
        return np.zeros(0, np.intp)
    for shown in product((False, True), repeat=codes.shape[1]):
        columns = np.flatnonzero(shown)
        first: dict[bytes, int] = {}
        # Backwards, so that the first row of a key is the one that stays.
        for row, key in zip(fat[::-1], codes[fat[::-1]][:, columns], strict=True):
            first[key.tobytes()] = int(row)
        wanted = {key.tobytes() for key in codes[core][:, columns]}
        found |= {first[key] for key in wanted if key in first}
    return np.array(sorted(found), np.intp)


def in_table(instance: Instance, kept: NDArray[np.intp], solution: Solution) -> NDArray[np.int64]:
    """int64, shape (rows,): the kernel's classes, and one for each row outside."""
    classes = instance.copies + instance.rows
    inside = np.zeros(instance.distinct, bool)
    inside[kept] = True
    classes[inside[instance.copies]] = solution.classes
    return classes
