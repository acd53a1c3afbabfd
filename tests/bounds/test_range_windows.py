"""Tests of which windows a search passes over: none without which a class could break prices."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from incrowd._api import begun
from incrowd.bounds.prefix_tree import EMIT, PrefixTree, Slack
from incrowd.bounds.price import certify
from incrowd.lattice.emission import new_sink
from incrowd.policy import Policy
from incrowd.problem.instance import Instance
from incrowd.problem.join import join_cost
from incrowd.tables.files import open_table

RULES = ("range", "range:cost=values", "range:most=6", "range:round=5", "stars")
Class = tuple[list[int], int]


def tables(rule: str, number: int = 12) -> Iterator[tuple[Instance, np.random.Generator]]:
    """Yield tables of two columns with ranges and one without, missing values among them."""
    rng = np.random.default_rng(len(rule))
    for _ in range(number):
        n = int(rng.integers(5, 11))
        columns = {
            name: [None if x > 15 else str(x) for x in rng.integers(0, most, n)]
            for name, most in (("a", 17), ("b", 9))
        }
        columns["c"] = rng.choice(["x", "y"], n).tolist()
        frame = pl.DataFrame(columns, schema=dict.fromkeys("abc", pl.String))
        rules = {"a": rule, "b": rule.replace("most=6", "most=3")}
        policy = Policy(k=2, hierarchies=rules, cost="ncp")
        if rule == "stars":  # an interval costs as much as a star
            policy = Policy(k=2, hierarchies={"a": "range", "b": "range"}, cost="stars")
        yield begun(open_table(frame), policy).table.instance, rng


def classes(instance: Instance, k: int) -> list[Class]:
    """All sets of k copies: their distinct rows, repeated, and what their join costs a row."""
    copies = np.repeat(np.arange(instance.distinct), instance.counts)
    found = []
    for some in combinations(copies.tolist(), k):
        codes = instance.codes[list(some)]
        low, high = codes.min(axis=0), codes.max(axis=0)
        found.append((list(some), int(join_cost(low, high, instance.tables, 1 << 60))))
    return found


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_prices_are_mended_for_every_class(rule: str, k: int) -> None:
    """Tests the certificate of wild prices against all sets of k copies."""
    broken = 0
    for instance, rng in tables(rule):
        wild = rng.exponential(2 * instance.cell, instance.distinct)
        prices = certify(PrefixTree(instance), k, wild)
        for some, cost in classes(instance, k):
            assert prices.price[some].sum() <= k * cost * prices.quantum
            broken += wild[some].sum() > k * cost
    assert broken > 20


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("k", [2, 3])
def test_whatever_breaks_prices_is_listed(rule: str, k: int) -> None:
    """Tests that each class that breaks prices lies in a listed pattern that costs no more."""
    lists, met = new_sink(10_000, 100_000), 0
    for instance, rng in tables(rule):
        prices = rng.integers(0, int(4 * instance.cell), instance.distinct)
        tree = PrefixTree(instance)
        listed = int(tree.run(EMIT, k, prices, slack=Slack(1.0, False), sink=lists)[0])
        found = [
            (
                lists.cost[p],
                highest(prices, instance, lists.rows[slice(*lists.offset[p : p + 2])], k),
            )
            for p in range(listed)
        ]
        for some, cost in classes(instance, k):
            total = int(prices[some].sum())
            if total > k * cost:
                assert any(c <= cost and high >= total for c, high in found)
                met += 1
    assert met > 20


def highest(prices: np.ndarray, instance: Instance, rows: np.ndarray, k: int) -> int:
    """The sum of the k highest prices among rows, copies counted."""
    return int(np.sort(np.repeat(prices[rows], instance.counts[rows]))[-k:].sum())


def test_windows_are_passed_over_whose_ends_are_cheap() -> None:
    """Tests that a pattern is not listed which a narrower one makes needless."""
    frame = pl.DataFrame({"a": [str(x) for x in (0, 50, 51, 100)]})
    start = begun(open_table(frame), Policy(k=2, hierarchies={"a": "range"}))
    instance, lists = start.table.instance, new_sink(100, 1000)
    high = 6 * instance.trees[0].dearest // 10  # two of them break [0, 51] as well
    inner = np.isin(np.arange(4), np.argsort(instance.codes[:, 0])[1:3])
    prices = np.where(inner, high, 0)
    found = PrefixTree(instance).run(EMIT, 2, prices, slack=Slack(1.0, False), sink=lists)
    assert found[0] == 1 and inner[lists.rows[:2]].all()


def test_values_that_round_to_one_end_are_one_end() -> None:
    """Tests that a class is met whose values share the lower end with a cheaper row's."""
    frame = pl.DataFrame({"a": [str(x) for x in (1, 6, 7, 9, 50)]})
    start = begun(open_table(frame), Policy(k=2, hierarchies={"a": "range:round=5"}, cost="ncp"))
    instance = start.table.instance
    places = [[str(x) for x in (1, 6, 7, 9, 50)].index(str(x)) for x in (7, 9)]
    codes = instance.codes[instance.copies[places]]
    cost = int(join_cost(codes[0], codes[1], instance.tables, 1 << 60))
    prices = np.zeros(instance.distinct, np.int64)
    prices[instance.copies[places]] = 3 * cost // 2
    mended = certify(PrefixTree(instance), 2, prices.astype(float))
    assert cost > 0 and mended.price.sum() <= 2 * cost * mended.quantum
