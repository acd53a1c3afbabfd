"""Tests of least-weight subgraphs by matching: degrees 1 and 2, and 2 alone, by brute force."""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from dial import enough, few
from incrowd.driver.solve import solve
from incrowd.linear.blossom import PerfectMatching
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.approx import cycle_program
from incrowd.solvers.approx.cycle_program import (
    Pairs,
    matched_cycles,
    minimum_cycles,
    programmed,
    relax,
)
from incrowd.solvers.approx.factor_1_2 import Factor12, minimum_cover, trimmed
from incrowd.solvers.approx.factors import Factor, pair_costs
from incrowd.solvers.approx.two_factor import TwoFactor
from incrowd.solvers.base import Context
from solvers.ranged_tables import ranged_tables
from solvers.small_tables import Shape, tables

Weights = NDArray[np.int64]
SHAPES = {
    "stars": Shape(rows=(3, 8), columns=(1, 5)),
    "trees and weights": Shape(rows=(3, 8), columns=(1, 4), trees=True, values=(2, 6)),
    "many copies": Shape(rows=(5, 8), columns=(1, 3), values=(2, 3)),
}


def least(weight: Weights, low: int) -> int:
    """The least weight of a subgraph with degrees low..2, by all sets of up to n edges."""
    n = len(weight)
    edges = list(combinations(range(n), 2))
    best = [1 << 60]

    def extend(at: int, degree: tuple[int, ...], paid: int) -> None:
        if paid >= best[0]:
            return
        if at == len(edges):
            if min(degree) >= low:
                best[0] = paid
            return
        u, v = edges[at]
        if all(degree[x] >= low for x in range(u)):  # edges come by their first end
            extend(at + 1, degree, paid)
            if degree[u] < 2 and degree[v] < 2:
                more = tuple(d + (x in (u, v)) for x, d in enumerate(degree))
                extend(at + 1, more, paid + int(weight[u, v]))

    extend(0, (0,) * n, 0)
    return best[0]


def require_factor(factor: Factor, weight: Weights, low: int) -> None:
    """Check that a finished factor is one, and weighs its bound."""
    assert factor.finished and factor.edges is not None
    tail, head = factor.edges.T
    assert len({frozenset(edge) for edge in factor.edges.tolist()}) == len(tail)
    degree = np.bincount(np.concatenate([tail, head]), minlength=len(weight))
    assert (tail != head).all() and degree.min() >= low and degree.max() <= 2
    assert int(weight[tail, head].sum()) == factor.bound


@pytest.mark.parametrize("shape", SHAPES)
def test_least_subgraphs_of_tables(shape: str) -> None:
    """Tests both on tables, the second one with its fast way and without."""
    for instance, _ in tables(31, 30, SHAPES[shape]):
        weight = pair_costs(instance)
        one = minimum_cover(weight, Context())
        require_factor(one, weight, 1)
        assert one.bound == least(weight, 1)
        if instance.rows >= 3:
            best = least(weight, 2)
            for branches in (0, 1_000):
                two = minimum_cycles(weight, Context(), branches)
                require_factor(two, weight, 2)
                assert two.bound == best


def test_least_subgraphs_of_ranges() -> None:
    """Tests covers of tables with ranges, whose costs are no tree's."""
    for instance, _ in ranged_tables(32, 24, (2, 8), most=False):
        weight = pair_costs(instance)
        one = minimum_cover(weight, Context())
        require_factor(one, weight, 1)
        assert one.bound == least(weight, 1)


def test_cycles_of_any_weights() -> None:
    """Tests weights without the triangle inequality, where edges taken twice tempt most."""
    rng = np.random.default_rng(33)
    for _ in range(few(90)):
        n = int(rng.integers(3, 8))
        weight = np.triu(rng.integers(0, int(rng.choice([2, 10, 1_000])), (n, n)), 1)
        weight += weight.T
        best = least(weight, 2)
        for branches in (0, 1_000):
            found = minimum_cycles(weight, Context(), branches)
            require_factor(found, weight, 2)
            assert found.bound == best


def test_fractional_programs_are_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests prisms, whose linear program halves their triangles, with a program that gives up."""
    monkeypatch.setattr(cycle_program, "whole_factor", lambda *_: (None, 0, False))
    rng = np.random.default_rng(34)
    fractional = 0
    for _ in range(few(36)):
        n = int(rng.integers(6, 8))
        weight = np.triu(rng.integers(4, 9, (n, n)), 1)
        for u, v in ((0, 3), (1, 4), (2, 5)):
            weight[u, v] = rng.integers(0, 2)
        for u, v in ((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)):
            weight[u, v] = rng.integers(2, 4)
        weight += weight.T
        tail, head = np.triu_indices(n, 1)
        every = Pairs(n, tail, head, weight[tail, head], np.ones(len(tail), bool))
        relaxed = relax(every, Context())
        assert relaxed is not None
        below = relaxed[0] < least(weight, 2) - 1e-6
        fractional += below
        assert below or not programmed(weight, Context(), 1).finished
        found = minimum_cycles(weight, Context(), 1)
        require_factor(found, weight, 2)
        assert found.bound == least(weight, 2)
    assert fractional >= enough(12)


def test_gadgets_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests points in pairs, in which every pair tempts to be taken twice, over several rounds."""
    sizes = []
    matching = cycle_program.perfect_matching

    def counted(cost: Weights, word: Weights) -> PerfectMatching | None:
        sizes.append(len(cost))
        return matching(cost, word)

    monkeypatch.setattr(cycle_program, "perfect_matching", counted)
    rng = np.random.default_rng(35)
    most = 0
    for _ in range(few(20)):
        weight = pair_costs(from_codes(rng.integers(0, 3, (20, 6)))[0])
        sizes.clear()
        found = matched_cycles(weight, Context())
        require_factor(found, weight, 2)
        assert programmed(weight, Context(), 1_000).bound == found.bound
        assert sizes == sorted(set(sizes))
        most = max(most, len(sizes))
    assert most > 1


def test_stars_are_trimmed() -> None:
    """Tests that edges between vertices with others go, and that leaves of large stars pair up."""
    path = trimmed([{1}, {0, 2}, {1, 3}, {2}])
    assert path == [(0, 1), (2, 3)]
    star = trimmed([{1, 2, 3, 4, 5}, {0}, {0}, {0}, {0}, {0}])
    degree = np.bincount(np.array(star).ravel(), minlength=6)
    assert len(star) == 3 and degree.tolist() == [1] * 6


@pytest.mark.parametrize("method", [Factor12(), TwoFactor(), TwoFactor(branches=0)])
def test_stopped_runs_are_lawful(method: Factor12 | TwoFactor) -> None:
    """Tests that a run without time has a lawful release and claims no more than it knows."""
    k = 2 if isinstance(method, Factor12) else 3
    instance, _ = from_codes(np.random.default_rng(36).integers(0, 3, (60, 5)))
    solved = solve(Problem(instance, KAnonymity(k)), method, Context(stop=Stop(time_limit=0.0)))
    assert solved.solution.sizes.min() >= k and solved.ended == "time limit"
    assert solved.bound < solved.cost


def test_too_many_gadgets_claim_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that cycles for which there is no memory end with the bound that is known."""
    weight = pair_costs(from_codes(np.random.default_rng(37).integers(0, 3, (12, 5)))[0])
    monkeypatch.setattr(cycle_program, "MOST_MATCHED", 20)
    found = matched_cycles(weight, Context())
    assert found.edges is None and not found.finished
    assert minimum_cycles(weight, Context(), 1_000).finished
