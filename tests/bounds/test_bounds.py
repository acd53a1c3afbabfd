"""Tests of the support and price bounds against brute force."""

import numpy as np
import pytest

from incrowd.bounds.ascent import Ascent, Steps
from incrowd.bounds.best import best_prices
from incrowd.bounds.prefix_tree import EMIT, PrefixTree, Slack
from incrowd.bounds.price import PriceBound, certify, fitting, quantum_for
from incrowd.bounds.prices import Prices
from incrowd.bounds.support import support_prices, uniqueness_prices
from incrowd.hierarchy.tree import Tree
from incrowd.lattice.emission import new_sink
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import from_codes
from oracle import optimum
from solvers.engine.engine_samples import (
    KINDS,
    prices_hold,
    random_table,
    random_tables,
    supported,
)


@pytest.mark.parametrize("kind", KINDS)
def test_support_prices_are_the_cheapest_supported_patterns(kind: str) -> None:
    """Tests each row's price against all tuples of nodes, and the certificate it makes."""
    for instance, rng in random_tables(11, 120, kind, (1, 22), (1, 5)):
        k = int(rng.integers(1, 6))
        if instance.rows < k:
            continue
        tree = PrefixTree(instance)
        price, complete = support_prices(tree, k)
        patterns = supported(instance, k)
        cheapest = [
            min(cost for rows, cost in patterns.items() if r in rows)
            for r in range(instance.distinct)
        ]
        assert complete and price.tolist() == cheapest
        assert prices_hold(instance, k, price, 1)
        weak = uniqueness_prices(instance, k)
        assert (weak <= price).all()
        assert prices_hold(instance, k, weak, 1)


def test_a_search_cut_short_proves_nothing_and_says_so() -> None:
    """Tests that prices from spent visits are marked, and are upper bounds on the true ones."""
    instance = random_table(np.random.default_rng(12), "trees", (20, 21), (4, 5))
    tree = PrefixTree(instance)
    true, complete = support_prices(tree, 3)
    early, too = support_prices(tree, 3, visits=2)
    assert complete and not too
    assert (early >= true).all()


@pytest.mark.parametrize("kind", KINDS)
def test_price_bound_lies_between_support_and_optimum(kind: str) -> None:
    """Tests support bound ≤ price bound ≤ optimum, and the certificate pattern by pattern."""
    raised = 0
    for instance, rng in random_tables(13, 40, kind, (2, 9), (1, 5)):
        k = int(rng.integers(2, 6))
        if instance.rows < k:
            continue
        tree = PrefixTree(instance)
        start, _ = support_prices(tree, k)
        floor = Prices(start, 1).bound(instance.counts)
        schedule = PriceBound.suited(instance)
        certificate = certify(tree, k, schedule.ascend(tree, k, start.astype(np.float64)))
        bound = certificate.bound(instance.counts)
        best = optimum(instance, KAnonymity(k))
        assert best is not None and floor <= best
        assert bound <= best
        assert prices_hold(instance, k, certificate.price, certificate.quantum)
        assert (certificate.price >= 0).all()
        assert bound >= floor  # rounding loses a millionth, and the bound is rounded up
        raised += bound > floor
    assert raised


@pytest.mark.parametrize("kind", KINDS)
def test_certify_mends_any_prices(kind: str) -> None:
    """Tests that prices far from feasible, or negative, become a certificate."""
    for instance, rng in random_tables(14, 60, kind, (5, 20), (1, 5)):
        k = int(rng.integers(1, 6))
        wild = rng.normal(0, 10 ** float(rng.integers(-2, 7)), instance.distinct)
        certificate = certify(PrefixTree(instance), k, wild)
        assert prices_hold(instance, k, certificate.price, certificate.quantum)


def test_stopped_ascent_still_gives_a_bound() -> None:
    """Tests that an ascent stopped after any number of looks at the clock can be certified."""
    instance = random_table(np.random.default_rng(15), "trees", (9, 10), (3, 4))
    best = optimum(instance, KAnonymity(3))
    assert best is not None
    tree = PrefixTree(instance)
    start, _ = support_prices(tree, 3)
    for patience in (0, 1, 2, 7, 60):
        left = iter(range(patience))
        u = PriceBound(rounds=4).ascend(
            tree, 3, start.astype(np.float64), lambda left=left: next(left, None) is None
        )
        assert certify(tree, 3, u).bound(instance.counts) <= best


def test_small_room_for_pairs_still_gives_a_bound() -> None:
    """Tests that a budget of pairs too small for the box shrinks the box, not the truth."""
    for instance, _ in random_tables(16, 15, "trees", (8, 10), (3, 5)):
        best = optimum(instance, KAnonymity(2))
        assert best is not None
        tree = PrefixTree(instance)
        start, _ = support_prices(tree, 2)
        tight = PriceBound(rounds=3, pairs=4 * instance.distinct, patterns=12)
        certificate = certify(tree, 2, tight.ascend(tree, 2, start.astype(np.float64)))
        assert prices_hold(instance, 2, certificate.price, certificate.quantum)
        assert certificate.bound(instance.counts) <= best


def test_prices_of_nothing_beside_dear_stars_end() -> None:
    """Tests that what k rows cost fits 64 bits in the prices' units, else mending never ends."""
    tree = Tree.suppression("a", ("x", "y"), 6_000_000)
    instance = from_codes([[0], [0], [0], [1], [1]], (tree,))[0]
    for k, mean in ((2, 0.0), (2, 1e-9), (400, 0.0), (2, 1e6)):
        quantum = fitting(quantum_for(mean), instance, k)
        assert 1 <= quantum <= quantum_for(mean) and k * 6_000_000 * quantum < 1 << 63
    for u in (np.zeros(2), np.array([0.0, 1e-9]), np.array([1e-7, 0.0])):
        prices = certify(PrefixTree(instance), 2, u)
        assert prices.bound(instance.counts) == 0
    again = best_prices(instance, 2)
    assert again.bound(instance.counts) == 0 and not again.price.any()


def test_bounds_are_rounded_up_exactly() -> None:
    """Tests ⌈Σ counts·price / quantum⌉ where floats would be off."""
    price, counts = np.array([10**16 + 1, 1]), np.array([3, 1])
    assert Prices(price, 1).bound(counts) == 3 * 10**16 + 4
    assert Prices(price, 10**16).bound(counts) == 4
    assert Prices(np.array([5, 5]), 5).bound(counts) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_patterns_that_cannot_be_violated_yet_need_no_asking(kind: str) -> None:
    """Tests that each step evaluates as if all patterns were asked, though some are passed."""
    passed = ruled_out = 0
    for instance, rng in random_tables(17, 20, kind, (6, 22), (2, 5)):
        k = int(rng.integers(2, 6))
        everything = Slack(1e9, False)
        sink = new_sink(9999, 99_999)
        state = PrefixTree(instance).run(EMIT, k, np.zeros(instance.distinct), 1, everything, sink)
        assert state[3] == 0
        ascent = Ascent(sink, int(state[0]), instance.counts, k)
        cell = instance.cell
        steps = Steps(ascent, rng.uniform(0, 2 * cell, instance.distinct), 0.5 * cell)
        for turn in range(40):
            passed += int((steps.found.due > steps.risen).sum())
            bound = steps.evaluate()
            anew = Steps(ascent, steps.u, 0.5 * cell)
            assert anew.evaluate() == bound and (anew.found.cut == steps.found.cut).all()
            if turn == 20:
                steps.path.u[:], steps.path.mean[:] = steps.u - steps.found.cut, 0
            else:
                steps.advance(0.05 * cell)
        ruled_out += int(np.isinf(steps.found.due).sum())
    assert passed > ruled_out > 0
