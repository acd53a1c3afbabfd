"""Tables whose pairs are too many at first: prices of a box say which matter, and all is proven."""

import pytest

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine import lifting as stages
from incrowd.solvers.engine.engine import Engine, Run
from oracle import optimum
from solvers.engine.engine_samples import KINDS, random_tables


def boxed(run: Run) -> None:
    """Go on to prices with odd sets."""
    run.at_once()
    for stage in (run.pricing.first_prices, run.pricing.bound_by_prices):
        stage()
    run.lifting.raise_by_odd_sets()


@pytest.mark.parametrize("kind", KINDS)
def test_a_box_is_enough_to_prove_the_optimum(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the bound against brute force, after a program in a box and one over what matters."""
    monkeypatch.setattr(stages, "MOST_LIFTED", (0, 0))
    again = 0
    for instance, rng in random_tables(71, 12, kind, (6, 11), (2, 4)):
        k = int(rng.integers(2, 4))
        best = optimum(instance, KAnonymity(k))
        if best is None:
            continue
        context = Context(0, Stop(60.0, None, spend=True))
        run = Run(Engine(), Problem(instance, KAnonymity(k)), context)
        boxed(run)
        if run.progress.bound >= run.progress.best.cost:
            continue
        assert run.lifting.lifted is None
        run.lifting.finish()
        assert run.progress.bound == run.progress.best.cost == best
        again += run.lifting.lifted is not None
    assert again


def test_what_does_not_fit_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that too many pairs leave the bound of the box as it is."""
    monkeypatch.setattr(stages, "MOST_LIFTED", (0, 0))
    monkeypatch.setattr(stages, "MOST_AGAIN", 0)
    left, tables = 0, random_tables(72, 12, "plain", (9, 11), (3, 4))
    for instance, _ in tables:
        run = Run(
            Engine(), Problem(instance, KAnonymity(3)), Context(0, Stop(60.0, None, spend=True))
        )
        boxed(run)
        before = run.progress.bound
        run.lifting.raise_again()
        assert run.lifting.lifted is None and run.progress.bound == before
        left += run.progress.bound < run.progress.best.cost
    assert left
