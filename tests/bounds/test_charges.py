"""Charges of patterns against all histograms, and the bound against brute force."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dial import crossed, few
from incrowd.bounds.capped_class import CapLaw, most_worth_capped
from incrowd.bounds.charges import (
    charged_prices,
    copies_by_value_of,
    law_of,
    safe_charges,
)
from incrowd.bounds.copies_by_value import ClosenessLaw, CopiesByValue
from incrowd.bounds.dearest_class import most_worth
from incrowd.bounds.lawful_price import LawfulPriceBound, first_prices, safe_prices
from incrowd.bounds.lawful_tree import LawfulTree, charged_tree
from incrowd.bounds.pricing import pricing_of
from incrowd.checker.capped import CappedCharges
from incrowd.kernels.interpreted import interpreted
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.base import Group
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
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


def worth_told(law: ClosenessLaw | CapLaw, copies: CopiesByValue) -> float:
    """What the class comes to whose histogram is told."""
    parts = zip(law.start[:-1], copies.best, strict=False)
    return float(sum(copies.excess[a : a + h].sum() for a, h in parts))


@pytest.mark.parametrize(("t", "k"), crossed(["0", "0.1", "0.25", "0.4", "0.7"], [1, 3, 5]))
def test_the_dearest_class(t: str, k: int) -> None:
    """Tests the worth of a pattern's dearest class, and that the class told is near it."""
    rng = np.random.default_rng(int(100 * float(t)) + k)
    worths = []
    for _ in range(few(8)):
        value = rng.choice(4, SIZE_OF_TABLE, p=[0.4, 0.3, 0.2, 0.1])
        instance, _ = from_codes(np.arange(SIZE_OF_TABLE)[:, None], None, value)
        problem = Problem(instance, TCloseness(t) & KAnonymity(k))
        tree = LawfulTree(instance, *pricing_of(problem))
        law = law_of(tree)
        assert law is not None
        rows = np.sort(rng.choice(instance.distinct, 15, replace=False)).astype(np.int32)
        u = rng.normal(1.0, 0.6, instance.distinct).round(2)
        copies = copies_by_value_of(tree, law)
        with interpreted():  # no kernel is compiled for this test alone
            found = most_worth(rows, 0, len(rows), u, instance.counts, 1.0, law, copies)
        values = instance.sensitive_codes[rows, 0]
        wanted = dearest(problem, u[rows] - 1.0, values)
        assert found == pytest.approx(wanted, abs=1e-6)
        if found > 0:
            assert worth_told(law, copies) == pytest.approx(wanted, abs=1e-6)
        worths.append(found)
    assert t == "0" or max(worths) > 0


CAPPED: list[Model] = [
    AlphaK("0.6", 3),
    BasicBetaLikeness("0.5") & KAnonymity(2),
    BasicBetaLikeness(2) & KAnonymity(5),
    EnhancedBetaLikeness(1) & KAnonymity(3),
    DeltaDisclosure(1) & KAnonymity(2),
    DeltaDisclosure("0.6") & KAnonymity(3),
]


@pytest.mark.parametrize("model", CAPPED, ids=str)
def test_the_dearest_class_within_caps(model: Model) -> None:
    """Tests the worth of a dearest class, that of the class told, and what the checker says."""
    rng = np.random.default_rng(len(str(model)))
    worths = []
    for _ in range(few(7)):
        value = np.append(np.arange(4), rng.choice(4, SIZE_OF_TABLE - 4, p=[0.4, 0.4, 0.15, 0.05]))
        instance, _ = from_codes(np.arange(SIZE_OF_TABLE)[:, None], None, value)
        problem = Problem(instance, model)
        tree = LawfulTree(instance, *pricing_of(problem))
        law = law_of(tree)
        assert isinstance(law, CapLaw)
        rows = np.sort(rng.choice(instance.distinct, 17, replace=False)).astype(np.int32)
        u = rng.normal(1.0, 0.6, instance.distinct).round(2)
        copies = copies_by_value_of(tree, law)
        with interpreted():  # no kernel is compiled for this test alone
            found = most_worth_capped(rows, 0, len(rows), u, instance.counts, 1.0, law, copies)
        values = instance.sensitive_codes[rows, 0]
        wanted = dearest(problem, u[rows] - 1.0, values)
        assert found == pytest.approx(wanted, abs=1e-6)
        if found > 0:
            assert worth_told(law, copies) == pytest.approx(wanted, abs=1e-6)
        shares = [(Fraction(y), Fraction(x)) for y, x in zip(law.low, law.cap, strict=True)]
        charges = CappedCharges(shares, tree.k, np.diff(law.start))
        excess = np.round(100 * (u[rows] - 1)).astype(np.int64)
        falling = np.argsort(-excess, kind="stable")
        one = np.ones(len(rows), np.int64)
        assert charges.worth(excess[falling], one, values[falling]) == round(100 * wanted)
        worths.append(found)
    assert max(worths) > 0


def table(seed: int, model: Model) -> Problem:
    """Return eight rows under a model."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (8, 3))
    instance, _ = from_codes(codes, None, rng.integers(0, 3, 8))
    return Problem(instance, model)


CLOSE = TCloseness("0.4") & KAnonymity(2)
STRICT = DeltaDisclosure("0.7") & KAnonymity(2)
BOTH = DistinctDiversity(2) & CLOSE
LIKENESS = BasicBetaLikeness("0.8") & KAnonymity(2)  # of so few values whole rows spoil little


@pytest.mark.parametrize(
    ("model", "helps"), [(CLOSE, 1), (BOTH, 1), (STRICT, 1), (LIKENESS, 0)], ids=str
)
def test_no_release_beats_the_bound(model: Model, helps: int) -> None:
    """Tests any prices with their charge, and the best ones, which prove more than before."""
    more = 0
    for seed in range(12):
        problem = table(seed, model)
        least = optimum(problem.instance, problem.model)
        if least is None:
            continue
        tree = charged_tree(problem, LawfulTree(problem.instance, *pricing_of(problem)))
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
    assert more >= helps


def test_other_models_have_no_charges() -> None:
    """Tests that classes of other models are not priced as t-close ones."""
    problem = Problem(table(0, CLOSE).instance, DistinctDiversity(2))
    tree = LawfulTree(problem.instance, *pricing_of(problem))
    assert law_of(tree) is None
    assert charged_prices(tree, np.zeros(problem.instance.distinct)) is None
