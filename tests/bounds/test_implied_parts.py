"""Of many models of which one implies the others, one is priced, and the proof has its rule."""

from itertools import product

import numpy as np
import pytest

from incrowd.bounds.lawful_price import LawfulBoxes
from incrowd.bounds.pricing import pricing_of
from incrowd.driver.solve import Solved
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.beta_likeness import BasicBetaLikeness
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.model import Model, all_of
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.proof.certificate import certificate
from incrowd.run.stop import Stop

CELLS = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [1, 0], [1, 0]])
INSTANCE, _ = from_codes(CELLS, sensitive=np.array([0, 0, 1, 1, 2, 1]))
MANY = all_of([AlphaK(f"0.{900 + i}", 1 + i % 3) for i in range(99, -1, -1)])
MODELS: list[Model] = [
    *(AlphaK(alpha, k) for alpha, k in product(("0.4", "0.6", "0.9"), (1, 2))),
    *(AlphaK(alpha, 1, None, (0, 2)) for alpha in ("0.4", "0.6")),
    *(DistinctDiversity(level) for level in (1, 2, 3)),
    *(FrequencyDiversity(level) for level in (2, 3)),
    *(BasicBetaLikeness(beta) for beta in ("0.5", "1")),
]


def test_a_part_that_implies_another_allows_no_class_more() -> None:
    """Tests each pair of models: where one's part implies the other's, so do its shares."""
    table = Problem(INSTANCE, MODELS[0]).table
    parts = [(model, part) for model in MODELS for part in model.pricing(table, 2)]
    implied = [(a, b) for a, b in product(range(len(parts)), repeat=2)
               if a != b and parts[a][1].implies(parts[b][1])]  # fmt: skip
    names = {(parts[a][0].name, parts[b][0].name) for a, b in implied}
    assert ("(0.4, 2)-anonymity", "(0.9, 1)-anonymity") in names
    assert ("distinct 3-diversity", "distinct 2-diversity") in names
    assert ("(0.4, 1)-anonymity", "(0.6, 1)-anonymity") in names
    assert ("(0.9, 2)-anonymity", "(0.4, 1)-anonymity") not in names
    for a, b in implied:
        for counts in product(range(4), repeat=3):
            if sum(counts) >= 2 and fits(parts[a][0], counts):
                assert fits(parts[b][0], counts), (parts[a][0].name, parts[b][0].name, counts)


def fits(model: Model, counts: tuple[int, ...]) -> bool:
    """Whether a class with so many rows of each value is lawful, as far as its values go."""
    table = Problem(INSTANCE, model).table
    each = model.of_attribute(0)  # type: ignore[attr-defined]
    if isinstance(each, AlphaK):
        each = AlphaK(each.alpha, 1, 0, each.values)
    return each.fits(np.array(counts), table.histograms[0])


@pytest.mark.parametrize("models", [MODELS[:6], [MODELS[6], MODELS[2], MODELS[7]], MODELS[8:11]])
def test_only_the_strictest_is_priced(models: list[Model]) -> None:
    """Tests that models which others imply leave the pricing as it is."""
    problem = Problem(INSTANCE, all_of(models))
    assert len(pricing_of(problem)[0].kind) == (2 if models[0] is MODELS[6] else 1)


def test_one_rule_of_many_models_is_in_the_proof() -> None:
    """Tests a method without prices under a hundred models: the rule of the strictest."""
    problem = Problem(INSTANCE, MANY)
    whole = Solution.of(INSTANCE, np.zeros(6, np.int64))
    solved = Solved(whole, whole.cost, 0, "none", "finished")
    known = certificate(problem, solved, MANY.claim({"a": ["x", "y", "z"]}), {"a": 3})
    assert [rule["alpha"] for rule in known.rules] == ["9/10"]


def test_prices_for_a_proof_heed_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that prices are raised no further when time is up, and are prices all the same."""
    problem = Problem(INSTANCE, DistinctDiversity(2))
    whole = Solution.of(INSTANCE, np.zeros(6, np.int64))
    solved = Solved(whole, whole.cost, 0, "none", "finished")
    asked = []
    monkeypatch.setattr(LawfulBoxes, "listed", lambda *given: asked.append(given))
    plain = problem.model.claim({"a": ["x", "y", "z"]})
    for limit in (None, 1e-9):
        asked.clear()
        known = certificate(problem, solved, plain, {"a": 3}, stop=Stop(limit))
        assert bool(asked) == (limit is None)
        assert known.prices.bound(INSTANCE.counts) > 0
