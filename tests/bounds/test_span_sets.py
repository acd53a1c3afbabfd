"""Tests of prices by sets of near rows found by spans against all sets of k copies."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from bounds.near_set_samples import UNIT, broken_sets, listed, never
from dial import enough, few
from incrowd.bounds import span_prices as span_module
from incrowd.bounds.best import best_prices
from incrowd.bounds.neighbours import neighbour_prices
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.row_sets import sheet_of
from incrowd.bounds.span_prices import SpanBoxes, span_prices, suits_spans
from incrowd.bounds.span_sets import SpanSets
from incrowd.bounds.span_tree import LEAF, span_tree
from incrowd.bounds.support import support_prices
from incrowd.hierarchy.costs import RULES
from incrowd.hierarchy.ranges import Ranges
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine.engine import Engine, Run
from oracle import optimum
from solvers.engine.engine_samples import KINDS, random_tables
from solvers.ranged_tables import random_range, ranged_tables


def large(seed: int, rows: int, columns: int = 3) -> Instance:
    """A table of more rows than a box holds, its columns intervals of up to eleven numbers."""
    rng = np.random.default_rng(seed)
    families = tuple(random_range(f"r{j}", 11 - j, rng, False) for j in range(columns))
    codes = np.column_stack([rng.integers(0, len(each.leaves), rows) for each in families])
    return from_codes(codes, families)[0]


def drawn() -> Iterator[tuple[Instance, int, NDArray[np.int64]]]:
    """Tables with a k, and prices in units of 1/UNIT some of which are too high."""
    some = [random_tables(41, 40, kind, (2, 10)) for kind in KINDS]
    some += [ranged_tables(42, 80, (2, 10)), ((large(n, 22), None) for n in range(4))]
    rng = np.random.default_rng(43)
    for tables in some:
        for instance, _ in tables:
            k = int(rng.integers(1, min(4, instance.rows + 1)))
            most = max(1, instance.worst_cost // instance.rows)
            price = rng.integers(-1, UNIT * most + 2, instance.distinct)
            yield instance, k, price // rng.choice([1, 2, 8])


def test_listed_sets() -> None:
    """Tests that the sets that break their inequality are listed once, each at its cost."""
    whole = 0
    for instance, k, price in drawn():
        sets = listed(SpanSets(instance, k), instance, price)
        broken = broken_sets(instance, k, price, UNIT)
        assert len(sets) == len({*sets}) and {*sets} <= broken and bool(sets) == bool(broken)
        if instance.distinct == instance.rows:
            assert {*sets} == broken
            whole += len(sets)
    assert whole > enough(100)


def test_certified_prices() -> None:
    """Tests that prices are lowered until they hold, not at all if they do, and not too much."""
    lowered = kept = 0
    for instance, k, price in drawn():
        found = SpanSets(instance, k).certified(price, UNIT, never)
        assert found is not None and (found <= price).all()
        assert not broken_sets(instance, k, found, UNIT)
        if not broken_sets(instance, k, price, UNIT):
            assert (found == price).all()
            kept += 1
        lowered += (found < price).any()
    assert lowered > enough(20) and kept > enough(20)


def test_neighbours() -> None:
    """Tests that boxes find the neighbours that all rows one by one do."""
    many = [(instance, k) for instance, k, _ in drawn()] + [(large(n, 300), 6) for n in range(3)]
    for instance, k in many:
        if all(getattr(tree, "straight", True) for tree in instance.trees):
            found, price = (
                SpanSets(instance, k).neighbours(never),
                neighbour_prices(sheet_of(instance), k, never),
            )
            assert found is not None and price is not None and (found == price).all()


def test_boxes_hold_all_rows() -> None:
    """Tests that the boxes that are not halved hold each row once, within their codes."""
    for rows in (1, LEAF, LEAF + 1, 500):
        instance = large(3, rows)
        tree, met = span_tree(instance), []
        for b in range(len(tree.child)):
            inside = tree.place[tree.begin[b] : tree.end[b]]
            codes = instance.codes[inside]
            assert (tree.box[b, 0] == codes.min(0)).all()
            assert (tree.box[b, 1] == codes.max(0)).all()
            if tree.child[b] == 0:
                assert len(inside) <= LEAF
                met += inside.tolist()
        assert sorted(met) == [*range(instance.distinct)]


def test_prices() -> None:
    """Tests neighbours ≤ bound ≤ optimum, that prices hold, and that they are raised."""
    raised = 0
    for instance, rng in ranged_tables(44, 14, (4, 9), False):
        k = int(rng.integers(2, min(4, instance.rows + 1)))
        assert suits_spans(instance, k)
        found, best = span_prices(instance, k, Stop()), optimum(instance, KAnonymity(k))
        weakest = SpanSets(instance, k).neighbours(never)
        assert best is not None and weakest is not None
        assert not broken_sets(instance, k, found.price, found.quantum)
        assert weakest @ instance.counts <= found.bound(instance.counts) <= best
        raised += found.bound(instance.counts) > weakest @ instance.counts
    assert raised > enough(3)


def test_as_good_as_prices_of_patterns() -> None:
    """Tests that both searches end at nearly the same bound: they obey the same inequalities."""
    for seed in range(few(2, 1)):
        instance = large(seed, 80)
        tree = PrefixTree(instance)
        start, _ = support_prices(tree, 4)
        patterns = certify(
            tree, 4, PriceBound.suited(instance).ascend(tree, 4, start.astype(np.float64))
        )
        found = span_prices(instance, 4, Stop())
        bounds = [one.total(instance.counts) / one.quantum for one in (found, patterns)]
        assert bounds[0] == pytest.approx(bounds[1], rel=0.01)


def few_far() -> Instance:
    """A table of two columns, 60 rows near to each other and six far from all."""
    rng, columns, families = np.random.default_rng(5), [], []
    for name in "xy":
        number = np.append(rng.integers(0, 20, 60), rng.permutation(1000 + 100 * np.arange(6)))
        values, codes = np.unique(number, return_inverse=True)
        families.append(Ranges().family(name, [str(one) for one in values], RULES["ncp"])[0])
        columns.append(codes)
    return from_codes(np.column_stack(columns), tuple(families))[0]


def test_prices_that_run_on_get_farther(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests boxes that are small from the first on, as where lists are long.

    Prices of far rows do not get where they have to in boxes of one length.
    """
    instance, bounds = few_far(), []
    small = replace(span_module.LONGER, rounds=10, margin=(0.02, 0.02))
    monkeypatch.setattr(span_module, "LONGER", small)
    monkeypatch.setattr(span_module, "LIFTS", (1.0,))
    monkeypatch.setattr(span_module, "far_rows", lambda *given: np.zeros(0, np.int64))
    for moved in (SpanBoxes.moved, lambda *given: None):
        monkeypatch.setattr(SpanBoxes, "moved", moved)
        prices = span_prices(instance, 8, Stop())
        bounds.append(prices.total(instance.counts) / prices.quantum)
    assert bounds[0] > 1.05 * bounds[1]


def test_few_rows_have_the_better_prices() -> None:
    """Tests that neither the engine nor ``best_prices`` proves less than spans do on few rows."""
    instance, k = large(1, 40), 6
    least = span_prices(instance, k, Stop()).bound(instance.counts)
    best = best_prices(instance, k)
    assert best.bound(instance.counts) >= least and not best.by_rows
    run = Run(Engine(), Problem(instance, KAnonymity(k)), Context())
    run.at_once()
    run.pricing.first_prices()
    run.pricing.bound_by_prices()
    assert not run.search.wide and run.progress.bound >= least


def test_widest_intervals_are_left_to_columns() -> None:
    """Tests that ranges with a widest interval are not priced by spans."""
    left = 0
    for instance, _ in ranged_tables(45, 18, (4, 9), True):
        straight = all(getattr(tree, "straight", True) for tree in instance.trees)
        assert suits_spans(instance, 2) == straight
        left += not straight
    assert left


def test_a_run_that_is_ended_never_promises_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests prices and reports of runs that are stopped after any number of looks at the clock."""
    monkeypatch.setattr("incrowd.bounds.row_sets.PIECE", 10)
    instance = large(5, 12)
    best, bounds = optimum(instance, KAnonymity(3)), set()
    assert best is not None
    for calls in (0, 7, 28, 100, 1000, 10**7):
        told: list[float] = []
        left = iter(range(calls))
        with pytest.MonkeyPatch.context() as ended:
            ended.setattr(Stop, "now", lambda _, left=left: next(left, None) is None)
            prices = span_prices(
                instance, 3, Stop(), 1.0, lambda bound, share, told=told: told.append(bound)
            )
        bound = prices.bound(instance.counts)
        assert not broken_sets(instance, 3, prices.price, prices.quantum) and bound <= best
        bounds.add(bound)
    assert len(bounds) > 2
