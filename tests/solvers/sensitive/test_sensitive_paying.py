"""When runs for sensitive models end of themselves, and what they tell of their stages."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.run.events import Event
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.sensitive import bounding, engine
from incrowd.solvers.sensitive.engine import Run
from solvers.sensitive.quick import LAWFUL

BOUNDS = [1_000.0, 1_100.0, 1_120.0, 1_120.4, 1_130.0]


def problem(model: Model, rows: int = 160) -> Problem:
    """Random rows with four columns and six sensitive values."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, (rows, 4))
    return Problem(from_codes(codes, None, rng.integers(0, 6, (rows, 1)))[0], model)


@dataclass
class Told:
    """A schedule whose rounds end at given bounds."""

    rounds: int = 0

    def ascend(self, tree: Any, u: Any, stop: Callable[[], bool], report: Any, gauge: Any) -> Any:
        """Go through the rounds until told to stop."""
        for bound in BOUNDS:
            if stop():
                break
            self.rounds += 1
            report(bound, self.rounds / len(BOUNDS))
        return u


@pytest.mark.parametrize(
    ("spend", "scarce", "rounds"), [(False, False, 4), (True, False, 5), (False, True, 5)]
)
@pytest.mark.parametrize("limit", [None, 1_000.0])
def test_prices_are_raised_while_rounds_pay(
    monkeypatch: pytest.MonkeyPatch, spend: bool, scarce: bool, rounds: int, limit: float | None
) -> None:
    """Tests that the round which brings too little is the last, with a limit and without."""
    monkeypatch.setattr(bounding, "scarce", lambda tree: scarce)
    run = Run(LAWFUL, problem(DistinctDiversity(2)), Context(0, Stop(limit, None, spend)))
    run.bound_by_classes()
    told: Any = Told()
    run.ascended(told, run.price)
    assert told.rounds == rounds


@pytest.mark.parametrize(("been", "few"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize(("saved", "turns"), [([40, 40, 4, 40], 3), ([4, 40], 1), ([4, 4], 1)])
def test_annealing_goes_on_while_turns_pay(
    monkeypatch: pytest.MonkeyPatch, saved: list[int], turns: int, been: bool, few: bool
) -> None:
    """Tests that without a limit the turn which saves too little is the last; .05 % here are 5.

    Turns are as long as the first where classes are few and large (``few``), and else short.
    """

    @dataclass
    class Costs:
        cost: int

    run = Run(LAWFUL, problem(DistinctDiversity(2)), Context())
    made: list[float] = []

    def anneal(candidates: Any, pattern: Any, share: float, heat: float, number: int) -> None:
        own: Any = Costs(run.own.cost - saved[len(made)])
        made.append(share)
        run.own = own

    monkeypatch.setattr(Run, "few", few)
    monkeypatch.setattr(engine, "with_solution", lambda emission, own: (None, None))
    monkeypatch.setattr(run, "anneal", anneal)
    start: Any = Costs(10_000)
    run.own = start
    monkeypatch.setattr(run.progress, "bound", 0)
    nothing: Any = None
    run.anneal_again(nothing, 0.45, 0.3, been)
    assert len(made) == turns
    assert made == [0.45, *[0.45 if few else engine.AGAIN] * (turns - 1)]


@pytest.mark.parametrize("model", [DistinctDiversity(4), TCloseness("0.3") & KAnonymity(3)])
def test_one_share_of_all_planned_moves_is_told(model: Model) -> None:
    """Tests that the annealing is one stage, whose share rises from near nothing to all."""
    events: list[Event] = []
    search = replace(LAWFUL, annealing=replace(LAWFUL.annealing, moves=20))
    found = search.run(problem(model), Context(0, Stop(), events.append))
    shares = [event.share for event in events if event.stage == "annealing"]
    assert shares == sorted(shares, key=lambda share: share or 0.0)
    assert (shares[0] or 0.0) < 0.05 and shares[-1] == pytest.approx(1.0)
    assert found.ended == "stopped paying"
    steps = [event.share or 0.0 for event in events if event.stage == "fractional release"]
    assert len(steps) > 1 and steps == sorted(steps) and steps[0] == 0.0 and steps[-1] >= 0.9
    again = [event.share for event in events if event.stage == "annealing again"]
    assert not again or max(share or 0.0 for share in again) == 1.0
