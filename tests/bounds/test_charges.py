"""Charges of patterns against all histograms, and the bound against brute force."""

from itertools import product

import numpy as np
import pytest

from incrowd.bounds.charges import charged_prices, copies_by_value_of, law_of, safe_charges
from incrowd.bounds.dearest_class import most_worth
from incrowd.bounds.lawful_price import LawfulPriceBound, first_prices, safe_prices
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.pricing import pricing_of
from incrowd.privacy.base import Group
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from oracle import optimum

SIZE_OF_TABLE = 40  # copies of which the crowd below holds some


def dearest(problem: Problem, excess: np.ndarray, value: np.ndarray) -> float:
    """Return the largest sum of excesses of a lawful class, by trying all histograms."""
    held = [np.sort(excess[value == v])[::-1] for v in range(problem.table.sizes[0])]
    sums = [np.append(0.0, np.cumsum(one)) for one in held]
    best = 0.0
    for histogram in product(*(range(len(one) + 1) for one in held)):
        values = np.repeat(np.arange(len(histogram)), histogram)[:, None]
        if len(values) and problem.model.lawful(Group(values, problem.table.sizes), problem.table):
            best = max(best, sum(sums[v][h] for v, h in enumerate(histogram)))
    return best


@pytest.mark.parametrize("t", ["0", "0.1", "0.25", "0.4", "0.7"])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_the_dearest_class(t: str, k: int) -> None:
    """Tests the worth of a pattern's dearest class, and that the class told is near it."""
    rng = np.random.default_rng(int(100 * float(t)) + k)
    worths = []
    for _ in range(12):
        value = rng.choice(4, SIZE_OF_TABLE, p=[0.4, 0.3, 0.2, 0.1])
        instance, _ = from_codes(np.arange(SIZE_OF_TABLE)[:, None], None, value)
        problem = Problem(instance, TCloseness(t) & KAnonymity(k))
        tree = LawfulTree(instance, *pricing_of(problem))
        law = law_of(tree)
        assert law is not None
        rows = np.sort(rng.choice(instance.distinct, 15, replace=False)).astype(np.int32)
        u = rng.normal(1.0, 0.6, instance.distinct).round(2)
        copies = copies_by_value_of(tree, law)
        found = most_worth(rows, 0, len(rows), u, instance.counts, 1.0, law, copies)
        values = instance.sensitive_codes[rows, 0]
        wanted = dearest(problem, u[rows] - 1.0, values)
        assert found == pytest.approx(wanted, abs=1e-6)
        if found > 0:
            starts = law.start[:-1]
            told = sum(
                copies.excess[a : a + h].sum() for a, h in zip(starts, copies.best, strict=False)
            )
            assert told == pytest.approx(wanted, abs=1e-6)
        worths.append(found)
    assert t == "0" or max(worths) > 0


def table(seed: int) -> Problem:
    """Eight rows to be 0.4-close."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (8, 3))
    instance, _ = from_codes(codes, None, rng.integers(0, 3, 8))
    return Problem(instance, TCloseness("0.4") & KAnonymity(2))


def test_no_release_beats_the_bound() -> None:
    """Tests any prices with their charge, and the best ones, which prove more than before."""
    more = 0
    for seed in range(40):
        problem = table(seed)
        least = optimum(problem.instance, problem.model)
        assert least is not None
        tree = LawfulTree(problem.instance, *pricing_of(problem))
        law = law_of(tree)
        assert law is not None
        rng = np.random.default_rng(seed)
        for _ in range(5):
            prices = safe_charges(tree, law, rng.uniform(-1, 4, problem.instance.distinct))
            assert prices is not None
            assert prices.bound(problem.instance.counts) <= least
        u = LawfulPriceBound().ascend(tree, first_prices(tree)[0])
        plain = safe_prices(tree, u).bound(problem.instance.counts)
        charged = charged_prices(tree, u)
        assert charged is not None
        found = charged.bound(problem.instance.counts)
        assert plain <= least
        assert found <= least
        more += found > plain
    assert more


def test_other_models_have_no_charges() -> None:
    """Tests that classes of other models are not priced as t-close ones."""
    problem = Problem(table(0).instance, DistinctDiversity(2))
    tree = LawfulTree(problem.instance, *pricing_of(problem))
    assert law_of(tree) is None
    assert charged_prices(tree, np.zeros(problem.instance.distinct)) is None
