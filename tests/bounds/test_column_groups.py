"""Tests of bounds by groups of columns against brute force, and of how columns are parted."""

from collections import Counter

import numpy as np
import pytest

from dial import crossed
from incrowd.bounds import column_groups
from incrowd.bounds.best import best_prices
from incrowd.bounds.column_groups import group_prices, parted
from incrowd.bounds.prefix_tree import UNLIMITED, PrefixTree
from incrowd.bounds.prices import Prices
from incrowd.bounds.support import support_prices, uniqueness_prices
from incrowd.driver.solve import solve
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine.engine import Engine
from oracle import optimum
from solvers.engine.engine_samples import KINDS, prices_hold, random_tables

VISITS = (0, 3, 10, 30, 100)


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns are tried in pairs first, so that five make groups of many sizes; no sets of rows."""
    monkeypatch.setattr("incrowd.bounds.wide.LONG", 0)
    monkeypatch.setattr(column_groups, "FIRST", 2)


def alone(instance: Instance, columns: tuple[int, ...]) -> Instance:
    """The table of some columns, from its rows."""
    codes = instance.codes[instance.copies][:, list(columns)]
    return from_codes(codes, tuple(instance.trees[j] for j in columns))[0]


def require_sound(instance: Instance, k: int, prices: Prices) -> None:
    """Each group's prices hold in its own table, groups do not overlap, and the sum is the price.

    As do the prices in the whole table.
    """
    used = [j for group in prices.groups for j in group.columns]
    assert len(used) == len({*used}) and {*used} <= {*range(instance.columns)}
    for group in prices.groups:
        table = alone(instance, group.columns)
        rows = list(map(tuple, instance.codes[:, list(group.columns)].tolist()))
        price = dict(zip(rows, group.price.tolist(), strict=True))
        assert [price[row] for row in rows] == group.price.tolist()
        own = np.array([price[tuple(row)] for row in table.codes.tolist()], np.int64)
        assert prices_hold(table, k, own, prices.quantum)
    if prices.groups:
        assert (sum(group.price for group in prices.groups) == prices.price).all()
    assert prices_hold(instance, k, prices.price, prices.quantum)


@pytest.mark.parametrize(("limit", "kind"), crossed([None, 0.0], KINDS))
def test_prices_of_groups(kind: str, limit: float | None, pairs: None, monkeypatch) -> None:
    """Tests the inequality group by group, and uniqueness ≤ bound ≤ optimum; without time, too."""
    seen: Counter[int] = Counter()
    raised = 0
    for instance, rng in random_tables(21, 210, kind, (4, 9), (2, 6)):
        k = int(rng.integers(1, 5))
        if instance.rows < k:
            continue
        visits = int(rng.choice(VISITS))
        monkeypatch.setattr(column_groups, "VISITS", visits)
        monkeypatch.setattr(column_groups, "VISITS_A_SECOND", visits)
        prices = group_prices(instance, k, Stop(time_limit=limit))
        require_sound(instance, k, prices)
        best, bound = optimum(instance, KAnonymity(k)), prices.bound(instance.counts)
        weakest = Prices(uniqueness_prices(instance, k), 1).bound(instance.counts)
        assert best is not None and weakest <= bound <= best
        seen[len(prices.groups)] += 1
        raised += bound > weakest
    assert {1, 2, 3} <= {*seen} and raised


@pytest.mark.parametrize("kind", KINDS)
def test_more_visits_make_no_more_groups(kind: str, pairs: None) -> None:
    """Tests the budget, and one group with the support prices of the whole table without any."""
    numbers: set[int] = set()
    for instance, rng in random_tables(22, 120, kind, (4, 25), (1, 6)):
        k = int(rng.integers(2, 5))
        if instance.rows < k:
            continue
        before = instance.columns
        for visits in (*VISITS, UNLIMITED):
            groups = parted(instance, k, visits, Stop())
            spent = sum(group.tree.visits for group in groups)
            assert len(groups) <= before and (spent <= visits or len(groups) == instance.columns)
            columns = sorted(j for group in groups for j in group.columns)
            assert columns == [*range(instance.columns)]
            before = len(groups)
            numbers.add(before)
        assert before == 1
        whole, _ = support_prices(PrefixTree(instance), k)
        assert groups[0].support[groups[0].row].tolist() == whole.tolist()
    assert numbers > {1, 2, 3}


@pytest.mark.parametrize("kind", KINDS)
def test_reports_never_promise_too_much(kind: str, pairs: None, monkeypatch) -> None:
    """Tests that told bounds rise to at most the final one, and shares to all of the work."""
    rose = 0
    for instance, rng in random_tables(23, 12, kind, (5, 20), (2, 6)):
        monkeypatch.setattr(column_groups, "VISITS", int(rng.choice(VISITS)))
        k, told = int(rng.integers(2, 5)), []
        if instance.rows < k:
            continue
        report = lambda *one, told=told: told.append(one)  # noqa: E731
        prices = group_prices(instance, k, Stop(), report=report)
        bounds, shares = zip(*told, strict=True)
        assert sorted(bounds) == [*bounds] and bounds[-1] <= prices.bound(instance.counts)
        assert sorted(shares) == [*shares] and shares[0] > 0 and shares[-1] == 1
        rose += bounds[-1] > bounds[0]
    assert rose


@pytest.mark.parametrize("sensitive", [0, 1, 2])
def test_tables_of_some_columns(sensitive: int) -> None:
    """Tests rows, copies and sensitive values against a count of tuples."""
    merged = 0
    for instance, rng in random_tables(24, 36, "trees", (1, 30), (1, 6)):
        codes = instance.codes[instance.copies]
        values = rng.integers(0, 3, (len(codes), sensitive)) if sensitive else None
        instance, _ = from_codes(codes, instance.trees, values, scale=3)
        size = int(rng.integers(0, instance.columns + 1))
        columns = rng.permutation(instance.columns)[:size].tolist()
        part, row = instance.of_columns(columns)
        counted: Counter[tuple[int, ...]] = Counter()
        for r in range(instance.distinct):
            key = (*instance.codes[r, columns], *instance.sensitive_codes[r])
            counted[key] += int(instance.counts[r])
            assert key == (*part.codes[row[r]], *part.sensitive_codes[row[r]])
        assert sorted(counted.values()) == sorted(part.counts)
        assert len(counted) == part.distinct and part.rows == instance.rows
        assert part.trees == tuple(instance.trees[j] for j in columns) and part.scale == 3
        assert (part.sensitive is None) == (sensitive == 0)
        merged += part.distinct < instance.distinct
    assert merged


def test_rows_alike_are_counted_whatever_their_sensitive_values() -> None:
    """Tests that rows which differ in sensitive values alone are no reason to change any cell."""
    told = 0
    for instance, rng in random_tables(25, 18, "suppression", (4, 9), (2, 5)):
        values = rng.integers(0, 2, instance.rows)
        instance, _ = from_codes(instance.codes[instance.copies], instance.trees, values)
        model = DistinctDiversity(2)
        best = optimum(instance, model)
        if best is None:
            continue
        weak, merged = uniqueness_prices(instance, 2), alone(instance, (*range(instance.columns),))
        assert weak @ instance.counts == uniqueness_prices(merged, 2) @ merged.counts <= best
        engine = Engine(visits=0)
        solved = solve(Problem(instance, model), engine, Context(stop=Stop(0.05)))
        assert solved.bound <= best
        told += solved.bound > 0
    assert told


def test_no_columns_can_do_without_rare_values() -> None:
    """Tests a table of which no group is worth anything: no prices, and nothing to divide by."""
    codes = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 3)
    instance, _ = from_codes(codes)
    told: list[tuple[float, float]] = []
    prices = group_prices(instance, 3, Stop(), report=lambda *one: told.append(one))
    assert prices.bound(instance.counts) == 0
    assert told == [(0, 1.0)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_prices_of_any_table(kind: str, pairs: None) -> None:
    """Tests that tables within reach are priced whole, and others by groups."""
    parts = 0
    for instance, rng in random_tables(26, 10, kind, (5, 9), (3, 6)):
        k = int(rng.integers(2, 4))
        best = optimum(instance, KAnonymity(k))
        whole = best_prices(instance, k)
        with pytest.MonkeyPatch.context() as narrow:
            narrow.setattr("incrowd.bounds.best.affordable", lambda *_: 0)
            by_groups = best_prices(instance, k)
        assert best is not None and not whole.groups
        for prices in (whole, by_groups):
            require_sound(instance, k, prices)
            assert prices.bound(instance.counts) <= best
        parts += len(by_groups.groups) > 0
    assert parts
