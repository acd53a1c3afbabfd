"""Tests of the search from known prices on, and of near rows where prices tell little."""

import numpy as np
import pytest

from incrowd.bounds.lawful_price import LawfulPriceBound
from incrowd.bounds.prices import Prices
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context
from incrowd.solvers.engine.windows import window_emission
from incrowd.solvers.sensitive import engine
from incrowd.solvers.sensitive.engine import LawfulSearch, Run
from incrowd.solvers.sensitive.resumed import resumed


def groups(rows: int, columns: int) -> Problem:
    """Rows that are each near nine others, and far from the rest."""
    rng = np.random.default_rng(3)
    centre = rng.integers(0, 3, (rows // 10, columns)).repeat(10, 0)
    far = rng.random(centre.shape) < 0.06
    codes = np.where(far, rng.integers(0, 3, centre.shape), centre)
    instance, _ = from_codes(codes, None, rng.integers(0, 4, (rows, 1)))
    return Problem(instance, DistinctDiversity(3, 0) & KAnonymity(3))


def test_near_rows_where_prices_tell_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests prices that were hardly raised, whose own patterns miss what near rows show."""
    problem, costs = groups(120, 14), []
    early = LawfulSearch(prices=LawfulPriceBound(rounds=1, iterations=1))
    for _ in range(2):
        found = early.run(problem, Context()).solution
        assert found is not None
        costs.append(found.cost)
        monkeypatch.setattr(engine, "LOOSE", np.inf)
    assert costs[0] < 0.95 * costs[1]


@pytest.mark.parametrize("few", [False, True])
def test_near_rows_are_not_added_where_few_large_classes_are_balanced(
    monkeypatch: pytest.MonkeyPatch, few: bool
) -> None:
    """Tests the patterns that are searched where prices say nothing."""
    monkeypatch.setattr(Run, "few", few)
    run = Run(LawfulSearch(), groups(60, 9), Context())
    listed = window_emission(run.instance, run.k, 1, 0)
    assert (run.widened(listed) is listed) == few


def test_releases_from_prices() -> None:
    """Tests prices of lawful classes and others: without a start nearly as good, from one on."""
    problem = groups(60, 9)
    found = LawfulSearch().run(problem, Context())
    assert found.solution is not None and found.lawful is not None
    best, tens = found.solution, Solution.of(problem.instance, np.arange(60) // 10)
    none = Prices(np.zeros(problem.instance.distinct, np.int64), 1)
    for prices, lawful in ((found.lawful, True), (none, False)):
        for start, most in ((None, 1.2 * best.cost), (tens, 0.5 * tens.cost), (best, best.cost)):
            solution = resumed(problem, prices, Context(), start, lawful)
            assert found.bound <= solution.cost <= most
            assert problem.lawful_classes(solution.classes, np.arange(60)).all()
