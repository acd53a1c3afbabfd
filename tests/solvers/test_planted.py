"""Approximations on the hard instances: within their ratio of a planted or known optimum."""

from typing import Any

import polars as pl
import pytest

import incrowd as ic
from dial import few
from incrowd.cli.summary import summary
from incrowd.driver.solve import recheck
from incrowd.instances import make
from incrowd.instances.known import DistanceTwins, TwoFactorTight
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.problem import Problem
from incrowd.run.events import Event
from incrowd.solvers.approx.factor_1_2 import Factor12
from incrowd.solvers.approx.factors import is_binary
from incrowd.solvers.approx.forest import Forest
from incrowd.solvers.approx.m_approximation import MApproximation
from incrowd.solvers.approx.two_factor import TwoFactor
from incrowd.solvers.base import Context, Solver

APPROXIMATIONS = (Forest(), Forest(row_deletion=True), Factor12(), TwoFactor(), MApproximation())
PLANTED: tuple[tuple[str, dict[str, Any], int | None], ...] = (  # family, options, its k if fixed
    ("three-dimensional-matching", {"side": 8, "triples": 16}, 3),
    ("triangles-or-stars", {"vertices": 12, "parts": 10}, 3),
    ("ternary-triangles", {"vertices": 12, "parts": 8}, 3),
    ("one-in-three-sat", {"variables": 4, "clauses": 3}, 3),
    ("clique", {"h": 3, "vertices": 7, "edges": 10}, 18),
    ("cubic-vertex-cover", {"vertices": 12}, 3),
    ("bisection", {"vertices": 4, "edges": 4}, 2),
    ("bisection", {"vertices": 12, "edges": 20}, 6),
    ("padding", {"rows": 4, "columns": 4, "values": 2}, 2),
    ("padding", {"rows": 8, "columns": 4, "values": 3}, 4),
)


def promised(solver: Solver, problem: Problem) -> float:
    """The ratio of the method's theorem, under suppression with equal weights."""
    assert isinstance(problem.model, KAnonymity)
    k, binary = problem.model.k, is_binary(problem.instance)
    return {
        "forest": max(2 * k - 1, 3 * k - 5),
        "factor-1-2": 1.5 if binary else 2,
        "two-factor": 2 if binary else 3,
        "m-approximation": problem.instance.columns,
    }[solver.id]


@pytest.mark.parametrize(("name", "options", "k"), PLANTED)
def test_ratios_on_planted_families(name: str, options: dict[str, Any], k: int) -> None:
    """Tests bound ≤ planted optimum ≤ cost ≤ ratio × planted optimum."""
    tried = set()
    for seed in range(few(4, 2)):
        family, answer = make(name, seed, True, **options)
        table = family.to_table()
        assert table.model.k == k
        best = table.cost(family.source_to_solution(answer))
        problem = Problem(table.to_instance()[0], KAnonymity(k))
        for solver in APPROXIMATIONS:
            if solver.refuse(problem) is not None:
                continue
            tried.add(solver.id)
            solved = recheck(problem, solver, solver.run(problem, Context()))
            assert solved.bound <= best <= solved.cost
            assert solved.cost <= promised(solver, problem) * best
    own = {2: {"factor-1-2"}, 3: {"two-factor"}}.get(k, set())
    assert tried == {"forest", "m-approximation"} | own


def forest_on_twin(k: int, twin: str) -> tuple[int, int, int]:
    """Cost, nearest-neighbour bound and forest weight."""
    heard: list[Event] = []
    problem = Problem(DistanceTwins(k, twin).to_table().to_instance()[0], KAnonymity(k))
    outcome = Forest().run(problem, Context(listener=heard.append))
    solved = recheck(problem, Forest(), outcome)
    (weight,) = [event.bound for event in heard if event.proof == "forest weight"]
    assert weight is not None
    return solved.cost, solved.bound, weight


@pytest.mark.parametrize("k", range(3, 11))
def test_distance_twins_show_the_gap_of_the_forest(k: int) -> None:
    """Tests that equal distances give equal bounds, while the optima are k²l and k(4l − 2).

    So what the forest can know of the dear table is a factor k/2 below its optimum, and the cheap
    table, which looks the same to it, costs less than twice the bound.
    """
    size = 2 ** (k - 2)
    dear, bound, weight = forest_on_twin(k, "blocks")
    cheap, *same = forest_on_twin(k, "halves")
    assert same == [bound, weight] == [k * 2 * size, (k - 1) * 2 * size]
    assert dear == k * k * size and cheap == k * (4 * size - 2)
    assert 2 * dear == k * bound  # Θ(k)
    assert cheap < 2 * bound
    assert 4 * dear > k * cheap


def test_two_factor_tight_family() -> None:
    """Tests the family against the method whose analysis it is tight for."""
    table = TwoFactorTight().to_table()
    problem = Problem(table.to_instance()[0], KAnonymity(3))
    solved = recheck(problem, TwoFactor(), TwoFactor().run(problem, Context()))
    assert solved.cost == 24 and solved.bound == 12


def test_forest_weight_is_told_beside_the_best_bound() -> None:
    """Tests that the release tells it to the user, in the user's units."""
    table = pl.DataFrame({"a": list("112233"), "b": list("xyzzxy")})
    release = ic.anonymize(table, 3, method="forest", weights={"a": "0.5"})
    weight = release.further_bounds["forest weight"]
    assert 0 < weight <= release.lower_bound <= release.cost
    assert "the forest weight, also a lower bound" in summary(release)
    assert not ic.anonymize(table, 3, method="mondrian").further_bounds
