"""Tests of predicate singling out: counts by brute force, and what chance reaches."""

from itertools import combinations
from math import exp

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from attack.worlds import drawn, scene, swapped
from incrowd.attacks.rates import Rate, residual
from incrowd.attacks.singling import bearers, just_one, one_of, predicates, singling_out


def test_random_predicates_of_weight_one_in_n():
    """Tests that they single one person out of n for 37 %."""
    rng = np.random.default_rng(1)
    count = rng.binomial(500, 1 / 500, 4_000)
    rate = Rate.of(just_one(count, 500, 500))
    assert rate.low < exp(-1) < rate.high


def test_just_one_against_all_subsets():
    """Tests the chance that exactly one of three taken by lot out of six is a bearer."""
    for count in range(7):
        taken = [sum(i < count for i in some) == 1 for some in combinations(range(6), 3)]
        assert just_one(np.array([count]), 6, 3)[0] == pytest.approx(np.mean(taken))
    assert just_one(np.array([0, 1, 2]), 6, 6).tolist() == pytest.approx([0, 1, 0])


def test_one_of_against_drawn_classes():
    """Tests the chance that one row bears a value, given that not all rows are alike."""
    share = np.array([0.6, 0.3, 0.1])
    drawn_rows = np.random.default_rng(2).choice(3, (100_000, 3), p=share)
    mixed = drawn_rows[(drawn_rows != drawn_rows[:, :1]).any(axis=1)]
    seen = [(mixed == v).sum(axis=1) == 1 for v in range(3)]
    assert one_of(share, 3) == pytest.approx(np.mean(seen, axis=1), abs=0.01)
    assert one_of(np.array([0.7, 0.3]), 2).tolist() == pytest.approx([1, 1])


def test_planted_pairs():
    """Tests that starred cells of two values in pairs single everybody out."""
    frame = pl.DataFrame({"zip": [f"{i // 2}" for i in range(200)], "sex": ["f", "m"] * 100})
    release = frame.with_columns(sex=pl.when(pl.col("zip").cast(int) < 60).then(pl.lit("*"))
                                 .otherwise(pl.lit("f")))  # fmt: skip
    frame = frame.with_columns(sex=pl.when(pl.col("zip").cast(int) < 60).then("sex")
                               .otherwise(pl.lit("f")))  # fmt: skip
    others = pl.DataFrame({"zip": ["0"] * 200, "sex": ["f"] * 200})
    found = scene(release, frame, others, k=2)
    outcome = singling_out(found, 0, np.random.default_rng(1))
    assert (outcome.attack.success, outcome.attack.tries) == (60, 60)
    assert outcome.control.rate == 0
    assert outcome.more["singled_out"] == 60


def test_against_brute_force():
    """Tests how many people each predicate fits."""
    frame = drawn(300, 1)
    release = ic.anonymize(frame, k=2, sensitive="s").data
    found = scene(release, frame, k=2, sensitive="s")
    classes, column, value, _ = predicates(found.seen, np.random.default_rng(1))
    assert len(classes) > 3
    counts = bearers(found.fits, found.members, classes, column, value)
    rows = frame.select("a", "b", "c", "d").rows()
    trees = found.seen.trees
    for c, j, v, count in zip(classes, column, value, counts, strict=True):
        label = [t.labels[level][node] for t, level, node in
                 zip(trees, found.seen.levels[c], found.seen.nodes[c], strict=True)]  # fmt: skip
        label[j] = trees[j].leaves[v]
        fits = [all(x in ("*", y) for x, y in zip(label, row, strict=True)) for row in rows]
        assert sum(fits) == count


def test_people_and_controls_permuted():
    """Tests that the risk is 0 within its interval when chance says who is in the table."""
    frame, others = drawn(600, 3, (2, 3, 6, 30)), drawn(600, 4, (2, 3, 6, 30))
    release = ic.anonymize(frame, k=2, sensitive="s").data
    found = scene(release, frame, others, sensitive="s", k=2)
    held = 0
    for seed in range(30):
        outcome = singling_out(swapped(found, seed), 0, np.random.default_rng(1))
        _, low, high = residual(outcome.attack, outcome.control)
        held += (low is None or low <= 0) and high >= 0
    assert outcome.attack.tries > 10
    assert held >= 26
    outcome = singling_out(found, 0, np.random.default_rng(1))
    assert residual(outcome.attack, outcome.control)[1] > 0  # and above it when it is true
