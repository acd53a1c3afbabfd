"""Tests of columns with intervals: every search and every bound against brute force."""

from dataclasses import replace

import numpy as np
import pytest
from tests.oracle import join_cost, optimum
from tests.solvers.ranged_tables import ranged_tables

from dial import enough, few
from incrowd.bounds.best import best_prices
from incrowd.driver.solve import solve
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context, Solver
from incrowd.solvers.catalog import SOLVERS, with_reductions
from incrowd.solvers.matching.solver import SimplexMatching


def recounted(instance: Instance, solution: Solution) -> int:
    """The cost of a solution by the oracle's definition."""
    total = 0
    for one in range(int(solution.classes.max()) + 1):
        members = np.flatnonzero(solution.classes == one)
        total += len(members) * join_cost(instance, tuple(members.tolist()))
    return total


@pytest.mark.parametrize("seed", range(few(2, 1)))
def test_engine_and_bound(seed: int) -> None:
    """Tests that the engine's release costs what it says, and that its bound is none too high."""
    solved, optimal = 0, 0
    for instance, rng in ranged_tables(seed, 10):
        k = int(rng.integers(1, 5))
        if instance.rows < k:
            continue
        least = optimum(instance, KAnonymity(k))
        found = solve(Problem(instance, KAnonymity(k)), "engine")
        assert found.cost == recounted(instance, found.solution)
        assert found.bound <= least <= found.cost
        price = best_prices(instance, k)
        assert price.bound(instance.counts) <= least
        solved, optimal = solved + 1, optimal + (found.cost == least)
    assert optimal > 0.95 * solved


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.id)
def test_every_method_serves_or_refuses(solver: Solver) -> None:
    """Tests that no method is silently wrong: it names the rule, or is right by brute force."""
    served = refused = 0
    for instance, rng in ranged_tables(7, 10, rows=(2, 9)):
        k = int(rng.integers(1, 4))
        problem = Problem(instance, KAnonymity(k))
        if instance.rows < k:
            continue
        reason = solver.refuse(problem)
        if reason is not None:
            refused += "range" in reason
            continue
        outcome = solver.run(problem, Context(seed=1))
        assert outcome.solution is not None
        least = optimum(instance, KAnonymity(k))
        cost = recounted(instance, outcome.solution)
        assert outcome.solution.cost == cost
        assert outcome.bound <= least <= cost
        assert solver.guarantee != "exact" or cost == least
        served += 1
    assert served or refused or solver.id in ("two-diversity", "closeness-milp")


def test_two_anonymity_is_optimal() -> None:
    """Tests that ranges keep 2-anonymity a matching problem, and that a widest one ends that."""
    served = 0
    for instance, _ in ranged_tables(11, 72, rows=(2, 10)):
        problem = Problem(instance, KAnonymity(2))
        capped = any(isinstance(t, RangeFamily) and not t.straight for t in instance.trees)
        reason = SimplexMatching().refuse(problem)
        assert (reason is not None) == capped
        if not capped:
            outcome = SimplexMatching().run(problem, Context(seed=1))
            assert outcome.solution is not None
            assert outcome.bound == outcome.solution.cost == optimum(instance, KAnonymity(2))
            served += 1
    assert served > enough(24)


@pytest.mark.parametrize("seed", range(few(3, 1)))
def test_sensitive_models(seed: int) -> None:
    """Tests releases and bounds under l-diversity and t-closeness against brute force."""
    served = 0
    for instance, rng in ranged_tables(20 + seed, 10, rows=(3, 9), sensitive=(3,)):
        model = [FrequencyDiversity(2), DistinctDiversity(2), TCloseness("0.4")][rng.integers(3)]
        problem = Problem(instance, model & KAnonymity(2))
        least = optimum(instance, problem.model)
        if least is None:
            continue
        for method in ("engine", "mondrian", "subset-dp"):
            found = solve(problem, method)
            assert found.cost == recounted(instance, found.solution) >= least >= found.bound
        served += 1
    assert served > enough(2)


def test_fewer_copies_and_leaves_change_no_optimum() -> None:
    """Tests the reductions that count what lies above a row, on rows of many copies."""
    for instance, rng in ranged_tables(31, 24, rows=(2, 4)):
        counts = rng.integers(1, 7, instance.distinct)
        many = replace(instance, counts=counts)
        if not 3 <= many.rows <= 13:
            continue
        least = optimum(many, KAnonymity(3))
        for level in ("all", "paper", "none"):
            found = solve(Problem(many, KAnonymity(3)), with_reductions("pattern-milp", level))
            assert found.cost == least
