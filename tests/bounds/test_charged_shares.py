"""Tests of fractional releases that open each pattern once."""

import numpy as np
import pytest

from incrowd.bounds.charged_shares import charged_shares
from incrowd.bounds.charges import charged_prices, law_of
from incrowd.bounds.copies_by_value import ClosenessLaw
from incrowd.bounds.lawful_price import first_prices, safe_prices
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.pricing import pricing_of
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem


def charged(seed: int, rows: int = 200) -> tuple[LawfulTree, ClosenessLaw, np.ndarray, int]:
    """A table of three columns, its law, prices with charges and what they prove."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(0.5, (rows, 3)) - 1, 3)
    instance = from_codes(codes, None, rng.permutation(np.arange(rows) % 4))[0]
    tree = LawfulTree(instance, *pricing_of(Problem(instance, TCloseness("0.3") & KAnonymity(3))))
    law = law_of(tree)
    assert isinstance(law, ClosenessLaw)
    start = safe_prices(tree, first_prices(tree)[0])
    prices = charged_prices(tree, start.price / start.quantum)
    assert prices is not None
    return tree, law, prices.price / prices.quantum, prices.bound(instance.counts)


@pytest.mark.parametrize("seed", range(3))
def test_shares_cover_the_table(seed: int) -> None:
    """Tests that shares carry each row about as often as it occurs, at what the prices prove."""
    tree, law, price, bound = charged(seed)
    counts = tree.instance.counts
    missed = []
    for iterations in (8, 800):
        found = charged_shares(tree, law, price, iterations=iterations)
        assert found is not None
        lists, share = found
        cover = np.bincount(lists.rows, weights=share, minlength=len(counts))
        missed.append(np.abs(cover - counts).sum() / counts.sum())
        owner = np.repeat(np.arange(len(lists.cost)), np.diff(lists.offset))
        assert (share >= 0).all()
        assert (share <= counts[lists.rows] + 1e-9).all()  # each pattern is opened once
    assert missed[1] < min(missed[0], 0.1)
    assert float(share @ lists.cost[owner]) == pytest.approx(bound, rel=0.1)


def test_nothing_where_there_is_no_time() -> None:
    """Tests that no step is no release."""
    tree, law, price, _ = charged(1, 60)
    assert charged_shares(tree, law, price, lambda: True) is None
