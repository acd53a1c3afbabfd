"""Tests of the solver values: optimal on tiny tables, honest when stopped, clear when refusing."""

import numpy as np
import pytest
from brute import all_groups
from reference import simplex_matching
from tiny import random_table

from dial import crossed, enough, few
from incrowd.driver.solve import solve
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.matching.nodes import Nodes
from incrowd.solvers.matching.reduction import two_diverse
from incrowd.solvers.matching.solver import SimplexMatching, TwoDiversity
from oracle import optimum

KINDS = ("suppression", "weights", "hierarchies")


@pytest.mark.parametrize("kind", KINDS)
def test_two_anonymity_is_optimal(kind: str) -> None:
    """Tests that cost = bound = the optimum on tables with many duplicates and ties."""
    rng = np.random.default_rng(KINDS.index(kind))
    for case in range(few(66)):
        instance, _ = random_table(rng, kind, int(rng.integers(2, 10)))
        solved = solve(Problem(instance, KAnonymity(2)), SimplexMatching(), Context(seed=case))
        assert solved.cost == optimum(instance, KAnonymity(2))
        assert solved.status == "optimal"


@pytest.mark.parametrize(
    ("kind", "model"),
    crossed(KINDS, [FrequencyDiversity(2), FrequencyDiversity(2) & KAnonymity(2)]),
)
def test_two_diversity_is_optimal(kind: str, model: Model) -> None:
    """Tests the same for frequency 2-diversity in one attribute."""
    rng = np.random.default_rng(10 + KINDS.index(kind))
    served = 0
    for case in range(few(48)):
        instance, _ = random_table(
            rng, kind, int(rng.integers(2, 10)), sensitive=int(rng.integers(2, 6))
        )
        best = optimum(instance, model)
        if best is None:
            continue
        served += 1
        solved = solve(Problem(instance, model), TwoDiversity(), Context(seed=case))
        assert (solved.cost, solved.status) == (best, "optimal")
    assert served > enough(18)


def test_agrees_with_the_reference() -> None:
    """Tests the pipeline against simplex matching by local search, beyond the oracle's reach."""
    rng = np.random.default_rng(20)
    for case in range(few(25)):
        instance, _ = random_table(rng, KINDS[case % 3], 11, sensitive=6)
        problem = Problem(instance, FrequencyDiversity(2))
        if not problem.model.lawful(problem.table, problem.table):
            continue
        nodes: Nodes = two_diverse(instance, 0)
        expected = simplex_matching(nodes.size, all_groups(nodes))
        assert expected is not None
        assert solve(problem, TwoDiversity()).cost == expected[0]


def test_larger_tables_close() -> None:
    """Tests that tables with odd sets close, and that the order of rows does not matter."""
    rng = np.random.default_rng(30)
    for case in range(few(6, 3)):
        codes = rng.integers(0, 4, (150, 5)) * rng.integers(0, 2, (150, 5))
        codes[:, 4] = rng.integers(0, 40, 150)
        costs = []
        for table in (codes, codes[rng.permutation(150)][:, rng.permutation(5)]):
            problem = Problem(from_codes(table)[0], KAnonymity(2))
            solved = solve(problem, SimplexMatching(), Context(seed=case))
            assert solved.status == "optimal"
            costs.append(solved.cost)
        assert costs[0] == costs[1]


def test_many_columns() -> None:
    """Tests tables whose patterns are too many to walk through."""
    rng = np.random.default_rng(35)
    codes = rng.integers(0, 3, (60, 40))
    codes[30:] = codes[:30]
    codes[30:, :6] = rng.integers(0, 3, (30, 6))
    problem = Problem(from_codes(codes)[0], KAnonymity(2))
    solved = solve(problem, SimplexMatching())
    assert solved.status == "optimal"
    assert solved.cost <= 2 * int((codes[30:] != codes[:30]).sum())


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.1])
def test_time_limit_is_honest(seconds: float) -> None:
    """Tests that a stopped run has a lawful release and a valid bound, optimal only if equal."""
    rng = np.random.default_rng(40)
    codes = rng.integers(0, 5, (400, 6))
    instance, _ = from_codes(codes)
    problem = Problem(instance, KAnonymity(2))
    best = solve(problem, SimplexMatching()).cost
    stopped = solve(problem, SimplexMatching(), Context(stop=Stop(time_limit=seconds)))
    assert stopped.bound <= best <= stopped.cost
    assert (stopped.status == "optimal") == (stopped.bound == stopped.cost)
    if seconds == 0.0:
        assert stopped.ended == "time limit"
        assert stopped.status == "feasible"


def test_gap_ends_early() -> None:
    """Tests that a run may end at the gap asked for."""
    rng = np.random.default_rng(50)
    problem = Problem(from_codes(rng.integers(0, 5, (300, 6)))[0], KAnonymity(2))
    solved = solve(problem, SimplexMatching(), Context(stop=Stop(gap=0.5)))
    assert solved.gap <= 0.5
    assert solved.ended in ("gap reached", "finished")


def test_other_models_are_refused() -> None:
    """Tests that each refusal names what serves instead."""
    rng = np.random.default_rng(60)
    rows = rng.integers(0, 3, (40, 3))
    one, _ = from_codes(rows, sensitive=rng.integers(0, 6, 40))
    three, _ = from_codes(rows, sensitive=rng.integers(0, 6, (40, 3)))
    assert "subset-dp" in (SimplexMatching().refuse(Problem(one, KAnonymity(3))) or "")
    assert "engine" in (TwoDiversity().refuse(Problem(one, FrequencyDiversity(3))) or "")
    assert TwoDiversity().refuse(Problem(three, FrequencyDiversity(2))) is not None
    assert TwoDiversity().refuse(Problem(three, FrequencyDiversity(2, attribute=1))) is None
    for instance in (one, three):
        assert "NP-hard" in (TwoDiversity().refuse(Problem(instance, DisjointDiversity(2))) or "")


def test_disjoint_diversity_of_small_tables() -> None:
    """Tests that small NP-hard cases are solved, with one and with three attributes."""
    rng = np.random.default_rng(70)
    served = 0
    for attributes in (1, 3) * 12:
        rows = rng.integers(0, 3, (7, 3))
        instance, _ = from_codes(rows, sensitive=rng.integers(0, 3, (7, attributes)))
        best = optimum(instance, DisjointDiversity(2))
        if best is not None:
            served += 1
            solved = solve(Problem(instance, DisjointDiversity(2)), TwoDiversity())
            assert (solved.cost, solved.status) == (best, "optimal")
    assert served > 10
