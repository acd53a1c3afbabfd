"""Tests that the checker works out intervals, their texts, costs and prices by itself."""

from itertools import combinations
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from proof_samples import scaled

from dial import few
from incrowd.checker import ranges as checked
from incrowd.checker.inequality import merged, violations
from incrowd.checker.ladder import tables, validated
from incrowd.checker.ranges import Intervals
from incrowd.checker.rejection import RejectedError
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.published.ladders import ladder_of, ranges_of, stated
from oracle import join_cost
from solvers.ranged_tables import random_range, ranged_tables


@pytest.mark.parametrize("seed", range(few(40)))
def test_texts_and_costs_of_all_intervals(seed: int) -> None:
    """Tests each join of two values against the family, and a value outside against refusal."""
    rng = np.random.default_rng(seed)
    family = random_range("a", int(rng.integers(2, 8)), rng)
    own = ranges_of((family,))["a"]
    assert tuple(own.leaves) == family.leaves
    size = len(family.leaves)
    labels = {family.label(a, b) for a in range(size) for b in range(a, size)}
    for low in range(size):
        for high in range(low + 1, size):
            label = family.label(low, high)
            if label in (family.star, None):
                continue
            cost = int(family.join_costs(np.array([low]), np.array([high]))[0])
            for code, leaf in enumerate(family.leaves):
                price = own.pays(leaf, label)
                if low <= code <= high:
                    assert price == cost
                elif price is not None:  # only a rounded end reaches it, or it is the same number
                    assert family.label(min(low, code), max(high, code)) == label
            for other in (f"{label}0", f"0{label}", label.replace(family.shown.between, "—"), ""):
                assert other in labels or own.pays(family.leaves[low], other) is None


@pytest.mark.parametrize("seed", range(few(6, 3)))
def test_prices_are_refused_exactly_when_a_class_breaks_them(seed: int) -> None:
    """Tests random prices against all classes of k rows, from the definition."""
    outcomes = set()
    for instance, rng in ranged_tables(100 + seed, 25, rows=(2, 9)):
        k, n, unit = int(rng.integers(1, 4)), instance.rows, int(rng.integers(1, 3))
        codes = instance.codes[instance.copies]
        price = rng.integers(-100, 900, n) * 1000 * unit
        own = ranges_of(instance.trees)
        leaves, trees = [], []
        for j, tree in enumerate(instance.trees):
            if isinstance(tree, RangeFamily):
                trees.append(own[tree.column].windows())
                leaves.append(codes[:, j].astype(np.int64))
                continue
            names, node, cost = tables(validated(ladder_of(tree), tree.column))
            place = {name: i for i, name in enumerate(names.to_list())}
            leaves.append(np.array([place[tree.leaves[c]] for c in codes[:, j]]))
            trees.append((node, cost))
        with patch.object(checked, "BLOCK", int(rng.choice([1, 3, 1000]))):
            rows = merged(leaves, price, np.zeros(n, np.int64), scaled(trees, unit))
            found = list(violations(rows, k))
        broken = any(
            price[list(some)].sum() > k * unit * join_cost(instance, some)
            for some in combinations(range(n), k)
        )
        assert bool(found) == broken
        outcomes.add(broken)
    assert outcomes == {True, False}


RULE = {"kind": "numbers", "round": None, "most": None, "cost": "width"}


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "words"},  # unknown
        {"round": "0"},  # no step
        {"round": "05"},  # another text of a number
        {"most": "-1"},
        {"most": "nan"},
        {"cost": "nothing"},
        {"order": ["1"]},  # of numbers
        {"kind": "order"},  # without an order
        {"kind": "order", "order": ["1", "1", "5"]},
        {"kind": "order", "order": ["1", "5", "1..5"]},  # a value like an interval
        {"kind": "dates"},  # the values are none
        {"more": 1},
        {"show": "{low}"},  # one end
        {"show": "{high} to {low}"},
        {"show": "{low}{high}"},  # nothing between
        {"show": "{low} {mid} {high}"},
        {"show": 5},
        {"show": "{low}5{high}"},  # 5 5 1 is 5551 twice
    ],
)
def test_a_range_is_refused_that_is_none(change: dict) -> None:
    """Tests rules that nobody could apply, or that are written in two ways."""
    rungs = [("1", 0, "1", 0), ("5", 0, "5", 0), ("1", 1, "*", 10**6), ("5", 1, "*", 10**6)]
    ladder = pl.DataFrame(rungs, ["leaf", "level", "label", "cost"], orient="row")
    assert Intervals(RULE, ladder, "a").pays("1", "1-5") == 10**6
    with pytest.raises(RejectedError):
        Intervals(RULE | change, ladder, "a")


def test_a_range_is_called_by_its_parts() -> None:
    """Tests that the public name says the widest range, the rounding and what is charged."""
    family = random_range("a", 3, np.random.default_rng(0))
    assert checked.is_called(family.rule["rule"], stated(family))
    given = RULE | {"most": "7"}
    for name, fine in [
        ("range:most=7", True),
        ("range", False),
        ("range:most=70", False),
        ("range:round=1,most=7", False),
        ("range:most=7,cost=values", False),
        ("interval:7", False),
    ]:
        assert checked.is_called(name, given) == fine
    shown = given | {"show": "{low}, {high}"}
    for name, fine in [
        ("range:most=7,show={low}, {high}", True),
        ("range:most=7", False),
        ("range:most=7,show={low}", False),
        ("range:show={low}, {high}", False),
    ]:
        assert checked.is_called(name, shown) == fine


def test_a_template_is_read_back() -> None:
    """Tests what a value pays under labels of a template, and that other texts are none."""
    rungs = [("1", 0, "1", 0), ("5", 0, "5", 0), ("1", 1, "*", 10**6), ("5", 1, "*", 10**6)]
    ladder = pl.DataFrame(rungs, ["leaf", "level", "label", "cost"], orient="row")
    own = Intervals(RULE | {"show": "[{low}, {high})"}, ladder, "a")
    assert own.pays("5", "[1, 5)") == 10**6
    for other in ("1-5", "1, 5", "[1, 5", "[1,5)", "[5, 1)", "[1, 5))", "[[1, 5)"):
        assert own.pays("5", other) is None
