"""Tests of prices with odd sets against brute force."""

from itertools import combinations

import numpy as np
import pytest

from checker.proof_samples import broken_class
from incrowd.bounds.odd_sets.ascent import Lifted, OddSets
from incrowd.bounds.odd_sets.certificate import certify_with_sets, exact, settled
from incrowd.bounds.odd_sets.classes import (
    all_classes,
    dearest_classes,
    new_pad,
    tolls_of,
)
from incrowd.bounds.odd_sets.separation import broken_sets
from incrowd.bounds.price import PriceBound, bound_of, certify
from incrowd.bounds.support import support_prices
from incrowd.instance import Instance, from_codes
from incrowd.patterns.prefix_tree import Emission, PrefixTree
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.proof.oddsets import OddSetPrices
from incrowd.solution import Solution
from incrowd.solvers.base import Context, Problem
from incrowd.solvers.engine.engine import Engine, Run
from incrowd.solvers.engine.partition import best_partition, classes_within
from incrowd.solvers.engine.prove import within
from incrowd.stop import Stop
from oracle import optimum
from solvers.engine.engine_samples import KINDS, random_tables, supported

pytest.importorskip("highspy")


def everything(instance: Instance, k: int) -> Emission:
    """All patterns that k copies match."""
    patterns = supported(instance, k)
    offset = np.cumsum([0] + [len(rows) for rows in patterns]).astype(np.int64)
    rows = np.array([r for rows in patterns for r in rows], np.int32)
    return Emission(np.array(list(patterns.values()), np.int64), offset, rows)


def raised(instance: Instance, k: int, rounds: int = 20) -> tuple[Lifted, PrefixTree]:
    """The program over all patterns of a small table, solved."""
    tree = PrefixTree(instance)
    start, _ = support_prices(tree, k)
    sets = OddSets(rounds=rounds, starts=40)
    problem = everything(instance, k), instance.counts, k, start.astype(float), instance.cell
    return sets.whole(*problem, 1, lambda: False), tree


def holds(instance: Instance, k: int, prices: OddSetPrices) -> bool:
    """Whether no class of any size breaks the inequality of the certificate."""
    copies = instance.copies
    sets = [({int(c) for c in members}, weight) for members, weight in prices.odd_sets]
    problem = instance.codes[copies], prices.price[copies].tolist(), sets, instance.trees
    return not broken_class(*problem, k, prices.quantum)


@pytest.mark.parametrize("kind", KINDS)
def test_bound_lies_between_linear_program_and_optimum(kind: str) -> None:
    """Tests price bound ≤ odd sets ≤ optimum, and the certificate class by class."""
    above = 0
    for instance, rng in random_tables(31, 40, kind, (4, 11), (2, 5)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        lifted, tree = raised(instance, k)
        best = optimum(instance, KAnonymity(k))
        assert best is not None
        prices = certify_with_sets(tree, k, lifted)
        assert prices is not None and holds(instance, k, prices)
        start, _ = support_prices(tree, k)
        ascended = PriceBound().ascend(tree, k, start.astype(float))
        plain = bound_of(certify(tree, k, ascended), instance.counts)
        assert plain <= prices.bound(instance.counts) <= best
        above += prices.bound(instance.counts) > plain
    assert above  # on some of the tables the linear program is not enough


def test_odd_sets_close_the_gap_of_two_triangles() -> None:
    """Tests rows that differ in two cells: three halves of pairs cost 6, but three is odd."""
    triangle = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    far = np.hstack([np.vstack([triangle, triangle + 5]), np.repeat([[0], [1]], 3, axis=0)])
    instance, _ = from_codes(far)
    without, tree = raised(instance, 2, rounds=0)
    with_sets, _ = raised(instance, 2)
    plain, odd = (certify_with_sets(tree, 2, lifted) for lifted in (without, with_sets))
    assert plain is not None and odd is not None
    assert plain.bound(instance.counts) == 12
    assert odd.bound(instance.counts) == 16 == optimum(instance, KAnonymity(2))


def worth_of(rows: tuple[int, ...], p: int, lists: Emission, lifted: Lifted) -> float:
    """What a class of copies is worth, by definition."""
    worth = sum(lifted.price[r] - lists.cost[p] for r in rows)
    for members, toll in lifted.sets:
        worth -= toll * (sum(r in set(members.tolist()) for r in rows) // 2)
    return worth


def classes_of(instance: Instance, p: int, lists: Emission, k: int) -> set[tuple[int, ...]]:
    """All multisets of k to 2k − 1 copies of a pattern."""
    rows = lists.rows[lists.offset[p] : lists.offset[p + 1]].tolist()
    copies = [r for r in rows for _ in range(instance.counts[r])]
    return {tuple(sorted(some)) for size in range(k, 2 * k) for some in combinations(copies, size)}


@pytest.mark.parametrize("kind", KINDS)
def test_searches_for_classes_agree_with_all_classes(kind: str) -> None:
    """Tests the dearest class of each pattern, and the list of those above a threshold."""
    for instance, rng in random_tables(32, 30, kind, (4, 9), (1, 4)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        lists = everything(instance, k)
        single = np.flatnonzero(instance.counts == 1)
        price = rng.integers(0, 6, instance.distinct) / 2.0
        sets = [
            (np.sort(rng.choice(single, 3, replace=False)), float(rng.integers(1, 4)) / 2)
            for _ in range(3 if len(single) >= 3 else 0)
        ]
        lifted = Lifted(lists, price, sets)
        n, widest = len(lists.cost), int(np.diff(lists.offset).max())
        worth, size = np.zeros(n), np.zeros(n, np.int64)
        rows = np.zeros((n, 2 * k - 1), np.int64)
        tolls, pad = tolls_of(sets, instance.distinct), new_pad(widest, k)
        problem = np.arange(n), lists, price, instance.counts, k
        assert dearest_classes(*problem, 0.0, 10**6, tolls, pad, worth, size, rows)
        room = 5000
        found = np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros((room, 2 * k - 1), int)
        count = all_classes(*problem, 1.0, tolls, pad, *found)
        listed = [
            (int(p), tuple(sorted(r[:s].tolist())))
            for p, s, r in zip(found[0][:count], found[1][:count], found[2][:count], strict=True)
        ]
        wanted = []
        for p in range(n):
            known = {c: worth_of(c, p, lists, lifted) for c in classes_of(instance, p, lists, k)}
            best = max(known.values())
            assert (size[p] > 0) == (best > 0)
            if size[p]:
                here = tuple(sorted(rows[p, : size[p]].tolist()))
                assert worth[p] == best == known[here]
            wanted += [(p, c) for c, w in known.items() if w >= -1.0]
        assert sorted(listed) == sorted(wanted)


def test_broken_sets_are_broken() -> None:
    """Tests the triangle, the cycle of five, and that an integral release breaks nothing."""
    usable = np.ones(6, np.bool_)
    triangle = [np.array(c) for c in ([0, 1], [1, 2], [0, 2])]
    found = broken_sets(triangle, np.full(3, 0.5), usable, 20, 10, 0)
    assert [s.tolist() for s in found] == [[0, 1, 2]]
    cycle = [np.array(sorted([i, (i + 1) % 5])) for i in range(5)]
    found = broken_sets(cycle, np.full(5, 0.5), usable, 40, 10, 0)
    assert [s.tolist() for s in found] == [[0, 1, 2, 3, 4]]
    usable[0] = False
    assert broken_sets(triangle, np.full(3, 0.5), usable, 20, 10, 0) == []
    whole = [np.array([0, 1, 2]), np.array([3, 4, 5])]
    assert broken_sets(whole, np.ones(2), np.ones(6, np.bool_), 20, 10, 0) == []


@pytest.mark.parametrize("kind", KINDS)
def test_best_partition_is_optimal(kind: str) -> None:
    """Tests that all classes within the gap hold an optimal release."""
    for instance, rng in random_tables(33, 20, kind, (4, 10), (2, 4)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        lifted, tree = raised(instance, k)
        prices = settled(lifted.lists, lifted, instance, k)
        best = optimum(instance, KAnonymity(k))
        assert best is not None
        slack = best - prices.value(instance.counts) + 1e-6
        sure = exact(prices, lifted.lists, instance)
        classes = classes_within(sure, instance, k, slack)
        assert classes is not None
        start, _ = support_prices(tree, k)
        one = Solution.of(instance, np.zeros(instance.rows, np.int64))
        found, bound = best_partition(classes, sure.lists, start.astype(float), one, 1000, 60.0)
        assert found.cost == best
        assert bound <= best


def test_regions_raise_the_bound_step_by_step() -> None:
    """Tests that going around a table never proves more than its best release costs."""
    rng = np.random.default_rng(0)
    instance, _ = from_codes(rng.integers(0, 3, (80, 6)))
    k = 3
    run = Run(Engine(), Problem(instance, KAnonymity(k)), k, Context(0, Stop(None, None)))
    for stage in (run.bound_by_support, run.first_prices, run.bound_by_prices, run.search):
        stage()
    lists = within(run.tree, run.price, k, k * 1.0, 10**6)
    assert lists is not None
    sets = OddSets(size=50, rounds=6, starts=50, room=1.0)
    lifted = sets.around(lists, k, run.price, run.best, 0, lambda: False)
    prices = certify_with_sets(run.tree, k, lifted)
    assert prices is not None and prices.odd_sets
    worth = prices.value(instance.counts)
    assert float(run.price @ instance.counts) + 0.5 < worth <= run.best.cost
