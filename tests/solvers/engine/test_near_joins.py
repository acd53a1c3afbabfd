"""Tests of candidates from sets of near rows, and of annealing among them."""

import numpy as np
import pytest

from bounds.near_set_samples import UNIT, broken_sets, never
from dial import enough
from incrowd.bounds.prices import Prices
from incrowd.bounds.span_prices import suits_spans
from incrowd.hierarchy.costs import RULES
from incrowd.hierarchy.ranges import Ranges
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine import near_classes
from incrowd.solvers.engine import near_joins as module
from incrowd.solvers.engine.engine import Engine, Run
from incrowd.solvers.engine.near_joins import near_joins
from oracle import join_cost
from solvers.ranged_tables import ranged_tables

PAIRS = 10_000


def copies_of(instance: Instance, rows: list[int]) -> tuple[int, ...]:
    """Return a copy of each of some distinct rows."""
    return tuple(int(instance.first_copy[r]) for r in rows)


def test_joins_of_all_sets_that_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that each is listed once, at its cost, with its rows and no others."""
    monkeypatch.setattr(module, "COVERED", 0.0)
    joins = whole = 0
    for instance, rng in ranged_tables(71, 90, (4, 11), most=False):
        k = int(rng.integers(2, 4))
        if not suits_spans(instance, k):
            continue
        most = max(1, instance.worst_cost // instance.rows)
        price = rng.integers(0, UNIT * most + 1, instance.distinct) // rng.choice([1, 2, 4])
        found = near_joins(instance, k, Prices(price, UNIT, by_rows=True), PAIRS, never)
        raised = price + int(module.MARGIN * float(price @ instance.counts) / instance.rows)
        broken = broken_sets(instance, k, raised, UNIT)
        assert (found is None) == (not broken)
        if found is None:
            continue
        spans, codes = set(), instance.codes
        for p, cost in enumerate(found.cost):
            rows = found.rows[found.offset[p] : found.offset[p + 1]].tolist()
            assert len({*rows}) == len(rows)
            assert join_cost(instance, copies_of(instance, rows)) == cost
            low, high = codes[rows].min(axis=0), codes[rows].max(axis=0)
            inside = ((codes >= low) & (codes <= high)).all(axis=1)
            assert {*np.flatnonzero(inside).tolist()} == {*rows}
            spans.add(tuple(sorted(rows)))
        assert len(spans) == len(found.cost)
        if instance.distinct == instance.rows:
            assert all(any({*one} <= {*rows} for rows in spans) for one in broken)
            whole += len(spans)
        joins += len(spans)
    assert joins > enough(100) and whole > enough(20)


def test_what_has_no_room_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that the joins that cost little come first, and that a time that is over ends all."""
    monkeypatch.setattr(module, "COVERED", 0.0)
    instance = clusters(5, 3)
    price = np.full(instance.distinct, instance.worst_cost // instance.rows)
    prices = Prices(price, 1, by_rows=True)
    whole = near_joins(instance, 3, prices, PAIRS, never)
    assert whole is not None and (np.diff(whole.cost) >= 0).all()
    part = near_joins(instance, 3, prices, int(whole.offset[5]), never)
    assert part is not None and part.cost.tolist() == whole.cost[:5].tolist()
    assert near_joins(instance, 3, prices, PAIRS, lambda: True) is None


def clusters(number: int, k: int) -> Instance:
    """A table of so many groups of k near rows, each far from all others in two columns."""
    rng = np.random.default_rng(number)
    family, leaves = [], []
    for j in range(2):
        value = 1000 * rng.permutation(number).repeat(k) + rng.integers(0, 9, number * k)
        number_of, code = np.unique(value, return_inverse=True)
        texts = [str(each) for each in number_of]
        family.append(Ranges().family(f"r{j}", texts, RULES["level"])[0])
        leaves.append(code)
    return from_codes(np.column_stack(leaves), tuple(family))[0]


@pytest.mark.parametrize("limit", [None, 30.0])
def test_annealing_finds_what_is_near(monkeypatch: pytest.MonkeyPatch, limit: float | None) -> None:
    """Tests that clusters are found as such, without a trade."""
    monkeypatch.setattr("incrowd.solvers.engine.pricing.FEW_VISITS", -1)
    monkeypatch.setattr(near_classes, "MANY", 100)
    monkeypatch.setattr(near_classes.NearClasses, "trade", lambda self: pytest.fail("a trade"))
    instance = clusters(40, 3)
    run = Run(Engine(), Problem(instance, KAnonymity(3)), Context(stop=Stop(limit)))
    run.at_once()
    assert run.near.many()
    run.progress.best = Solution.of(instance, np.zeros(instance.rows, np.int64))
    run.progress.met = run.progress.best.cost  # as if no level had shown the clusters
    run.near.anneal_joins()
    best = run.progress.best
    assert best.sizes.min() >= 3 and best.cost == run.progress.bound


def test_trades_where_prices_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that classes trade rows where no prices of sets are known, or few rows have joins."""
    instance, traded = clusters(10, 3), []
    monkeypatch.setattr(near_classes.NearClasses, "trade", lambda self: traded.append(1))
    run = Run(Engine(), Problem(instance, KAnonymity(3)), Context())
    run.near.anneal_joins()
    assert len(traded) == 1 and not run.near.many()
    least = join_cost(instance, copies_of(instance, [0, 1, 2]))
    price = np.where(np.arange(instance.distinct) < 3, least + 1, 0)
    monkeypatch.setattr(module, "COVERED", 0.0)
    found = near_joins(instance, 3, Prices(price, 1, by_rows=True), PAIRS, never)
    assert found is not None and len(np.unique(found.rows)) == 3
    monkeypatch.setattr(module, "COVERED", 0.9)
    run.progress.certificate = Prices(price, 1, by_rows=True)
    run.near.anneal_joins()
    assert len(traded) == 2
