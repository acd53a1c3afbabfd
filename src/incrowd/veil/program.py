"""Which groups to open: the heaviest way, proven in whole numbers.

A *way* opens some groups so that each of them can have k rows of its own.  It weighs what the rows
weigh that fit an open group, less what the open groups cost.  CP-SAT (Google's OR-tools) finds the
heaviest way; then it is asked for another one that weighs as much or more, and has to prove that
there is none.  Its bounds are whole numbers: linear programs in floating point only propose how to
add up constraints, and the sums are made again in whole numbers.

One worker and a fixed seed: the same question has the same answer, and whether the effort was
enough depends on no clock.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib import import_module
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
import scipy

from incrowd.errors import MissingExtraError, OutOfScopeError
from incrowd.kernels.types import Ints
from incrowd.linear.highs import branched, model_of
from incrowd.run.stop import Stop
from incrowd.veil.cuts import Narrowed, matrix_of, narrowed
from incrowd.veil.exchange import placed

TICK = 0.1  # seconds
MOST_NODES = 40  # of HiGHS, whose way need not be the heaviest
NOT_PROVEN = (
    "exact-steps: that one way to make classes is the heaviest is not proven ({}), and another "
    "release would tell more than the veil allows; use --method consistent"
)


class Kind(NamedTuple):
    """Rows that fit the same open questions: which groups, how many rows, what they add."""

    groups: tuple[int, ...]
    rows: int
    weight: int


@dataclass(frozen=True, eq=False)
class Program:
    """What is left to decide.

    Attributes
    ----------
    kinds: of the rows that fit some group.
    costs: of each group.
    k: rows that each open group needs.
    """

    kinds: list[Kind]
    costs: list[int]
    k: int

    def gains(self) -> list[int]:
        """Return what each group adds by itself: rows that fit it alone, less its cost."""
        found = [-cost for cost in self.costs]
        for kind in self.kinds:
            if len(kind.groups) == 1:
                found[kind.groups[0]] += kind.weight
        return found

    def fed(self) -> list[bool]:
        """Return for each group whether k rows fit it alone."""
        own: Counter[int] = Counter()
        for kind in self.kinds:
            if len(kind.groups) == 1:
                own[kind.groups[0]] += kind.rows
        return [own[g] >= self.k for g in range(len(self.costs))]

    def possible(self, opened: list[bool]) -> bool:
        """Whether all these groups can have k rows each."""
        members: dict[int, list[Ints]] = {g: [] for g, is_open in enumerate(opened) if is_open}
        rows = 0
        for kind in self.kinds:
            for g in kind.groups:
                if opened[g]:
                    members[g].append(np.arange(rows, rows + kind.rows))
            rows += kind.rows
        groups = [np.concatenate(parts) if parts else np.arange(0) for parts in members.values()]
        place = placed(groups, np.arange(rows), self.k)
        return len(np.unique(place[place >= 0])) == len(groups)

    def weight(self, opened: list[bool]) -> int:
        """Return what a way weighs."""
        fits = sum(kind.weight for kind in self.kinds if any(opened[g] for g in kind.groups))
        return fits - sum(cost for cost, is_open in zip(self.costs, opened, strict=True) if is_open)


class Stated(NamedTuple):
    """A program in whole numbers: the most of gains·x such that each row's Σ factor·x ≥ least.

    Attributes
    ----------
    gains: of each column; the first ones say which groups open.
    most: what each x is at most, and 0 at least.
    rows: column → factor, and least.
    """

    gains: list[int]
    most: list[int]
    rows: list[tuple[dict[int, int], int]]

    def column(self, gain: int, most: int) -> int:
        """Append a column; return its number."""
        self.gains.append(gain)
        self.most.append(most)
        return len(self.gains) - 1


def stated(program: Program) -> Stated:
    """Return the program as both solvers are asked it.

    Beside groups a column says whether some rows fit an open group, or how many of them a group is
    given: of each kind no more than there are.
    """
    groups, fed = range(len(program.costs)), program.fed()
    found = Stated(program.gains(), [1] * len(groups), [])
    given = [{g: -program.k} for g in groups]
    for kind in program.kinds:
        most = min(kind.rows, program.k)
        if len(kind.groups) == 1:
            given[kind.groups[0]][kind.groups[0]] += most
            continue
        if kind.weight:
            fits = found.column(kind.weight, 1)
            found.rows.append(({fits: -1, **dict.fromkeys(kind.groups, 1)}, 0))
        flows: dict[int, int] = {}
        for g in kind.groups:
            if not fed[g]:
                flow = found.column(0, most)
                found.rows.append(({flow: -1, g: most}, 0))
                given[g][flow], flows[flow] = 1, -1
        if len(flows) > 1:
            found.rows.append((flows, -kind.rows))
    found.rows.extend((need, 0) for g, need in enumerate(given) if not fed[g])
    return found


class CpSatModel:
    """A program as CP-SAT is asked it: for ways that weigh as much as a known one, or more."""

    def __init__(self, program: Program, asked: Stated, left: Narrowed, cp_model: Any) -> None:
        self.program = program
        self.model = cp_model.CpModel()
        self.cp_model = cp_model
        ends = zip(left.low, left.high, strict=True)
        names = [self.model.new_int_var(low, high, "") for low, high in ends]
        for factors, least in asked.rows + left.cuts:
            self.model.add(sum(factor * names[j] for j, factor in factors.items()) >= least)
        self.opened = names[: len(program.costs)]
        self.total = sum(gain * name for gain, name in zip(asked.gains, names, strict=True) if gain)
        self.model.maximize(self.total)

    def exclude(self, opened: list[bool]) -> None:
        """Ask for another way that weighs as much or more."""
        pairs = zip(opened, self.opened, strict=True)
        self.model.add_bool_or([name.negated() if is_open else name for is_open, name in pairs])
        self.model.add(self.total >= self.program.weight(opened))

    def solved(self, effort: float, stop: Stop) -> tuple[list[bool] | None, float]:
        """Return the heaviest way, None if there is none, and the effort that it took.

        Raises
        ------
        OutOfScopeError: it is not proven.
        """
        solver = self.cp_model.CpSolver()
        asked = solver.parameters
        asked.num_workers, asked.random_seed, asked.linearization_level = 1, 1, 2
        asked.max_deterministic_time = max(0.0, effort)
        asked.catch_sigint_signal = False  # whoever called handles it
        run_until(lambda: solver.solve(self.model), solver.stop_search, stop)
        answer = solver.response_proto
        if answer.status == self.cp_model.INFEASIBLE:
            return None, answer.deterministic_time
        if answer.status != self.cp_model.OPTIMAL:
            why = stop.why() if stop.now() else "the effort is used up"
            raise OutOfScopeError(NOT_PROVEN.format(why))
        return [bool(solver.value(name)) for name in self.opened], answer.deterministic_time


def run_until(run: Callable[[], Any], end: Callable[[], None], stop: Stop) -> None:
    """Run what ends when it is told to, in a thread, so that signals are handled meanwhile."""
    thread = Thread(target=run, name="CP-SAT", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(TICK)
            if stop.now():
                end()
    finally:
        end()


def cp_sat() -> Any:
    """Return OR-tools' ``cp_model``.

    Raises
    ------
    MissingExtraError: it is not installed.
    """
    try:
        return import_module("ortools.sat.python.cp_model")
    except ImportError as error:
        raise MissingExtraError("ortools", "veil", "the method exact-steps") from error


def proposed(program: Program, asked: Stated, stop: Stop) -> list[bool] | None:
    """Return a way that HiGHS, in floating point, finds the heaviest; None if it finds none."""
    groups = len(program.costs)
    matrix = scipy.sparse.csc_matrix(matrix_of(asked.rows, len(asked.gains)).astype(float))
    gain = np.array(asked.gains, float)
    gain /= max(1.0, float(np.abs(gain).mean()))
    least = np.array([least for _, least in asked.rows], float)
    above, whole = np.full(len(least), np.inf), np.arange(len(gain)) < groups
    model = model_of(matrix, -gain, np.array(asked.most, float), least, above, whole)
    model.setOptionValue("mip_rel_gap", 1e-5)
    model.setOptionValue("mip_max_nodes", MOST_NODES)
    x = branched(model, stop).x
    found = None if x is None else (x[:groups] > 0.5).tolist()
    return found if found is not None and program.possible(found) else None


def heaviest(program: Program, known: Collection[int], effort: float, stop: Stop) -> list[bool]:
    """Return the groups that the heaviest way opens; it alone weighs so much.

    Parameters
    ----------
    known: the groups that a way opens, to begin with where HiGHS finds none.
    effort: how much CP-SAT may do, in its deterministic seconds.

    Raises
    ------
    OutOfScopeError: that is not proven, or two ways weigh as much.
    """
    cp_model = cp_sat()
    whole = stated(program)
    found = proposed(program, whole, stop) or [g in known for g in range(len(program.costs))]
    left = narrowed(whole.gains, whole.most, whole.rows, program.weight(found), stop)
    while True:
        asked = CpSatModel(program, whole, left, cp_model)
        asked.exclude(found)
        other, spent = asked.solved(effort, stop)
        if other is None:
            return found
        if program.weight(other) == program.weight(found):
            raise OutOfScopeError(NOT_PROVEN.format("two weigh as much"))
        found, effort = other, effort - spent
