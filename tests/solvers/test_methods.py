"""Tests of every method on the same small tables: optimal, within its ratio, always lawful."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dial import in_turn
from incrowd.driver.solve import solve
from incrowd.errors import InputError, OutOfScopeError
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.approx.factor_1_2 import Factor12
from incrowd.solvers.approx.forest import Forest
from incrowd.solvers.approx.m_approximation import MApproximation
from incrowd.solvers.approx.starred_set import StarredSet
from incrowd.solvers.approx.two_factor import TwoFactor
from incrowd.solvers.base import Context, Outcome, Solver
from incrowd.solvers.baseline.datafly import Datafly
from incrowd.solvers.baseline.incognito import Incognito
from incrowd.solvers.baseline.k_member import KMember
from incrowd.solvers.baseline.mondrian import Mondrian
from incrowd.solvers.catalog import SOLVERS, by_id
from incrowd.solvers.exact.split_recursion import SplitRecursion
from incrowd.solvers.exact.subset_convolution import SubsetConvolution
from incrowd.solvers.exact.subset_dp import SubsetDP
from incrowd.solvers.fpt.budget_kernel import BudgetKernel
from incrowd.solvers.fpt.closeness_milp import ClosenessMILP
from incrowd.solvers.fpt.kernel import Kernel
from incrowd.solvers.fpt.pattern_milp import PatternMILP
from incrowd.solvers.fpt.resolution_vectors import ResolutionVectors
from incrowd.solvers.fpt.two_columns import TwoColumns
from oracle import optimum
from solvers.small_tables import Shape, models, tables

EXACT: tuple[Any, ...] = (
    SubsetDP(),
    SplitRecursion(),
    SubsetConvolution(),
    Kernel(),
    ResolutionVectors(),
    PatternMILP(),
    ClosenessMILP(),
)
OTHERS: tuple[Solver, ...] = (
    TwoColumns(),
    BudgetKernel(),
    Forest(),
    Forest(row_deletion=True),
    Factor12(),
    TwoFactor(),
    MApproximation(),
    StarredSet(),
    Mondrian(),
    KMember(),
    Datafly(),
    Datafly(suppression=0.3),
    Incognito(),
    Incognito(suppression=0.3),
)
SHAPES = {
    "suppression": (Shape(), 20),
    "binary": (Shape(rows=(2, 11), values=(2, 3)), 14),
    "one column": (Shape(rows=(2, 11), columns=(1, 2)), 12),
    "trees and weights": (Shape(trees=True, values=(2, 6)), 20),
    "many copies": (Shape(rows=(8, 11), columns=(1, 3), values=(2, 3)), 12),
    "sensitive": (Shape(rows=(2, 8), sensitive=(3,)), 8),
    "two sensitive": (Shape(rows=(2, 8), columns=(1, 3), sensitive=(3, 2)), 7),
    "sensitive, trees": (Shape(rows=(2, 8), columns=(1, 3), trees=True, sensitive=(4,)), 8),
}


def check_lawful(problem: Problem, outcome: Outcome) -> None:
    """The classes cover every copy and each obeys the model."""
    solution = outcome.solution
    assert solution is not None
    assert solution.instance is problem.instance
    assert len(solution.classes) == problem.instance.rows
    for number in range(len(solution.sizes)):
        copies = np.flatnonzero(solution.classes == number)
        assert len(copies) == solution.sizes[number] > 0
        assert problem.model.lawful(problem.group(copies), problem.table)


def ratio(solver: Solver, problem: Problem) -> float:
    """The ratio that the method's theorem promises for this problem."""
    instance, model = problem.instance, problem.model
    assert isinstance(model, KAnonymity)
    binary = all(len(np.unique(column)) <= 2 for column in instance.codes.T)
    plain = all(tree.levels == 2 and tree.cost.max() == 1 for tree in instance.trees)
    if isinstance(solver, Forest):
        return max(2 * model.k - 1, 3 * model.k - 5)
    if isinstance(solver, Factor12):
        return 1.5 if binary else 2
    if isinstance(solver, TwoFactor):
        return 2 if binary else 3
    if isinstance(solver, MApproximation | StarredSet) and plain:
        return instance.columns
    return float("inf")


def test_refusals_name_a_method_that_serves() -> None:
    """Tests that who follows a refusal's advice gets on, on small tables as on larger ones."""
    t = TCloseness("0.4", attribute=0)
    others = (DistinctDiversity(2), FrequencyDiversity(3), EntropyDiversity(2), t)
    everything = (KAnonymity(2), KAnonymity(3), *others, KAnonymity(2) & t)
    for rows in (9, 60):
        rng = np.random.default_rng(rows)
        codes, secret = rng.integers(0, rows, (rows, 3)), rng.integers(0, 3, rows)
        instance, _ = from_codes(codes, sensitive=secret)
        for model in everything:
            problem = Problem(instance, model)
            for solver in SOLVERS:
                reason = solver.refuse(problem)
                if reason is None:
                    continue
                words = re.findall(r"[\w-]+", reason.partition("; use ")[2])
                named = [other for other in SOLVERS if other.id in words]
                assert any(other.refuse(problem) is None for other in named), (solver, reason)


@pytest.mark.parametrize("shape", SHAPES)
def test_methods_keep_their_promises(shape: str) -> None:
    """Tests that bounds hold, exact methods meet the oracle and ratios are kept."""
    for number, (instance, rng) in enumerate(tables(7, SHAPES[shape][1], SHAPES[shape][0])):
        for model in in_turn(models(instance, rng), number):
            problem = Problem(instance, model)
            best = optimum(instance, model)
            level = ("none", "paper", "all")[number % 3]
            for solver in (*(replace(solver, reductions=level) for solver in EXACT), *OTHERS):
                if solver.refuse(problem) is not None:
                    continue
                outcome = solver.run(problem, Context())
                if best is None:
                    assert outcome.solution is None, (solver, model)
                    continue
                check_lawful(problem, outcome)
                assert outcome.solution is not None
                cost = outcome.solution.cost
                assert outcome.ended == "finished"
                assert outcome.bound <= best <= cost, (solver, model)
                if solver.guarantee == "exact":
                    assert outcome.bound == cost == best, (solver, model)
                elif isinstance(model, KAnonymity) and ratio(solver, problem) < float("inf"):
                    assert cost <= ratio(solver, problem) * best, (solver, model)


def test_all_exact_methods_take_part() -> None:
    """Tests that no exact method escapes the comparison by refusing everything."""
    rng = np.random.default_rng(0)
    plain, _ = from_codes(rng.integers(0, 2, (7, 2)), None, rng.integers(0, 2, 7))
    served = {
        solver.id
        for model in models(plain, rng)
        for solver in (*EXACT, *OTHERS)
        if solver.refuse(Problem(plain, model)) is None
    }
    served |= {s.id for s in (Factor12(),) if not s.refuse(Problem(plain, KAnonymity(2)))}
    served |= {s.id for s in (TwoFactor(),) if not s.refuse(Problem(plain, KAnonymity(3)))}
    assert served == {solver.id for solver in (*EXACT, *OTHERS)}


@pytest.mark.parametrize("solver", [Factor12(), TwoFactor()], ids=lambda solver: solver.id)
@pytest.mark.parametrize("values", [2, 4])
def test_factor_methods_on_their_k(solver: Solver, values: int) -> None:
    """Tests the factor methods on many tables of their own k: bound, ratio, lawful."""
    k = 2 if solver.id == "factor-1-2" else 3
    shape = Shape(rows=(3, 13), columns=(2, 6), values=(values, values + 1), trees=values > 2)
    for instance, _ in tables(3, 60, shape):
        problem = Problem(instance, KAnonymity(k))
        best = SubsetDP().run(problem, Context()).bound
        outcome = solver.run(problem, Context())
        check_lawful(problem, outcome)
        assert outcome.solution is not None
        assert outcome.bound <= best <= outcome.solution.cost
        assert outcome.solution.cost <= ratio(solver, problem) * best


def test_two_factor_on_the_papers_tight_example() -> None:
    """Tests the eight rows that meet the analysis with equality; their optimum is 24."""
    words = ["0000", "0001", "0011", "0111", "1111", "1110", "1100", "1000"]
    instance, _ = from_codes(np.array([[int(c) for c in word] for word in words]))
    problem = Problem(instance, KAnonymity(3))
    outcome = TwoFactor().run(problem, Context())
    assert SubsetDP().run(problem, Context()).bound == 24
    assert outcome.bound == 12  # the 2-factor of weight 8, times 3/2
    assert outcome.solution is not None and outcome.solution.cost == 24


def liang_yuan_table() -> Instance:
    """Liang and Yuan's Table 1, each digit of zip code and age its own column."""
    lines = """98765 38 B V, 98654 39 D H, 98543 32 M H, 97654 65 B C, 96689 45 B V,
    97427 33 B V, 96552 54 B H, 97017 69 D C, 97023 55 M C, 97009 62 B C"""
    rows = [line.split() for line in lines.replace("\n", " ").split(",")]
    cells = np.array([[*zipcode, *age, degree] for zipcode, age, degree, _ in rows])
    codes = [np.unique(column, return_inverse=True)[1] for column in cells.T]
    disease = np.unique([row[3] for row in rows], return_inverse=True)[1]
    return from_codes(np.column_stack(codes), None, disease)[0]


@pytest.mark.parametrize("solver", EXACT, ids=lambda solver: solver.id)
def test_liang_yuan_table_1(solver: Solver) -> None:
    """Tests the known optima of the paper's example: 54, 50 and 52."""
    from incrowd.privacy.frequency_diversity import FrequencyDiversity
    from incrowd.privacy.t_closeness import TCloseness

    instance = liang_yuan_table()
    known = {KAnonymity(3): 54, FrequencyDiversity(2): 50, TCloseness("0.3"): 52}
    for model, cost in known.items():
        problem = Problem(instance, model)
        if solver.refuse(problem) is None:
            assert solver.run(problem, Context()).bound == cost


@pytest.mark.parametrize("solver", (*EXACT, *OTHERS), ids=repr)
def test_stopped_runs_claim_nothing_false(solver: Solver) -> None:
    """Tests that a run without time returns something lawful or nothing, and a valid bound."""
    rng = np.random.default_rng(1)
    k = {"factor-1-2": 2, "two-factor": 3}.get(solver.id, 3)
    model: Any = KAnonymity(k)
    columns = 2 if solver.id == "two-columns" else 3
    instance, _ = from_codes(rng.integers(0, 2, (14, columns)), None, rng.integers(0, 2, 14))
    if solver.id == "closeness-milp":
        from incrowd.privacy.t_closeness import TCloseness

        model = TCloseness("0.3")
    problem = Problem(instance, model)
    assert solver.refuse(problem) is None
    best = SubsetDP().run(problem, Context()).bound
    outcome = solver.run(problem, Context(stop=Stop(time_limit=0.0)))
    assert outcome.bound <= best
    if outcome.solution is not None:
        check_lawful(problem, outcome)
        assert outcome.solution.cost >= best


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.id)
def test_catalog_entries(solver: Solver) -> None:
    """Tests that every method is found by its id and says what it promises."""
    assert by_id(solver.id) is solver
    assert solver.guarantee and solver.source and solver.scope.models


def test_unknown_method_names_the_nearest() -> None:
    """Tests the hint for a misspelt method."""
    with pytest.raises(InputError, match="did you mean 'mondrian'"):
        by_id("mondrain")
    assert len({solver.id for solver in SOLVERS}) == len(SOLVERS)


REFUSALS = (
    (Forest(), DistinctDiversity(2)),
    (MApproximation(), DistinctDiversity(2)),
    (KMember(), DistinctDiversity(2)),
    (Kernel(), DistinctDiversity(2)),
    (ResolutionVectors(), DistinctDiversity(2)),
    (Factor12(), KAnonymity(3)),
    (TwoFactor(), KAnonymity(2)),
    (ClosenessMILP(), KAnonymity(2)),
    (Incognito(suppression=0.1), DistinctDiversity(2)),
)


@pytest.mark.parametrize(("solver", "model"), REFUSALS)
def test_refusals_name_another_method(solver: Solver, model: Any) -> None:
    """Tests that a refusal says what to use instead, and that the driver raises it."""
    instance, _ = from_codes(np.arange(12).reshape(6, 2) % 3, None, np.arange(6) % 3)
    problem = Problem(instance, model)
    reason = solver.refuse(problem)
    assert reason is not None and "use " in reason
    with pytest.raises(OutOfScopeError):
        solve(problem, solver)


def test_large_tables_are_refused_by_the_exponential_methods() -> None:
    """Tests that subset-dp and split-recursion refuse forty different rows."""
    instance, _ = from_codes(np.arange(40).reshape(40, 1))
    for solver in (SubsetDP(), SplitRecursion()):
        assert "pattern-milp" in (solver.refuse(Problem(instance, KAnonymity(2))) or "")


def test_matchings_of_too_many_rows_are_refused() -> None:
    """Tests that resolution vectors refuse more rows than their matching could hold."""
    instance, _ = from_codes(np.repeat([[0, 0], [0, 1], [1, 1]], [2_000, 2_000, 1], axis=0))
    problem = Problem(instance, KAnonymity(3))
    assert ResolutionVectors().refuse(problem) is None
    reason = ResolutionVectors(reductions="none").refuse(problem)
    assert reason is not None and "4,001" in reason
