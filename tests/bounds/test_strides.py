"""Tests of strides: what they may raise a mean by, and that rare values pay what they cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dial import enough, few
from incrowd.bounds.lawful_price import LawfulPriceBound, first_prices, safe_prices
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.pricing import pricing_of
from incrowd.bounds.strides import MOST, WEIGHT, Reach, Strides
from incrowd.privacy.beta_likeness import BasicBetaLikeness
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem

SCHEDULE = LawfulPriceBound(rounds=6, iterations=80, pairs=200_000, patterns=20_000)
LIKENESS = BasicBetaLikeness(1) & KAnonymity(2)


@given(st.data())
def test_no_class_within_the_caps_exceeds_the_mean(data: st.DataObject) -> None:
    """Tests ``mean_of`` against classes drawn one by one."""
    caps = np.array(data.draw(st.lists(st.sampled_from([0.05, 0.2, 0.5, 1.0]), min_size=2)))
    value = np.arange(12) % len(caps)
    amount = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=12, max_size=12)), float)
    strides = Strides.by_caps(value.astype(np.int32), caps)
    copies = np.array(data.draw(st.lists(st.integers(0, 9), min_size=12, max_size=12)))
    share = np.bincount(value, copies, len(caps)) / max(copies.sum(), 1)
    if copies.sum() and (share <= caps).all():
        assert amount @ copies / copies.sum() <= strides.mean_of(amount) + 1e-9
        assert strides.of_row @ copies / copies.sum() <= strides.lift() + 1e-9


def test_even_strides_are_plain() -> None:
    """Tests that without caps any row may be all of a class, and that even caps tell none apart."""
    even = Strides.even(3)
    assert even.lift() == 1.0
    assert even.mean_of(np.array([1.0, 4.0, 2.0])) == 4.0
    assert Strides.by_caps(np.array([0, 1], np.int32), np.array([1.0, 1.0])).lift() == 1.0
    small = Strides.by_caps(np.arange(40, dtype=np.int32), np.full(40, 0.1))
    assert small.of_row.tolist() == [1.0] * 40


def rare(seed: int = 0, rows: int = 120) -> Instance:
    """A table where one row in 40 has a value of its own, and classes are easily told apart."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (rows, 3))
    values = np.where(np.arange(rows) % 40 == 0, 0, 1 + np.arange(rows) % 4)
    return from_codes(codes, None, values)[0]


def test_only_lone_caps_set_the_pace() -> None:
    """Tests that models which do not cap shares, or not only, keep to even strides."""
    instance = rare()
    uneven = LawfulTree(instance, *pricing_of(Problem(instance, LIKENESS))).strides
    assert uneven.of_row.max() == pytest.approx(WEIGHT / 0.05, rel=1e-6)
    for model in (TCloseness("0.3"), LIKENESS & TCloseness("0.3")):
        strides = LawfulTree(instance, *pricing_of(Problem(instance, model))).strides
        assert (strides.of_row == 1.0).all()


@pytest.mark.parametrize("seed", range(3))
def test_rare_rows_pay_for_their_classes(seed: int) -> None:
    """Tests that uneven strides prove more, and that lawful classes obey the prices."""
    problem = Problem(rare(seed), LIKENESS)
    tree = LawfulTree(problem.instance, *pricing_of(problem))
    u = SCHEDULE.ascend(tree, first_prices(tree)[0])
    prices = safe_prices(tree, u)
    tree.strides = Strides.even(problem.instance.distinct)
    plain = safe_prices(tree, SCHEDULE.ascend(tree, first_prices(tree)[0]))
    assert prices.bound(problem.instance.counts) > plain.bound(problem.instance.counts)
    rng, met = np.random.default_rng(seed), 0
    for _ in range(few(300)):
        copies = rng.choice(problem.instance.rows, int(rng.integers(10, 80)), replace=False)
        if problem.model.lawful(problem.group(copies), problem.table):
            met += 1
            codes = problem.instance.codes[problem.instance.copies[copies]]
            stars = int((codes != codes[0]).any(axis=0).sum())
            total = int(prices.price[problem.instance.copies[copies]].sum())
            assert total <= stars * len(copies) * prices.quantum
    assert met > enough(10)


def test_boxes_are_longer_where_prices_run_on() -> None:
    """Tests a price that stands at the border, one that stands there once, one that falls there."""
    reach, way = Reach(4), np.array([1.0, 0.5, -1.0, 0.0])
    reach.moved(way)
    assert reach.up.tolist() == reach.down.tolist() == [1, 1, 1, 1]
    reach.moved(way)
    assert reach.up.tolist() == [2, 1, 1, 1] and reach.down.tolist() == [1, 1, 2, 1]
    reach.moved(np.array([1.9, 1.0, 1.0, -1.0]))  # at the border but in the third row, which turned
    assert reach.up.tolist() == [4, 1, 1, 1] and reach.down.tolist() == [1, 1, 1, 1]
    reach.moved(np.array([2.0, 1.0, -1.0, 1.0]))  # the first has stopped on the way
    assert reach.up.tolist() == [3, 2, 1, 1] and reach.down.tolist() == [1, 1, 1, 1]
    for _ in range(9):
        reach.moved(reach.up)
    assert (reach.up == MOST).all()
