"""Tests of columns with intervals: every search and every bound against brute force."""

import numpy as np
import pytest
from tests.oracle import join_cost, optimum
from tests.solvers.ranged_tables import ranged_tables

from incrowd.bounds.best import best_prices
from incrowd.driver.solve import solve
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution


def recounted(instance: Instance, solution: Solution) -> int:
    """The cost of a solution by the oracle's definition."""
    total = 0
    for one in range(int(solution.classes.max()) + 1):
        members = np.flatnonzero(solution.classes == one)
        total += len(members) * join_cost(instance, tuple(members.tolist()))
    return total


@pytest.mark.parametrize("seed", range(4))
def test_engine_and_bound(seed: int) -> None:
    """Tests that the engine's release costs what it says, and that its bound is none too high."""
    solved, optimal = 0, 0
    for instance, rng in ranged_tables(seed, 60):
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
