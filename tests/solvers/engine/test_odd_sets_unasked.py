"""Tables with hierarchies have odd sets without a time limit: against brute force."""

import pytest

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine import lifting as stages
from incrowd.solvers.engine import search as searches
from incrowd.solvers.engine.engine import Engine, Run
from oracle import optimum
from solvers.engine.engine_samples import random_tables
from solvers.ranged_tables import ranged_tables


def priced(instance: Instance, k: int, stop: Stop) -> Run:
    """A run up to where odd sets come."""
    run = Run(Engine(), Problem(instance, KAnonymity(k)), Context(0, stop))
    run.at_once()
    for stage in (run.pricing.first_prices, run.pricing.bound_by_prices):
        stage()
    return run


@pytest.fixture(autouse=True)
def _few_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tables that brute force can solve count as large."""
    monkeypatch.setattr(stages, "MOST_LIFTED", (0, 0))
    monkeypatch.setattr(searches, "SMALL", 1)


def test_ranges_have_odd_sets_once_and_repeatably() -> None:
    """Tests prices ≤ bound ≤ optimum, that some bounds rise, and that none is raised twice."""
    raised = 0
    for instance, rng in ranged_tables(81, 25, (7, 11)):
        k = int(rng.integers(2, 4))
        best = optimum(instance, KAnonymity(k))
        run, again = (priced(instance, k, Stop()) for _ in range(2))
        before = run.progress.bound
        if best is None or before in (0, run.progress.best.cost):
            continue
        run.lifting.raise_by_odd_sets()
        again.lifting.raise_by_odd_sets()
        assert before <= run.progress.bound == again.progress.bound <= best
        raised += run.progress.bound > before
        if run.lifting.guide is not None:
            assert not run.lifting.pays_unasked()
    assert raised


def test_others_have_them_only_in_time_that_was_given() -> None:
    """Tests that a table of stars has none, nor one with larger classes: of trees, or of ranges."""
    for instance, _ in random_tables(82, 3, "plain", (9, 11), (3, 4)):
        assert not priced(instance, 2, Stop()).lifting.pays_unasked()
    trees = random_tables(84, 3, "trees", (9, 11), (3, 4))
    for most, tables in ((stages.SMALL, trees), (stages.LARGE, ranged_tables(83, 3, (7, 11)))):
        for instance, _ in tables:
            run = priced(instance, 2, Stop())
            run.search.priced = True
            assert run.lifting.pays_unasked()
            run.lifting.k = most + 1
            assert not run.lifting.pays_unasked()
            run.lifting.k, run.lifting.stop = most, Stop(60.0)
            assert not run.lifting.pays_unasked()
