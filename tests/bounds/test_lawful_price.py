"""Tests of the lawful price bound's shortcuts."""

import numpy as np
import pytest

from incrowd.bounds.lawful_price import reductions, rise
from incrowd.bounds.lawful_shares import LawfulShares
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.pricing import pricing_of
from incrowd.instance import from_codes
from incrowd.privacy.base import Model
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.solvers.base import Problem


@pytest.mark.parametrize(
    "model", [DistinctDiversity(3), FrequencyDiversity(2), TCloseness("0.3")], ids=lambda m: m.name
)
def test_patterns_that_cannot_be_violated_yet_need_no_asking(model: Model) -> None:
    """Tests that reductions are the same whether or not patterns with room are passed over."""
    rng = np.random.default_rng(5)
    instance, _ = from_codes(rng.integers(0, 3, (60, 4)), None, rng.integers(0, 4, 60))
    tree = LawfulTree(instance, *pricing_of(Problem(instance, model)))
    u = rng.uniform(0, 2, instance.distinct)
    emission, _ = LawfulShares().emission(tree, u, 8.0)
    patterns, distinct = len(emission.cost), instance.distinct

    def cuts(due: np.ndarray, risen: float) -> np.ndarray:
        cut, cutter = np.zeros(distinct), np.zeros(distinct, np.int64)
        problem = np.zeros(patterns + 1, np.int64)
        reductions(
            u, emission.offset, emission.rows, emission.cost, patterns, instance.counts,
            tree.pricing, tree.pad, cut, cutter, problem, due, risen,
        )  # fmt: skip
        return cut

    due, risen, passed = np.zeros(patterns + 1), 0.0, 0
    for _ in range(40):
        passed += int((due[:patterns] > risen).sum())
        assert np.array_equal(cuts(due, risen), cuts(np.zeros(patterns + 1), 0.0))
        after = np.maximum(u + rng.normal(0.02, 0.05, distinct), 0)
        risen += rise(u, after)
        u = after
    assert patterns and passed
