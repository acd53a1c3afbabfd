"""The mixed integer program over closed patterns, and its solution with HiGHS.

Variables: x(r, p), how many copies of row r are released as pattern p; y(p), whether p is used.

    minimise   Σ cost(p)·x(r, p)
    Σ_p x(r, p) = c(r)                                 every copy is released
    x(r, p) ≤ c(r)·y(p),  Σ_r x(r, p) ≥ k·y(p)         k-anonymity
    w(p, v) ≤ Σ_{r: v} x(r, p),  Σ_v w(p, v) ≥ l·y(p)  distinct l-diversity, w and y binary
    Σ_{r: v} x(r, p) ≤ z(p),  Σ_r x(r, p) ≥ l·z(p)     frequency l-diversity, z whole
    r₁ + c·(r₁ + … + r_{l−1}) < c·Σ_r x(r, p)          recursive (c, l)-diversity

The last one bounds sums of largest numbers of rows with one value, which are linear in disguise:
r₁ ≤ z, and the j largest sum to at most j·q + Σ_v u(v) with u(v) ≥ r(v) − q, for some q.

t-closeness is Liang and Yuan's Theorem 9: g(p, i, j) moves the class's mass to the table's,
scaled by the size of the class and with the balances subtracted.  For equal distances their
Fact 1 needs only one variable per value, the surplus.  Without t-closeness and recursive diversity
and with one sensitive attribute, x is a flow once w, y and z are fixed, so only these need be
declared whole.
"""

from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import StoppedError
from incrowd.kernels.types import Floats, Ints
from incrowd.linear.highs import model_of, optimum, run_until, why_ended
from incrowd.privacy.linear import Closeness, Linear, Recursive
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.reduce.chain import Level, presolve
from incrowd.run.silence import standard_output_kept_clean
from incrowd.solvers.base import Context, Outcome
from incrowd.solvers.baseline.dear_columns import dearest_first, has_dear_columns
from incrowd.solvers.baseline.first import first_release
from incrowd.solvers.fpt.patterns import Patterns, closed_patterns

TOLERANCES = 1e-6, 1e-9  # HiGHS's own, and one for where that let an unlawful class in
# units of a row's cost beyond which dear patterns are left out, and beyond which HiGHS, which
# scales costs to the dearest, may take some units for none; what it may lose of each row then
DEAR, WIDE, LOST = 10**6, 10**8, 1e-9


class Limits(NamedTuple):
    """What a run need not do.

    Attributes
    ----------
    work: how often HiGHS may ask whether to go on; the clock does not enter.
    below: releases that cost more are of no use, in units of the program.
    """

    work: float = np.inf
    below: float = np.inf


NO_LIMITS = Limits()


@dataclass
class Program:
    """A mixed integer program under construction: columns, and rows in coordinate form."""

    cost: list[Floats] = field(default_factory=list)
    upper: list[Floats] = field(default_factory=list)
    whole: list[NDArray[np.bool_]] = field(default_factory=list)
    entries: list[tuple[Ints, Ints, Floats]] = field(default_factory=list)
    least: list[Floats] = field(default_factory=list)
    most: list[Floats] = field(default_factory=list)
    columns: int = 0
    rows: int = 0

    def add_columns(self, cost: NDArray, upper: float | NDArray, whole: bool) -> Ints:
        """Add variables in 0..upper; return their numbers."""
        number = len(cost)
        self.cost.append(np.asarray(cost, np.float64))
        self.upper.append(np.broadcast_to(np.asarray(upper, np.float64), number))
        self.whole.append(np.full(number, whole))
        self.columns += number
        return np.arange(self.columns - number, self.columns)

    def add_rows(self, number: int, least: float | NDArray, most: float | NDArray) -> Ints:
        """Add rows least ≤ … ≤ most without entries; return their numbers."""
        self.least.append(np.broadcast_to(np.asarray(least, np.float64), number))
        self.most.append(np.broadcast_to(np.asarray(most, np.float64), number))
        self.rows += number
        return np.arange(self.rows - number, self.rows)

    def put(self, row: Ints, column: Ints, value: float | NDArray) -> None:
        """Put coefficients; several at one place add up."""
        value = np.broadcast_to(np.asarray(value, np.float64), len(row))
        self.entries.append((row, column, value))


@dataclass(frozen=True, eq=False)
class Columns:
    """The incidences behind the x variables, and the numbers of all variables' columns.

    ``pattern`` and ``row`` have shape (incidences,) and say what x(r, p) stands for.
    """

    pattern: Ints
    row: Ints
    x: Ints

    def spread(self, instance: Instance, taken: Ints, nowhere: int = -1) -> Ints:
        """int64, shape (rows,): each copy's pattern; ``taken``: how many each incidence has."""
        classes, used = np.full(instance.rows, nowhere), instance.first_copy[:-1].copy()
        for i in np.flatnonzero(taken > 0):
            begin, r = used[self.row[i]], self.row[i]
            used[r] += taken[i]
            classes[begin : used[r]] = self.pattern[i]
        return classes


def build(instance: Instance, patterns: Patterns, laws: Linear) -> tuple[Program, Columns]:
    """Write the program down."""
    program = Program()
    owner, row, counts = patterns.owner, patterns.row, instance.counts
    whole = bool(laws.closeness or laws.recursive) or laws.attributes > 1
    x = program.add_columns(patterns.cost[owner], counts[row], whole)
    columns = Columns(owner, row, x)
    number = len(patterns.cost)
    program.put(program.add_rows(instance.distinct, counts, counts)[row], x, 1)
    implied = max((law[0] for law in laws.distinct + laws.frequency), default=1)
    if laws.k > implied or laws.distinct or laws.recursive:
        y = program.add_columns(np.zeros(number), 1, True)
        link = program.add_rows(len(x), -np.inf, 0)
        program.put(link, x, 1)
        program.put(link, y[owner], -counts[row])
        size = program.add_rows(number, 0, np.inf)
        program.put(size[owner], x, 1)
        program.put(size, y, -max(laws.k, implied))
        for l, attribute in laws.distinct:  # noqa: E741
            add_distinct(program, columns, instance.sensitive_codes[row, attribute], y, l)
        for law in laws.recursive:
            add_recursive(program, columns, instance.sensitive_codes[row, law.attribute], y, law)
    for l, attribute in laws.frequency:  # noqa: E741
        add_frequency(program, columns, instance.sensitive_codes[row, attribute], number, l)
    for law in laws.closeness:
        codes = instance.sensitive_codes[:, law.attribute]
        table = np.bincount(codes, weights=counts, minlength=int(codes.max()) + 1)
        add_closeness(program, columns, codes[row], number, table, law)
    return program, columns


def add_distinct(
    program: Program,
    columns: Columns,
    values: NDArray[np.int32],
    y: Ints,
    l: int,  # noqa: E741
) -> None:
    """w(p, v) says that value v occurs in p's class."""
    pairs, at = np.unique(columns.pattern * (int(values.max()) + 1) + values, return_inverse=True)
    pattern = pairs // (int(values.max()) + 1)
    w = program.add_columns(np.zeros(len(pairs)), 1, True)
    occurs = program.add_rows(len(pairs), 0, np.inf)
    program.put(occurs[at.ravel()], columns.x, 1)
    program.put(occurs, w, -1)
    enough = program.add_rows(len(y), 0, np.inf)
    program.put(enough[pattern], w, 1)
    program.put(enough, y, -l)


def add_frequency(
    program: Program,
    columns: Columns,
    values: NDArray[np.int32],
    number: int,
    l: int,  # noqa: E741
) -> None:
    """z(p) caps each value's rows in p's class, and l·z(p) rows are there at least."""
    z = program.add_columns(np.zeros(number), np.inf, True)
    pairs, at = np.unique(columns.pattern * (int(values.max()) + 1) + values, return_inverse=True)
    cap = program.add_rows(len(pairs), -np.inf, 0)
    program.put(cap[at.ravel()], columns.x, 1)
    program.put(cap, z[pairs // (int(values.max()) + 1)], -1)
    floor = program.add_rows(number, 0, np.inf)
    program.put(floor[columns.pattern], columns.x, 1)
    program.put(floor, z, -l)


def add_recursive(
    program: Program, columns: Columns, values: NDArray[np.int32], y: Ints, law: Recursive
) -> None:
    """With c = a/b: b·z + a·((l−1)·q + Σ u) ≤ a·Σ x − y; all whole, so that < is ≤ less 1."""
    a, b, number = law.c.numerator, law.c.denominator, len(y)
    pairs, at = np.unique(columns.pattern * (int(values.max()) + 1) + values, return_inverse=True)
    pattern, at = pairs // (int(values.max()) + 1), at.ravel()
    z, q = (program.add_columns(np.zeros(number), np.inf, False) for _ in range(2))
    u = program.add_columns(np.zeros(len(pairs)), np.inf, False)
    largest = program.add_rows(len(pairs), -np.inf, 0)
    program.put(largest[at], columns.x, 1)
    program.put(largest, z[pattern], -1)
    above = program.add_rows(len(pairs), -np.inf, 0)
    program.put(above[at], columns.x, 1)
    program.put(above, q[pattern], -1)
    program.put(above, u, -1)
    outweighed = program.add_rows(number, -np.inf, 0)
    program.put(outweighed, z, b)
    program.put(outweighed, q, a * (law.l - 1))
    program.put(outweighed[pattern], u, a)
    program.put(outweighed[columns.pattern], columns.x, -a)
    program.put(outweighed, y, 1)


def add_closeness(
    program: Program,
    columns: Columns,
    values: NDArray[np.int32],
    number: int,
    table: NDArray[np.number],
    law: Closeness,
) -> None:
    """Liang and Yuan's Theorem 9, per pattern; ``table`` holds the table's rows by value.

    Masses are in 1/N rows and work in 1/unit of them, so that coefficients are whole, all but the
    threshold's, which lies between attainable ones (see ``Closeness.threshold``).
    """
    v, x, pattern = len(table), columns.x, columns.pattern
    rows = int(table.sum())
    work = program.add_rows(number, -np.inf, 0)
    distance, unit = law.distance.apart(v)
    program.put(work[pattern], x, -law.threshold(rows, unit) * unit * rows)
    if distance is None:
        most = np.bincount(pattern, weights=program.upper[0][x], minlength=number)
        surplus = program.add_columns(np.zeros(number * v), np.repeat(most * rows, v), False)
        above = program.add_rows(number * v, -np.inf, 0)
        program.put(above, surplus, -1)
        program.put(above[pattern * v + values], x, rows)
        for i in range(v):
            program.put(above[pattern * v + i], x, -table[i])
        program.put(np.repeat(work, v), surplus, 1)
        return
    # By the triangle inequality mass never need arrive at a value and leave it again, so the two
    # sets of balances of the paper may be subtracted: what leaves i less what arrives there is
    # the surplus of i.  One balance follows from the others.
    out, into = np.nonzero(~np.eye(v, dtype=bool))
    most = np.bincount(pattern, weights=program.upper[0][x], minlength=number)
    limit = np.repeat(most * rows, len(out))
    moved = program.add_columns(np.zeros(number * len(out)), limit, False)
    balance = program.add_rows(number * (v - 1), 0, 0).reshape(number, v - 1)
    at = moved.reshape(number, len(out))
    for i in range(v - 1):
        for ends, sign in ((out == i, 1), (into == i, -1)):
            arcs = at[:, ends]
            program.put(np.repeat(balance[:, i], arcs.shape[1]), arcs.ravel(), sign)
        program.put(balance[pattern[values == i], i], x[values == i], -rows)
        program.put(balance[pattern, i], x, table[i])
    program.put(np.repeat(work, len(out)), moved, np.tile(distance[out, into], number))


def optimise_reduced(problem: Problem, reductions: Level, context: Context) -> Outcome:
    """``optimise`` for what is left of a problem, under the laws of the whole."""
    reduced = presolve(problem, reductions)
    laws = problem.model.linear(problem.table)
    assert laws is not None
    outcome = optimise(reduced.problem, laws, context)
    if outcome.solution is None:
        return outcome
    return Outcome(reduced.lift(outcome.solution), outcome.bound, outcome.ended)


def optimise(problem: Problem, laws: Linear, context: Context) -> Outcome:
    """Enumerate patterns, solve, and turn the answer into classes, one per used pattern."""
    if not problem.lawful_together:
        return Outcome(None)  # nor is any class: lawful ones would add up to it
    context.tell("listing patterns")
    try:
        patterns = closed_patterns(problem.instance, problem.smallest_class, context.stop)
    except StoppedError:
        return Outcome(first_release(problem), 0, context.stop.why())
    return optimise_over(problem, patterns, laws, context)


def optimise_over(
    problem: Problem, patterns: Patterns, laws: Linear, context: Context, limits: Limits = NO_LIMITS
) -> Outcome:
    """As ``optimise``, over patterns listed before; ``limits.below`` in units of 1/scale."""
    instance = problem.instance
    if context.stop.now():
        return Outcome(first_release(problem), 0, context.stop.why())
    patterns = affordable(problem, patterns, limits.below, context)
    if (np.bincount(patterns.row, minlength=instance.distinct) == 0).any():
        return Outcome(None)  # some row has no pattern that enough rows match
    scaled, unit = patterns.scaled()
    program, columns = build(instance, scaled, laws)
    context.tell("integer program over patterns")
    values: Floats | None = None
    solution: Solution | None = None
    bound, finished = 0.0, False
    within = limits._replace(below=limits.below / unit)
    for tolerance in TOLERANCES:
        values, bound, finished = solve_program(program, columns, context, tolerance, within)
        if values is not None:
            solution = read_off(problem, columns, np.rint(values[columns.x]).astype(np.int64))
        if solution is not None or not finished:
            break
    if solution is None:
        # None at all, or one that is lawful only within the solver's tolerance.  The root alone
        # is lawful, so "infeasible" is a slip of that kind too, and proves nothing.
        bound = 0.0 if values is None and finished else bound
        ended = unproven(finished, context)
        return Outcome(first_release(problem), round_up(bound) * unit, ended)
    cost = solution.cost
    if finished and cost - bound * unit < 0.5 * unit:
        return Outcome(solution, cost)
    bounded = min(round_up(bound) * unit, cost)
    return Outcome(solution, bounded, unproven(finished, context))


def affordable(problem: Problem, patterns: Patterns, below: float, context: Context) -> Patterns:
    """Leave out patterns of which one class costs more than a known release, where costs are wide.

    No cheaper release has such a class, and without them the costs of the program are near another.
    ``below``: as in ``Limits``, in units of 1/scale.
    """
    if patterns.cost.max(initial=0) < DEAR * patterns.scaled()[1]:
        return patterns
    if below == np.inf and has_dear_columns(problem.instance):
        below = dearest_first(problem, context.stop.now).cost
    return patterns.where(patterns.cost * max(problem.smallest_class, 1) <= below)


def unproven(finished: bool, context: Context) -> str:
    """Say why HiGHS ended without a proof; where it came to its end, in too coarse floats."""
    return "stopped paying" if finished else why_ended(False, context.stop)


def round_up(bound: float) -> int:
    """Round a bound on a whole number up, less what floating point may have added."""
    if not np.isfinite(bound):
        return 0
    return max(0, ceil(bound - 1e-6 * max(1.0, abs(bound))))


def solve_program(
    program: Program,
    columns: Columns,
    context: Context,
    tolerance: float,
    limits: Limits = NO_LIMITS,
) -> tuple[Floats | None, float, bool]:
    """Return the values (None: none found), the lower bound, and whether it ran to the end."""
    import highspy
    from scipy.sparse import coo_array

    row, column, value = (np.concatenate(part) for part in zip(*program.entries, strict=True))
    matrix = coo_array((value, (row, column)), (program.rows, program.columns)).tocsc()
    matrix.eliminate_zeros()
    cost, upper = np.concatenate(program.cost), np.concatenate(program.upper)
    least, most = np.concatenate(program.least), np.concatenate(program.most)
    whole = np.concatenate(program.whole)
    with standard_output_kept_clean():
        model = model_of(matrix, cost, upper, least, most, whole)
        model.setOptionValue("mip_rel_gap", 0.0)
        model.setOptionValue("mip_feasibility_tolerance", tolerance)
        model.setOptionValue("primal_feasibility_tolerance", min(tolerance, 1e-7))
        model.setOptionValue("objective_bound", limits.below)
        if not run_until(model, context.stop, limits.work):
            return None, 0.0, False
    status, info = model.getModelStatus(), model.getInfo()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None, 0.0, True
    finished = status == highspy.HighsModelStatus.kOptimal
    linear = info.objective_function_value if finished else 0.0
    bound = info.mip_dual_bound if whole.any() else linear
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None, bound, False
    values = np.array(model.getSolution().col_value)
    if np.abs(cost).max(initial=0) > WIDE:
        bound -= LOST * float(np.abs(cost).max()) * float(values[columns.x].sum())
    if np.abs(values[columns.x] - np.rint(values[columns.x])).max(initial=0) > 1e-6:
        # With the whole variables fixed the rest is a flow: a vertex of it is whole.
        fixed = np.rint(values[whole])
        at, none = np.flatnonzero(whole).astype(np.int32), np.zeros(len(fixed), np.uint8)
        model.changeColsBounds(len(at), at, fixed, fixed)
        model.changeColsIntegrality(len(at), at, none)
        with standard_output_kept_clean():
            vertex = optimum(model) if run_until(model, context.stop) else None
        values = values if vertex is None else vertex.x
    return values, bound, finished


def read_off(problem: Problem, columns: Columns, taken: Ints) -> Solution | None:
    """Give each copy its pattern; None unless every copy has one and every class is lawful."""
    instance = problem.instance
    released = np.bincount(columns.row, np.maximum(taken, 0), instance.distinct)
    if (released != instance.counts).any():
        return None
    solution = Solution.of(instance, columns.spread(instance, taken))
    return solution if problem.lawful_classes(solution.classes).all() else None
