"""Tests that odd sets leave the independent checker no more to try than it takes."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from bounds.odd_set_samples import classes_of, everything, raised, worth_of
from incrowd.bounds.odd_sets import certificate
from incrowd.bounds.odd_sets.certificate import (
    certified,
    certify_with_sets,
    exact,
    without_small,
)
from incrowd.bounds.odd_sets.classes import dearest_within, line_up
from incrowd.bounds.odd_sets.pricing import PricingProblem
from incrowd.bounds.prices import Prices
from incrowd.checker.oddsets import EACH, MOST, TRIES, OddSets
from incrowd.problem.instance import Instance
from solvers.engine.engine_samples import KINDS, random_tables

PLENTY = 1 << 40


def checker_of(instance: Instance, prices: Prices) -> OddSets:
    """What the checker makes of the sets; copies are its rows."""
    sets = [
        pl.DataFrame({"row": one.copies}).with_columns(
            set=pl.lit(number), weight=pl.lit(one.weight), modulus=pl.lit(one.modulus)
        )
        for number, one in enumerate(prices.odd_sets)
    ]
    empty = pl.DataFrame(schema=dict.fromkeys(["row", "set", "weight", "modulus"], pl.Int64))
    return OddSets(pl.concat([empty.select("row", "set", "weight", "modulus"), *(
        one.select("row", "set", "weight", "modulus").cast(pl.Int64) for one in sets
    )]), instance.rows)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_checker_counts_no_more(kind: str) -> None:
    """Tests pattern by pattern what the checker spends against what was counted."""
    asked = 0
    for instance, rng in random_tables(35, 25, kind, (6, 14), (2, 4)):
        k = int(rng.integers(2, 4))
        if instance.rows < k:
            continue
        lifted, tree = raised(instance, k)
        prices = certify_with_sets(tree, k, lifted)
        assert prices is not None
        lists = everything(instance, k)
        sets = checker_of(instance, prices)
        whole = exact(prices, lists, instance)
        price = np.rint(whole.price * prices.quantum).astype(np.int64)
        terms = [
            s._replace(penalty=s.modulus * one.weight)
            for s, one in zip(whole.sets, prices.odd_sets, strict=True)
        ]
        problem = PricingProblem.of(lists, instance.counts, k, price, terms, prices.quantum)
        for p in range(len(lists.cost)):
            n = line_up(p, problem)
            if n < k:
                continue
            _, size, left = dearest_within(n, 0, problem, PLENTY)
            rows = lists.rows[lists.offset[p] : lists.offset[p + 1]]
            rows = rows[np.argsort(-price[rows], kind="stable")]
            mark = sets.mark[instance.first_copy[rows]]
            sets.tries = TRIES
            cost = int(lists.cost[p]) * prices.quantum
            assert size == 0 and not sets.broken(price[rows], instance.counts[rows], mark, cost, k)
            assert TRIES - sets.tries <= n + PLENTY - left
            asked += TRIES - sets.tries > n
    assert asked


def test_larger_tables_may_have_more_looked_at() -> None:
    """Tests that the checker allows so many looks a row, and the engine counts on fewer."""
    empty = pl.DataFrame(schema=dict.fromkeys(["row", "set", "weight", "modulus"], pl.Int64))
    few, many = (OddSets(empty, rows).tries for rows in (10, 30_010))
    assert many - few == 30_000 * EACH > 30_000 * certificate.EACH > 0
    assert few > certificate.LOOKS + 10 * certificate.EACH
    assert OddSets(empty, 1_000_000).tries == MOST > certificate.MOST_LOOKS


def test_few_looks_leave_the_plain_inequality(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests prices where nothing may be looked at: no class breaks them, with or without sets."""
    lower = 0
    for instance, _ in random_tables(31, 15, KINDS[0], (8, 12), (2, 4)):
        lifted, tree = raised(instance, 2)
        free: Any = certify_with_sets(tree, 2, lifted)
        monkeypatch.setattr(certificate, "LOOKS", 0)
        monkeypatch.setattr(certificate, "EACH", 0)
        held: Any = certify_with_sets(tree, 2, lifted)
        monkeypatch.undo()
        bounds = [one.bound(instance.counts) for one in (held, free)]
        assert bounds[0] <= bounds[1]
        lower += bounds[0] < bounds[1]
        whole = exact(held, everything(instance, 2), instance)
        for p, cost in enumerate(whole.lists.cost):
            rows = whole.lists.rows[whole.lists.offset[p] : whole.lists.offset[p + 1]]
            copies = np.repeat(whole.price[rows], instance.counts[rows])
            assert np.sort(copies)[-2:].sum() <= 2 * cost + 1e-9 or len(copies) < 2
    assert lower


@pytest.mark.parametrize("kind", KINDS)
def test_sets_left_out_leave_no_class_too_dear(kind: str) -> None:
    """Tests by all classes that prices fall far enough where sets of small penalties go."""
    fewer = 0
    for instance, _ in random_tables(37, 6, kind, (10, 12), (2, 4)):
        k = 3
        if instance.rows < k:
            continue
        lifted, tree = raised(instance, k)
        penalties = sorted(one.penalty for one in lifted.sets)
        least = 1.001 * penalties[len(penalties) // 2] if penalties else 0.0
        some = without_small(lifted, least)
        fewer += len(some.sets) < len(lifted.sets)
        assert all(one.penalty >= least for one in some.sets)
        assert some.value(instance.counts) <= lifted.value(instance.counts) + 1e-6
        prices = certify_with_sets(tree, k, lifted)
        assert prices is not None
        whole = exact(prices, some.lists, instance)
        for p in range(len(some.lists.cost)):
            for rows in classes_of(instance, p, some.lists, k):
                before = worth_of(rows, p, some.lists, lifted)
                assert worth_of(rows, p, some.lists, some) <= max(0.0, before) + 1e-6
                assert worth_of(rows, p, some.lists, whole) <= 1e-9
    assert fewer


def test_many_looks_leave_out_small_penalties(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that sets go where the checker may look at little, as far as that proves more."""
    more = 0
    for instance, _ in random_tables(31, 12, KINDS[2], (14, 22), (2, 4)):
        lifted, tree = raised(instance, 3)
        monkeypatch.setattr(certificate, "LOOKS", 100)
        monkeypatch.setattr(certificate, "EACH", 0)
        all_sets: Any = certified(tree, 3, lifted)
        held: Any = certify_with_sets(tree, 3, lifted)
        monkeypatch.undo()
        bounds = [one.bound(instance.counts) for one in (all_sets, held)]
        assert bounds[0] <= bounds[1] <= lifted.value(instance.counts) + 1
        more += bounds[0] < bounds[1]
    assert more
