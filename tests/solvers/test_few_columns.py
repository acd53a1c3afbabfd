"""Tests of the methods for two columns and for small budgets, beyond those of every method."""

import numpy as np
import pytest

from dial import enough, few
from incrowd.hierarchy.tree import Tree
from incrowd.instances import make
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context
from incrowd.solvers.fpt.budget_kernel import BudgetKernel, rare, touched
from incrowd.solvers.fpt.pattern_milp import PatternMILP
from incrowd.solvers.fpt.two_columns import Plan, TwoColumns
from oracle import optimum


def test_two_columns_by_brute_force():
    """Tests many tables of one or two columns against the oracle."""
    rng, met = np.random.default_rng(0), 0
    for _ in range(few(150)):
        rows, columns, values = (int(rng.integers(*s)) for s in ((1, 10), (1, 3), (1, 6)))
        instance, _ = from_codes(rng.integers(0, values, (rows, columns)))
        problem = Problem(instance, KAnonymity(int(rng.integers(1, 5))))
        assert TwoColumns().refuse(problem) is None
        outcome, best = TwoColumns().run(problem, Context()), optimum(instance, problem.model)
        if best is None:
            assert outcome.solution is None
            continue
        assert outcome.solution is not None
        assert outcome.bound == outcome.solution.cost == best
        assert outcome.solution.sizes.min() >= problem.smallest_class
        met += 1
    assert met > enough(100)


@pytest.mark.parametrize("dear", [1, 1 << 26, 1 << 30, (1 << 38) + 1])
def test_two_columns_with_dear_stars(dear: int):
    """Tests that costs beyond 32 bits, which weights of six decimals can bring, are counted."""
    rng = np.random.default_rng(3)
    trees = tuple(Tree.suppression(f"q{j}", tuple("abcd"), dear + j) for j in range(2))
    for _ in range(10):
        instance, _ = from_codes(rng.integers(0, 4, (9, 2)), trees)
        problem = Problem(instance, KAnonymity(3))
        outcome = TwoColumns().run(problem, Context())
        assert outcome.solution is not None
        assert outcome.bound == outcome.solution.cost == optimum(instance, problem.model)


def test_two_columns_on_longer_tables():
    """Tests tables with many values of one column against the integer program."""
    rng = np.random.default_rng(1)
    for rows, least, many, k in ((60, 3, 20, 3), (120, 4, 60, 3), (150, 3, 20, 5), (80, 2, 50, 7)):
        codes = np.column_stack([rng.integers(0, many, rows), rng.integers(0, least, rows)])
        problem = Problem(from_codes(codes)[0], KAnonymity(k))
        outcome = TwoColumns().run(problem, Context())
        assert outcome.solution is not None and outcome.solution.sizes.min() >= k
        assert outcome.bound == outcome.solution.cost == PatternMILP().run(problem, Context()).bound


def test_states_are_those_of_the_shorter_column():
    """Tests that only values in k rows count, of the column that has fewer of them."""
    codes = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0], [3, 4]])
    plan = Plan.of(from_codes(codes)[0], 3)
    assert len(plan.open) == 1 and len(plan.wide) == 1 and plan.shape == (4, 4, 4)
    assert Plan.of(from_codes(codes)[0], 2).shape == (3,) * 4


def test_hard_tables_are_refused():
    """Tests that a reduction's table, which has many open values, is not begun."""
    family, _ = make("two-column-sat", 0)
    problem = Problem(family.to_table().to_instance()[0], KAnonymity(3))
    reason = TwoColumns().refuse(problem)
    assert reason is not None and "pattern-milp" in reason


def test_budget_kernel():
    """Tests optima, and that the kernel for the optimum's cost leaves rows out and loses none."""
    rng, smaller = np.random.default_rng(2), 0
    for _ in range(few(60)):
        base = rng.integers(0, int(rng.integers(2, 5)), (int(rng.integers(2, 9)), 3))
        counts = rng.choice([1, 2, 3, 4, 5, 8, 20], len(base))
        instance, _ = from_codes(np.repeat(base, counts, axis=0))
        problem = Problem(instance, KAnonymity(int(rng.integers(1, 4))))
        best = PatternMILP().run(problem, Context())
        outcome = BudgetKernel().run(problem, Context())
        if best.solution is None:
            assert outcome.solution is None
            continue
        assert outcome.solution is not None
        assert outcome.bound == outcome.solution.cost == best.bound
        if len(rare(problem)):
            part, kept = touched(problem, best.bound)
            assert set(rare(problem)) <= set(kept.tolist())
            assert PatternMILP().run(part, Context()).bound == best.bound
            smaller += len(kept) < instance.distinct
    assert smaller > enough(5)
