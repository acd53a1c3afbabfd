"""Tests that the price inequality is checked exactly as it is defined."""

from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proof_samples import broken_class, broken_pattern, coded, problems, scaled

from dial import few
from incrowd.checker import inequality
from incrowd.checker.inequality import merged, violations
from incrowd.checker.oddsets import OddSets
from incrowd.checker.rejection import RejectedError
from incrowd.hierarchy.tree import Tree


@settings(max_examples=few(150), deadline=None)
@given(problems(rows=12), st.data())
def test_agrees_with_the_definition(problem, data) -> None:
    """Tests that random prices, negative ones too, are refused exactly when a pattern breaks."""
    instance, codes, _, k = problem
    unit = data.draw(st.integers(1, 3))
    worth = st.integers(-3, max(1, 4 * unit))
    price = data.draw(st.lists(worth, min_size=len(codes), max_size=len(codes)))
    leaves, trees = coded(instance.trees, codes)
    mark = np.zeros(len(codes), np.int64)
    with patch.object(inequality, "CHUNK", data.draw(st.sampled_from([1, 5, 1000]))):
        found = list(violations(merged(leaves, np.array(price), mark, scaled(trees, unit)), k))
    assert bool(found) == broken_pattern(codes, price, instance.trees, k, unit)


def test_a_node_is_wide_by_its_own_rows() -> None:
    """Tests a dear node whose first row lies where the last row of the group before it does."""
    kind = Tree.suppression("a", ("x", "y"), weight=9)
    low = Tree("b", (("1", "2", "3"), ("low", "big"), ("*",)),
               np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]], np.int32),
               np.array([[0] * 3, [1] * 3, [9] * 3]))  # fmt: skip
    codes = np.array([[1, 1], [0, 0], [0, 1], [1, 0], [0, 2]], np.int32)  # y2, x1, x2, y1, x3
    leaves, trees = coded((kind, low), codes)
    for price, broken in (([2, 1, 1, 1, 5], True), ([1, 1, 1, 1, 5], False)):
        rows = merged(leaves, np.array(price), np.zeros(5, np.int64), trees)
        assert bool(list(violations(rows, 2))) == broken
        assert broken_pattern(codes, price, (kind, low), 2, 1) == broken


SCHEMA = {"set": pl.Int64, "row": pl.Int64, "weight": pl.Int64, "modulus": pl.Int64}


@settings(max_examples=few(150), deadline=None)
@given(problems(rows=7), st.data())
def test_odd_sets_agree_with_the_definition(problem, data) -> None:
    """Tests prices with odd sets against all classes, of every size."""
    instance, codes, _, k = problem
    n, unit = len(codes), 2
    price = data.draw(st.lists(st.integers(-4, 5), min_size=n, max_size=n))
    subset = st.sets(st.integers(0, n - 1), min_size=1)
    term = st.tuples(subset, st.integers(0, 3), st.integers(2, 4))
    sets = data.draw(st.lists(term.filter(lambda s: len(s[0]) % s[2]), max_size=3))
    table = [(i, row, w, q) for i, (rows, w, q) in enumerate(sets) for row in sorted(rows)]
    odd = OddSets(pl.DataFrame(table, SCHEMA, orient="row"), n)
    assert odd.total == sum(w * (len(rows) % q) for rows, w, q in sets)
    leaves, trees = coded(instance.trees, codes)
    rows = merged(leaves, np.array(price) + odd.lift, odd.mark, scaled(trees, unit))
    found = any(
        odd.broken(rows.price[at], rows.copies[at], rows.mark[at], cost, k)
        for at, cost in violations(rows, k)
    )
    assert found == broken_class(codes, price, sets, instance.trees, k, unit)


def test_wide_keys_take_the_slow_sort() -> None:
    """Tests the branch for keys that do not fit one packed integer."""
    rng = np.random.default_rng(1)
    n = 50
    node = np.vstack([np.arange(n), np.full(n, n)])
    cost = np.vstack([np.zeros(n, np.int64), np.ones(n, np.int64)])
    leaves = [rng.integers(0, 3, n), rng.integers(0, 4, n)]
    price = rng.integers(0, 3, n)
    outcomes = []
    for shift in (0, 2**58):
        trees = [(node + shift, cost)] * 2
        rows = merged(leaves, price, np.zeros(n, np.int64), trees)
        outcomes.append(sorted((tuple(at.tolist()), c) for at, c in violations(rows, 2)))
    assert outcomes[0] and outcomes[0] == outcomes[1]


BAD_SETS: dict[str, list[tuple[int, int, int, int]]] = {
    "an even set": [(0, 0, 1, 2), (0, 1, 1, 2)],
    "a multiple of the modulus": [(0, 0, 1, 3), (0, 1, 1, 3), (0, 2, 1, 3)],
    "a row twice": [(0, 0, 1, 2), (0, 0, 1, 2), (0, 1, 1, 2)],
    "a row that is not there": [(0, 9, 1, 2)],
    "a negative row": [(0, -1, 1, 2)],
    "a negative weight": [(0, 0, -1, 2)],
    "two weights": [(0, 0, 1, 2), (0, 1, 2, 2), (0, 2, 1, 2)],
    "two moduli": [(0, 0, 1, 2), (0, 1, 1, 2), (0, 2, 1, 4)],
    "a modulus of one": [(0, 0, 1, 1)],
    "a huge weight": [(0, 0, 2**55, 2)],
}


@pytest.mark.parametrize("name", BAD_SETS)
def test_bad_odd_sets(name: str) -> None:
    """Tests that sets which prove nothing are refused."""
    with pytest.raises(RejectedError):
        OddSets(pl.DataFrame(BAD_SETS[name], SCHEMA, orient="row"), 5)


def test_gives_up_rather_than_guess() -> None:
    """Tests that classes beyond the limit of tries are refused, not passed."""
    facts = {"set": [0] * 5, "row": [0, 1, 2, 3, 4], "weight": [9] * 5, "modulus": [2] * 5}
    odd = OddSets(pl.DataFrame(facts), 5)
    odd.tries = 2
    price, mark = np.zeros(5, np.int64) + 9, odd.mark
    with pytest.raises(RejectedError, match="one by one"):
        odd.broken(price, np.ones(5, np.int64), mark, 1, 3)
