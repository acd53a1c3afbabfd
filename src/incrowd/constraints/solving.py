"""Solving a constrained problem part by part, on one budget."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.constraints.plan import Plan
from incrowd.driver.solve import Solved, solve
from incrowd.errors import NoLawfulReleaseError, OutOfScopeError, StoppedError, listed
from incrowd.hierarchy.family import Family
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.fixed import FixColumns, groups_of
from incrowd.reduce.linked import LinkColumns, LinkedSolution
from incrowd.run.events import Event
from incrowd.run.stop import Share
from incrowd.solvers.base import Context, Solver
from incrowd.solvers.catalog import ALIASES
from incrowd.text.units import counted

COMPARING = ("engine", "mondrian")  # methods that take a part's table as they should
ENDINGS = ("interrupted", "time limit", "gap reached", "stopped paying", "finished")


@dataclass(frozen=True)
class Dearer:
    """A price on top of what the changed cells of a column cost.

    Attributes
    ----------
    column: number of the quasi-identifier.
    most: how many of its cells may change.
    price: of each that does, in the costs of the parts that were solved.
    """

    column: int
    most: int
    price: int


@dataclass(frozen=True, eq=False)
class Parted(Solved):
    """A solution under constraints, and what is known of the parts of its table.

    Attributes
    ----------
    parts: the problems that were solved, without fixed columns and with linked ones as one.
    place: int64, shape (copies,): which copy of the parts, one after another, each copy became.
    dearer, fine: the parts' costs are ``fine`` times those of the table, and these on top.
    """

    parts: tuple[tuple[Problem, Solved], ...] = ()
    place: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    dearer: tuple[Dearer, ...] = ()
    fine: int = 1

    @property
    def paid(self) -> int:
        """What all cells that may change pay on top, in the costs of the parts."""
        return sum(one.most * one.price for one in self.dearer)

    @property
    def proven(self) -> int:
        """What a release costs at least in which no more cells change than may, by the parts.

        Costs are whole units, so a bound may be rounded up.
        """
        return -((self.paid - sum(solved.bound for _, solved in self.parts)) // self.fine)


def solve_plan(problem: Problem, plan: Plan, method: str | Solver, context: Context) -> Parted:
    """Solve a problem under fixed and linked columns; caps are another matter.

    Raises
    ------
    NoLawfulReleaseError: a group of equal fixed values breaks the model as a whole.
    OutOfScopeError: the method does not serve the parts.
    """
    require_lawful_groups(problem, plan)
    solved = solve_with(problem, plan, problem.instance.trees, method, context)
    return replace(solved, bound=solved.proven)


def solve_with(
    problem: Problem, plan: Plan, trees: Sequence[Family], method: str | Solver, context: Context
) -> Parted:
    """Solve under the costs of ``trees``, in which the bound of the parts is.

    The solution and its cost are in the problem's own costs, of which no bound is known.
    """
    instance, link = problem.instance, LinkColumns(plan.links)
    linked = link.apply(replace(problem, instance=replace(instance, trees=tuple(trees))))
    free = link.others(instance.columns)
    split = FixColumns(tuple(free.index(j) for j in plan.fixed)).apply(linked.problem)
    solved = solve_parts(split.problems, chosen(problem, plan, method), context)
    lifted = linked.lift(split.lift([found.solution for found in solved]))
    solution = LinkedSolution(instance, lifted.classes, plan.links)
    cost = solution.cost if instance.rows else 0
    ended = min((found.ended for found in solved), key=ENDINGS.index)
    each = [Solution(part.instance, np.arange(part.instance.rows)) for part in split.problems]
    place = linked.lift(split.lift(each)).classes
    parts = tuple(zip(split.problems, solved, strict=True))
    return Parted(solution, cost, 0, solved[-1].method, ended, parts=parts, place=place)


def chosen(problem: Problem, plan: Plan, method: str | Solver) -> str | Solver:
    """Return the method for the parts.

    Where a model compares classes with the table, a part must be compared with the whole table,
    which few methods do.
    """
    if not plan.fixed or not problem.model.compares_with_table:
        return method
    name = method if isinstance(method, str) else method.id
    name = ALIASES.get(name, name)
    if name == "auto":
        return COMPARING[0]
    if name not in COMPARING:
        raise OutOfScopeError(
            f"method {name!r} does not serve fixed columns together with {problem.asked}, which "
            f"compares each class with the whole table; use {' or '.join(COMPARING)}"
        )
    return method


def solve_parts(parts: Sequence[Problem], method: str | Solver, context: Context) -> list[Solved]:
    """Solve each part; rows share the time."""
    if len(parts) == 1:
        return [solve(parts[0], method, context)]
    left = sum(part.instance.rows for part in parts)
    worst = sum(part.instance.worst_cost for part in parts)
    cost = bound = 0
    found = []
    for part in parts:
        worst -= part.instance.worst_cost
        share = Share.of(context.stop, context.stop.left() * part.instance.rows / left)
        own = replace(context, stop=share, listener=added(context, cost + worst, bound))
        found.append(solve_part(part, method, own))
        left -= part.instance.rows
        cost, bound = cost + found[-1].cost, bound + found[-1].bound
    return found


def solve_part(part: Problem, method: str | Solver, context: Context) -> Solved:
    """Solve one part; when there is no time left, it is one class.

    Raises
    ------
    StoppedError: there is no time, and one class is not lawful, under a model that is not closed
        under union (see ``require_lawful_groups``).
    """
    instance = part.instance
    if not context.stop.now():
        try:
            return solve(part, method, context)
        except StoppedError:
            pass
    one = Solution(instance, np.zeros(instance.rows, np.int64))
    if not part.lawful_together:
        raise StoppedError(
            f"the search ended ({context.stop.why()}) before it found a lawful release of the rows "
            "with one value in each fixed column; give it more time, or fix fewer columns"
        )
    name = method if isinstance(method, str) else method.id
    return Solved(one, one.cost, 0, name, context.stop.why())


def added(context: Context, cost: int, bound: int) -> Callable[[Event], None]:
    """Return a listener that adds what other parts cost, at most and at least."""

    def listen(event: Event) -> None:
        context.listener(
            replace(
                event,
                cost=None if event.cost is None else event.cost + cost,
                bound=None if event.bound is None else event.bound + bound,
                proof=None,
            )
        )

    return listen


def require_lawful_groups(problem: Problem, plan: Plan) -> None:
    """Raise unless each group is lawful as one class; then a lawful release exists.

    All models here are closed under union, so a group that is unlawful as a whole has no lawful
    partition.

    Raises
    ------
    NoLawfulReleaseError: names the fixed columns and the number of rows, never a value.
    """
    model, instance = problem.model, problem.instance
    if not plan.fixed or not instance.rows or not model.closed_under_union:
        return
    member = groups_of(instance.codes, plan.fixed)[instance.copies]
    broken = ~problem.lawful_classes(member)
    if broken.any():
        lost = int(np.bincount(member)[broken].sum())
        names = listed(instance.trees[j].column for j in plan.fixed)
        lie = f"{counted(lost, 'row')} {'lies' if lost == 1 else 'lie'}"
        several = counted(int(broken.sum()), "group")
        raise NoLawfulReleaseError(
            f"fixed {names}: {lie} in {several} of equal values (of {len(broken):,}) that cannot "
            f"obey {problem.asked} even as one class, so no lawful release "
            "leaves these columns unchanged; fix fewer columns, give several small groups one "
            "value beforehand, or take their rows out"
        )
