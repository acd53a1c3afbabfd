"""How the engine for sensitive models shares out a limited time."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.support import support_prices
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.model import Model
from incrowd.privacy.people import People
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.run import clock
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.sensitive import bounding
from incrowd.solvers.sensitive.anneal import LawfulAnnealing
from incrowd.solvers.sensitive.schedule import HOPELESS, hopeless
from solvers.sensitive.quick import LAWFUL


def crowd() -> Instance:
    """Twelve people with five rows each; whose they are is an attribute."""
    rng = np.random.default_rng(0)
    whose = np.repeat(np.arange(12), 5)
    codes = np.column_stack([whose % 4, rng.integers(0, 3, 60)])
    return from_codes(codes, None, whose[:, None])[0]


@pytest.mark.parametrize("limit", [None, 1_000.0])
def test_annealing_cools_with_the_clock(
    monkeypatch: pytest.MonkeyPatch, limit: float | None
) -> None:
    """Tests that lawful annealing is told the share of its time that is used, if it is limited."""
    paces: list[Any] = []
    anneal = LawfulAnnealing.run

    def run(self: LawfulAnnealing, *given: Any, **more: Any) -> Any:
        paces.append(given[-1])
        return anneal(self, *given, **more)

    monkeypatch.setattr(LawfulAnnealing, "run", run)
    search = replace(LAWFUL, annealing=replace(LAWFUL.annealing, moves=2))
    stop = Stop(limit)
    search.run(Problem(crowd(), DistinctDiversity(3)), Context(0, stop))
    assert paces
    monkeypatch.setattr(clock, "now", lambda: stop.started + 900.0)
    assert all(pace() > 0.5 for pace in paces) if limit else not any(pace() for pace in paces)


def test_when_k_anonymity_is_hopeless() -> None:
    """Tests the comparison, on rows that are alike but of one person."""
    tree, k = PrefixTree(crowd()), 3
    support = float(support_prices(tree, k)[0] @ tree.instance.counts)
    assert hopeless(tree, k, int(support / HOPELESS) + 1, 10**6)
    assert not hopeless(tree, k, int(support / HOPELESS), 10**6)
    assert not hopeless(tree, k, 10**9, 1)  # unknown, where the visits do not do


@pytest.mark.parametrize("limit", [None, 1_000.0])
def test_k_prices_are_left_out_under_limits_only(
    monkeypatch: pytest.MonkeyPatch, limit: float | None
) -> None:
    """Tests that a run without limits never proves less than k-anonymity."""
    asked: list[bool] = []
    monkeypatch.setattr(bounding, "hopeless", lambda *given: asked.append(True) or True)
    problem = Problem(crowd(), FrequencyDiversity(3))
    search = replace(LAWFUL, annealing=replace(LAWFUL.annealing, moves=2))
    found = search.run(problem, Context(0, Stop(limit)))
    assert found.solution is not None
    assert bool(asked) == (limit is not None)


@pytest.mark.parametrize("model", [FrequencyDiversity(3), People(3, 0), TCloseness("0.5")])
def test_a_bound_stands_without_time(model: Model) -> None:
    """Tests that what any k rows prove is there beside the first release, whatever the time."""
    problem = Problem(crowd(), model)
    support, complete = support_prices(PrefixTree(problem.instance), problem.smallest_class)
    assert complete
    found = LAWFUL.run(problem, Context(0, Stop(0.0)))
    assert found.bound == int(support @ problem.instance.counts)
    assert (found.bound > 0) == (problem.smallest_class > 1)


def test_what_is_known_is_not_searched_for_again() -> None:
    """Tests the comparison with what the first seconds proved."""
    tree = PrefixTree(crowd())
    assert hopeless(tree, 3, 100, 1, known=int(100 * HOPELESS) - 1)
    assert not hopeless(tree, 3, 100, 10**6, known=int(100 * HOPELESS))
