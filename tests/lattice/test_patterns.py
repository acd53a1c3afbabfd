"""Tests of the prefix-tree search and of the k highest prices, against plain enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dial import few
from incrowd.bounds.prefix_tree import (
    EMIT,
    NO_SINK,
    OVERFLOW,
    REPAIR,
    VISITS_SPENT,
    PrefixTree,
    Slack,
)
from incrowd.lattice.emission import Emission
from incrowd.lattice.topk import most_above, top_k, top_k_buffers
from incrowd.problem.instance import from_codes
from solvers.engine.engine_samples import (
    KINDS,
    highest,
    prices_hold,
    random_table,
    random_tables,
    supported,
)

ROWS, COLUMNS = (1, 22), (1, 5)


def sink_for(patterns: int, pairs: int) -> Emission:
    """Room for what a search emits."""
    return Emission(
        np.empty(patterns, np.int64), np.zeros(patterns + 1, np.int64), np.empty(pairs, "i4")
    )


def emitted(
    tree: PrefixTree, k: int, price: NDArray[np.float64], slack: Slack
) -> list[tuple[tuple[int, ...], int]]:
    """Rows and cost of every pattern that the search lists."""
    sink = sink_for(20_000, 200_000)
    state = tree.run(EMIT, k, price, slack=slack, sink=sink)
    assert state[3] == 0
    ends = sink.offset[: state[0] + 1]
    return [
        (tuple(sorted(sink.rows[begin:end].tolist())), int(cost))
        for begin, end, cost in zip(ends[:-1], ends[1:], sink.cost, strict=False)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_endless_slack_lists_each_closed_pattern_once(kind: str) -> None:
    """Tests patterns, their costs and their rows against all tuples of nodes."""
    for instance, rng in random_tables(1, 90, kind, ROWS, COLUMNS):
        k = int(rng.integers(1, 6))
        found = emitted(PrefixTree(instance), k, np.zeros(instance.distinct), Slack(1e9, False))
        assert len({rows for rows, _ in found}) == len(found)
        assert dict(found) == supported(instance, k)


@pytest.mark.parametrize("reduced", [False, True], ids=["bound", "candidates"])
@pytest.mark.parametrize("kind", KINDS)
def test_finite_slack_misses_nothing_that_matters(kind: str, reduced: bool) -> None:
    """Tests that patterns come with all rows that could enter the top k, or a cheap class."""
    for instance, rng in random_tables(2, 60, kind, ROWS, COLUMNS):
        k = int(rng.integers(1, 6))
        price = rng.random(instance.distinct) * int(rng.integers(1, 8))
        margin = 2 * float(rng.random())
        found = emitted(PrefixTree(instance), k, price, Slack(margin, reduced))
        listed: dict[int, list[set[int]]] = {}
        for members, cost in found:
            listed.setdefault(cost, []).append(set(members))
        for rows, cost in supported(instance, k).items():
            top = highest(price, instance.counts, rows, k)
            here = listed.get(cost, [])
            if sum(top) / k + margin <= cost + 1e-9:
                continue
            if reduced:  # rows in a class of k whose reduced cost is within the slack
                best = k * cost - sum(top[:-1])
                needed = {r for r in rows if price[r] >= top[-1] or best - price[r] < k * margin}
            else:  # rows that could be among the k highest somewhere in the box
                needed = {r for r in rows if price[r] > top[-1] - 2 * margin + 1e-9}
            assert any(needed <= q <= set(rows) for q in here)


@pytest.mark.parametrize("kind", KINDS)
def test_repair_ends_feasible(kind: str) -> None:
    """Tests that repaired prices obey every pattern, never rise, and stay when feasible."""
    for instance, rng in random_tables(3, 60, kind, ROWS, COLUMNS):
        k, unit = int(rng.integers(1, 6)), int(rng.choice([1, 7, 1000]))
        tree = PrefixTree(instance)
        before = (rng.random(instance.distinct) * 12 * unit).astype(np.int64)
        price = before.copy()
        tree.run(REPAIR, k, price, unit=unit)
        assert (price <= before).all()
        assert prices_hold(instance, k, price, unit)
        again = price.copy()
        assert tree.run(REPAIR, k, again, unit=unit)[0] == 0
        assert (again == price).all()


def test_repair_of_large_numbers_is_exact() -> None:
    """Tests prices and costs whose products go beyond what floats hold exactly."""
    for instance, rng in random_tables(4, 36, "weights", (2, 15), (1, 4)):
        unit = 10**12
        price = rng.integers(0, 20 * unit, instance.distinct)
        PrefixTree(instance).run(REPAIR, 3, price, unit=unit)
        assert prices_hold(instance, 3, price, unit)


def test_repair_is_exact_beyond_53_bits() -> None:
    """Tests a violation by one unit where floats cannot tell it."""
    instance, _ = from_codes(np.array([[0], [1]]))
    unit = 10**17
    price = np.array([unit + 1, unit])
    PrefixTree(instance).run(REPAIR, 2, price, unit=unit)
    assert price.sum() <= 2 * unit


def test_a_full_sink_and_spent_visits_are_told() -> None:
    """Tests that a search which cannot go on says so, and that a buffer serves again."""
    instance = random_table(np.random.default_rng(5), "suppression", (20, 21), (4, 5))
    tree, price, slack = PrefixTree(instance), np.zeros(instance.distinct), Slack(1e9, False)
    all_of_them = emitted(tree, 2, price, slack)
    few = sink_for(len(all_of_them) // 2, 100_000)
    assert tree.run(EMIT, 2, price, slack=slack, sink=few)[3] == OVERFLOW
    short = sink_for(10_000, 2 * instance.distinct)
    assert tree.run(EMIT, 2, price, slack=slack, sink=short)[3] == OVERFLOW
    assert tree.run(EMIT, 2, price, slack=slack, sink=NO_SINK)[3] == OVERFLOW
    enough = sink_for(10_000, 100_000)
    assert tree.run(EMIT, 2, price, slack=slack, sink=enough, visits=3)[3] == VISITS_SPENT
    assert emitted(tree, 2, price, slack) == all_of_them


@settings(max_examples=few(200), deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 9), st.integers(1, 4)), min_size=1, max_size=12),
    st.integers(1, 9),
    st.sampled_from([np.int64, np.float64]),
)
def test_top_k_equals_sorting(rows: list[tuple[int, int]], k: int, dtype: type) -> None:
    """Tests sum and entries against sorting all copies; −1 entries when they are too few."""
    price = np.array([p for p, _ in rows], dtype)
    counts = np.array([c for _, c in rows], np.int64)
    value, weight, member = top_k_buffers(k, dtype)
    everyone = np.arange(len(rows), dtype=np.int32)
    total, entries = top_k(everyone, 0, len(rows), price, counts, k, value, weight, member)
    if counts.sum() < k:
        assert entries == -1
        return
    expected = highest(price, counts, tuple(range(len(rows))), k)
    assert total == sum(expected)
    assert np.repeat(value[:entries], weight[:entries]).tolist() == expected
    assert (price[member[:entries]] == value[:entries]).all()
    assert (weight[:entries] <= counts[member[:entries]]).all()
    assert len(set(member[:entries].tolist())) == entries


@settings(deadline=None)
@given(st.data())
def test_what_prices_exceed_a_cost_by_is_bounded(data: st.DataObject) -> None:
    """Tests the quick scan against the k highest prices: no less, exact on which side when sure."""
    number = data.draw(st.sampled_from((st.integers(-20, 20), st.floats(-20, 20))))
    prices = data.draw(st.lists(number, min_size=1, max_size=8))
    counts = data.draw(st.lists(st.integers(1, 4), min_size=len(prices), max_size=len(prices)))
    k = data.draw(st.integers(1, sum(counts)))
    cost = data.draw(number)
    rows, price, n = np.arange(len(prices)), np.array(prices), np.array(counts)
    above, sure = most_above(rows, 0, len(rows), price, n, k, cost)
    exceeds = sum(highest(price, n, tuple(rows), k)) - k * cost
    if sure:
        assert above > 0 and exceeds > 0
    else:
        assert above >= exceeds - 1e-9
    if len(prices) == 1:
        assert sure == (prices[0] > cost)
