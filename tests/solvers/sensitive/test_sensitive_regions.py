"""Tests annealing by regions under sensitive models: lawful, and the same for all threads."""

import numpy as np
import pytest

from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.model import Model
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.solvers.engine import regions
from incrowd.solvers.engine.candidates import Candidates, build_candidates
from incrowd.solvers.engine.windows import window_emission
from incrowd.solvers.sensitive import by_regions
from incrowd.solvers.sensitive.anneal import LawfulAnnealing
from incrowd.solvers.sensitive.assignment import Rules, new_state
from incrowd.solvers.sensitive.rounding import trimmed
from incrowd.solvers.sensitive.rules import rules_of
from incrowd.solvers.sensitive.soften import SoftAnnealing
from incrowd.solvers.sensitive.start import greedy
from solvers.sensitive.test_sensitive_soft import total_owed

MODELS: list[Model] = [FrequencyDiversity(3), TCloseness("0.3")]


@pytest.fixture(autouse=True)
def _small_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "REGION", 100)
    monkeypatch.setattr(by_regions, "SLICE", 500)


def made(model: Model) -> tuple[Problem, Candidates, Rules]:
    """A table of 400 rows, its candidates, and its rules."""
    rng = np.random.default_rng(2)
    codes = np.minimum(rng.geometric(0.4, (400, 4)) - 1, 4)
    instance: Instance = from_codes(codes, None, rng.integers(0, 4, 400))[0]
    problem = Problem(instance, model)
    c = build_candidates(instance, window_emission(instance, 3, 4, 0))
    return problem, c, rules_of(problem)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_lawful_annealing(model: Model) -> None:
    """Tests that releases are lawful and cheaper than the start, whatever the threads."""
    problem, c, rules = made(model)
    start, price = greedy(c, rules, 1, 0), np.zeros(problem.instance.distinct)

    def found(threads: int) -> np.ndarray:
        lists = by_regions.Lists(c, rules, price, start)
        return LawfulAnnealing(moves=100).run(lists, 1.0, 1.0, 3, threads=threads)

    one = found(1)
    assert all(np.array_equal(found(threads), one) for threads in (2, 3))
    assert c.cost[one].sum() < c.cost[start].sum()
    for p in np.unique(one):
        assert model.lawful(problem.group(np.flatnonzero(one == p)), problem.table)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_soft_annealing(model: Model) -> None:
    """Tests that energy falls from a chance start, whatever the threads; the rest can be mended."""
    problem, c, rules = made(model)
    rng = np.random.default_rng(5)
    start = np.array(
        [rng.choice(c.row_patterns[slice(*c.row_offset[r : r + 2])]) for r in c.row_of], np.int64
    )

    def energy(pattern: np.ndarray) -> float:
        owed = total_owed(new_state(c, rules, pattern), rules)
        return float(c.cost[pattern].sum()) + 5 * owed / 1024

    def found(threads: int) -> np.ndarray:
        lists = by_regions.Lists(c, rules, np.zeros(problem.instance.distinct), start)
        rest = lists, 1.0, 100, (1.0, 0.1), (5.0, 5.0), 1
        return SoftAnnealing().run(*rest, threads=threads)

    one = found(1)
    assert all(np.array_equal(found(threads), one) for threads in (2, 3))
    assert energy(one) < 0.8 * energy(start)
    pattern, root = trimmed(c, rules, one, 0), len(c.cost) - 1
    for p in np.unique(pattern[pattern != root]):
        assert model.lawful(problem.group(np.flatnonzero(pattern == p)), problem.table)
