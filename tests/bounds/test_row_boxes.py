"""Boxes of single rows for prices with odd sets: against brute force, and what moves them."""

import numpy as np
import pytest

from incrowd.bounds.listing import within
from incrowd.bounds.odd_sets import boxes as module
from incrowd.bounds.odd_sets.boxes import RowBoxes
from incrowd.bounds.odd_sets.certificate import certify_with_sets
from incrowd.bounds.odd_sets.lifted import BOXES, OddSets
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound
from incrowd.bounds.support import support_prices
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.run.stop import Stop
from oracle import optimum
from solvers.engine.engine_samples import random_tables
from solvers.ranged_tables import ranged_tables

ROOM, TURNS = 0.1, 24


TABLES = {
    "ranges": [*ranged_tables(91, 12, (7, 11))],
    "ranges too": [*ranged_tables(92, 12, (7, 11))],
    "suppression": [*random_tables(95, 12, "plain", (8, 11), (5, 8))],
}


@pytest.mark.parametrize("kind", TABLES)
def test_further_boxes_prove_more_and_never_too_much(kind: str) -> None:
    """Tests that no bound is above the optimum, and that several boxes prove more on the whole."""
    single = several = 0
    for instance, rng in TABLES[kind]:
        k = int(rng.integers(2, 4))
        best = optimum(instance, KAnonymity(k))
        if best is None:
            continue
        tree = PrefixTree(instance)
        start, _ = support_prices(tree, k)
        price = PriceBound.suited(instance).ascend(tree, k, start.astype(float))
        lists = within(tree, price, k, ROOM * k * instance.cell, 10_000)
        assert lists is not None
        for some in (None, RowBoxes(tree, k, ROOM, 10_000)):
            problem = lists, instance.counts, k, price, ROOM, instance.cell
            lifted = OddSets(searches=40).raised(*problem, 1, lambda n: n / TURNS, boxes=some)
            found = certify_with_sets(tree, k, lifted)
            assert found is not None
            bound = found.bound(instance.counts)
            assert bound <= best
            single, several = single + bound * (some is None), several + bound * (some is not None)
    assert single < several


def test_prices_at_their_top_go_farther_and_others_leave_them_room() -> None:
    """Tests reach row by row, up to its ends, and that a box without room becomes shorter."""
    instance, _ = next(iter(random_tables(93, 1, "plain", (9, 11), (3, 4))))
    tree, k = PrefixTree(instance), 2
    boxes = RowBoxes(tree, k, 0.2, 10_000)
    price, top = np.ones(instance.distinct), np.full(instance.distinct, 1.2)
    price[0] = 1.2
    box = boxes.further(price, top)
    assert box is not None
    assert np.allclose(box.top - price, np.where(np.arange(instance.distinct) == 0, 0.4, 0.1))
    for _ in range(3):
        box = boxes.further(box.top - np.where(np.arange(len(price)) == 0, 0.0, 0.05), box.top)
        assert box is not None
    assert np.allclose(boxes.reach[:2], [module.FARTHEST, module.NEAREST])
    reach, boxes.most = boxes.reach.copy(), len(box.lists.rows) - 1
    smaller = boxes.further(box.top, box.top)
    assert (smaller is None or len(smaller.lists.rows) <= boxes.most) and boxes.reach[0] < reach[0]


def test_no_box_without_room_or_time() -> None:
    """Tests that prices stay where they are then."""
    instance, _ = next(iter(random_tables(94, 1, "plain", (9, 11), (3, 4))))
    high = np.full(instance.distinct, 9.0)
    tree = PrefixTree(instance)
    assert RowBoxes(tree, 2, 0.2, 0).further(high, high) is None
    late = RowBoxes(PrefixTree(instance, Stop(0.0)), 2, 0.2, 0)
    assert late.further(high, high) is None
    assert np.allclose(late.reach, 0.4)  # it is not tried again and again


def test_turns_that_take_long_leave_out_no_box() -> None:
    """Tests that each box has a turn, however the clock jumps, and that nothing is asked after."""
    instance, _ = next(iter(random_tables(95, 1, "plain", (9, 11), (3, 4))))
    tree, k = PrefixTree(instance), 2
    start, _ = support_prices(tree, k)
    lists = within(tree, start.astype(float), k, k * 0.9, 10_000)
    assert lists is not None
    for shares, asked in (([0, 0.1, 0.5, 0.9, 1.0], 2), ([0, 0.9, 1.0], 1), ([0.99, 1.0], 1)):
        boxes, calls = RowBoxes(tree, k, 0.9, 10_000), []
        further = boxes.further
        boxes.further = lambda *a, f=further, c=calls: c.append(1) or f(*a)  # type: ignore
        problem = lists, instance.counts, k, start.astype(float), 0.9, instance.cell
        lifted = OddSets(searches=40).raised(*problem, 1, shares.__getitem__, boxes=boxes)
        assert len(calls) == asked == min(asked, BOXES - 1)
        prices = certify_with_sets(tree, k, lifted)
        assert prices is not None
        best = optimum(instance, KAnonymity(k))
        assert best is not None and prices.bound(instance.counts) <= best
